package database

import (
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// CheckCatalogue compares a catalogue with the expected classes. Empty and nil lists count as equal. Each warning
// must contain the given part, in order.
func CheckCatalogue(t *testing.T, classes, want []schema.Class, warnings, parts []string) {
	t.Helper()
	for _, c := range classes {
		if !c.Converts {
			t.Errorf("%s can't be read in types that the rules declare", c.Name)
		}
	}
	if d := cmp.Diff(want, classes, cmpopts.IgnoreFields(schema.Class{}, "Converts"), cmpopts.IgnoreFields(schema.Field{}, "Typing", "Mixed", "Ordered", "Endless", "Beyond", "Element", "Origins", "Untraced"), cmpopts.EquateEmpty(), cmp.Comparer(func(a, b value.Value) bool { return reflect.DeepEqual(a, b) })); d != "" {
		t.Error(d)
	}
	if len(warnings) != len(parts) {
		t.Errorf("warnings %q, want %d", warnings, len(parts))
		return
	}
	for i, part := range parts {
		if !strings.Contains(warnings[i], part) {
			t.Errorf("warning %q, want it to contain %q", warnings[i], part)
		}
	}
}

// Values converts each element of list with the function of.
func Values[T any](of func(T) value.Value, list ...T) []value.Value {
	out := make([]value.Value, len(list))
	for i, x := range list {
		out[i] = of(x)
	}
	return out
}
