package bench_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/client"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/validate"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/source/openapi"
	"github.com/bailiwick-dev/bailiwick/value"
)

// BenchmarkAPICall reads one project from an API on this machine. It compares net/http with a complete call of the
// gateway, over the network and within the process.
func BenchmarkAPICall(b *testing.B) {
	const project = `{"id": "p1", "name": "Apollo", "key": "APO", "description": "To the moon", "lead": {"id": "u1", "name": "Ann", "role": "admin"}}`
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, project)
	})
	server := httptest.NewServer(handler)
	b.Cleanup(server.Close)
	b.Run("raw", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			r, err := http.Get(server.URL + "/api/v1/projects/p1")
			if err != nil {
				b.Fatal(err)
			}
			if _, err := io.ReadAll(r.Body); err != nil {
				b.Fatal(err)
			}
			r.Body.Close() //nolint:errcheck // its body was read to the end
		}
	})
	text, err := os.ReadFile("../../internal/openapi/testdata/trackline.json")
	if err != nil {
		b.Fatal(err)
	}
	d, err := spec.Load(text)
	if err != nil {
		b.Fatal(err)
	}
	for _, row := range []struct {
		name    string
		options client.Options
	}{{"gateway", client.Options{Base: server.URL}}, {"gateway_in_process", client.Options{Handler: handler}}} {
		sender, err := client.New(row.options)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(sender.Close)
		g, _, err := bailiwick.New(b.Context(), bailiwick.Options{Sources: map[string]source.Source{"trackline": openapi.New("trackline", sender)}, Audit: &sealed{}, Limits: unlimited(),
			Rules: policy.Rules{Version: "v1", APIs: map[string]calls.Rules{"trackline": {Document: d}}}})
		if err != nil {
			b.Fatal(err)
		}
		p := identity.Principal{ID: "token:1", Owner: "ann", Scopes: []identity.Scope{identity.Read}}
		path := value.OfObject([]value.Member{{Name: "projectId", Value: value.OfString("p1")}})
		b.Run(row.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				err := g.Do(b.Context(), p, bailiwick.CallSpec{Tool: "call_api_read", Needs: identity.Read}, func(ctx context.Context, c *bailiwick.Call) (int, error) {
					got, err := c.CallAPI(ctx, bailiwick.APIRead{Operation: "get_projects_projectId", Arguments: validate.Arguments{Path: path}})
					if err != nil {
						return 0, err
					}
					return len(got.Body.AppendJSON(nil)), nil
				})
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
