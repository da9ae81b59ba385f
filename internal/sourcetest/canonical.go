package sourcetest

import (
	"slices"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/value"
)

// Canonical returns v with the members of its objects sorted by name, since not every source keeps their order.
func Canonical(v value.Value) value.Value {
	switch v.Kind() {
	case value.Array:
		list := make([]value.Value, len(v.List()))
		for i, e := range v.List() {
			list[i] = Canonical(e)
		}
		return value.OfArray(list)
	case value.Object:
		members := make([]value.Member, len(v.Members()))
		for i, m := range v.Members() {
			members[i] = value.Member{Name: m.Name, Value: Canonical(m.Value)}
		}
		slices.SortFunc(members, func(a, b value.Member) int { return strings.Compare(a.Name, b.Name) })
		return value.OfObject(members)
	}
	return v
}

func canonicalLine(row value.Row) string {
	out := make(value.Row, len(row))
	for i, v := range row {
		out[i] = Canonical(v)
	}
	return line(out)
}

// canonicalText does the same to a line whose last value may be an object.
func canonicalText(t *testing.T, text string) string {
	t.Helper()
	at := strings.IndexByte(text, '{')
	if at < 0 {
		return text
	}
	v, err := value.Read([]byte(text[at:]), 0)
	if err != nil {
		t.Fatal(err)
	}
	return text[:at] + Canonical(v).String()
}
