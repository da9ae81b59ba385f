package metadata

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strconv"
	"strings"

	"golang.org/x/text/encoding/charmap"

	"github.com/bailiwick-dev/bailiwick/problem"
)

// An xmlReader reads a description as a stream and keeps only its fields.
type xmlReader struct {
	dec   *xml.Decoder
	to    *collector
	depth int
}

// readXML reads a document by its root element: an IDE's sfObject, or a CustomObject of the metadata API.
func readXML(text []byte, to *collector) error {
	r := xmlReader{dec: xml.NewDecoder(bytes.NewReader(text)), to: to}
	r.dec.CharsetReader = charset
	err := r.document()
	var syntax *xml.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return invalidFileError("the file is not well-formed XML, at line %d", syntax.Line)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return invalidFileError("the file is not well-formed XML: it ends too early")
	case err != nil && problem.CodeOf(err) != problem.Upstream:
		return invalidFileError("the file is not XML 1.0 as it is read here")
	}
	return err
}

// charset returns a decoder for the encoding in an XML declaration. UTF-16 is already decoded.
func charset(label string, in io.Reader) (io.Reader, error) {
	switch strings.ToLower(label) {
	case "utf-16", "utf-16le", "utf-16be", "us-ascii", "ascii":
		return in, nil
	case "iso-8859-1", "latin1":
		return charmap.ISO8859_1.NewDecoder().Reader(in), nil
	case "windows-1252", "cp1252":
		return charmap.Windows1252.NewDecoder().Reader(in), nil
	}
	return nil, invalidFileError("the file is in an encoding that is not read. UTF-8 and UTF-16 are")
}

// document reads a description by its root element: the IDE's own form (sfObject), or the form of the Metadata or
// Tooling API. Content after the root is an error.
func (r *xmlReader) document() error {
	for {
		t, err := r.token()
		if err != nil {
			return err
		}
		root, ok := t.(xml.StartElement)
		if !ok {
			continue
		}
		switch root.Name.Local {
		case "sfObject":
			err = r.children(r.sfFields())
		case "CustomObject", "toolingObjectInfo":
			err = r.children(r.customField)
		default:
			err = invalidFileError("the file describes no object: its root is neither sfObject nor CustomObject")
		}
		if err != nil {
			return err
		}
		return r.end()
	}
}

// end reads the rest after the root. It may contain only comments and white space.
func (r *xmlReader) end() error {
	for {
		t, err := r.token()
		switch t := t.(type) {
		case xml.StartElement:
			return invalidFileError("the file is not well-formed XML: it has a second root")
		case xml.CharData:
			if len(bytes.TrimSpace(t)) > 0 {
				return invalidFileError("the file is not well-formed XML: there is text after the root")
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// token reads the next token. It rejects document types, so that no entities can be defined.
func (r *xmlReader) token() (xml.Token, error) {
	t, err := r.dec.Token()
	switch t.(type) {
	case xml.Directive:
		return nil, invalidFileError("the file has a document type, which is not read")
	case xml.StartElement:
		if r.depth++; r.depth > maxDepth {
			return nil, invalidFileError("the file is nested deeper than %d", maxDepth)
		}
	case xml.EndElement:
		r.depth--
	}
	return t, err
}

// children reads to the end of the current element. visit reads each element in it to its end.
func (r *xmlReader) children(visit func(xml.StartElement) error) error {
	for {
		t, err := r.token()
		if err != nil {
			return err
		}
		switch t := t.(type) {
		case xml.StartElement:
			if err := visit(t); err != nil {
				return err
			}
		case xml.EndElement:
			return nil
		}
	}
}

// skip reads to the end of the current element.
func (r *xmlReader) skip(xml.StartElement) error {
	for at := r.depth - 1; ; {
		if _, err := r.token(); err != nil {
			return err
		}
		if r.depth == at {
			return nil
		}
	}
}

// text reads the text of the current element, to its end.
func (r *xmlReader) text() (string, error) {
	var b strings.Builder
	for at := r.depth - 1; ; {
		t, err := r.token()
		if err != nil {
			return "", err
		}
		if c, ok := t.(xml.CharData); ok && b.Len() <= maxText {
			b.Write(c)
		}
		if r.depth == at {
			return strings.TrimSpace(b.String()), nil
		}
	}
}

// sfFields reads the first list <fields><sfField n= type= required=/></fields> in an sfObject.
func (r *xmlReader) sfFields() func(xml.StartElement) error {
	read := false
	return func(list xml.StartElement) error {
		if list.Name.Local != "fields" || read {
			return r.skip(list)
		}
		read = true
		return r.children(func(e xml.StartElement) error {
			if e.Name.Local == "sfField" {
				d := described{nillable: true}
				for _, a := range e.Attr {
					switch a.Name.Local {
					case "n":
						d.name = a.Value
					case "type":
						d.typ = a.Value
					case "required":
						d.nillable = strings.TrimSpace(a.Value) != "true"
					}
				}
				if err := r.to.add(d); err != nil {
					return err
				}
			}
			return r.skip(e)
		})
	}
}

// customField reads <fields><fullName/><type/><required/>…</fields> in a CustomObject.
func (r *xmlReader) customField(e xml.StartElement) error {
	if e.Name.Local != "fields" {
		return r.skip(e)
	}
	d := described{nillable: true}
	var alias string
	err := r.children(func(e xml.StartElement) (err error) {
		var text string
		switch e.Name.Local {
		case "fullName":
			d.name, err = r.text()
		case "name":
			alias, err = r.text()
		case "type":
			d.typ, err = r.text()
		case "label":
			d.label, err = r.text()
		case "required":
			text, err = r.text()
			d.nillable = text != "true"
		case "defaultValue":
			text, err = r.text()
			d.preset = &text
		case "length":
			text, err = r.text()
			if n, bad := strconv.ParseInt(text, 10, 32); bad == nil && n > 0 {
				d.length = int(n)
			}
		case "valueSet", "valueSetDefinition", "picklist":
			err = r.children(r.values(&d))
		default:
			err = r.skip(e)
		}
		return err
	})
	if err != nil {
		return err
	}
	if d.name == "" {
		d.name = alias
	}
	return r.to.add(d)
}

// values reads the active values of a picklist, in the current and the older form.
func (r *xmlReader) values(d *described) func(xml.StartElement) error {
	return func(e xml.StartElement) error {
		switch e.Name.Local {
		case "valueSetDefinition":
			return r.children(r.values(d))
		case "value", "picklistValues":
		default:
			return r.skip(e)
		}
		name, active := "", true
		err := r.children(func(e xml.StartElement) (err error) {
			var text string
			switch e.Name.Local {
			case "fullName":
				name, err = r.text()
			case "isActive":
				text, err = r.text()
				active = text != "false"
			default:
				err = r.skip(e)
			}
			return err
		})
		if active && name != "" {
			d.values = append(d.values, name)
		}
		return err
	}
}
