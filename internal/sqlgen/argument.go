package sqlgen

import "github.com/bailiwick-dev/bailiwick/value"

// A Number is a decimal argument. Text is for databases with exact decimals. Float, the nearest double, is for
// others.
type Number struct {
	Text  string
	Float float64
	Whole bool // Int is the exact value
	Int   int64
}

// A Moment is a date argument, in microseconds since 1970.
type Moment struct{ Micros int64 }

// Document is a JSON argument.
type Document string

// Argument returns the value to bind for v: an int64, Number, float64, string, bool, []byte, Moment or Document.
func Argument(v value.Value) any {
	switch v.Kind() {
	case value.Null:
		return nil
	case value.Bool:
		return v.Bool()
	case value.Int:
		return v.Int()
	case value.Float:
		return v.Float()
	case value.Decimal:
		f, _ := v.AsFloat()
		n, whole := v.AsInt()
		return Number{v.Text(), f, whole, n}
	case value.String:
		return v.Text()
	case value.Date, value.Day:
		return Moment{v.Micros()}
	case value.Bytes:
		return []byte(v.Text())
	}
	return Document(v.AppendJSON(nil)) // an array or an object
}
