package metadata

import (
	"bytes"
	"errors"
	"io"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// A jsonReader reads a describe as a stream and stores only its fields, so that deep or large documents need little
// memory.
type jsonReader struct {
	dec *jsontext.Decoder
	to  *collector
}

var errDeep = errors.New("nested deeper than 64")

// readJSON reads {"fields": [{"name", "type", "nillable", …}, …]}.
func readJSON(text []byte, to *collector) error {
	r := jsonReader{jsontext.NewDecoder(bytes.NewReader(text)), to}
	err := r.document()
	if err == nil {
		if _, err = r.dec.ReadToken(); errors.Is(err, io.EOF) {
			return nil
		}
		return invalidFileError("the file is not valid JSON: there is more after the document")
	}
	var syntax *jsontext.SyntacticError
	switch {
	case errors.Is(err, errDeep):
		return invalidFileError("the file is nested deeper than %d", maxDepth)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return invalidFileError("the file is not valid JSON: it ends too early")
	case errors.As(err, &syntax):
		return invalidFileError("the file is not valid JSON at byte %d", syntax.ByteOffset)
	}
	return err
}

// document reads a describe: an object whose member fields is the list of fields. It skips other members. fields may
// be null.
func (r *jsonReader) document() error {
	if r.dec.PeekKind() != '{' {
		if err := r.skip(); err != nil {
			return err
		}
		return invalidFileError("the file describes no object: it is no JSON object")
	}
	return r.members(func(name string) error {
		if name != "fields" {
			return r.skip()
		}
		switch r.dec.PeekKind() {
		case '[':
			return r.elements(r.field)
		case 'n':
			return r.skip()
		}
		if err := r.skip(); err != nil {
			return err
		}
		return invalidFileError("fields is not a list")
	})
}

// field reads one element of fields.
func (r *jsonReader) field() error {
	if r.dec.PeekKind() != '{' {
		if err := r.skip(); err != nil {
			return err
		}
		return invalidFileError("fields has an element that is no field")
	}
	d := described{nillable: true}
	var required bool
	err := r.members(func(name string) (err error) {
		switch name {
		case "name":
			d.name, err = r.text("the name of a field is no text")
		case "type":
			d.typ, err = r.text("the type of a field is no text")
		case "label":
			d.label, err = r.scalar()
		case "nillable":
			d.nillable, err = r.is("false", true)
		case "required":
			required, err = r.is("true", false)
		case "createable":
			var can bool
			can, err = r.is("false", true)
			d.filled = d.filled || !can
		case "defaultedOnCreate":
			var filled bool
			filled, err = r.is("true", false)
			d.filled = d.filled || filled
		case "length":
			d.length, err = r.count()
		case "defaultValue":
			d.preset, err = r.preset()
		case "picklistValues":
			d.values, err = r.picklist()
		default:
			err = r.skip()
		}
		return err
	})
	if err != nil {
		return err
	}
	d.nillable = d.nillable && !required
	return r.to.add(d)
}

// picklist reads [{"value", "active"}, …] and returns the active values.
func (r *jsonReader) picklist() (values []string, err error) {
	if r.dec.PeekKind() != '[' {
		return nil, r.skip()
	}
	err = r.elements(func() error {
		if r.dec.PeekKind() != '{' {
			v, err := r.scalar()
			values = append(values, v)
			return err
		}
		value, active := "", true
		err := r.members(func(name string) (err error) {
			switch name {
			case "value":
				value, err = r.scalar()
			case "active":
				active, err = r.is("false", true)
			default:
				err = r.skip()
			}
			return err
		})
		if active && value != "" {
			values = append(values, value)
		}
		return err
	})
	return values, err
}

// members reads an object. visit reads the value of each member.
func (r *jsonReader) members(visit func(name string) error) error {
	if _, err := r.token(); err != nil {
		return err
	}
	for r.dec.PeekKind() != '}' {
		name, err := r.token()
		if err != nil {
			return err
		}
		if err := visit(name.String()); err != nil {
			return err
		}
	}
	_, err := r.token()
	return err
}

// elements reads a list. visit reads each element.
func (r *jsonReader) elements(visit func() error) error {
	if _, err := r.token(); err != nil {
		return err
	}
	for r.dec.PeekKind() != ']' {
		if err := visit(); err != nil {
			return err
		}
	}
	_, err := r.token()
	return err
}

func (r *jsonReader) token() (jsontext.Token, error) {
	t, err := r.dec.ReadToken()
	if err == nil && r.dec.StackDepth() > maxDepth {
		err = errDeep
	}
	return t, err
}

// skip reads and discards a value of any kind.
func (r *jsonReader) skip() error {
	at := r.dec.StackDepth()
	for {
		if _, err := r.token(); err != nil {
			return err
		}
		if r.dec.StackDepth() <= at {
			return nil
		}
	}
}

// scalar reads a string, a number or a boolean as text, or "" for null, an array or an object.
func (r *jsonReader) scalar() (string, error) {
	switch r.dec.PeekKind() {
	case '"', '0', 't', 'f':
		t, err := r.token()
		return t.String(), err
	}
	return "", r.skip()
}

// text reads a text, and returns "" for null. For any other kind, it fails with the message otherwise.
func (r *jsonReader) text(otherwise string) (string, error) {
	switch r.dec.PeekKind() {
	case '"':
		return r.scalar()
	case 'n':
		return "", r.skip()
	}
	if err := r.skip(); err != nil {
		return "", err
	}
	return "", invalidFileError("%s", otherwise)
}

// is reads true or false, as a boolean or as text. It returns !otherwise if the value equals word. It returns
// otherwise for any other value.
func (r *jsonReader) is(word string, otherwise bool) (bool, error) {
	got, err := r.scalar()
	if got == word {
		return !otherwise, err
	}
	return otherwise, err
}

// count reads a non-negative integer, or 0 for any other value.
func (r *jsonReader) count() (int, error) {
	text, err := r.scalar()
	n, bad := strconv.ParseInt(text, 10, 32)
	if bad != nil || n < 0 {
		n = 0
	}
	return int(n), err
}

// preset reads a default value as text. It returns nil if there is none.
func (r *jsonReader) preset() (*string, error) {
	switch r.dec.PeekKind() {
	case 'n', '[', '{':
		return nil, r.skip()
	}
	text, err := r.scalar()
	return &text, err
}
