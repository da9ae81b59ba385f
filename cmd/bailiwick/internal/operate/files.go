package operate

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/app"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/source/sqlite"
)

// The free disk space below which doctor reports a warning (little) or a fault (tooLittle), and related constants.
const (
	little     = 1 << 30
	tooLittle  = 100 << 20
	megabyte   = 1 << 20
	othersRead = 0o004
)

// secrets checks who can read the files that contain secrets.
func secrets(c *config.Config) []finding {
	const about = "secrets"
	paths := c.SecretFiles()
	for _, s := range c.Sources {
		if s.SSH != nil && !strings.Contains(s.SSH.Key, "PRIVATE KEY") {
			paths = append(paths, s.SSH.Key)
		}
		if s.OpenAPI != nil && s.OpenAPI.TLS != nil {
			paths = append(paths, s.OpenAPI.TLS.Key)
		}
		for _, text := range []string{s.URL, s.WriteURL} {
			if u, err := url.Parse(text); err == nil {
				paths = append(paths, u.Query().Get("sslkey"), u.Query().Get("passfile"))
			}
		}
	}
	if u, err := url.Parse(c.Store); err == nil {
		paths = append(paths, u.Query().Get("sslkey"), u.Query().Get("passfile"))
	}
	slices.Sort(paths)
	paths = slices.DeleteFunc(slices.Compact(paths), func(p string) bool { return p == "" })
	if len(paths) == 0 || runtime.GOOS == "windows" {
		return nil
	}
	var out []finding
	for _, path := range paths {
		info, err := os.Stat(path)
		switch {
		case err != nil:
			out = append(out, finding{fault, about, fmt.Sprintf("%s can't be read: %v", path, bare(err)), "put the file there, and let the user of the server read it"})
		case info.Mode().Perm()&othersRead != 0:
			out = append(out, finding{warning, about, "every user of this machine can read " + path, "chmod o-r " + path})
		}
	}
	if out == nil {
		out = []finding{{State: good, About: about, Text: fmt.Sprintf("%d files that only some users can read", len(paths))}}
	}
	return out
}

// temporary checks the folder for temporary files. Like a server at its start, it creates a file there and removes
// it.
func temporary() []finding {
	const about = "temporary folder"
	path, err := sqlite.TemporaryFolder()
	if err != nil {
		return []finding{errorFinding(about, err)}
	}
	return space(about, path)
}

// disks checks the free space for the store and for the archive of the audit.
func disks(c *config.Config) []finding {
	var out []finding
	if path, isFile := app.StorePath(c.Store); isFile && c.Store != app.MemoryStore {
		out = append(out, space("disk", filepath.Dir(path))...)
		if folder := path + "-audit"; app.Exists(folder) && !sameDisk(folder, filepath.Dir(path)) {
			out = append(out, space("disk", folder)...)
		}
	}
	folder := c.Audit.Archive.Folder
	if folder == "" {
		return out
	}
	if !app.Exists(folder) {
		return append(out, finding{warning, "archive", "there is no folder " + folder, "the server makes it, if it may write beside it"})
	}
	return append(out, space("archive", folder)...)
}

// space reports the free space for a folder.
func space(about, folder string) []finding {
	free, ok := freeBytes(folder)
	if !ok {
		return []finding{{State: good, About: about, Text: folder}}
	}
	text := fmt.Sprintf("%s has %d MB of free space", folder, free/megabyte)
	switch {
	case free < tooLittle:
		return []finding{{fault, about, text, "make room: no call is answered that can't be recorded"}}
	case free < little:
		return []finding{{warning, about, text, "make room soon"}}
	}
	return []finding{{State: good, About: about, Text: text}}
}
