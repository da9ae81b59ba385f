package spec

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// readJSON reads one JSON document of about size bytes, to its end, and returns it without space. A duplicate name in
// an object gives a warning. The last value is kept, as in most parsers.
func readJSON(from io.Reader, size int64) (Raw, []Warning, error) {
	// The system backs only the written part of this block with memory. So a document uses only as much memory as it
	// has bytes without space.
	c := &compactor{from: from, out: make([]byte, 0, size+1), deep: -1}
	dec := jsontext.NewDecoder(c, jsontext.AllowInvalidUTF8(true))
	err := dec.SkipValue()
	if err == nil {
		err = atEnd(dec)
	}
	if err != nil && !errors.Is(err, jsontext.ErrDuplicateName) || c.deep >= 0 {
		return nil, nil, c.wrong(err)
	}
	if err == nil {
		return Raw(c.out), nil, nil
	}
	_, err = io.Copy(io.Discard, c)
	if err == nil && c.deep < 0 {
		dec = jsontext.NewDecoder(bytes.NewBuffer(c.out), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
		if err = dec.SkipValue(); err == nil {
			err = atEnd(dec)
		}
	}
	if err != nil || c.deep >= 0 {
		return nil, nil, c.wrong(err)
	}
	d := dedupe{}
	out := d.append(nil, Raw(c.out), "")
	return Raw(out), d.warnings, nil
}

// atEnd checks that nothing follows the value that the decoder has read.
func atEnd(dec *jsontext.Decoder) error {
	at := dec.InputOffset()
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("more text after the document, at byte %d", at)
	}
	return nil
}

// A compactor copies the JSON text that is read through it to out, without the space between tokens. A malformed text
// stays malformed.
type compactor struct {
	from    io.Reader
	out     []byte
	read    int  // bytes
	quoted  bool // in a string
	escaped bool // after a backslash
	gap     bool // after space
	depth   int
	deep    int // the position where the text exceeds the maximum nesting, or -1
}

// Read reads from the text and copies the bytes.
func (c *compactor) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	for i, b := range p[:n] {
		c.put(b, c.read+i)
	}
	c.read += n
	return n, err
}

// put copies the byte b at position at, unless it is space between tokens. One space is kept between two numbers or
// literals.
func (c *compactor) put(b byte, at int) {
	if c.quoted {
		c.quoted = c.escaped || b != '"'
		c.escaped = b == '\\' && !c.escaped
		c.out = append(c.out, b)
		return
	}
	switch b {
	case ' ', '\n', '\r', '\t':
		c.gap = true
		return
	case '"':
		c.quoted = true
	case '{', '[':
		if c.depth++; c.depth > maxDepth && c.deep < 0 {
			c.deep = at
		}
	case '}', ']':
		c.depth--
	case ':', ',':
	default:
		if c.gap && len(c.out) > 0 && bytes.IndexByte([]byte(`{}[]:,"`), c.out[len(c.out)-1]) < 0 {
			c.out = append(c.out, ' ')
		}
	}
	c.gap = false
	c.out = append(c.out, b)
}

// wrong returns the error for the text. If the text is nested too deeply, this is that error. Otherwise it is err.
func (c *compactor) wrong(err error) error {
	if c.deep >= 0 {
		return fmt.Errorf("nested deeper than %d at byte %d", maxDepth, c.deep)
	}
	return err
}

// readAll reads a text of about size bytes.
func readAll(from io.Reader, size int64) ([]byte, error) {
	out := bytes.NewBuffer(make([]byte, 0, size+bytes.MinRead))
	_, err := out.ReadFrom(from)
	return out.Bytes(), err
}

// begins returns a Reader at the start of the text in from, after a byte order mark. It also reports whether the text
// begins with a brace.
func begins(from io.Reader) (*bufio.Reader, bool, error) {
	r := bufio.NewReaderSize(from, 64<<10)
	if mark, _ := r.Peek(3); string(mark) == "\xef\xbb\xbf" {
		_, _ = r.Discard(3) // Peek has read them
	}
	text, err := r.Peek(4 << 10)
	if text = bytes.TrimSpace(text); len(text) > 0 {
		return r, text[0] == '{', nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		err = errEmpty
	}
	return nil, false, err
}
