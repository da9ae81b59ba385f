package parse

import (
	"bytes"
	"encoding/base64"
	"errors"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bailiwick-dev/bailiwick/internal/interpret"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A restRecord is a record in an answer of the REST API, with its members still unparsed. They share the memory of
// the answer.
type restRecord []member

type member struct {
	name string
	raw  jsontext.Value
}

// errNoRecords is the error for an answer without results.
var errNoRecords = errors.New("an answer without results")

var errNoObject = errors.New("not an object")

// restRecords returns the records in the answer to a query. A value that is not an object becomes a record without
// members.
func restRecords(body []byte) ([]restRecord, error) {
	dec := jsontext.NewDecoder(bytes.NewBuffer(body))
	var out []restRecord
	found := false
	err := eachMember(dec, func(name string) error {
		if name != "results" {
			return dec.SkipValue()
		}
		if found = dec.PeekKind() == '['; !found {
			return errNoRecords
		}
		if _, err := dec.ReadToken(); err != nil {
			return err
		}
		for dec.PeekKind() != ']' {
			r, err := record(dec)
			if err != nil {
				return err
			}
			out = append(out, r)
		}
		_, err := dec.ReadToken()
		return err
	})
	if err == nil && !found {
		err = errNoRecords
	}
	return out, err
}

// record reads the next value. It returns nil if the value isn't an object.
func record(dec *jsontext.Decoder) (r restRecord, err error) {
	if dec.PeekKind() != '{' {
		return nil, dec.SkipValue()
	}
	err = eachMember(dec, func(name string) error {
		raw, err := dec.ReadValue()
		r = append(r, member{name, raw})
		return err
	})
	return r, err
}

// eachMember reads the next object. It calls do after it has read the name of a member, and do must read the value.
func eachMember(dec *jsontext.Decoder, do func(name string) error) error {
	if tok, err := dec.ReadToken(); err != nil {
		return err
	} else if tok.Kind() != '{' {
		return errNoObject
	}
	for dec.PeekKind() != '}' {
		tok, err := dec.ReadToken()
		if err != nil {
			return err
		}
		if err := do(tok.String()); err != nil {
			return err
		}
	}
	_, err := dec.ReadToken()
	return err
}

// ID returns the objectId, or "" if the record has no objectId.
func (r restRecord) ID() string {
	id, err := r.Field(&schema.Field{Name: "objectId", Type: schema.String}, 0)
	if err != nil {
		return ""
	}
	return id.Text()
}

// raw returns the member of a field, or nil if the record has no such member.
func (r restRecord) raw(f *schema.Field) jsontext.Value {
	name := f.Name
	if name == readers {
		name = "ACL"
	}
	for _, m := range r {
		if m.name == name {
			return m.raw
		}
	}
	return nil
}

// Size returns the size of a field's value in the answer, and its approximate size in memory after parsing, both in
// bytes.
func (r restRecord) Size(f *schema.Field) (size, weight int64) {
	const each = 192 // the size of a value and its name
	raw := r.raw(f)
	separators := bytes.Count(raw, []byte{','}) + bytes.Count(raw, []byte{'['}) + bytes.Count(raw, []byte{'{'})
	return int64(len(raw)), int64(len(raw)) + each*int64(separators+1)
}

// Field returns the value of a field, or null if the record doesn't have the field. If most is above 0 and the value
// is longer than most bytes, Field returns a Cut with the length, without copying the value.
func (r restRecord) Field(f *schema.Field, most int) (value.Value, error) {
	raw := r.raw(f)
	if raw == nil {
		return value.Value{}, nil
	}
	if most > 0 && len(raw) > most && f.Stored == nil && f.Name != readers {
		if n := length(raw, f.Type); n > int64(most) {
			return value.OfCut(n), nil
		}
	}
	of := f
	if f.Stored != nil {
		of = &f.Stored.Field
	}
	var v value.Value
	if f.Name != readers && !fits(raw, of.Type) {
		return v, nil
	}
	if err := v.UnmarshalJSON(raw); err != nil {
		return v, err
	}
	switch {
	case f.Name == readers:
		return aclGroups(v, true, "read"), nil
	case f.Stored != nil:
		return interpret.DecodeValue(f, convertREST(of, v)), nil
	}
	return convertREST(f, v), nil
}

// fits reports whether raw may be a value of type t, so that other values needn't be parsed.
func fits(raw jsontext.Value, t schema.Type) bool {
	const wrapped = 4 << 10 // the maximum size in bytes of a pointer or a date
	switch kind := raw.Kind(); t {
	case schema.String:
		return kind == '"' || kind == '{' && len(raw) <= wrapped
	case schema.Date:
		return len(raw) <= wrapped
	case schema.Double, schema.Boolean:
		return kind != '[' && kind != '{'
	case schema.Bytes:
		return kind == '{'
	case schema.Array:
		return kind == '['
	}
	return true
}

// length returns the length in bytes of a value's text, of its bytes, or of its JSON in the form of package value. It
// returns 0 for values that are never long.
func length(raw jsontext.Value, t schema.Type) (n int64) {
	switch kind := raw.Kind(); {
	case kind == '"' && t != schema.Bytes:
		pieces(raw, func(text []byte) { n += int64(len(text)) })
	case kind == '{' && t == schema.Bytes:
		dec := jsontext.NewDecoder(bytes.NewBuffer(raw))
		_ = eachMember(dec, func(name string) error {
			text, err := dec.ReadValue()
			if name == "base64" && len(text) > 2 {
				text = bytes.TrimRight(text[1:len(text)-1], "=")
				n = int64(base64.RawStdEncoding.DecodedLen(len(text)))
			}
			return err
		})
	case kind == '[' && t == schema.Array, (kind == '[' || kind == '{') && (t == schema.JSON || t == schema.Any):
		return lengthOfJSON(raw)
	}
	return n
}

// lengthOfJSON returns the length of a list or an object in the form of package value, without spaces and with the
// fewest escapes.
func lengthOfJSON(raw jsontext.Value) (n int64) {
	var some []byte
	for len(raw) > 0 {
		switch raw[0] {
		case '"':
			end := 1
			for raw[end] != '"' {
				if raw[end] == '\\' {
					end++
				}
				end++
			}
			pieces(raw[:end+1], func(text []byte) {
				some = value.AppendQuote(some[:0], text)
				n += int64(len(some) - 2)
			})
			n, raw = n+2, raw[end+1:]
			continue
		case ' ', '\t', '\r', '\n':
		default:
			n++
		}
		raw = raw[1:]
	}
	return n
}

// chunk is the maximum size in bytes of a piece of text.
const chunk = 4 << 10

// pieces passes the text of a JSON string to out, piece by piece.
func pieces(raw jsontext.Value, out func(text []byte)) {
	var some []byte
	for s := raw[1 : len(raw)-1]; len(s) > 0; {
		plain := bytes.IndexByte(s, '\\')
		if plain < 0 {
			plain = len(s)
		}
		if plain > 0 {
			end := min(plain, chunk)
			for end < plain && !utf8.RuneStart(s[end]) {
				end++
			}
			out(s[:end])
			s = s[end:]
			continue
		}
		size := 2
		if s[1] == 'u' {
			size = 6
			if first, err := strconv.ParseUint(string(s[2:6]), 16, 32); err == nil && utf16.IsSurrogate(rune(first)) {
				size = 12
			}
		}
		some, _ = jsontext.AppendUnquote(some[:0], slices.Concat([]byte{'"'}, s[:size], []byte{'"'}))
		out(some)
		s = s[size:]
	}
}
