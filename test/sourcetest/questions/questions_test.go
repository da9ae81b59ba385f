package questions

import (
	"testing"

	"github.com/bailiwick-dev/bailiwick/value"
)

// TestQuestionsCanFail checks that each wrong answer is detected.
func TestQuestionsCanFail(t *testing.T) {
	for _, tt := range []struct {
		want, got   string
		approximate bool
		differs     string
	}{
		{`{"a": [1, 2.50, null]}`, `{"a": [1.0, 2.5, null], "more": true}`, false, ""},
		{`{"a": [{"b": null}], "cut": null}`, `{"a": [{}], "cut": false}`, false, ""},
		{`{"a": [{"b": 1}]}`, `{"a": [{"b": 1, "c": 2}]}`, false, "/a/0/c: want nothing, got 2"},
		{`{"a": [1, 2]}`, `{"a": [2, 1]}`, false, "/a/0: want 1, got 2\n/a/1: want 2, got 1"},
		{`{"a": [1]}`, `{"a": [1, 2]}`, false, "/a: want 1 elements, got 2\n/a/1: want nothing, got 2"},
		{`{"a": 9007199254740993}`, `{"a": 9007199254740992}`, true, "/a: want 9007199254740993, got 9007199254740992"},
		{`{"a": 0.1}`, `{"a": 0.10000000001}`, false, "/a: want 0.1, got 0.10000000001"},
		{`{"a": 0.1}`, `{"a": 0.10000000001}`, true, ""},
		{`{"a": 0.1}`, `{"a": 0.100001}`, true, "/a: want 0.1, got 0.100001"},
		{`{"a": "1"}`, `{"a": 1}`, true, `/a: want "1", got 1`},
		{`{"a": null}`, `{"a": 0}`, true, "/a: want nothing, got 0"},
		{`{"a": ""}`, `{}`, true, `/a: want "", got nothing`},
	} {
		want, err := value.Read([]byte(tt.want), 0)
		if err != nil {
			t.Fatal(err)
		}
		got, err := value.Read([]byte(tt.got), 0)
		if err != nil {
			t.Fatal(err)
		}
		q := question{answer: want, approximate: tt.approximate}
		if differs := q.differs(got); differs != tt.differs {
			t.Errorf("want %s, got %s: found %q, want %q", tt.want, tt.got, differs, tt.differs)
		}
	}
}
