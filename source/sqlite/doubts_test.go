package sqlite

import (
	"fmt"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
)

// TestDoubts checks that doubts remembers statements with their arguments, up to a maximum number.
func TestDoubts(t *testing.T) {
	var d doubts
	st := func(text string, args ...any) *sqlgen.Statement { return &sqlgen.Statement{Text: text, Args: args} }
	if d.has(st("a")) {
		t.Error("a statement is known before any")
	}
	d.note(st("a", "acme", int64(1)))
	for _, tt := range []struct {
		st   *sqlgen.Statement
		want bool
	}{{st("a", "acme", int64(1)), true}, {st("a", "other", int64(1)), false}, {st("a", "acme", "1"), false}, {st("b", "acme", int64(1)), false}} {
		if got := d.has(tt.st); got != tt.want {
			t.Errorf("%s %v: %t", tt.st.Text, tt.st.Args, got)
		}
	}
	for i := range 3 * mostDoubts {
		d.note(st(fmt.Sprint(i)))
	}
	if n := len(d.all); n == 0 || n > mostDoubts {
		t.Errorf("%d are remembered", n)
	}
}
