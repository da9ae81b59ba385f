package value

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/go-json-experiment/json/jsontext"
)

// MaxDepth is the deepest nesting of a document from outside.
const MaxDepth = 20

// Read parses the one JSON document in b exactly: integers of up to 64 bits become Int, all other numbers Decimal with
// their original text. It rejects what parsers interpret differently, with problem.InvalidArgument and the JSON
// pointer: duplicate keys, invalid UTF-8, lone surrogates, NUL, anything after the document, and nesting deeper than
// depth (0 means MaxDepth).
func Read(b []byte, depth int) (Value, error) {
	if depth == 0 {
		depth = MaxDepth
	}
	return (&reader{dec: jsontext.NewDecoder(bytes.NewBuffer(b)), depth: depth}).read()
}

// read reads the whole document.
func (r *reader) read() (Value, error) {
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

// A reader reads one document, at most depth levels of it.
type reader struct {
	dec   *jsontext.Decoder
	depth int
	kept  bool // a stored document: NUL is allowed
}

var (
	errNUL  = errors.New("a string holds the NUL character")
	errDeep = errors.New("nested too deep")
)

// value reads one value, to at most r.depth levels. Numbers keep their digits: they are never read as a float64.
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

// array reads the elements of a list behind its bracket.
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

// object reads the members of an object behind its brace, in order. The decoder refuses a name that appears twice.
func (r *reader) object() (Value, error) {
	members := []Member{}
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
		members = append(members, Member{Name: name.str, Value: v})
	}
	_, err := r.dec.ReadToken()
	return OfObject(members), err
}

// text rejects NUL from outside: PostgreSQL can't store it, and C strings end at it.
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

// refuse returns the error for the caller that wrote the JSON, with the place as a JSON pointer. The texts of the decoder have no
// values of the document but names.
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
