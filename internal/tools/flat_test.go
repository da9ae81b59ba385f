package tools

import (
	"testing"

	"github.com/bailiwick-dev/bailiwick/value"
)

// TestPut checks that an argument is added to a free place, and that put never overwrites a given value.
func TestPut(t *testing.T) {
	read := func(text string) value.Value {
		v, err := value.Read([]byte(text), 0)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, tt := range []struct{ args, in, member, want string }{
		{`{}`, "path", `{"id":3}`, `{"path":{"id":3}}`},
		{`{"path":{"team":1}}`, "path", `{"id":3}`, `{"path":{"team":1,"id":3}}`},
		{`{"path":{"id":1}}`, "path", `{"id":3}`, ""},
		{`{"body":[1]}`, "body", `{"id":3}`, ""},
		{`{"operationId":"a"}`, "", `{"body":[1]}`, `{"operationId":"a","body":[1]}`},
		{`{"body":{"a":1}}`, "", `{"body":{"b":2}}`, `{"body":{"a":1,"b":2}}`},
		{`{"body":{"a":1}}`, "", `{"body":{"a":2}}`, ""},
		{`{"body":{"a":1}}`, "", `{"body":[2]}`, ""},
		{`{"source":"x"}`, "", `{"source":"y"}`, ""},
	} {
		got, ok := put(read(tt.args), tt.in, read(tt.member).Members()[0])
		if ok != (tt.want != "") || ok && got.String() != tt.want {
			t.Errorf("%s %s %s: %s %t", tt.args, tt.in, tt.member, got, ok)
		}
	}
}
