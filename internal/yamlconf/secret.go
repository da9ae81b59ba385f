package yamlconf

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/goccy/go-yaml/ast"
)

var variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// expand replaces ${NAME} with an environment variable and ${file:path} with the contents of a file. $${ is a literal
// ${. It percent-encodes values inside a URL. It returns false after reporting missing values. Messages never contain
// the values.
func (r *Reader) expand(s string, n Node, at string) (string, bool) {
	var b strings.Builder
	whole, ok := s, true
	for {
		before, after, found := strings.Cut(s, "${")
		if !found {
			b.WriteString(s)
			return b.String(), ok
		}
		if plain, escaped := strings.CutSuffix(before, "$"); escaped {
			b.WriteString(plain + "${")
			s = after
			continue
		}
		b.WriteString(before)
		name, rest, closed := strings.Cut(after, "}")
		if !closed {
			r.Wrong(n.Start(), at, "${ is not closed. Write $${ for a plain ${")
			return "", false
		}
		got, err := r.lookUp(n.Folder(), name)
		if err == nil {
			got, err = inURL(whole, len(whole)-len(after)-len("${"), got)
		}
		if err != nil {
			r.Wrong(n.Start(), at, "%v", err)
			ok = false
		}
		b.WriteString(got)
		s = rest
	}
}

// lookUp returns the value of ${name}. It comes from the environment or, for file:path, from a file relative to
// folder. Errors contain the name, never the value.
func (r *Reader) lookUp(folder, name string) (string, error) {
	if path, ok := strings.CutPrefix(name, "file:"); ok {
		return r.fromFile(folder, path)
	}
	if !variable.MatchString(name) {
		return "", fmt.Errorf("${%s} does not name an environment variable or a file. Write $${ for a plain ${", problem.Cut(name))
	}
	v, ok := r.Env(name)
	switch {
	case !ok:
		return "", fmt.Errorf("the environment variable %s is not set", problem.Cut(name))
	case !utf8.ValidString(v) || strings.ContainsRune(v, 0):
		return "", fmt.Errorf("the environment variable %s does not hold plain text", problem.Cut(name))
	}
	return v, nil
}

// fromFile returns the contents of a file without a final line ending. A relative path begins at folder.
func (r *Reader) fromFile(folder, path string) (string, error) {
	if path == "" {
		return "", errors.New("file: needs a path")
	}
	full := path
	if !filepath.IsAbs(full) {
		full = filepath.Join(folder, full)
	}
	v, err := r.options.Secret(full)
	r.origin.note(aSecret, full, []byte(v), err)
	if err != nil {
		return "", fmt.Errorf("the file %s can't be read: %w", problem.Cut(path), bare(err))
	}
	v = strings.TrimSuffix(strings.TrimSuffix(v, "\n"), "\r")
	if !utf8.ValidString(v) || strings.ContainsRune(v, 0) {
		return "", fmt.Errorf("the file %s does not hold plain text. If it is an SQLite database, write sqlite: and its path", problem.Cut(path))
	}
	return v, nil
}

const maxSecret = 64 << 10

// secretFile reads a small regular file, of at most 64 KiB. Other kinds of files could block or never end.
func secretFile(path string) (string, error) {
	b, err := ordinaryFile(path, maxSecret)
	switch {
	case err != nil:
		return "", err
	case len(b) > maxSecret:
		return "", fmt.Errorf("it is larger than %d bytes", maxSecret)
	}
	return string(b), nil
}

// Secret returns the shape of a text that may be stored elsewhere. In addition to ${…}, the whole text can be
// file:path. The function take gets the folder at which relative paths begin, and the text. Otherwise Secret does the
// same as Text.
func Secret(what string, take func(folder, s string) string) Shape {
	return Shape{Schema: map[string]any{"type": "string", "minLength": 1}, Read: func(r *Reader, n Node, at string) {
		Text(what, func(s string) string {
			if path, ok := strings.CutPrefix(s, "file:"); ok {
				contents, err := r.fromFile(n.Folder(), path)
				if err != nil {
					return err.Error()
				}
				s = contents
			}
			return take(n.Folder(), s)
		}).Read(r, n, at)
	}}
}

// Refers reports whether the text n refers to a value elsewhere, by ${…} or file:.
func (n Node) Refers() bool {
	var text string
	switch y := n.yaml.(type) {
	case *ast.StringNode:
		text = y.Value
	case *ast.LiteralNode:
		text = y.Value.Value
	}
	return strings.Contains(strings.ReplaceAll(text, "$${", ""), "${") || strings.HasPrefix(text, "file:")
}

// MaxLarge is the maximum size of a file to which a document refers, in bytes.
const MaxLarge = 64 << 20

// Large reads the regular file at path, as written at n. A relative path begins at n's folder. The file becomes part
// of the document's State. The error doesn't contain the path.
func (r *Reader) Large(n Node, path string) ([]byte, error) {
	var out []byte
	err := r.Stream(n, path, func(f io.Reader, size int64) (err error) {
		b := bytes.NewBuffer(make([]byte, 0, size+bytes.MinRead))
		_, err = b.ReadFrom(f)
		out = b.Bytes()
		return err
	})
	return out, err
}

// Stream does the same as Large without keeping the file in memory. use reads the file, of about size bytes. Stream
// returns the error of use.
func (r *Reader) Stream(n Node, path string, use func(f io.Reader, size int64) error) error {
	if !filepath.IsAbs(path) {
		path = filepath.Join(n.Folder(), path)
	}
	info := infoOf(path) // before it is read, because bytes that are written during the read have another time
	digest, err := streamFile(path, use)
	if err != nil && digest == nil {
		r.origin.note(aLarge, path, nil, err)
		return bare(err)
	}
	r.origin.parts = append(r.origin.parts, part{kind: aLarge, path: path, digest: [32]byte(digest), info: info})
	return err
}

// streamFile passes a file to use. It returns the digest of the whole file, even if use fails. It returns nil if the
// file can't be read.
func streamFile(path string, use func(f io.Reader, size int64) error) ([]byte, error) {
	f, size, err := openOrdinary(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	h := sha256.New()
	from := io.TeeReader(io.LimitReader(f, MaxLarge+1), h)
	err = fmt.Errorf("it is larger than %d bytes", MaxLarge)
	if size <= MaxLarge {
		err = use(from, size)
	}
	if _, rest := io.Copy(io.Discard, from); rest != nil {
		return nil, rest
	}
	return h.Sum(nil), err
}

// Folder reads those regular files in the folder at path for whose names take returns true. It returns them by name.
// The path is resolved as in Large.
func (r *Reader) Folder(n Node, path string, take func(name string) bool) (map[string][]byte, error) {
	if !filepath.IsAbs(path) {
		path = filepath.Join(n.Folder(), path)
	}
	pattern := filepath.Join(path, "*")
	found, err := glob(pattern)
	r.origin.note(aPattern, pattern, []byte(strings.Join(found, "\n")), err)
	if err != nil {
		return nil, bare(err)
	}
	files := map[string][]byte{}
	for _, file := range found {
		name := filepath.Base(file)
		if !take(name) {
			continue
		}
		if files[name], err = r.Large(n, file); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	if len(files) == 0 {
		return nil, errors.New("there are no such files")
	}
	return files, nil
}

// MaskExcerpts returns s with all its texts and numbers masked in excerpts, for any key. References such as ${…} are
// not masked.
func MaskExcerpts(s Shape) Shape {
	inner := s.Read
	s.Read = func(r *Reader, n Node, at string) {
		n.cover()
		inner(r, n, at)
	}
	return s
}

// cover records the positions of texts and numbers in n.
func (n Node) cover() {
	if list, ok := n.List(); ok {
		for _, item := range list {
			item.cover()
		}
		return
	}
	if pairs, ok := n.pairs(); ok {
		for _, pair := range pairs {
			Node{yaml: pair.Value, file: n.file}.cover()
		}
		return
	}
	if p := n.Start(); !n.null() && p.Line > 0 && p.Line <= len(n.file.lines) {
		if n.file.covered == nil {
			n.file.covered = map[int][]int{}
		}
		n.file.covered[p.Line] = append(n.file.covered[p.Line], p.Column)
	}
}

// scalar matches a text or number on one line of YAML. A plain scalar ends before punctuation.
var scalar = regexp.MustCompile(`^(?:"(?:[^"\\]|\\.)*"?|'(?:[^']|'')*'?|[^,}\]#]*)`)

// maskedLine returns line number i of f with passwords and covered values masked.
func (f *file) maskedLine(i int) []rune {
	line := []rune(starPasswords(f.lines[i-1]))
	for _, column := range f.covered[i] {
		at := min(column-1, len(line))
		written := []rune(strings.TrimRight(scalar.FindString(string(line[at:])), " "))
		if text := strings.Trim(string(written), `"'`); strings.HasPrefix(text, "${") && strings.HasSuffix(text, "}") {
			continue
		}
		copy(line[at:], []rune(strings.Repeat("*", len(written))))
	}
	return line
}
