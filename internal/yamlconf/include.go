package yamlconf

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
)

// maxFiles is the maximum number of files of a document.
const maxFiles = 64

// Files returns the shape of the key named by Options.Include, a list of paths and patterns. Includes are followed
// before other keys are read, so this shape only provides the JSON Schema.
func Files() Shape {
	return Shape{Schema: List(nil, "", nil).Schema, Read: func(*Reader, Node, string) {}}
}

// including is the state while includes are followed.
type including struct {
	*Reader
	by    map[string]Position // by file: the position of its include, or the zero Position for the first file
	chain []string            // the files that are being read, from the first to the current one
	out   []Node
}

// includedNodes returns the top nodes of all files that top includes, directly or indirectly. Each comes after the
// file that includes it.
func (r *Reader) includedNodes(top Node) []Node {
	i := &including{Reader: r, by: map[string]Position{filepath.Clean(top.file.name): {}}}
	i.follow(top, filepath.Clean(top.file.name))
	return i.out
}

// follow reads the files that body includes. body is the top node of the file at path.
func (i *including) follow(body Node, path string) {
	pairs, _ := body.pairs()
	at := slices.IndexFunc(pairs, func(p *ast.MappingValueNode) bool {
		key, ok := p.Key.(*ast.StringNode)
		return ok && i.options.Include != "" && key.Value == i.options.Include
	})
	if at < 0 {
		return
	}
	e, _ := i.entry(body.file, pairs[at], "")
	i.places[e.At] = e.Key
	var patterns []string
	before := i.Count()
	List(&patterns, "files", nil).Value(i.Reader, e)
	elements, ok := e.Value.List()
	if !ok || i.Count() > before {
		return
	}
	i.chain = append(i.chain, path)
	defer func() { i.chain = i.chain[:len(i.chain)-1] }()
	for n, pattern := range patterns {
		for _, found := range i.matches(pattern, elements[n], query.Pointer(e.At, fmt.Sprint(n))) {
			i.read(found, elements[n], query.Pointer(e.At, fmt.Sprint(n)))
		}
	}
}

// matches returns the files that match a pattern, in order. The pattern is written at n.
func (i *including) matches(pattern string, n Node, at string) []string {
	full := pattern
	if !filepath.IsAbs(full) {
		full = filepath.Join(n.Folder(), full)
	}
	if !strings.ContainsAny(pattern, `*?[`) {
		return []string{full}
	}
	found, err := glob(full)
	i.origin.note(aPattern, full, []byte(strings.Join(found, "\n")), err)
	switch {
	case err != nil:
		i.Wrong(n.Start(), at, "%s is not a pattern of file names", problem.Cut(pattern))
	case found == nil:
		i.Wrong(n.Start(), at, "no file matches %s", problem.Cut(pattern))
	}
	return found
}

// glob does the same as filepath.Glob, sorted. It omits hidden files unless the pattern begins with a dot, because
// editors create such files next to the edited ones.
func glob(pattern string) ([]string, error) {
	found, err := filepath.Glob(pattern)
	found = slices.DeleteFunc(found, func(path string) bool {
		return strings.HasPrefix(filepath.Base(path), ".") && !strings.HasPrefix(filepath.Base(pattern), ".")
	})
	slices.Sort(found)
	return found, err
}

// read reads the file at path, which n includes, and the files that it includes.
func (i *including) read(path string, n Node, at string) {
	if by, twice := i.by[path]; twice {
		switch {
		case slices.Contains(i.chain, path):
			i.Wrong(n.Start(), at, "leads back to %s, which is being read", path)
		default:
			i.Wrong(n.Start(), at, "%s is included already, on line %d of %s", path, by.Line, by.File())
		}
		return
	}
	if len(i.by) == maxFiles {
		i.Wrong(n.Start(), at, "a configuration is made of at most %d files", maxFiles)
		i.by[path] = n.Start()
		return
	}
	if len(i.by) > maxFiles {
		return
	}
	in := &file{name: path, dir: filepath.Dir(path), order: len(i.by)}
	i.by[path] = n.Start()
	data, err := i.options.File(path)
	i.origin.note(aFile, path, data, err)
	if err != nil {
		i.Wrong(n.Start(), at, "the file %s can't be read: %v", path, bare(err))
		return
	}
	body, ok := i.document(in, data)
	switch {
	case !ok:
	case body.yaml == nil:
		i.Wrong(Position{file: in}, "", "the file says nothing. Take it away or give it a key")
	case !body.IsObject():
		i.Must(body, "", "an object with the sections of a configuration")
	default:
		i.out = append(i.out, body)
		i.follow(body, path)
	}
}

// ordinaryFile reads at most most+1 bytes of a regular file. Other kinds of files could block or never end.
func ordinaryFile(path string, most int64) ([]byte, error) {
	f, size, err := openOrdinary(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	var b bytes.Buffer
	b.Grow(int(min(size, most)) + bytes.MinRead) // io.ReadAll would use twice as much memory for a large file
	_, err = b.ReadFrom(io.LimitReader(f, most+1))
	return b.Bytes(), err
}

// openOrdinary opens a regular file and returns its size. It refuses other files, because opening them could block.
func openOrdinary(path string) (*os.File, int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, errors.New("it is not an ordinary file")
	}
	f, err := os.Open(path)
	return f, info.Size(), err
}

// bare removes the path from an error, because messages already contain the path as written in the file.
func bare(err error) error {
	if inner, ok := errors.AsType[*os.PathError](err); ok {
		return inner.Err
	}
	return err
}
