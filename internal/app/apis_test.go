package app_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/app"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/demo"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
)

const pager = `store: "sqlite::memory:"
sources:
  tracker: {url: "sqlite:tracker.db"}
  pager:
    openapi:
      document: pager.yaml
      base_url: URL
      credential: {bearer: "${PAGER_TOKEN}"}
policy: {unlisted: visible}
classes:
  issues:
    tenant: {field: org_id}
    actions:
      page_owner:
        description: Wake somebody up about an issue
        do: http
        api: pager
        operation: OPERATION
        input: {type: object, required: [issueId, urgency], properties: {issueId: {type: string, format: uuid}, urgency: {type: string, enum: [low, high]}}}
        record: {$cel: input.issueId}
        require: [{that: 'record.status != "Done"', message: "a finished issue wakes nobody up", field: issueId}]
        set:
          body: {title: {$cel: record.title}, urgency: {$cel: input.urgency}, agent: {$cel: principal.owner}}
        tool: true
apis:
  pager: {}
`

const pagerDocument = `
openapi: 3.1.0
info: {title: Pager, version: "1"}
paths:
  /pages:
    post:
      operationId: sendPage
      requestBody:
        required: true
        content:
          application/json:
            schema: {type: object, required: [title], properties: {title: {type: string}, urgency: {type: string}, agent: {type: string}}}
      responses: {"201": {description: sent}}
`

// setUpPager writes and reads a configuration with an action that calls an operation of an API at url.
func setUpPager(t *testing.T, url, operation string) (*config.Config, error) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"bailiwick.yaml": strings.NewReplacer("URL", url, "OPERATION", operation).Replace(pager), "pager.yaml": pagerDocument} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := demo.Create(t.Context(), filepath.Join(dir, "tracker.db")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PAGER_TOKEN", "up-secret")
	return config.Load(filepath.Join(dir, "bailiwick.yaml"))
}

// TestHTTPAction checks an action that calls an API. An agent proposes it, a person approves it, and the gateway
// sends it once with its own credential.
func TestHTTPAction(t *testing.T) {
	var mu sync.Mutex
	var got []string
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		got = append(got, fmt.Sprintf("%s %s %s %t %s", r.Method, r.URL, r.Header.Get("Authorization"), r.Header.Get("Idempotency-Key") != "", body))
		w.WriteHeader(http.StatusCreated)
	}))
	t.Cleanup(api.Close)
	c, err := setUpPager(t, api.URL, "sendPage")
	if err != nil {
		t.Fatal(err)
	}
	p, err := app.Build(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	token := func(token identity.Token) identity.Principal {
		kept, _, err := p.Tokens.Create(t.Context(), identity.Local("test"), token)
		if err != nil {
			t.Fatal(err)
		}
		principal, err := kept.Principal()
		if err != nil {
			t.Fatal(err)
		}
		return principal
	}
	bot := token(identity.Token{Name: "bot", Kind: identity.Agent, Owner: "ana", Tenant: demo.Acme, Scopes: []identity.Scope{identity.Read, identity.Write}})
	call := func(name, args string) value.Value {
		in, err := value.Read([]byte(args), 0)
		if err != nil {
			t.Fatal(err)
		}
		r, err := p.Tools.Call(t.Context(), bot, tool.Request{Name: name, Arguments: in, Correlation: "c1"})
		if err != nil {
			t.Fatalf("%s %s: %v", name, args, err)
		}
		out, err := value.Read(r.Structured, 0)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	found := call("query_class", `{"class_name": "issues", "where": {"status": "Todo"}, "keys": ["title"], "limit": 1}`).Part([]string{"results"}).List()[0]
	id, title := found.Part([]string{"id"}).Text(), found.Part([]string{"title"}).Text()
	proposed := call("page_owner", `{"issueId": "`+id+`", "urgency": "high"}`)
	if proposed.Part([]string{"status"}).Text() != "pending_review" || got != nil {
		t.Fatal(proposed, got)
	}
	ben := p.Gateway.Reviewer(token(identity.Token{Name: "ben", Kind: identity.Human, Owner: "ben", Tenant: demo.Acme, Scopes: []identity.Scope{identity.Read, identity.Review}}), "c2")
	sheet, err := ben.Sheet(t.Context(), proposed.Part([]string{"change_id"}).Text())
	if err != nil || !sheet.CanApprove {
		t.Fatalf("%+v %v", sheet, err)
	}
	done, err := ben.Approve(t.Context(), sheet.ID, sheet.Digest, "")
	if err != nil || done.State != change.Applied {
		t.Fatalf("%+v %v", done, err)
	}
	want := fmt.Sprintf(`POST /pages Bearer up-secret true {"title":%q,"urgency":"high","agent":"ana"}`, title)
	if len(got) != 1 || got[0] != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestHTTPActionFaults checks that an action whose operation doesn't exist is a fault at its position.
func TestHTTPActionFaults(t *testing.T) {
	c, err := setUpPager(t, "http://127.0.0.1:1", "sendPags")
	if err != nil {
		t.Fatal(err)
	}
	_, err = app.Build(t.Context(), c)
	if want := `bailiwick.yaml:18:9: classes.issues.actions.page_owner.operation: pager has no operation "sendPags". Did you mean sendPage?`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v\nwant %s", err, want)
	}
}
