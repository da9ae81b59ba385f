package bench_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
)

// mostAnswers is the maximum growth of the process caused by answers of an API, in bytes.
const mostAnswers = 640 << 20

// largeAPI is the document of an API with one answer of each kind.
const largeAPI = `{"openapi": "3.1.0", "info": {"title": "Large", "version": "1"}, "paths": {"/{kind}": {"get": {"operationId": "large",
	"parameters": [{"name": "kind", "in": "path", "required": true, "schema": {"type": "string"}}],
	"responses": {"200": {"description": "done", "content": {"application/json": {"schema": {}}}}}}}}}`

// TestResidentAnswers lets many agents read answers of 7 MiB from an API concurrently. It measures the growth of the
// process. Small calls of another owner must be answered meanwhile.
func TestResidentAnswers(t *testing.T) {
	if os.Getenv("BAILIWICK_RESIDENT") == "" {
		t.Skip("LEFT OUT: some minutes of large answers; see make soak")
	}
	const size = 7 << 20
	list := func(one string) string { return "[" + one + strings.Repeat(","+one, size/(len(one)+1)-1) + "]" }
	answers := map[string]string{
		"objects": list(`{"id":1234567,"name":"a name of a record","at":"2026-01-01T00:00:00Z"}`),
		"numbers": list(`1234567`),
		"texts":   list(`"` + strings.Repeat("x", 100_000) + `"`),
	}
	file, tokens := manyOwners(t, 40, largeAPI, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, answers[strings.TrimPrefix(r.URL.Path, "/")])
	})
	path := program(t)
	for _, kind := range []string{"objects", "numbers", "texts"} {
		for _, n := range []int{16, 300} {
			t.Run(fmt.Sprintf("%s, %d at once", kind, n), func(t *testing.T) {
				most := growth(t, path, file, tokens, func(token, url string) *caller {
					return modern(t, url, token, "call_api_read", `{"operation_id":"large","path":{"kind":"`+kind+`"}}`)
				}, n)
				if most > mostAnswers {
					t.Errorf("the process grew by %d MiB", most>>20)
				}
			})
		}
	}
}
