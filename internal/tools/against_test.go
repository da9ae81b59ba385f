package tools_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/client"
	"github.com/bailiwick-dev/bailiwick/internal/tools"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/source/metadata"
	"github.com/bailiwick-dev/bailiwick/source/openapi"
	"github.com/bailiwick-dev/bailiwick/store/sqlite"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
)

// hiring contains an API, a pack over it, and the cached class description that a tool of the pack is checked
// against.
var hiring = map[string]string{
	"api.yaml": `openapi: 3.0.3
info: {title: Crew, version: "1"}
paths: {/crew: {post: {operationId: hire, requestBody: {content: {application/json: {schema: {type: object, properties: {name: {type: string}, rank: {type: string}}}}}}, responses: {"200": {description: OK}}}}}
`,
	"crew/tools.yaml": `tools:
  - name: crew.hire
    description: Hires.
    annotations: {}
    input: {properties: {name: {type: string}, rank: {type: string, default: Mate}}}
    operation: hire
    body: {name: {$cel: input.name}, rank: {$cel: input.rank}}
    check_against: {class: Sailor, fields: {name: Name, rank: Rank}, record: new}
`,
	"cache/.metadata/Org/Sailor.json": `{"name": "Sailor", "fields": [{"name": "Name", "type": "string", "length": 5, "nillable": false},
		{"name": "Rank", "type": "picklist", "nillable": false, "picklistValues": [{"value": "Mate", "active": true}, {"value": "Captain", "active": true}]}]}`,
}

// TestAgainst checks that a tool with check_against refuses values that don't fit its class, if the caller sees the
// class. Other faults are shown to reviewers.
func TestAgainst(t *testing.T) {
	dir := t.TempDir()
	for name, text := range hiring {
		file := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the API is asked") }))
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
	org, err := metadata.New(metadata.Options{Name: "org", Roots: []string{filepath.Join(dir, "cache")}, Home: dir})
	if err != nil {
		t.Fatal(err)
	}
	gateway, _, err := bailiwick.New(t.Context(), bailiwick.Options{Sources: map[string]source.Source{"api": openapi.New("api", sender), "org": org}, Rules: c.Rules, Audit: store,
		Changes: change.NewQueue(change.Options{Store: store}), Refresher: identity.Fixed{}})
	if err != nil {
		t.Fatal(err)
	}
	room := tools.NewPackTools(tools.NewChangeTools(tools.ChangeOptions{Gateway: gateway}))
	set, err := tool.NewSet(gateway, room.Tools(tools.PackAPI{Name: "api", Tools: c.Packs["api"]})...)
	if err != nil {
		t.Fatal(err)
	}
	call := func(principal identity.Principal, args string) string {
		in, err := value.Read([]byte(args), 0)
		if err != nil {
			t.Fatal(err)
		}
		res, err := set.Call(t.Context(), principal, tool.Request{Name: "crew.hire", Arguments: in})
		if err == nil {
			state, _, _ := strings.Cut(string(res.Structured), ",")
			return state
		}
		p := problem.Of(err)
		out := fmt.Sprint(p.Code, " ", p.Detail)
		for _, f := range p.Faults {
			out += fmt.Sprintf(" [%s %s]", f.Pointer, f.Rule)
		}
		return out
	}
	seer, blind := agent(identity.Read, identity.Write), agent(identity.Read, identity.Write)
	blind.ID, blind.Classes = "token:2", identity.List{Except: []string{"Sailor"}}
	const wrong = `invalid_argument Name must have at most 5 characters, not 9. Rank must be one of Mate, Captain, not "Mat". Did you mean Mate? [/name length] [/rank enum]`
	for _, tt := range []struct {
		who        identity.Principal
		args, want string
	}{
		{seer, `{"name": "Ann", "rank": "Mate", "reason": "we need one"}`, `{"status":"pending_review"`},
		{seer, `{"name": "Bob"}`, `{"status":"pending_review"`}, // the required field rank has a default
		{seer, `{"name": "Annabella", "rank": "Mat"}`, wrong},
		{seer, `{"rank": "Mate"}`, `invalid_argument the field "Name" is missing [/name required]`},
		{blind, `{"name": "Annabella", "rank": "Mat"}`, `{"status":"pending_review"`},
	} {
		if got := call(tt.who, tt.args); got != tt.want {
			t.Errorf("%s by %s: %s\nwant %s", tt.args, tt.who.ID, got, tt.want)
		}
	}
	kept, _, err := store.List(t.Context(), change.Filter{Principal: blind.ID})
	if err != nil || len(kept) != 1 || len(kept[0].Doubts) != 2 || kept[0].Doubts[0].Text != "Name must have at most 5 characters, not 9" {
		t.Errorf("%+v %v", kept, err)
	}
	// The class changes between proposal and approval. It is checked again directly before the call is sent.
	if err := os.WriteFile(filepath.Join(dir, "cache/.metadata/Org/Sailor.json"), []byte(strings.Replace(hiring["cache/.metadata/Org/Sailor.json"], `"length": 5`, `"length": 2`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	reviewer := gateway.Reviewer(identity.Principal{ID: "token:3", Kind: identity.Human, Owner: "ben", Scopes: []identity.Scope{identity.Read, identity.Review, identity.Operator}}, "")
	for who, want := range map[string]string{seer.ID: "Name must have at most 2 characters, not 3. Nothing was written", blind.ID: "a person has to look at it again. Nothing was written"} {
		kept, _, err := store.List(t.Context(), change.Filter{Principal: who})
		if err != nil {
			t.Fatal(err)
		}
		c := kept[len(kept)-1]
		s, err := reviewer.Sheet(t.Context(), c.ID)
		if err != nil || s.CanApprove {
			t.Fatal(s, err)
		}
		if s, err = reviewer.BreakGlass(t.Context(), c.ID, c.Digest, "because"); err != nil || s.State != change.Stale || !strings.HasSuffix(s.Outcome, want) {
			t.Errorf("%s: %+v %v", who, s, err)
		}
		if s, err = reviewer.Renew(t.Context(), c.ID); (err == nil) != (who == blind.ID) {
			t.Errorf("%s: renewed %+v %v", who, s, err)
		}
	}
}
