package schema

import (
	"slices"
	"strconv"

	"github.com/bailiwick-dev/bailiwick/value"
)

// AllowedValues returns the values of the field's enum or check constraint, as text, or nil if it has none.
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

// Holds reports whether the field can hold the value that text represents, as far as the schema determines it.
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

// Also returns the other values that the text of an id may stand for in a field that is Mixed. fits reports whether the
// text is also a value of the field's type. A column of numbers may hold a text, and one without a type a number whose
// id is written like a text.
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
