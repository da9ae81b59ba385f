package sqlgen

import "github.com/bailiwick-dev/bailiwick/value"

// A number is a decimal argument: its text for databases with exact decimals, the nearest double for others.
type number struct {
	text  string
	float float64
	whole bool // whether int is its exact value
	int   int64
}

// A moment is a date argument, in microseconds since 1970.
type moment struct{ micros int64 }

// document is a JSON argument.
type document string

// argument returns the form in which a value is bound: int64, number, float64, string, bool, []byte, moment or document.
func argument(v value.Value) any {
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
		return number{v.Text(), f, whole, n}
	case value.String:
		return v.Text()
	case value.Date, value.Day:
		return moment{v.Micros()}
	case value.Bytes:
		return []byte(v.Text())
	}
	return document(v.AppendJSON(nil)) // of an array or an object
}
