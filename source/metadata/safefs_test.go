package metadata

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// tree creates a root with all kinds of files that could refer to places outside of it, and a secret next to it.
func tree(t *testing.T) (root string, folders roots) {
	t.Helper()
	dir := t.TempDir()
	root = filepath.Join(dir, "root")
	folderMust(t, os.MkdirAll(filepath.Join(root, "folder", "deeper"), 0o755))
	folderMust(t, os.MkdirAll(filepath.Join(dir, "secret"), 0o755))
	folderMust(t, os.MkdirAll(filepath.Join(dir, "root-other"), 0o755))
	folderMust(t, os.WriteFile(filepath.Join(dir, "secret", "file"), []byte("secret"), 0o644))
	folderMust(t, os.WriteFile(filepath.Join(root, "file"), []byte("here"), 0o644))
	folderMust(t, os.WriteFile(filepath.Join(root, "folder", "file"), []byte("there"), 0o644))
	folderMust(t, os.Symlink(filepath.Join(dir, "secret"), filepath.Join(root, "out")))
	folderMust(t, os.Symlink("../secret/file", filepath.Join(root, "outfile")))
	folderMust(t, os.Symlink("folder", filepath.Join(root, "within")))
	folderMust(t, os.Symlink("file", filepath.Join(root, "withinfile")))
	folderMust(t, os.Symlink("nowhere", filepath.Join(root, "dangling")))
	folderMust(t, os.Symlink("loop", filepath.Join(root, "loop")))
	folderMust(t, syscall.Mkfifo(filepath.Join(root, "pipe"), 0o644))
	l, err := net.Listen("unix", filepath.Join(root, "socket"))
	folderMust(t, err)
	t.Cleanup(func() { l.Close() })
	folderMust(t, os.Truncate(write(t, filepath.Join(root, "large")), maxFile+1))
	folderMust(t, os.Truncate(write(t, filepath.Join(root, "most")), maxFile))
	folders, err = newRoots([]string{root})
	folderMust(t, err)
	return root, folders
}

func write(t *testing.T, path string) string {
	t.Helper()
	folderMust(t, os.WriteFile(path, nil, 0o644))
	return path
}

func folderMust(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestOpen checks the result of opening paths below <dir> as folders. The root is <dir>/root.
func TestOpen(t *testing.T) {
	root, folders := tree(t)
	dir := filepath.Dir(root)
	for path, want := range map[string]error{
		dir + "/root":                   nil,
		dir + "/root/":                  nil,
		dir + "/root//folder/./deeper/": nil,
		dir + "/root/folder":            nil,
		dir + "/root/nothing":           fs.ErrNotExist,
		dir + "/root/file":              fs.ErrNotExist,
		dir + "/root/file/deeper":       fs.ErrNotExist,
		dir + "/root/out":               fs.ErrNotExist,
		dir + "/root/within":            fs.ErrNotExist,
		dir + "/root/within/deeper":     fs.ErrNotExist,
		dir + "/root/loop":              fs.ErrNotExist,
		dir + "/root/pipe":              fs.ErrNotExist,
		dir + "/root/a:b":               fs.ErrNotExist,
		dir:                             errOutside,
		dir + "/secret":                 errOutside,
		dir + "/root-other":             errOutside,
		dir + "/roo":                    errOutside,
		dir + "/root/../secret":         errOutside,
		dir + "/root/folder/..":         errOutside,
		dir + "/secret/../root":         errOutside,
		dir + "/root\x00":               errOutside,
		"root":                          errOutside,
		"":                              errOutside,
		"/":                             errOutside,
		`C:\root`:                       errOutside,
	} {
		f, err := folders.Open(path)
		if !errors.Is(err, want) || (err == nil) != (want == nil) {
			t.Errorf("%q: %v, want %v", path, err, want)
		}
		if folders.Allows(path) != !errors.Is(want, errOutside) {
			t.Errorf("%q: allowed: %t", path, folders.Allows(path))
		}
		if f != nil {
			f.Close()
		}
	}
	if _, err := (roots{}).Open(root); !errors.Is(err, errOutside) {
		t.Errorf("no roots: %v", err)
	}
	all, err := newRoots([]string{"/"})
	folderMust(t, err)
	if !all.Allows("/") || !all.Allows(root) {
		t.Error("the root of all doesn't allow all")
	}
}

// TestRead checks the result of reading files by name.
func TestRead(t *testing.T) {
	root, folders := tree(t)
	f, err := folders.Open(root)
	folderMust(t, err)
	defer f.Close()
	for name, want := range map[string]error{
		"file": nil, "most": nil, "large": errTooLarge, "folder": errNotFile, "outfile": errNotFile, "withinfile": errNotFile, "dangling": errNotFile,
		"loop": errNotFile, "pipe": errNotFile, "socket": errNotFile, "nothing": fs.ErrNotExist, "FILE": fs.ErrNotExist, "": fs.ErrNotExist,
		".": fs.ErrNotExist, "..": fs.ErrNotExist, "../secret/file": fs.ErrNotExist, "folder/file": fs.ErrNotExist, `folder\file`: fs.ErrNotExist,
		"/etc/passwd": fs.ErrNotExist, "file\x00": fs.ErrNotExist, "C:file": fs.ErrNotExist, "%2e%2e": fs.ErrNotExist, "file/": fs.ErrNotExist,
	} {
		data, err := f.Read(name)
		if !errors.Is(err, want) || (err == nil) != (want == nil) {
			t.Errorf("%q: %v, want %v", name, err, want)
		}
		if name == "file" && string(data) != "here" || name == "most" && len(data) != maxFile {
			t.Errorf("%s: %d bytes", name, len(data))
		}
		_, there := f.ModTime(name)
		if regular := want == nil || errors.Is(want, errTooLarge); there != regular {
			t.Errorf("%q: a regular file: %t", name, there)
		}
		if err != nil && strings.Contains(err.Error(), root) {
			t.Errorf("%q: the error shows the path: %v", name, err)
		}
	}
	names, err := f.Folders()
	if fmt.Sprint(names) != "[folder]" || err != nil {
		t.Errorf("folders: %v, %v", names, err)
	}
}

// TestDevice checks that a device isn't opened, since opening it can have an effect.
func TestDevice(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mknod(filepath.Join(dir, "zero"), syscall.S_IFCHR|0o666, 1<<8|5); err != nil {
		t.Skipf("LEFT OUT: devices: making one needs more rights: %v", err)
	}
	folders, err := newRoots([]string{dir})
	folderMust(t, err)
	f, err := folders.Open(dir)
	folderMust(t, err)
	defer f.Close()
	if _, err := f.Read("zero"); !errors.Is(err, errNotFile) {
		t.Errorf("a device: %v", err)
	}
}

// TestSwap reads a file and opens a folder while both are being swapped with links to the outside. The links must
// never be followed.
func TestSwap(t *testing.T) {
	root, folders := tree(t)
	secret := filepath.Join(filepath.Dir(root), "secret")
	f, err := folders.Open(root)
	folderMust(t, err)
	defer f.Close()
	stop, done := make(chan bool), make(chan bool)
	go func() {
		defer close(done)
		file, folder := filepath.Join(root, "file"), filepath.Join(root, "folder")
		folderMust(t, os.Rename(file, file+".kept"))
		folderMust(t, os.Rename(folder, folder+".kept"))
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			os.Remove(file)
			os.Remove(folder)
			switch i % 3 {
			case 0:
				os.Link(file+".kept", file)
				os.Mkdir(folder, 0o755)
			case 1:
				os.Symlink(filepath.Join(secret, "file"), file)
				os.Symlink(secret, folder)
			case 2:
				syscall.Mkfifo(file, 0o644)
			}
		}
	}()
	read, opened := 0, 0
	// On a busy machine, it may take longer until a regular file and a regular folder were opened.
	for begun := time.Now(); time.Since(begun) < 300*time.Millisecond || (read == 0 || opened == 0) && time.Since(begun) < time.Minute; {
		if data, err := f.Read("file"); err == nil {
			read++
			if string(data) != "here" {
				t.Fatalf("read %q", data)
			}
		}
		if sub, err := f.Folder("folder"); err == nil {
			opened++
			if names, _ := sub.Names(); fmt.Sprint(names) == "[file]" { // the content of the secret folder
				t.Fatalf("opened a folder with %v", names)
			}
			sub.Close()
		}
	}
	close(stop)
	<-done
	if read == 0 || opened == 0 {
		t.Errorf("read %d times, opened %d times: nothing was tried", read, opened)
	}
}

// TestRoots checks which paths can be roots.
func TestRoots(t *testing.T) {
	root, _ := tree(t)
	for _, bad := range []string{filepath.Join(root, "nothing"), filepath.Join(root, "file"), filepath.Join(root, "dangling")} {
		if _, err := newRoots([]string{bad}); err == nil {
			t.Errorf("%s is a root", bad)
		}
	}
	// A root that is a link can be used by either name.
	folders, err := newRoots([]string{filepath.Join(root, "within")})
	folderMust(t, err)
	for path, want := range map[string]bool{"within": true, "within/deeper": true, "folder": true, "folder/deeper": true, "file": false, "": false} {
		if got := folders.Allows(filepath.Join(root, path)); got != want {
			t.Errorf("%s: %t", path, got)
		}
	}
	f, err := folders.Open(filepath.Join(root, "within", "deeper"))
	folderMust(t, err)
	f.Close()
}

// TestFolderNames checks that a folder is listed sorted bytewise, without names that aren't UTF-8.
func TestFolderNames(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"b", "a", "é", "e\u0301", "x\xff"} {
		write(t, filepath.Join(dir, name))
	}
	folders, err := newRoots([]string{dir})
	folderMust(t, err)
	f, err := folders.Open(dir)
	folderMust(t, err)
	defer f.Close()
	names, err := f.Names()
	if want := "[a b e\u0301 é]"; fmt.Sprint(names) != want || err != nil {
		t.Errorf("%q, %v", names, err)
	}
}
