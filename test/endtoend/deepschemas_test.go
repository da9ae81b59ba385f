package endtoend

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/response"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/search"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
)

// TestDeepSchemas checks that schemas with an exponential number of nestings don't keep a processor busy. It loads
// the document, searches it, reads about an operation, and reads its answer. Package validate has the same test for
// arguments.
func TestDeepSchemas(t *testing.T) {
	times := func(n int, one string) string { return strings.TrimSuffix(strings.Repeat(one+",", n), ",") }
	for name, level := range map[string]func(next string) string{
		"allOf": func(next string) string { return `{"allOf":[` + times(10, next) + `]}` },
		"oneOf": func(next string) string { return `{"oneOf":[` + times(10, next) + `]}` },
		"alternatives": func(next string) string {
			return `{"anyOf":[` + times(10, `{"type":"object","properties":{"a":`+next+`}}`) + `]}`
		},
		"parts": func(next string) string { return `{"allOf":[` + times(10, `{"properties":{"a":`+next+`}}`) + `]}` },
		"lists": func(next string) string { return `{"oneOf":[` + times(10, `{"type":"array","items":`+next+`}`) + `]}` },
	} {
		t.Run(name, func(t *testing.T) {
			var all strings.Builder
			for n := range 12 {
				fmt.Fprintf(&all, `"W%d":%s,`, n, level(fmt.Sprintf(`{"$ref":"#/components/schemas/W%d"}`, n+1)))
			}
			content := `"content":{"application/json":{"schema":{"$ref":"#/components/schemas/W0"}}}`
			text := `{"openapi":"3.1.0","paths":{"/w":{"get":{"operationId":"op","summary":"W","responses":{"200":{"description":"ok",` + content + `}}},
				"post":{"operationId":"put","requestBody":{` + content + `},"responses":{"200":{"description":"ok",` + content + `}}}}},
				"components":{"schemas":{` + all.String() + `"W12":{"type":"object","properties":{"x":{"type":"integer"},"secret_note":{"type":"string"}}}}}}`
			body := strings.Repeat(`{"a":`, 15) + `{"x":1,"secret_note":"canary"}` + strings.Repeat(`}`, 15)
			if name == "lists" {
				body = strings.Repeat("[", 12) + `{"x":1,"secret_note":"canary"}` + strings.Repeat("]", 12)
			}
			done := make(chan error, 1)
			go func() {
				d, err := spec.Load([]byte(text))
				if err != nil {
					done <- err
					return
				}
				v := spec.NewView(d, nil, spec.Filter{Field: func(_, field string) bool { return field != "secret_note" }})
				op, err := v.Operation("op")
				if err == nil {
					_, err = search.DescribeSchema(v, "W0")
				}
				if err != nil {
					done <- err
					return
				}
				search.New(v, search.Options{})
				for _, op := range v.Operations() {
					search.DescribeOperation(v, op)
				}
				a, err := response.Make(v, op, &calls.HTTPResponse{Status: 200, MediaType: "application/json", Body: []byte(body), Header: http.Header{}}, response.Options{})
				if err == nil && strings.Contains(a.Body.String(), "canary") {
					err = fmt.Errorf("a hidden field: %s", a.Body)
				}
				if err != nil {
					t.Log(err) // a refusal is also an answer
				}
				done <- nil
			}()
			select {
			case err := <-done:
				if err != nil {
					t.Fatal(err)
				}
			case <-time.After(time.Minute): // it takes milliseconds, or practically forever
				t.Fatal("it is still read")
			}
		})
	}
}
