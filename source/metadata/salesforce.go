package metadata

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

// The limits of a description.
const (
	maxDepth  = 64
	maxFields = 5_000 // a Salesforce object has at most about 900

	maxName   = 255
	maxText   = 4_000 // the maximum length of a label, a default or a picklist's value in bytes
	maxValues = 10_000
)

// readSalesforce reads the description of one object. ending is the file's extension and selects the format: ".json", or ".xml"
// and ".object". The result is empty for a description without fields, such as the stub that an IDE writes before it
// has loaded the details. Errors are *problem.Error values whose Detail may be shown.
func readSalesforce(ending string, data []byte) ([]schema.Field, error) {
	text, err := toUTF8(data)
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
		return nil, invalidFileError("files that end in %q are not read", ending)
	}
	if err != nil {
		return nil, err
	}
	return c.fields, nil
}

// invalidFileError returns the error for an invalid file.
func invalidFileError(format string, args ...any) error {
	return problem.New(problem.Upstream, fmt.Sprintf(format, args...))
}

// toUTF8 returns data as UTF-8 without a byte order mark. It recognises UTF-16 by its mark, or by a zero byte in its
// first character.
func toUTF8(data []byte) ([]byte, error) {
	var order textunicode.Endianness
	switch {
	case len(data) == 0:
		return nil, invalidFileError("the file is empty")
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
		return nil, invalidFileError("the file ends within a character of UTF-16")
	}
	text, err := textunicode.UTF16(order, textunicode.UseBOM).NewDecoder().Bytes(data)
	if err != nil || bytes.ContainsRune(text, utf8.RuneError) {
		return nil, invalidFileError("the file has what is no character of its encoding")
	}
	return text, nil
}

// A described is a field in the form of a file.
type described struct {
	name, typ, label string
	preset           *string // the default value
	nillable, filled bool    // whether it may be null, and whether the organisation sets it
	length           int
	values           []string
}

// A collector collects fields. If several have the same name, the first counts.
type collector struct {
	fields []schema.Field
	seen   map[string]bool
}

// add adds a field. A field without a name is ignored.
func (c *collector) add(d described) error {
	switch {
	case d.name == "":
		return nil
	case len(d.name) > maxName:
		return invalidFileError("the name of a field is longer than %d bytes", maxName)
	case strings.ContainsFunc(d.name, unprintable):
		return invalidFileError("the name of a field has characters that don't show")
	case c.seen[d.name]:
		return nil
	case len(c.fields) == maxFields:
		return invalidFileError("the file has more than %d fields", maxFields)
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

// unprintable reports whether r is a character that breaks a line or changes its direction.
func unprintable(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }

// cut returns s as valid UTF-8, shortened to the number of bytes in most. It doesn't split a character.
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

// typeOf returns the type for a Salesforce type name, as used in describes and in the metadata API. It returns Any
// for unknown names. The IDE writes some names with a leading underscore.
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
