package validate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/problem"
)

// nested returns a document with an operation whose body has the schema W0. level makes each of W0 to W11 from a
// reference to the next one.
func nested(level func(n int, next string) string, last string) string {
	var all strings.Builder
	for n := range 12 {
		fmt.Fprintf(&all, `"W%d":%s,`, n, level(n, fmt.Sprintf(`{"$ref":"#/components/schemas/W%d"}`, n+1)))
	}
	return `{"openapi":"3.1.0","paths":{"/w":{"post":{"operationId":"op","requestBody":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/W0"}}}},
		"responses":{"200":{"description":"ok"}}}}},"components":{"schemas":{` + all.String() + `"W12":` + last + `}}}`
}

func times(n int, one string) string { return strings.TrimSuffix(strings.Repeat(one+",", n), ",") }

// wide returns a document like nested. In four of its levels there are the given number of paths to the next level.
// In the other levels there is one path.
func wide(ways int) string {
	return nested(func(n int, next string) string {
		if n >= 4 {
			return `{"allOf":[` + next + `]}`
		}
		return `{"allOf":[` + times(ways, next) + `]}`
	}, `{"type":"object"}`)
}

// TestSteps checks that a schema of one kilobyte can't make the check of a small value slow.
func TestSteps(t *testing.T) {
	deep := `{"a":` + strings.Repeat(`{"a":`, 15) + `1` + strings.Repeat(`}`, 15) + `}`
	for name, tt := range map[string]struct {
		doc, body string
		deep      string // a schema that is always refused, as the command check names it
		refused   bool
	}{
		"allOf":                 {nested(func(_ int, next string) string { return `{"allOf":[` + times(10, next) + `]}` }, `{"type":"object"}`), `{"x":1}`, "body", true},
		"allOf of another type": {nested(func(_ int, next string) string { return `{"allOf":[` + times(10, next) + `]}` }, `{"type":"string"}`), `{"x":1}`, "body", true},
		"oneOf":                 {nested(func(_ int, next string) string { return `{"oneOf":[` + times(10, next) + `]}` }, `{"type":"object"}`), `{"x":1}`, "body", true},
		"anyOf of none":         {nested(func(_ int, next string) string { return `{"anyOf":[` + times(10, next) + `]}` }, `{"type":"string"}`), `{"x":1}`, "body", true},
		"not":                   {nested(func(_ int, next string) string { return `{"not":{"anyOf":[` + times(10, next) + `]}}` }, `{"type":"string"}`), `{"x":1}`, "body", true},
		"ten ways to each field": {nested(func(_ int, next string) string {
			return `{"allOf":[` + times(10, `{"properties":{"a":`+next+`}}`) + `]}`
		}, `{}`), deep, "", true},
		"ten alternatives a field": {nested(func(_ int, next string) string {
			return `{"oneOf":[` + times(10, `{"type":"object","properties":{"a":`+next+`}}`) + `]}`
		}, `{}`), deep, "", true},
		"a list of each": {nested(func(_ int, next string) string {
			return `{"anyOf":[` + times(10, `{"type":"array","items":`+next+`}`) + `]}`
		}, `{}`), strings.Repeat("[", 15) + strings.Repeat("]", 15), "", true},
		"as deep, and one way":    {nested(func(_ int, next string) string { return `{"allOf":[` + next + `]}` }, `{"type":"object"}`), `{}`, "", false},
		"as many as are compared": {wide(10), `{"x":1}`, "", false},    // about 180,000 comparisons
		"more by half":            {wide(11), `{"x":1}`, "body", true}, // about 270,000. A higher limit accepts them
	} {
		t.Run(name, func(t *testing.T) {
			c, v := checker(t, tt.doc, Options{})
			op, err := v.Operation("op")
			if err != nil {
				t.Fatal(err)
			}
			done := make(chan error, 1)
			go func() {
				_, err := c.Check(t.Context(), op, arguments(t, `{"body":`+tt.body+`}`))
				done <- err
			}()
			select {
			case err := <-done:
				p := problem.Of(err)
				if tt.refused && (p == nil || p.Code == problem.Internal) || !tt.refused && err != nil {
					t.Error(err)
				}
			case <-time.After(time.Minute): // a check takes milliseconds or, without the limit, practically forever
				t.Fatal("it is still checked")
			}
			if got := strings.Join(c.TooDeep(op), " "); got != tt.deep {
				t.Errorf("too deep: %q, want %q", got, tt.deep)
			}
		})
	}
}

// TestStepsOfACall checks that the limit applies to the comparisons of all values of a call together.
func TestStepsOfACall(t *testing.T) {
	level := func(_ int, next string) string { return `{"anyOf":[` + next + `,` + next + `]}` }
	doc := nested(level, `{"type":"integer"}`) // 8,191 comparisons for one value
	var parameters, given []string
	for n := range 30 {
		parameters = append(parameters, fmt.Sprintf(`{"name":"p%d","in":"query","schema":{"$ref":"#/components/schemas/W0"}}`, n))
		given = append(given, fmt.Sprintf(`"p%d":"x"`, n))
	}
	doc = strings.Replace(doc, `"operationId":"op"`, `"operationId":"op","parameters":[`+strings.Join(parameters, ",")+`]`, 1)
	c, v := checker(t, doc, Options{})
	op, err := v.Operation("op")
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range map[int]problem.Code{1: problem.InvalidArgument, 30: problem.Unsupported} {
		_, err := c.Check(t.Context(), op, arguments(t, `{"query":{`+strings.Join(given[:n], ",")+`}}`))
		if problem.CodeOf(err) != want {
			t.Errorf("%d parameters: %v, want %s", n, err, want)
		}
	}
}

// TestStepsOfLongValues checks that the cost of a comparison depends on the size of the value. For every path through
// the schemas, a pattern reads a string, and equality reads a list.
func TestStepsOfLongValues(t *testing.T) {
	level := func(_ int, next string) string { return `{"anyOf":[` + next + `,` + next + `]}` } // 4,096 paths
	members := func(n int) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf(`"m%d":%d`, i, i))
		}
		return "{" + strings.Join(all, ",") + "}"
	}
	list := "[" + strings.Repeat(`"`+strings.Repeat("x", 1000)+`",`, 99) + `1]`
	for name, tt := range map[string]struct{ schema, short, long string }{
		"a text and a pattern":       {`{"type":"string","pattern":"^(a|b)*c$"}`, `"abab"`, `"` + strings.Repeat("ab", 50_000) + `"`},
		"a text and a length":        {`{"type":"string","maxLength":3}`, `"abab"`, `"` + strings.Repeat("ab", 50_000) + `"`},
		"the members of an object":   {`{"type":"object","required":["x"]}`, members(3), members(3000)},
		"the names of members":       {`{"type":"object","required":["x"]}`, members(3), `{"` + strings.Repeat("n", 100_000) + `":1}`},
		"a list of distinct texts":   {`{"type":"array","uniqueItems":true,"maxItems":1}`, `["x","y"]`, list},
		"a list and what it must be": {`{"enum":[["x"]]}`, `["y"]`, list},
		"a list and a constant":      {`{"const":["x"]}`, `["y"]`, list},
	} {
		c, v := checker(t, strings.Replace(nested(level, tt.schema), `"openapi":"3.0`, `"openapi":"3.1`, 1), Options{})
		op, err := v.Operation("op")
		if err != nil {
			t.Fatal(err)
		}
		for body, want := range map[string]problem.Code{tt.short: problem.InvalidArgument, tt.long: problem.Unsupported} {
			if _, err := c.Check(t.Context(), op, arguments(t, `{"body":`+body+`}`)); problem.CodeOf(err) != want {
				t.Errorf("%s of %d bytes: %v, want %s", name, len(body), err, want)
			}
		}
	}
}

// TestStepsEnd checks that counting stops when the call has ended, and that nothing is checked afterwards.
func TestStepsEnd(t *testing.T) {
	doc := nested(func(n int, next string) string {
		return `{"allOf":[` + times(10, next) + `,` + times(400, fmt.Sprintf(`{"minProperties":%d}`, n)) + `]}`
	}, `{"type":"object"}`)
	c, v := checker(t, doc, Options{})
	op, err := v.Operation("op")
	if err != nil {
		t.Fatal(err)
	}
	for _, wanted := range []int{1, 2} { // at the start, and after counting
		looks := 0
		ctx := ending{t.Context(), func() error {
			if looks++; looks >= wanted {
				return context.Canceled
			}
			return nil
		}}
		if _, err := c.Check(ctx, op, arguments(t, `{"body":{"x":1}}`)); !errors.Is(err, context.Canceled) || looks != wanted {
			t.Errorf("%v after %d looks, want an end after %d", err, looks, wanted)
		}
	}
}

// ending is a context with its own error.
type ending struct {
	context.Context
	err func() error
}

func (e ending) Err() error { return e.err() }
