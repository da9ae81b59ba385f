package sqldriver

import (
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// heldElements returns the reason why the column of f can't hold an element of a list, or of a nested list. It
// returns "" if the column can hold all elements.
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
