package result

import (
	"slices"

	"github.com/bailiwick-dev/bailiwick/value"
)

// Nothing reports whether the page has no records, or only one record that means the same, such as a count of 0.
func (p *Page) Nothing() bool {
	return p.Count == 0 || p.Count == 1 && !slices.ContainsFunc(p.rows[0], func(v value.Value) bool {
		n, whole := v.AsInt()
		return !v.IsNull() && (!whole || n != 0) && (v.Kind() != value.Array || len(v.List()) > 0)
	})
}

// valueSize returns the number of bytes of a value.
func valueSize(v value.Value) int {
	switch v.Kind() {
	case value.Null:
		return 0
	case value.Cut:
		return int(v.Size())
	case value.String, value.Bytes:
		return len(v.Text())
	}
	return len(v.AppendJSON(nil))
}
