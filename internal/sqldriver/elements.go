package sqldriver

import (
	"encoding/hex"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// heldElements returns why the elements of a list, or of the lists in it, are none that the column of f holds, or "" if they are.
func heldElements(d sqlgen.Dialect, f *schema.Field, v value.Value) string {
	if f == nil {
		return ""
	}
	for _, e := range v.List() {
		why := ""
		if e.Kind() == value.Array && f.Type != schema.JSON {
			why = heldElements(d, f, e)
		} else if _, why = dmlHeld(d, f, e, nil); why != "" {
			why = "has an element that " + why
		}
		if why != "" {
			return why
		}
	}
	return ""
}

// appendArray appends a list in PostgreSQL's array syntax.
func appendArray(dst []byte, v value.Value) []byte {
	dst = append(dst, '{')
	for i, e := range v.List() {
		if i > 0 {
			dst = append(dst, ',')
		}
		switch e.Kind() {
		case value.Null:
			dst = append(dst, "NULL"...)
		case value.Array:
			dst = appendArray(dst, e)
		case value.Bytes:
			dst = append(dst, `"\\x`...)
			dst = hex.AppendEncode(dst, []byte(e.Text()))
			dst = append(dst, '"')
		default:
			dst = append(dst, '"')
			dst = append(dst, strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(e.String())...)
			dst = append(dst, '"')
		}
	}
	return append(dst, '}')
}
