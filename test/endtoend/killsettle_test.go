package endtoend

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// rooms is a document with a link. A created room can be found by the name in the request.
const rooms = `{"openapi": "3.0.3", "info": {"title": "Rooms", "version": "1"},
"components": {"schemas": {"Room": {"type": "object", "properties": {"name": {"type": "string"}, "size": {"type": "integer"}}}}},
"paths": {
  "/rooms": {"post": {"operationId": "addRoom", "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Room"}}}},
    "responses": {"201": {"description": "made", "links": {
      "unusable": {"operationId": "getRoom", "parameters": {"name": "$response.body#/name"}},
      "made": {"operationRef": "#/paths/~1rooms~1{name}/get", "parameters": {"name": "$request.body#/name"}}}}}}},
  "/rooms/{name}": {"parameters": [{"name": "name", "in": "path", "required": true, "schema": {"type": "string"}}],
    "get": {"operationId": "getRoom", "responses": {"200": {"description": "ok", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Room"}}}}}},
    "patch": {"operationId": "patchRoom", "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Room"}}}}, "responses": {"200": {"description": "ok"}}},
    "delete": {"operationId": "dropRoom", "responses": {"204": {"description": "gone"}}}},
  "/visits": {"get": {"operationId": "listVisits", "responses": {"200": {"description": "ok", "content": {"application/json": {"schema": {"type": "array", "items": {"$ref": "#/components/schemas/Room"}}}}}}},
    "post": {"operationId": "addVisit", "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Room"}}}}, "responses": {"201": {"description": "made"}}}}}}`

var visited = []calls.ReadBack{{Operations: []string{"addVisit"}, By: "listVisits", Match: map[string]string{"name": "body.name"}}}

// An inn is an API with rooms. It never answers the call with the number stays. It carries out that call only if
// makes is set.
type inn struct {
	mu      sync.Mutex
	rooms   map[string]map[string]any
	visits  []any
	sent    int // number of write calls
	stays   int
	makes   bool
	reached chan struct{} // closed when the call without an answer arrives
}

func (h *inn) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in map[string]any
	if r.Method != http.MethodGet {
		_ = json.NewDecoder(r.Body).Decode(&in) // a DELETE has no body
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if r.Method != http.MethodGet {
		if h.sent++; h.sent == h.stays {
			defer func() {
				h.mu.Unlock()
				close(h.reached)
				<-r.Context().Done()
				h.mu.Lock()
			}()
			if !h.makes {
				return
			}
		}
	}
	name := strings.TrimPrefix(r.URL.Path, "/rooms/")
	w.Header().Set("Content-Type", "application/json")
	switch {
	case r.Method == http.MethodGet && r.URL.Path == "/visits":
		_ = json.NewEncoder(w).Encode(h.visits)
	case r.Method == http.MethodPost && r.URL.Path == "/visits":
		h.visits = append(h.visits, in)
	case r.Method == http.MethodPost:
		h.rooms[fmt.Sprint(in["name"])] = in
	case h.rooms[name] == nil:
		w.WriteHeader(http.StatusNotFound)
	case r.Method == http.MethodGet:
		_ = json.NewEncoder(w).Encode(h.rooms[name])
	case r.Method == http.MethodPatch:
		for k, v := range in {
			h.rooms[name][k] = v
		}
	case r.Method == http.MethodDelete:
		delete(h.rooms, name)
	}
}

// TestKilledIsReadBack kills an executor during a call. The next executor must not send the call again. It reads
// whether the call was carried out, by the same path, by a rule, or by a link in the document, and reports the
// result. If it can't find out, a person must decide.
func TestKilledIsReadBack(t *testing.T) {
	const a, b, c = `addRoom {"body": {"name": "a", "size": 1}}`, `addRoom {"body": {"name": "b"}}`, `addRoom {"body": {"name": "c"}}`
	for _, row := range []struct {
		name   string
		calls  []string
		stays  int
		makes  bool
		state  change.State
		rows   int64 // number of rows in the receipt
		detail string
	}{
		{"a link", []string{a}, 1, true, change.Applied, 1, ""},
		{"a link, not made", []string{a}, 1, false, change.Unknown, 0, "it was about to be sent when its executor left"},
		{"a link to what was there before", []string{`addRoom {"body": {"name": "old"}}`}, 1, true, change.Unknown, 0, "it was about to be sent"},
		{"a rule", []string{`addVisit {"body": {"name": "ana"}}`}, 1, true, change.Applied, 1, ""},
		{"the same path", []string{`patchRoom {"path": {"name": "old"}, "body": {"size": 9}}`}, 1, true, change.Applied, 1, ""},
		{"the same path, not made", []string{`patchRoom {"path": {"name": "old"}, "body": {"size": 9}}`}, 1, false, change.Unknown, 0, "it was about to be sent"},
		{"gone", []string{`dropRoom {"path": {"name": "old"}}`}, 1, true, change.Applied, 1, ""},
		{"the second of three", []string{a, b, c}, 2, true, change.Failed, 2, "its executor left. Calls 1 to 2 were carried out, call 3 was not sent"},
		{"the last of three", []string{a, b, c}, 3, true, change.Applied, 3, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			h := &inn{rooms: map[string]map[string]any{"old": {"name": "old", "size": 3}}, stays: row.stays, makes: row.makes, reached: make(chan struct{})}
			api := httptest.NewServer(h)
			t.Cleanup(api.Close)
			path := filepath.Join(t.TempDir(), "bailiwick.db")
			g, queue, err := caller(t.Context(), path, api.URL, "rooms")
			if err != nil {
				t.Fatal(err)
			}
			id := approved(t, g, queue, row.calls)
			killed(t, path+" "+api.URL+" rooms", h.reached)
			rest, cancel := context.WithCancel(t.Context())
			defer cancel()
			go g.Execute(rest, nil)
			got := ended(t, queue, id)
			var rows int64
			if got.Outcome.Receipt != nil {
				rows = got.Outcome.Receipt.Rows
			}
			if got.State != row.state || rows != row.rows || !strings.Contains(got.Outcome.Detail, row.detail) {
				t.Errorf("%s, %d made: %s", got.State, rows, got.Outcome.Detail)
			}
			h.mu.Lock()
			defer h.mu.Unlock()
			if h.sent != row.stays {
				t.Errorf("%d calls were sent", h.sent)
			}
		})
	}
}

// approved proposes calls as one change and approves it. Each call is an operation with its arguments.
func approved(t *testing.T, g *bailiwick.Gateway, queue *change.Queue, calls []string) (id string) {
	t.Helper()
	bot := identity.Principal{ID: "token:bot", Kind: identity.Agent, Owner: "ana", Scopes: []identity.Scope{identity.Read, identity.Write, identity.Delete}}
	ben := identity.Principal{ID: "token:ben", Kind: identity.Human, Owner: "ben", Scopes: []identity.Scope{identity.Read, identity.Review}}
	needs := identity.Write
	var list []write.Write
	for _, call := range calls {
		name, arguments, _ := strings.Cut(call, " ")
		in, err := value.Read([]byte(arguments), 0)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, &write.Call{Source: "flow", Operation: name, Request: in})
	}
	err := g.Do(t.Context(), bot, bailiwick.CallSpec{Tool: "call_api_write", Needs: needs, Writes: policy.WriteAction, Proposes: true}, func(ctx context.Context, c *bailiwick.Call) (int, error) {
		s, err := c.Propose(ctx, write.Request{Tool: "call_api_write", Input: value.OfObject(nil), Writes: list})
		if err != nil {
			return 0, err
		}
		id = s.ID
		_, err = queue.Approve(ctx, s.ID, ben, change.Verdict{Digest: s.Digest})
		return 0, err
	})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// killed runs an executor until reached is closed, and kills it.
func killed(t *testing.T, order string, reached <-chan struct{}) {
	t.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), callerVariable+"="+order)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	if !bufio.NewScanner(out).Scan() {
		t.Fatal("the executor didn't start")
	}
	select {
	case <-reached:
	case <-time.After(2 * time.Minute):
		t.Error("the executor sends nothing")
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait() // it was killed
}

// ended waits for the end of a change.
func ended(t *testing.T, queue *change.Queue, id string) *change.Change {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
		c, err := queue.Get(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if c.State.IsFinal() || c.State == change.Unknown {
			return c
		}
		if time.Now().After(end) {
			t.Fatalf("%s is %s", id, c.State)
		}
	}
}
