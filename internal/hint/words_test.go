package hint_test

import (
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/hint"
	"github.com/bailiwick-dev/bailiwick/value"
)

// TestMeantOnce checks that two operators with the same replacement aren't combined: the option of one would apply to
// both.
func TestMeantOnce(t *testing.T) {
	for in, want := range map[string]string{
		`{"$ilike":"a","$endsWith":"B"}`:  `{"$regex":"\\Aa\\z","$options":"i","$endsWith":"B"}`,
		`{"$ge":1,"$atLeast":2}`:          `{"$gte":1,"$atLeast":2}`,
		`{"$regex":"x","$icontains":"y"}`: `{"$regex":"x","$icontains":"y"}`,
	} {
		v, err := value.Read([]byte(in), 0)
		if err != nil {
			t.Fatal(err)
		}
		if out, _ := hint.Rewrite(v, "/a"); out.String() != want {
			t.Errorf("%s\n got %s\nwant %s", in, out, want)
		}
	}
}
