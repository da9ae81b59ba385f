package yamlconf

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
)

// A Document contains the positions of all keys and elements in a file and its included files. The zero Document is
// empty.
type Document struct {
	top    *file
	places map[string]Position // position of each key and element, by JSON pointer
	origin *origin
}

// Place returns the position of the key at path, such as "classes", "tracker.issues". If the document lacks it, ok is
// false and p is the position of the deepest existing key.
func (d Document) Place(path ...string) (p Position, ok bool) {
	at := Join(path...)
	if p, ok := d.places[at]; ok {
		return p, true
	}
	if len(d.places) == 0 {
		return Position{file: d.top}, false
	}
	return locate(d.places, at), false
}

// Wrong returns a fault at the key at path, for checks after reading. If the document lacks the key, the fault is at
// the deepest existing key.
func (d Document) Wrong(message string, path ...string) PositionFault {
	p, _ := d.Place(path...)
	f := PositionFault{File: p.File(), Line: p.Line, Column: p.Column, Path: dottedPath(Join(path...)), Message: message}
	if p.Line > 0 {
		f.Excerpt = excerpt(p.file.maskedLine(p.Line), p)
	}
	return f
}

// WrongInText returns a fault at a line and a column, from 1, of the text at path. If the text isn't written as a block
// (|), the fault is at its beginning, and the message has the line and the column.
func (d Document) WrongInText(message string, line, column int, path ...string) PositionFault {
	p, ok := d.Place(path...)
	block := false
	for _, sign := range []string{"|", "|-", "|+"} {
		block = block || ok && strings.HasSuffix(strings.TrimSpace(string(p.file.maskedLine(p.Line))), sign)
	}
	if !block {
		return d.Wrong(fmt.Sprintf("line %d, column %d: %s", line, column, message), path...)
	}
	f, first := d.Wrong(message, path...), string(p.file.maskedLine(p.Line+1))
	p.Line += line
	p.Column = len(first) - len(strings.TrimLeft(first, " ")) + column
	f.Line, f.Column, f.Excerpt = p.Line, p.Column, excerpt(p.file.maskedLine(p.Line), p)
	return f
}

// State identifies everything from which the document was read: its files, the files of its secrets, and the files
// that its patterns match. It is "" for the zero Document.
func (d Document) State() string {
	if d.origin == nil {
		return ""
	}
	return d.origin.state()
}

// Now reads everything again from which the document was read, except environment variables. It returns the current
// State. If it differs from State, something has changed.
func (d Document) Now() string {
	if d.origin == nil {
		return ""
	}
	now := &origin{}
	for _, p := range d.origin.parts {
		switch p.kind {
		case aPattern:
			found, err := glob(p.path)
			now.note(p.kind, p.path, []byte(strings.Join(found, "\n")), err)
		case aSecret:
			s, err := secretFile(p.path)
			now.note(p.kind, p.path, []byte(s), err)
		case aLarge:
			now.again(p)
		default:
			data, err := ordinaryFile(p.path, MaxFile)
			now.note(p.kind, p.path, data, err)
		}
	}
	return now.state()
}

// WritableByOthers returns the paths of the document's files, and of the files of its secrets, that every user of the
// machine can write. Windows has no such permission bit, so the result is empty there.
func (d Document) WritableByOthers() []string {
	if d.origin == nil || runtime.GOOS == "windows" {
		return nil
	}
	var paths []string
	for _, p := range d.origin.parts {
		if p.kind != aFile && p.kind != aSecret || slices.Contains(paths, p.path) {
			continue
		}
		if info, err := os.Stat(p.path); err == nil && info.Mode().Perm()&0o002 != 0 {
			paths = append(paths, p.path)
		}
	}
	return paths
}

// Secrets returns the paths of the files that contain secrets of the document.
func (d Document) Secrets() []string {
	if d.origin == nil {
		return nil
	}
	var paths []string
	for _, p := range d.origin.parts {
		if p.kind == aSecret && !slices.Contains(paths, p.path) {
			paths = append(paths, p.path)
		}
	}
	return paths
}

// An origin lists everything from which a document was read, in the order of reading.
type origin struct{ parts []part }

// A part is a file or pattern that was read.
type part struct {
	kind   byte
	path   string
	digest [32]byte    // the digest of the contents, or of the error
	info   os.FileInfo // for a large file, which is read again only if info has changed. Nil if info can't be trusted
}

// quiet is the minimum age of a file's modification time that can be trusted. It is longer than the time resolution
// of file systems.
const quiet = 2 * time.Second

// infoOf returns the system's information about a file. It returns nil if the file could change without changing this
// information.
func infoOf(path string) os.FileInfo {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || time.Since(info.ModTime()) < quiet {
		return nil
	}
	return info
}

// again records the current state of a large file without keeping its contents in memory.
func (o *origin) again(p part) {
	if info := infoOf(p.path); info != nil && p.info != nil && os.SameFile(info, p.info) && info.Size() == p.info.Size() && info.ModTime().Equal(p.info.ModTime()) {
		o.parts = append(o.parts, p)
		return
	}
	digest, err := streamFile(p.path, func(io.Reader, int64) error { return nil })
	if digest == nil {
		o.note(p.kind, p.path, nil, err)
		return
	}
	o.parts = append(o.parts, part{kind: p.kind, path: p.path, digest: [32]byte(digest)})
}

// These are the kinds of part.
const (
	aFile    byte = 'f'
	aSecret  byte = 's'
	aPattern byte = 'p'
	aLarge   byte = 'l'
)

// note records the result of reading a part.
func (o *origin) note(kind byte, path string, data []byte, err error) {
	if err != nil {
		data = append([]byte("error: "), bare(err).Error()...)
	}
	o.parts = append(o.parts, part{kind: kind, path: path, digest: sha256.Sum256(data)})
}

// state returns a digest of all files from which a document was read. It includes lengths, so that two different
// readings can't have the same digest.
func (o *origin) state() string {
	h := sha256.New()
	for _, p := range o.parts {
		h.Write([]byte{p.kind})
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(p.path))))
		h.Write([]byte(p.path))
		h.Write(p.digest[:])
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
