package tools_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/client"
	"github.com/bailiwick-dev/bailiwick/internal/tools"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/source/openapi"
	"github.com/bailiwick-dev/bailiwick/store/sqlite"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
)

// TestRequireOnce checks a tool's require. It is evaluated over the API's answer when the tool proposes, and not
// again. A reviewer can approve, and the call is sent. See the row require in docs/changes.md.
func TestRequireOnce(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"api.yaml": `openapi: 3.0.3
info: {title: Crew, version: "1"}
paths:
  /berths: {get: {operationId: berths, responses: {"200": {description: OK, content: {application/json: {schema: {type: object, properties: {free: {type: integer}}}}}}}}}
  /crew: {post: {operationId: hire, requestBody: {content: {application/json: {schema: {type: object, properties: {name: {type: string}}}}}}, responses: {"200": {description: OK}}}}
`,
		"crew/tools.yaml": `tools:
  - name: crew.hire
    description: Hires.
    annotations: {}
    input: {properties: {name: {type: string}}}
    reads: {berths: {operation: berths}}
    require: [{that: berths.free > 0, message: no berth is free}]
    operation: hire
    body: {name: {$cel: input.name}}
`} {
		file := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	var free, hired, asked atomic.Int64
	free.Store(1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.Method == http.MethodPost {
			hired.Add(1)
			fmt.Fprint(w, `{}`)
			return
		}
		asked.Add(1)
		fmt.Fprintf(w, `{"free": %d}`, free.Load())
	}))
	t.Cleanup(server.Close)
	c, err := config.Parse(filepath.Join(dir, "f.yaml"), []byte("sources: {api: {openapi: {document: api.yaml, base_url: '"+server.URL+"', packs: [./crew]}}}\napis: {api: {}}\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	store, err := sqlite.Open(t.Context(), filepath.Join(dir, "bailiwick.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	sender, err := client.New(client.Options{Base: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sender.Close)
	gateway, _, err := bailiwick.New(t.Context(), bailiwick.Options{Sources: map[string]source.Source{"api": openapi.New("api", sender)}, Rules: c.Rules, Audit: store,
		Changes: change.NewQueue(change.Options{Store: store}), Refresher: identity.Fixed{}})
	if err != nil {
		t.Fatal(err)
	}
	set, err := tool.NewSet(gateway, tools.NewPackTools(tools.NewChangeTools(tools.ChangeOptions{Gateway: gateway})).Tools(tools.PackAPI{Name: "api", Tools: c.Packs["api"]})...)
	if err != nil {
		t.Fatal(err)
	}
	bot := agent(identity.Read, identity.Write)
	hire := func() error {
		_, err := set.Call(t.Context(), bot, tool.Request{Name: "crew.hire", Arguments: value.OfObject([]value.Member{{Name: "name", Value: value.OfString("Ann")}})})
		return err
	}
	if err := hire(); err != nil {
		t.Fatal(err)
	}
	free.Store(0)
	if err := hire(); err == nil || !strings.Contains(problem.Of(err).Detail, "no berth is free") {
		t.Errorf("proposed after the last berth is gone: %v", err)
	}
	read := asked.Load()
	kept, _, err := store.List(t.Context(), change.Filter{Principal: bot.ID})
	if err != nil || len(kept) != 1 {
		t.Fatal(kept, err)
	}
	reviewer := gateway.Reviewer(identity.Principal{ID: "token:3", Kind: identity.Human, Owner: "ben", Scopes: []identity.Scope{identity.Read, identity.Review, identity.Operator}}, "")
	s, err := reviewer.Sheet(t.Context(), kept[0].ID)
	if err != nil || !s.CanApprove {
		t.Fatal(s, err)
	}
	if s, err = reviewer.BreakGlass(t.Context(), s.ID, s.Digest, "because"); err != nil || s.State != change.Applied {
		t.Errorf("%+v %v", s, err)
	}
	if hired.Load() != 1 || asked.Load() != read {
		t.Errorf("hired %d, and %d reads more", hired.Load(), asked.Load()-read)
	}
}
