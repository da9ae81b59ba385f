package metadata

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

// maxFile is the maximum size of a file in bytes.
const maxFile = 8 << 20

// maxEntries is the maximum number of entries of a folder.
const maxEntries = 100_000

// Errors besides fs.ErrNotExist. They contain no path.
var (
	errOutside  = errors.New("the path is outside of the allowed roots")
	errNotFile  = errors.New("it is not a regular file")
	errTooLarge = errors.New("it is larger than 8 MiB")
	errCrowded  = errors.New("the folder has more than 100,000 entries")
	errChanged  = errors.New("it changed while it was opened")
)

// roots are the folders below which files may be opened. The zero roots allow nothing.
type roots struct {
	roots []root
}

// A root is an allowed folder: the given path, and its resolved path at that time.
type root struct{ given, resolved string }

// newRoots returns roots of existing folders. Relative paths start at the working directory. Symbolic links in the
// paths are resolved once, in newRoots.
func newRoots(paths []string) (roots, error) {
	var r roots
	for _, path := range paths {
		given, err := filepath.Abs(path)
		if err != nil {
			return roots{}, fmt.Errorf("root %s: %w", path, err)
		}
		resolved, err := filepath.EvalSymlinks(given)
		if err != nil {
			return roots{}, fmt.Errorf("root %s: %w", path, cause(err))
		}
		info, err := os.Lstat(resolved)
		if err != nil {
			return roots{}, fmt.Errorf("root %s: %w", path, cause(err))
		}
		if !info.IsDir() {
			return roots{}, fmt.Errorf("root %s is not a folder", path)
		}
		r.roots = append(r.roots, root{given, resolved})
	}
	return r, nil
}

// cause removes the path from a file system error.
func cause(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}

// Paths returns the given paths of the roots, made absolute.
func (r roots) Paths() []string {
	out := make([]string, len(r.roots))
	for i := range r.roots {
		out[i] = r.roots[i].given
	}
	return out
}

// Allows reports whether an absolute path is a root or below one. It checks the text only, not the file system.
func (r roots) Allows(path string) bool {
	_, _, ok := r.below(path)
	return ok
}

// below returns the path of the root that contains path, and the names from the root to path.
func (r roots) below(path string) (string, []string, bool) {
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

// Each opens each root in turn and passes it to visit with its path. visit must close it. Roots that can't be opened
// are skipped.
func (r roots) Each(visit func(path string, at *folder)) {
	for _, root := range r.roots {
		if opened, err := os.OpenRoot(root.resolved); err == nil {
			visit(root.given, &folder{opened})
		}
	}
}

// Open opens the folder at an absolute path below a root. For any other path it fails with errOutside, without
// accessing the path. It fails with fs.ErrNotExist if the path isn't a folder or contains a link.
func (r roots) Open(path string) (*folder, error) {
	at, names, ok := r.below(path)
	if !ok {
		return nil, errOutside
	}
	opened, err := os.OpenRoot(at)
	if err != nil {
		return nil, cause(err)
	}
	return (&folder{opened}).Down(names...)
}

// A folder is an open folder, to be closed after use.
type folder struct {
	root *os.Root
}

// Close implements io.Closer.
func (f *folder) Close() error { return f.root.Close() }

// Down opens a folder below f. Each of names is the name of a folder in the previous folder. It closes f. Without
// names it returns f.
func (f *folder) Down(names ...string) (*folder, error) {
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

// Folder opens the folder called name in f. It fails with fs.ErrNotExist for anything other than a folder, such as a
// link.
func (f *folder) Folder(name string) (*folder, error) {
	if !single(name) {
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
		return nil, errors.Join(errChanged, opened.Close())
	}
	return &folder{opened}, nil
}

// single reports whether name is a plain name in a folder: not empty, "." or "..", without separators of any system,
// drive letters or NUL.
func single(name string) bool {
	drive := len(name) > 1 && name[1] == ':' && name[0]|0x20 >= 'a' && name[0]|0x20 <= 'z'
	return name != "" && name != "." && name != ".." && !drive && !strings.ContainsAny(name, "/\\\x00")
}

// Names returns the names in f, sorted bytewise, without names that aren't UTF-8. It fails with errCrowded if there
// are too many.
func (f *folder) Names() ([]string, error) {
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
		return nil, errCrowded
	}
	names = slices.DeleteFunc(names, func(n string) bool { return !utf8.ValidString(n) })
	slices.Sort(names)
	return names, nil
}

// Folders returns the names of the folders in f, sorted bytewise.
func (f *folder) Folders() ([]string, error) {
	names, err := f.Names()
	return slices.DeleteFunc(names, func(n string) bool {
		info, err := f.root.Lstat(n)
		return err != nil || !info.IsDir()
	}), err
}

// ModTime returns the modification time of the regular file called name. It returns false if there is no such file.
func (f *folder) ModTime(name string) (time.Time, bool) {
	if !single(name) {
		return time.Time{}, false
	}
	info, err := f.root.Lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		return time.Time{}, false
	}
	return info.ModTime(), true
}

// Read returns the content of the regular file called name. It fails with fs.ErrNotExist if there is no such file,
// with errTooLarge beyond maxFile, and with errChanged if the file was replaced meanwhile. For a link, a pipe, a
// device or a folder, it fails with errNotFile without opening it.
func (f *folder) Read(name string) ([]byte, error) {
	if !single(name) {
		return nil, fs.ErrNotExist
	}
	seen, err := f.root.Lstat(name)
	switch {
	case err != nil:
		return nil, cause(err)
	case !seen.Mode().IsRegular():
		return nil, errNotFile
	case seen.Size() > maxFile:
		return nil, errTooLarge
	}
	// Nonblocking, because opening a pipe that was put here meanwhile would hang.
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
		return nil, errChanged
	}
	data, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil {
		return nil, cause(err)
	}
	if len(data) > maxFile {
		return nil, errTooLarge
	}
	return data, nil
}
