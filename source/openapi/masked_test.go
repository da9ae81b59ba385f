package openapi

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// TestMasks checks the restored body for each raw state, visible state and body that was sent back. For a mask that
// can't be restored, it checks the pointer.
func TestMasks(t *testing.T) {
	const raw = `{"token":"s","pin":7,"env":[{"name":"A","value":"1"},{"name":"KEY","value":"k"},{"name":"TWICE","value":"x"},{"name":"TWICE","value":"y"}],"rows":[{"id":"1","key":"PW","value":"p"}],"plain":["a"],"url":"x://u:p@h","own":"is [masked]"}`
	const seen = `{"token":"[masked]","pin":"[masked]","env":[{"name":"A","value":"1"},{"name":"KEY","value":"[masked]"},{"name":"TWICE","value":"[masked]"},{"name":"TWICE","value":"[masked]"}],"rows":[{"id":"1","key":"PW","value":"[masked]"}],"plain":["[masked]"],"url":"x://[masked]@h","own":"is [masked]"}`
	for _, tt := range []struct{ body, want string }{
		{`{"token":"t"}`, `{"token":"t"}`},
		{`{"token":"[masked]","pin":"[masked]"}`, `{"token":"s","pin":7}`},
		{`{"env":[{"name":"KEY","value":"[masked]"},{"name":"B","value":"2"}]}`, `{"env":[{"name":"KEY","value":"k"},{"name":"B","value":"2"}]}`},
		{`{"env":[{"name":"KEY","value":"[masked]","hidden":true}]}`, `{"env":[{"name":"KEY","value":"k","hidden":true}]}`},
		{`{"env":[{"name":"A","value":"[masked]"}]}`, `/body/env/0/value`},            // the value is visible
		{`{"env":[{"name":"OTHER","value":"[masked]"}]}`, `/body/env/0/value`},        // under another name it would be visible
		{`{"env":[{"value":"[masked]"}]}`, `/body/env/0/value`},                       // no name identifies the entry
		{`{"env":[{"name":"TWICE","value":"[masked]"}]}`, `/body/env/0/value`},        // ambiguous
		{`{"env":[{"name":"KEY","id":"9","value":"[masked]"}]}`, `/body/env/0/value`}, // another entry
		{`{"rows":[{"id":"1","key":"PW","value":"[masked]"}]}`, `{"rows":[{"id":"1","key":"PW","value":"p"}]}`},
		{`{"rows":[{"id":"1","key":"SHOWN","value":"[masked]"}]}`, `/body/rows/0/value`}, // the name decides what is masked
		{`{"rows":[{"id":"1","value":"[masked]"}]}`, `/body/rows/0/value`},
		{`{"url":"x://[masked]@h"}`, `{"url":"x://u:p@h"}`},
		{`{"url":"x://[masked]@other"}`, `/body/url`}, // another text
		{`{"own":"is [masked]"}`, `/body/own`},        // masked as a gateway credential, for all callers
		{`{"plain":["[masked]"]}`, `/body/plain/0`},
		{`{"note":"[masked]"}`, `/body/note`},
		{`{"note":{"token":"[masked]"}}`, `/body/note/token`}, // in another place
		{`["[masked]"]`, `/body/0`},
		{`"[masked]"`, `/body`},
	} {
		read := func(text string) value.Value {
			v, err := value.Read([]byte(text), 0)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		m := &masks{was: read(seen), is: read(raw)}
		got := m.restore(read(tt.body)).String()
		if m.err != nil {
			got = problem.Of(m.err).Pointer
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: %s", tt.body, diff)
		}
	}
}
