package writes

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// fit returns v as field f holds it, or why it can't: "must be …". ids are texts on the wire, whatever the field holds.
func fit(f *schema.Field, v value.Value, id bool) (fitted value.Value, why string) {
	if v.IsNull() {
		if f.NotNull {
			return v, "can't be null"
		}
		return v, ""
	}
	fitted, why = typed(f, v, id)
	switch {
	case why != "":
	case f.Values != nil && !slices.ContainsFunc(f.Values, func(a value.Value) bool { return a.String() == fitted.String() }):
		why = "must be one of " + strings.Join(texts(f.Values), ", ")
	case f.Length > 0 && fitted.Kind() == value.String && utf8.RuneCountInString(fitted.Text()) > f.Length:
		why = fmt.Sprintf("holds at most %d characters, not %d", f.Length, utf8.RuneCountInString(fitted.Text()))
	}
	return fitted, why
}

// typed returns v, which isn't null, as a value of f's type.
func typed(f *schema.Field, v value.Value, id bool) (fitted value.Value, why string) {
	ok, kind := true, ""
	switch f.Type {
	case schema.Integer:
		if id && v.Kind() == value.String {
			n, _ := strconv.ParseInt(v.Text(), 10, 64) // what isn't one comes out as another text
			v, ok = value.OfInt(n), strconv.FormatInt(n, 10) == v.Text()
		}
		ok, kind = ok && v.Kind() == value.Int, "a whole number of at most 64 bits"
	case schema.Double, schema.Decimal:
		ok, kind = v.IsNumber(), "a number"
	case schema.Boolean:
		ok, kind = v.Kind() == value.Bool, "true or false"
	case schema.String:
		ok, kind = v.Kind() == value.String, "a text"
	case schema.UUID:
		var u value.Value
		u, ok = value.OfUUIDText(v.Text())
		v, kind = u, "a UUID"
	case schema.Date, schema.Day:
		var d value.Value
		d, ok = value.OfDateText(v.Text())
		v, kind = d, "a date in ISO 8601"
		if f.Type == schema.Day && ok && d.Kind() != value.Day {
			ok, kind = false, "a date without a time, as in 2026-01-31"
		}
	case schema.Bytes:
		raw, err := base64.StdEncoding.DecodeString(v.Text())
		ok, kind = err == nil && v.Kind() == value.String, "bytes in base64"
		v = value.OfBytes(string(raw))
	case schema.Array:
		ok, kind = v.Kind() == value.Array, "a list"
	case schema.Any:
		ok, kind = v.IsNumber() || v.Kind() == value.String || v.Kind() == value.Bool, "a text, a number or a boolean"
	}
	if !ok {
		return v, "must be " + kind
	}
	return v, ""
}
