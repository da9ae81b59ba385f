package value

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/go-json-experiment/json/jsontext"
)

// MaxDepth is the maximum nesting of an external document.
const MaxDepth = 20

// Read parses the single JSON document in b exactly. Integers of up to 64 bits become Int. All other numbers become
// Decimal with their original text. Read rejects input that parsers interpret differently: duplicate keys, invalid
// UTF-8, lone surrogates, NUL, and text after the document. It also rejects nesting deeper than depth. The error is a
// problem.InvalidArgument with the JSON pointer. A depth of 0 means MaxDepth.
func Read(b []byte, depth int) (Value, error) {
	if depth == 0 {
		depth = MaxDepth
	}
	return read(b, depth, false)
}

// readers contains readers for reuse. For a small document, a decoder's buffers for nesting and names are half of the
// memory that it allocates.
var readers = sync.Pool{New: func() any {
	r := &reader{}
	r.dec = jsontext.NewDecoder(&r.source)
	return r
}}

// read is Read. kept marks a stored document.
func read(b []byte, depth int, kept bool) (Value, error) {
	r := readers.Get().(*reader)
	defer r.release()
	r.begin(b)
	r.depth, r.kept = depth, kept
	return r.document()
}

// begin prepares r to read b without a copy.
func (r *reader) begin(b []byte) {
	r.source = *bytes.NewBuffer(b)
	r.dec.Reset(&r.source)
}

// mostScratch is the maximum number of members for which a pooled reader keeps room.
const mostScratch = 256

// release returns r to the pool, without any data of the document.
func (r *reader) release() {
	r.begin(nil)
	r.drop(0)
	if cap(r.members) > mostScratch {
		r.members = nil
	}
	readers.Put(r)
}

// drop removes the members from index begun on.
func (r *reader) drop(begun int) {
	clear(r.members[begun:])
	r.members = r.members[:begun]
}

// document reads the whole document.
func (r *reader) document() (Value, error) {
	v, err := r.value()
	if err != nil {
		return Value{}, r.refuse(err)
	}
	if _, err := r.dec.ReadToken(); !errors.Is(err, io.EOF) {
		return Value{}, problem.New(problem.InvalidArgument,
			fmt.Sprintf("not valid JSON: more text after the document, at byte %d", r.dec.InputOffset()))
	}
	return v, nil
}

// A reader reads one document with at most depth levels.
type reader struct {
	source  bytes.Buffer
	dec     *jsontext.Decoder // decodes source
	depth   int
	kept    bool     // a stored document: NUL is allowed
	members []Member // the members of the objects that are being read, the outermost first
}

var (
	errNUL  = errors.New("a string holds the NUL character")
	errDeep = errors.New("nested too deep")
)

// value reads one value of at most r.depth levels. Numbers keep their digits, because they are never read as a float64.
func (r *reader) value() (Value, error) {
	tok, err := r.dec.ReadToken()
	if err != nil {
		return Value{}, err
	}
	switch tok.Kind() {
	case 'n':
		return Value{}, nil
	case 't', 'f':
		return OfBool(tok.Bool()), nil
	case '"':
		return r.text(tok.String())
	case '0':
		return number(tok.String()), nil
	}
	if r.dec.StackDepth() > r.depth {
		return Value{}, errDeep
	}
	if tok.Kind() == '[' {
		return r.array()
	}
	return r.object()
}

// array reads the elements of a list after its bracket.
func (r *reader) array() (Value, error) {
	list := []Value{}
	for r.dec.PeekKind() != ']' {
		v, err := r.value()
		if err != nil {
			return Value{}, err
		}
		list = append(list, v)
	}
	_, err := r.dec.ReadToken()
	return OfArray(list), err
}

// object reads the members of an object after its brace, in order. The decoder refuses a duplicate name.
func (r *reader) object() (Value, error) {
	begun := len(r.members)
	for r.dec.PeekKind() != '}' {
		tok, err := r.dec.ReadToken()
		if err != nil {
			return Value{}, err
		}
		name, err := r.text(tok.String())
		if err != nil {
			return Value{}, err
		}
		v, err := r.value()
		if err != nil {
			return Value{}, err
		}
		r.members = append(r.members, Member{Name: name.str, Value: v})
	}
	members := make([]Member, len(r.members)-begun)
	copy(members, r.members[begun:])
	r.drop(begun)
	_, err := r.dec.ReadToken()
	return OfObject(members), err
}

// text rejects NUL in external documents: PostgreSQL can't store it, and C strings end at it.
func (r *reader) text(s string) (Value, error) {
	for i := range len(s) {
		if s[i] == 0 && !r.kept {
			return Value{}, errNUL
		}
	}
	return OfString(s), nil
}

func number(s string) Value {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return OfInt(n)
	}
	return OfDecimal(s)
}

// refuse returns the error for the author of the JSON, with the place as a JSON pointer. The decoder's messages contain
// no values of the document, only names.
func (r *reader) refuse(err error) error {
	p := &problem.Error{Code: problem.InvalidArgument, Pointer: string(r.dec.StackPointer())}
	var syntax *jsontext.SyntacticError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		p.Detail = "not valid JSON: it ends too early"
	case errors.As(err, &syntax) && errors.Is(err, jsontext.ErrDuplicateName):
		p.Pointer = string(syntax.JSONPointer)
		p.Detail = fmt.Sprintf("not valid JSON: the key %q appears twice in one object", syntax.JSONPointer.LastToken())
	case errors.As(err, &syntax):
		p.Pointer = string(syntax.JSONPointer)
		p.Detail = fmt.Sprintf("not valid JSON: %v at byte %d", syntax.Err, syntax.ByteOffset)
	case errors.Is(err, errDeep):
		p.Detail = fmt.Sprintf("the JSON is nested deeper than %d", r.depth)
	default:
		p.Detail = "not valid JSON: " + err.Error()
	}
	return p
}
