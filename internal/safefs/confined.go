// Package safefs opens folders and files below the roots that an owner allowed, and nothing else.
//
// It stands at the bottom of source/metadata. What is outside of the roots is neither opened nor asked about; links are
// not followed, wherever they lead; files are regular, and bounded. Everything goes through os.Root, one name at a time,
// so that what is swapped between a look and the opening leads nowhere else either.
package safefs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"
)

// MaxFile is the most bytes of a file.
const MaxFile = 8 << 20

// maxEntries is the most names that a folder may have.
const maxEntries = 100_000

// The refusals beside fs.ErrNotExist. They name nothing.
var (
	ErrOutside  = errors.New("the path is outside of the allowed roots")
	ErrNotFile  = errors.New("it is not a regular file")
	ErrTooLarge = errors.New("it is larger than 8 MiB")
	ErrCrowded  = errors.New("the folder has more than 100,000 entries")
	ErrChanged  = errors.New("it changed while it was opened")
)

// Roots are the folders below which things may be opened. The zero Roots allow nothing.
type Roots struct {
	roots []root
}

// root is an allowed folder: as it was given, and where that led when it was allowed.
type root struct{ given, resolved string }

// New allows folders. Each must be there; a relative one starts at the working directory. A link in a root's own path is
// followed, once, now.
func New(paths []string) (Roots, error) {
	var r Roots
	for _, path := range paths {
		given, err := filepath.Abs(path)
		if err != nil {
			return Roots{}, fmt.Errorf("root %s: %w", path, err)
		}
		resolved, err := filepath.EvalSymlinks(given)
		if err != nil {
			return Roots{}, fmt.Errorf("root %s: %w", path, cause(err))
		}
		info, err := os.Lstat(resolved)
		if err != nil {
			return Roots{}, fmt.Errorf("root %s: %w", path, cause(err))
		}
		if !info.IsDir() {
			return Roots{}, fmt.Errorf("root %s is not a folder", path)
		}
		r.roots = append(r.roots, root{given, resolved})
	}
	return r, nil
}

// cause drops the path that a system's error repeats.
func cause(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}

// Paths returns the roots as they were given, absolute.
func (r Roots) Paths() []string {
	out := make([]string, len(r.roots))
	for i := range r.roots {
		out[i] = r.roots[i].given
	}
	return out
}

// Allows reports whether an absolute path is a root or below one. It looks at the text alone and touches nothing.
func (r Roots) Allows(path string) bool {
	_, _, ok := r.below(path)
	return ok
}

// below returns the root that path is in, and the names that lead from there.
func (r Roots) below(path string) (string, []string, bool) {
	if !filepath.IsAbs(path) || slices.Contains(strings.FieldsFunc(path, isSeparator), "..") || strings.ContainsRune(path, 0) {
		return "", nil, false
	}
	path = filepath.Clean(path)
	for _, root := range r.roots {
		for _, at := range []string{root.given, root.resolved} {
			rest, ok := strings.CutPrefix(path, strings.TrimSuffix(at, string(filepath.Separator)))
			if ok && (rest == "" || os.IsPathSeparator(rest[0])) {
				return root.resolved, strings.FieldsFunc(rest, isSeparator), true
			}
		}
	}
	return "", nil, false
}

func isSeparator(r rune) bool { return r < utf8.RuneSelf && os.IsPathSeparator(uint8(r)) }

// Each opens the roots, one after the other, and gives each to visit with its path; visit takes it over.
func (r Roots) Each(visit func(path string, at *Folder)) {
	for _, root := range r.roots {
		if opened, err := os.OpenRoot(root.resolved); err == nil {
			visit(root.given, &Folder{opened})
		}
	}
}

// Open opens the folder at an absolute path below a root: ErrOutside for all others, untouched, and fs.ErrNotExist where
// there is no folder, or a link on the way.
func (r Roots) Open(path string) (*Folder, error) {
	at, names, ok := r.below(path)
	if !ok {
		return nil, ErrOutside
	}
	opened, err := os.OpenRoot(at)
	if err != nil {
		return nil, cause(err)
	}
	return (&Folder{opened}).Down(names...)
}

// A Folder is an open folder. Close it.
type Folder struct {
	root *os.Root
}

// Close implements io.Closer.
func (f *Folder) Close() error { return f.root.Close() }

// Down opens the folder that names lead to, one below the other, and closes f. No names lead to f itself.
func (f *Folder) Down(names ...string) (*Folder, error) {
	at := f
	for _, name := range names {
		next, err := at.Folder(name)
		at.Close() //nolint:errcheck // nothing was written
		if err != nil {
			return nil, err
		}
		at = next
	}
	return at, nil
}

// Folder opens the folder called name in f: fs.ErrNotExist for what isn't one, such as a link.
func (f *Folder) Folder(name string) (*Folder, error) {
	if !Single(name) {
		return nil, fs.ErrNotExist
	}
	seen, err := f.root.Lstat(name)
	if err != nil || !seen.IsDir() {
		return nil, fs.ErrNotExist
	}
	opened, err := f.root.OpenRoot(name)
	if err != nil {
		return nil, cause(err)
	}
	there, err := opened.Stat(".")
	if err != nil || !os.SameFile(seen, there) {
		return nil, errors.Join(ErrChanged, opened.Close())
	}
	return &Folder{opened}, nil
}

// Single reports whether name is the name of one thing in a folder: not empty, ".", "..", and without separators of any
// system, a drive letter or NUL.
func Single(name string) bool {
	drive := len(name) > 1 && name[1] == ':' && name[0]|0x20 >= 'a' && name[0]|0x20 <= 'z'
	return name != "" && name != "." && name != ".." && !drive && !strings.ContainsAny(name, "/\\\x00")
}

// Names lists f, sorted by bytes. Names that aren't UTF-8 are left out: nobody could ask for them.
func (f *Folder) Names() ([]string, error) {
	dir, err := f.root.Open(".")
	if err != nil {
		return nil, cause(err)
	}
	defer dir.Close() //nolint:errcheck // it was only read
	names, err := dir.Readdirnames(maxEntries + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, cause(err)
	}
	if len(names) > maxEntries {
		return nil, ErrCrowded
	}
	names = slices.DeleteFunc(names, func(n string) bool { return !utf8.ValidString(n) })
	slices.Sort(names)
	return names, nil
}

// Folders lists the folders in f, sorted by bytes.
func (f *Folder) Folders() ([]string, error) {
	names, err := f.Names()
	return slices.DeleteFunc(names, func(n string) bool {
		info, err := f.root.Lstat(n)
		return err != nil || !info.IsDir()
	}), err
}

// Modified returns when the regular file called name was written, and whether there is one.
func (f *Folder) Modified(name string) (time.Time, bool) {
	if !Single(name) {
		return time.Time{}, false
	}
	info, err := f.root.Lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		return time.Time{}, false
	}
	return info.ModTime(), true
}

// Read returns what is in the regular file called name: fs.ErrNotExist where nothing is, ErrNotFile for a link, a pipe, a
// device or a folder, which is not opened, ErrTooLarge beyond MaxFile, and ErrChanged where another file came between.
func (f *Folder) Read(name string) ([]byte, error) {
	if !Single(name) {
		return nil, fs.ErrNotExist
	}
	seen, err := f.root.Lstat(name)
	switch {
	case err != nil:
		return nil, cause(err)
	case !seen.Mode().IsRegular():
		return nil, ErrNotFile
	case seen.Size() > MaxFile:
		return nil, ErrTooLarge
	}
	// Without waiting: a pipe that was put here meanwhile would never open.
	file, err := f.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, cause(err)
	}
	defer file.Close() //nolint:errcheck // it was only read
	opened, err := file.Stat()
	switch {
	case err != nil:
		return nil, cause(err)
	case !opened.Mode().IsRegular() || !os.SameFile(seen, opened):
		return nil, ErrChanged
	}
	data, err := io.ReadAll(io.LimitReader(file, MaxFile+1))
	if err != nil {
		return nil, cause(err)
	}
	if len(data) > MaxFile {
		return nil, ErrTooLarge
	}
	return data, nil
}
