package mongogen

import (
	"encoding/base64"
	"strings"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/bailiwick-dev/bailiwick/internal/interpret"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// short is the size of BSON that is decoded without a previous check of the length of its text.
const short = 16 << 10

// BoundedBSON is DecodeBSON for a value that is returned only up to most bytes of text, bytes or JSON. A longer value
// becomes a Cut with its length, and is not copied.
func BoundedBSON(v bson.RawValue, t schema.Type, most int) value.Value {
	if len(v.Value) > min(short, most) {
		if n := length(v, t); n > int64(most) {
			return value.OfCut(n)
		}
	}
	out := DecodeBSON(v, t)
	if n := len(out.Text()); out.Kind() == value.String && n > most || out.Kind() == value.Bytes && n > most {
		return value.OfCut(int64(n))
	}
	if k := out.Kind(); k == value.Array || k == value.Object {
		if n := len(out.AppendJSON(nil)); n > most {
			return value.OfCut(int64(n))
		}
	}
	return out
}

// length returns the length of a value's text or bytes without creating them. It returns 0 for types that are never
// long.
func length(v bson.RawValue, t schema.Type) int64 {
	raw, text := data(v)
	switch {
	case v.Type == bson.TypeEmbeddedDocument, v.Type == bson.TypeArray:
		return lengthOf(v, 0)
	case raw == nil || text && !utf8.Valid(raw):
		return 0
	case !text && t.IsStructured():
		return int64(base64.StdEncoding.EncodedLen(len(raw)))
	}
	return int64(len(raw))
}

// data returns the stored bytes of a text, or of a binary value that stays bytes. It returns nil for other values.
func data(v bson.RawValue) (raw []byte, text bool) {
	switch v.Type {
	case bson.TypeString:
		if n, _, ok := bsoncore.ReadLength(v.Value); ok && n > 0 && int(n) == len(v.Value)-4 {
			return v.Value[4 : len(v.Value)-1], true
		}
	case bson.TypeBinary:
		if n, _, ok := bsoncore.ReadLength(v.Value); ok && n > 0 && int(n) == len(v.Value)-5 && v.Value[4] != 2 {
			return v.Value[5:], false
		}
	}
	return nil, false
}

// lengthOf returns the length of a value in JSON.
func lengthOf(v bson.RawValue, depth int) (n int64) {
	write(v, depth, func(text []byte) { n += int64(len(text)) })
	return n
}

// write passes the JSON of a value to out, piece by piece. It writes all members that share a name.
func write(v bson.RawValue, depth int, out func(text []byte)) {
	switch v.Type {
	case bson.TypeEmbeddedDocument, bson.TypeArray:
		if depth >= maxDepth {
			break
		}
		ends, before := "[]", ""
		if v.Type == bson.TypeEmbeddedDocument {
			ends = "{}"
		}
		out([]byte(ends[:1]))
		for key, e := range bsonParts(v) {
			out([]byte(before))
			if before = ","; ends == "{}" {
				quote([]byte(strings.ToValidUTF8(key, "\uFFFD")), out)
				out([]byte(":"))
			}
			write(e, depth+1, out)
		}
		out([]byte(ends[1:]))
		return
	case bson.TypeString:
		if raw, _ := data(v); raw != nil && utf8.Valid(raw) {
			quote(raw, out)
			return
		}
	}
	out(interpret.JSON(decode(v, max(depth, 1))).AppendJSON(nil))
}

// bsonParts yields the names and values of a document or a list, one by one, up to the first damaged element. Names may
// repeat.
func bsonParts(v bson.RawValue) func(yield func(string, bson.RawValue) bool) {
	return func(yield func(string, bson.RawValue) bool) {
		if len(v.Value) < 5 {
			return
		}
		for rest := v.Value[4 : len(v.Value)-1]; len(rest) > 0; {
			e, after, ok := bsoncore.ReadElement(rest)
			if !ok {
				return
			}
			x, err := e.ValueErr()
			if err != nil || !yield(e.Key(), bson.RawValue{Type: bson.Type(x.Type), Value: x.Data}) {
				return
			}
			rest = after
		}
	}
}

// chunk is the number of bytes of a text that are quoted at once to count its length.
const chunk = 4 << 10

// quote passes a valid text to out as a JSON string.
func quote(text []byte, out func([]byte)) {
	out([]byte{'"'})
	var some []byte
	for len(text) > 0 {
		end := min(chunk, len(text))
		for end < len(text) && !utf8.RuneStart(text[end]) {
			end++
		}
		some = value.AppendQuote(some[:0], string(text[:end]))
		out(some[1 : len(some)-1])
		text = text[end:]
	}
	out([]byte{'"'})
}

// BSONWeight estimates how many bytes of memory a value uses after decoding, without decoding it.
func BSONWeight(v bson.RawValue) int64 {
	const each = 3 * 64 // for the value, its name and its JSON form
	n := each + int64(len(v.Value))
	if v.Type == bson.TypeEmbeddedDocument || v.Type == bson.TypeArray {
		for _, e := range bsonParts(v) {
			n += BSONWeight(e) - int64(len(e.Value)) // counted in the containing document
		}
	}
	return n
}

// A BSONRange is Length characters of a text or of JSON, or Length bytes, after the first From. If Size is set, it is
// the number of all characters or bytes.
type BSONRange struct {
	From, Length int64
	Size         bool
}

// BSONPiece returns a range of a text, of bytes or of JSON, without decoding the rest. It returns false for a value of
// another type.
func BSONPiece(v bson.RawValue, t schema.Type, p BSONRange) (value.Value, bool) {
	raw, text := data(v)
	switch {
	case v.Type == bson.TypeEmbeddedDocument, v.Type == bson.TypeArray:
		return pieceOfJSON(v, p), true
	case raw == nil || text && !utf8.Valid(raw) || !text && t.IsStructured():
		return value.Value{}, false
	case text && p.Size:
		return value.OfInt(int64(utf8.RuneCount(raw))), true
	case text:
		raw = raw[after(raw, p.From):]
		return value.OfString(string(raw[:after(raw, p.Length)])), true
	}
	n := int64(len(raw))
	if p.Size {
		return value.OfInt(n), true
	}
	from := min(p.From, n)
	return value.OfBytes(string(raw[from:min(n, from+p.Length)])), true
}

// pieceOfJSON is BSONPiece for a document or a list.
func pieceOfJSON(v bson.RawValue, p BSONRange) value.Value {
	n := int64(0)
	var piece []byte
	write(v, 0, func(text []byte) {
		for len(text) > 0 {
			_, size := utf8.DecodeRune(text)
			if n >= p.From && n < p.From+p.Length {
				piece = append(piece, text[:size]...)
			}
			n, text = n+1, text[size:]
		}
	})
	if p.Size {
		return value.OfInt(n)
	}
	return value.OfString(string(piece))
}

// after returns the position in text after its first n characters, or the end of text.
func after(text []byte, n int64) (at int) {
	for ; n > 0 && at < len(text); n-- {
		_, size := utf8.DecodeRune(text[at:])
		at += size
	}
	return at
}
