package yamlconf

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strings"
)

// A Document is where everything stands in what was read. The zero Document has no places.
type Document struct {
	top    *file
	places map[string]Position // where each key and element stands, by JSON pointer
	origin *origin
}

// Place returns where the keys of path lead to: "classes", "tracker.issues". ok is false when the document has no such
// place; it is then that of the deepest key there is.
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

// Wrong returns a fault at a place of the document, for what is found out after reading: path are the keys that lead
// there; where the document has no such place, the deepest one it has.
func (d Document) Wrong(message string, path ...string) PositionFault {
	p, _ := d.Place(path...)
	f := PositionFault{File: p.File(), Line: p.Line, Column: p.Column, Path: dotted(Join(path...)), Message: message}
	if p.Line > 0 {
		f.Excerpt = excerpt(p.file.shown(p.Line), p)
	}
	return f
}

// State identifies all that the document was read from: its files, those that secrets are in, and which files its
// patterns match. It is "" for the zero Document.
func (d Document) State() string {
	if d.origin == nil {
		return ""
	}
	return d.origin.state()
}

// Now reads all that the document was read from again, and returns what State would be. Where it differs from State,
// something has changed; variables of the environment are not looked at.
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
			s, err := SecretFile(p.path)
			now.note(p.kind, p.path, []byte(s), err)
		case aLarge:
			data, err := ordinaryFile(p.path, MaxLarge)
			now.note(p.kind, p.path, data, err)
		default:
			data, err := ordinaryFile(p.path, MaxFile)
			now.note(p.kind, p.path, data, err)
		}
	}
	return now.state()
}

// An origin is all that a document was read from, in the order of reading.
type origin struct{ parts []part }

// A part is one thing that was read.
type part struct {
	kind   byte
	path   string
	digest [32]byte // of its contents, or of the error
}

// The kinds of part.
const (
	aFile    byte = 'f'
	aSecret  byte = 's'
	aPattern byte = 'p'
	aLarge   byte = 'l'
)

// note keeps what reading a part gave.
func (o *origin) note(kind byte, path string, data []byte, err error) {
	if err != nil {
		data = append([]byte("error: "), bare(err).Error()...)
	}
	o.parts = append(o.parts, part{kind, path, sha256.Sum256(data)})
}

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
