package sqldriver

import (
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// heldElements returns why the elements of a list, or of the lists in it, are none that the column of f holds, or "" if they are.
func heldElements(ws *sqlgen.Writes, f *schema.Field, v value.Value) string {
	if f == nil {
		return ""
	}
	for _, e := range v.List() {
		why := ""
		if e.Kind() == value.Array && f.Type != schema.JSON {
			why = heldElements(ws, f, e)
		} else if _, why = dmlArgument(ws, f, e, nil); why != "" {
			why = "has an element that " + why
		}
		if why != "" {
			return why
		}
	}
	return ""
}
