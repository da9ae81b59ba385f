package typecheck_test

import (
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/typecheck"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// TestUnknownValueNote checks the note about a value that a field never has. A number's meaning is named, because agents ask
// for the word.
func TestUnknownValueNote(t *testing.T) {
	numbers := []typecheck.Allowed{{Value: "0", Meaning: "open"}, {Value: "1", Meaning: "closed"}, {Value: "2"}}
	words := []typecheck.Allowed{{Value: "o", Meaning: "open"}, {Value: "c", Meaning: "closed"}}
	for _, tt := range []struct {
		is      schema.Type
		allowed []typecheck.Allowed
		v       value.Value
		want    string
	}{
		{schema.Integer, numbers, value.OfString("Closed"), `"Closed" is none of the values of status, which are 0 (open), 1 (closed), 2. Did you mean 1?`},
		{schema.Integer, numbers, value.OfInt(7), `"7" is none of the values of status, which are 0 (open), 1 (closed), 2`},
		{schema.Integer, numbers, value.OfInt(1), ""},
		{schema.String, words, value.OfString("closed"), `"closed" is none of the values of status, which are o, c. Did you mean c?`},
		{schema.String, nil, value.OfString("closed"), ""},
	} {
		if got := typecheck.UnknownValueNote(&schema.Field{Name: "status", Type: tt.is}, tt.allowed, tt.v); got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.v, got, tt.want)
		}
	}
}
