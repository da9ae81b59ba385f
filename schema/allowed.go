package schema

import (
	"slices"
	"strconv"

	"github.com/bailiwick-dev/bailiwick/value"
)

// AllowedValues returns the values of the field's enum or check constraint, as text. It returns nil if there is no such
// constraint.
func (f *Field) AllowedValues() []string {
	if f == nil || f.Values == nil {
		return nil
	}
	texts := make([]string, len(f.Values))
	for i, v := range f.Values {
		texts[i] = v.String()
	}
	return texts
}

// Holds reports whether the field may contain the value with this text, as far as the schema determines it.
func (f *Field) Holds(text string) bool {
	if f.Values != nil {
		return slices.Contains(f.AllowedValues(), text)
	}
	switch f.Type {
	case Integer:
		_, err := strconv.ParseInt(text, 10, 64)
		return err == nil
	case Double, Decimal:
		_, err := strconv.ParseFloat(text, 64)
		return err == nil
	case Boolean:
		return text == "true" || text == "false"
	case Date, Day:
		_, ok := value.OfDateText(text)
		return ok
	case UUID:
		_, ok := value.OfUUIDText(text)
		return ok
	}
	return true
}

// Also returns the other values that the text of an id may represent in a field that is Mixed. fits reports whether the
// text is also a value of the field's type. A column of numbers may contain a text. A column without a type may contain
// a number with the same text as the id.
func (f *Field) Also(text string, fits bool) []value.Value {
	if !f.Mixed || f.Type.IsStructured() || fits && f.Type != Any && f.Type != Bytes {
		return nil
	}
	var out []value.Value
	if number, err := value.Read([]byte(text), 0); err == nil && number.IsNumber() && len(text) <= 32 && f.Type != Bytes || !fits && number.IsNumber() {
		out = append(out, number)
	}
	if !fits || f.Type == Bytes {
		out = append(out, value.OfString(text))
	}
	return out
}
