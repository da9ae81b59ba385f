package pack

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// bundled contains the packs that come with Bailiwick, one folder for each.
//
//go:embed flowfuse
var bundled embed.FS

// BundledNames returns the names of the packs that come with Bailiwick.
func BundledNames() []string { return []string{"flowfuse"} }

// BundledPack returns the bundled pack with the given name.
func BundledPack(name string) (*Pack, error) {
	folder, err := fs.Sub(bundled, path.Base(name))
	if err == nil {
		_, err = fs.Stat(bundled, name)
	}
	if err != nil {
		return nil, fmt.Errorf("there is no pack %q. The packs are %s", name, strings.Join(BundledNames(), ", "))
	}
	return Load(folder, name)
}
