// Package salesforce reads what describes one object of a Salesforce organisation, as tools keep it on disk.
//
// It stands below source/metadata: bytes in, fields out; it opens nothing. It reads the describe as JSON, the XML that
// the Provar IDE writes (sfObject), and the metadata API's CustomObject and toolingObjectInfo. It refuses what is not
// whole: half a document, entities and document types, nesting deeper than 64, fields that are no list. What it says of
// that names no path and quotes nothing of the file but names of its own format.
package salesforce

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	textunicode "golang.org/x/text/encoding/unicode"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// The bounds of a description.
const (
	MaxDepth  = 64
	MaxFields = 5_000 // an object of Salesforce has at most some 900

	maxName   = 255
	maxText   = 4_000 // of a label, a default or a picklist's value
	maxValues = 10_000
)

// Read reads the description of one object. The file's ending tells its form: ".json", or ".xml" and ".object". A
// description without fields, such as the stub that an IDE writes before it has loaded the details, has none. An error is
// a *problem.Error whose Detail may be shown.
func Read(ending string, data []byte) ([]schema.Field, error) {
	text, err := decoded(data)
	if err != nil {
		return nil, err
	}
	var c collector
	switch ending {
	case ".json":
		err = readJSON(text, &c)
	case ".xml", ".object":
		err = readXML(text, &c)
	default:
		return nil, broken("files that end in %q are not read", ending)
	}
	if err != nil {
		return nil, err
	}
	return c.fields, nil
}

// broken is what is wrong with a file.
func broken(format string, args ...any) error {
	return problem.New(problem.Upstream, fmt.Sprintf(format, args...))
}

// decoded returns data as UTF-8 without a byte order mark. UTF-16 is told by its mark, or by the zero bytes of a first
// character that is ASCII.
func decoded(data []byte) ([]byte, error) {
	var order textunicode.Endianness
	switch {
	case len(data) == 0:
		return nil, broken("the file is empty")
	case bytes.HasPrefix(data, []byte("\xEF\xBB\xBF")):
		return data[3:], nil
	case len(data) > 1 && (data[0] == 0xFF && data[1] == 0xFE || data[0] != 0 && data[1] == 0):
		order = textunicode.LittleEndian
	case len(data) > 1 && (data[0] == 0xFE && data[1] == 0xFF || data[0] == 0 && data[1] != 0):
		order = textunicode.BigEndian
	default:
		return data, nil
	}
	if len(data)%2 != 0 {
		return nil, broken("the file ends within a character of UTF-16")
	}
	text, err := textunicode.UTF16(order, textunicode.UseBOM).NewDecoder().Bytes(data)
	if err != nil || bytes.ContainsRune(text, utf8.RuneError) {
		return nil, broken("the file has what is no character of its encoding")
	}
	return text, nil
}

// A described is a field as a file describes it.
type described struct {
	name, typ, label string
	preset           *string // its default
	nillable, filled bool    // it may be null; the organisation fills it in
	length           int
	values           []string
}

// A collector gathers fields; of two with one name the first counts.
type collector struct {
	fields []schema.Field
	seen   map[string]bool
}

// add takes a field; one without a name is none.
func (c *collector) add(d described) error {
	switch {
	case d.name == "":
		return nil
	case len(d.name) > maxName:
		return broken("the name of a field is longer than %d bytes", maxName)
	case strings.ContainsFunc(d.name, unprintable):
		return broken("the name of a field has characters that don't show")
	case c.seen[d.name]:
		return nil
	case len(c.fields) == MaxFields:
		return broken("the file has more than %d fields", MaxFields)
	}
	if c.seen == nil {
		c.seen = map[string]bool{}
	}
	c.seen[d.name] = true
	if d.typ == "" {
		d.typ = "unknown"
	}
	f := schema.Field{Name: d.name, Type: typeOf(d.typ), Native: cut(d.typ, maxName), Description: cut(d.label, maxText), NotNull: !d.nillable,
		Generated: d.filled, Length: d.length}
	if d.label == d.name {
		f.Description = ""
	}
	if d.preset != nil {
		f.Default = cut(*d.preset, maxText)
	}
	f.Required = f.NotNull && !f.Generated && f.Default == ""
	for _, v := range d.values[:min(len(d.values), maxValues)] {
		f.Values = append(f.Values, value.OfString(cut(v, maxText)))
	}
	c.fields = append(c.fields, f)
	return nil
}

// unprintable characters would break a line or turn one around.
func unprintable(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }

func cut(s string, most int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= most {
		return s
	}
	for !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most]
}

// typeOf returns the type that a name of Salesforce stands for, as describes and the metadata API have them, and Any
// where nothing is known of it. The IDE writes some with an underscore before them.
func typeOf(name string) schema.Type {
	switch strings.TrimPrefix(strings.ToLower(name), "_") {
	case "string", "text", "textarea", "longtextarea", "html", "richtextarea", "encryptedstring", "encryptedtext", "email", "phone", "url", "time",
		"picklist", "multipicklist", "multiselectpicklist", "combobox", "autonumber",
		"id", "reference", "lookup", "masterdetail", "hierarchy", "externallookup", "indirectlookup":
		return schema.String
	case "int", "integer", "long":
		return schema.Integer
	case "double", "number", "percent":
		return schema.Double
	case "currency":
		return schema.Decimal
	case "boolean", "checkbox":
		return schema.Boolean
	case "date":
		return schema.Day
	case "datetime":
		return schema.Date
	case "base64":
		return schema.Bytes
	case "address", "location", "complexvalue", "json", "datacategorygroupreference":
		return schema.JSON
	}
	return schema.Any
}
