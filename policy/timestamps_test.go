package policy

import (
	"testing"

	"github.com/bailiwick-dev/bailiwick/schema"
)

// TestIs checks, by name and type, whether a field holds such a time.
func TestIs(t *testing.T) {
	for _, tt := range []struct {
		name string
		typ  schema.Type
		want bool
	}{
		{"created_at", schema.Date, true}, {"createdAt", schema.Day, true}, {"CREATED", schema.Date, true}, {"last_modified", schema.Day, true},
		{"created_at", schema.String, false}, {"created_by", schema.Date, false}, {"born", schema.Day, false},
	} {
		if got := isTimestamp(&schema.Field{Name: tt.name, Type: tt.typ}); got != tt.want {
			t.Errorf("%s of type %s: %t", tt.name, tt.typ, got)
		}
	}
}
