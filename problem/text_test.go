package problem

import (
	"testing"
	"time"
)

// TestText checks the text of an error for models.
func TestText(t *testing.T) {
	for _, tt := range []struct {
		p    Error
		want string
	}{
		{Error{Code: NotFound, Detail: "gone"}, "not_found: gone"},
		{Error{Code: InvalidQuery, Detail: `unknown field "staus". Did you mean status?`, Pointer: "/where/staus", Near: []string{"status"}, Suggestion: "get_schema lists the fields"},
			"invalid_query: unknown field \"staus\". Did you mean status? (at /where/staus)\n→ get_schema lists the fields"},
		{Error{Code: InvalidQuery, Detail: "did you write it so?", Near: []string{"id"}}, "invalid_query: did you write it so?\nnear: id"},
		{Error{Code: InvalidArgument, Detail: "one; two", Pointer: "/a", Faults: []Fault{{"/a", "type", "a is of type string"}, {"/b/0", "enum", "b/0 is one of x, y"}, {"", "required", "c is missing"}}},
			"invalid_argument: 3 faults in the arguments\n/a: a is of type string\n/b/0: b/0 is one of x, y\nc is missing"},
		{Error{Code: InvalidArgument, Detail: "a is of type string", Pointer: "/a", Faults: []Fault{{"/a", "type", "a is of type string"}}}, "invalid_argument: a is of type string (at /a)"},
		{Error{Code: AccessDenied, Detail: "kept from you", Denial: &Denial{Kind: "field_denied", Field: "b", Allowed: []string{"c", "d"}, Rewrite: "leave b out"}},
			"access_denied: kept from you\nallowed: c, d\n→ leave b out"},
		{Error{Code: RateLimited, Detail: "too many calls", RetryAfter: 1500*time.Millisecond + 1}, "rate_limited: too many calls\nwait 1.501 s, then make the same call again"},
		{Error{Code: Timeout, Detail: "it took too long", Kind: "hidden_class", Err: LoggableError("secret")}, "timeout: it took too long\nthe same call may succeed later"},
	} {
		if got := tt.p.Text(); got != tt.want {
			t.Errorf("%q\nwant %q", got, tt.want)
		}
	}
}

// TestSentences checks how texts are joined, and which words begin with a capital then.
func TestSentences(t *testing.T) {
	for _, tt := range []struct {
		texts []string
		want  string
	}{
		{nil, ""},
		{[]string{"the field \"a\" is missing"}, "the field \"a\" is missing"},
		{[]string{"unknown field \"Nam\". Did you mean Name?", "the field \"a\" is missing", "rank must be a text"},
			"unknown field \"Nam\". Did you mean Name? The field \"a\" is missing. rank must be a text"},
		{[]string{"it ends.", "", "unknown field \"b\"", "theme must be a text"}, "it ends. Unknown field \"b\". theme must be a text"},
	} {
		if got := Sentences(tt.texts...); got != tt.want {
			t.Errorf("%q: got %s, want %s", tt.texts, got, tt.want)
		}
	}
}
