package endtoend

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/client"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/internal/review"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/source/openapi"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

const machines = `{"openapi": "3.0.3", "info": {"title": "Machines", "version": "1"},
"components": {"schemas": {"Machine": {"type": "object", "properties": {"id": {"type": "string", "readOnly": true}, "name": {"type": "string"}, "size": {"type": "integer"},
	"labels": {"type": "object", "additionalProperties": {"type": "string"}}, "adminNote": {"type": "string"}}}}},
"paths": {
  "/machines": {"get": {"operationId": "inventory", "parameters": [{"name": "name", "in": "query", "schema": {"type": "string"}}], "responses": {"200": {"description": "ok",
     "content": {"application/json": {"schema": {"type": "object", "properties": {"items": {"type": "array", "items": {"$ref": "#/components/schemas/Machine"}}}}}}}}}, "post": {"operationId": "makeMachine", "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Machine"}}}}, "responses": {"201": {"description": "made",
     "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Machine"}}}}}}},
  "/machines/{id}": {
    "parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "string"}}],
    "get": {"operationId": "getMachine", "responses": {"200": {"description": "ok", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Machine"}}}}}},
    "put": {"operationId": "setMachine", "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Machine"}}}}, "responses": {"200": {"description": "ok"}}},
    "patch": {"operationId": "patchMachine", "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Machine"}}}}, "responses": {"200": {"description": "ok"}}},
    "delete": {"operationId": "dropMachine", "responses": {"204": {"description": "gone"}}}}}}`

// A hall is an API with one machine. It records the requests that it receives.
type hall struct {
	mu      sync.Mutex
	machine map[string]any // nil after it was deleted
	asked   []string       // method, path, key and body of each request other than GET
	// fails is the status of the response to the next write, or one of these numbers. With -1, the API disconnects
	// without a response, and with -2 after the write. With -3 it answers 200 with a refusal. With -4 it answers with
	// a web page, and with -5 after the write. With -6 it redirects to a web page.
	fails  int
	spares int   // number of writes before fails takes effect
	made   []any // objects created by POST
	late   int   // number of lists that don't yet contain the latest object
	server *httptest.Server
}

func (h *hall) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	if r.Method != "GET" {
		h.asked = append(h.asked, strings.TrimSpace(r.Method+" "+r.URL.EscapedPath()+" "+string(body)))
		fails := h.fails
		if len(h.asked) <= h.spares {
			fails = 0
		}
		switch {
		case r.Header.Get("Idempotency-Key") == "":
			w.WriteHeader(400)
			return
		case fails == -3:
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"ok": false, "error": "machine_locked"}`)
			return
		case fails == -4:
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			fmt.Fprint(w, "<!DOCTYPE html><html><title>Sign in</title></html>")
			return
		case fails == -5: // after the write
			defer fmt.Fprint(w, "<!DOCTYPE html><html><title>Sign in</title></html>")
			w = httptest.NewRecorder()
		case fails == -6:
			http.Redirect(w, r, "/login", http.StatusFound)
			return
		case fails == -1:
			panic(http.ErrAbortHandler)
		case fails < 0:
			defer panic(http.ErrAbortHandler) // after the write
		case fails > 0:
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(fails)
			fmt.Fprint(w, `{"code": "name_taken", "error": "the name is taken"}`)
			return
		}
	}
	var in map[string]any
	numbers := json.NewDecoder(bytes.NewReader(body))
	numbers.UseNumber()
	_ = numbers.Decode(&in)
	switch r.Method {
	case "PUT":
		h.machine = in
	case "PATCH":
		for k, v := range in {
			h.machine[k] = v
		}
	case "DELETE":
		h.machine = nil
		w.WriteHeader(204)
		return
	case "POST":
		in["id"], in["adminNote"] = "m9", "made by an agent"
		h.made = append(h.made, in)
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Location", "/machines/m9?token=ghp_0123456789abcdefghijABCDEFGHIJ012345")
		w.WriteHeader(201)
		_ = json.NewEncoder(w).Encode(in)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if r.URL.Path == "/machines" {
		shown := h.made
		if h.late > 0 && len(shown) > 0 {
			h.late, shown = h.late-1, shown[:len(shown)-1]
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"items": shown})
		return
	}
	if h.machine == nil {
		w.WriteHeader(404)
	}
	_ = json.NewEncoder(w).Encode(h.machine)
}

// down stops the API. The returned function restarts it at the same address.
func (h *hall) down(t *testing.T) (up func()) {
	t.Helper()
	if err := h.server.Listener.Close(); err != nil {
		t.Fatal(err)
	}
	h.server.CloseClientConnections()
	return func() {
		again, err := net.Listen("tcp", h.server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		next := &http.Server{Handler: h}
		t.Cleanup(func() { next.Close() })
		go next.Serve(again)
	}
}

func (h *hall) calls() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return strings.Join(h.asked, "\n")
}

// newHall opens an office whose agents call an API.
func newHall(t *testing.T, more func(*calls.Rules)) (*office, *hall) {
	t.Helper()
	h := &hall{machine: map[string]any{"id": "m1", "name": "one", "size": 1, "labels": map[string]any{"a": "1", "b": "2"}, "adminNote": "psst"}}
	h.server = httptest.NewServer(h)
	t.Cleanup(h.server.Close)
	d, err := spec.Load([]byte(machines))
	if err != nil {
		t.Fatal(err)
	}
	own := client.HeaderFunc(func(_ context.Context, who identity.Principal) (http.Header, error) {
		return http.Header{"X-For": {who.Owner}}, nil
	})
	sender, err := client.New(client.Options{Base: h.server.URL, Credential: own, Answers: givenBack(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sender.Close)
	rules := calls.Rules{Document: d, Hidden: []calls.Hidden{{Fields: []string{"Machine.adminNote"}, When: `!("operator" in principal.scopes)`}}}
	if more != nil {
		more(&rules)
	}
	return newOffice(t, func(o *bailiwick.Options, c *change.Options) {
		o.Sources["flow"] = openapi.New("flow", sender)
		o.Rules = policy.Rules{Version: "v1", APIs: map[string]calls.Rules{"flow": rules}}
		c.Lease = 200 * time.Millisecond
	}), h
}

// call proposes a call of the API.
func (o *office) call(p identity.Principal, operation, request string) (*review.Sheet, error) {
	o.Helper()
	in, err := value.Read([]byte(request), 0)
	if err != nil {
		o.Fatal(err)
	}
	return o.ask(p, policy.WriteAction, write.Request{Tool: "call_api_write", Input: in, Writes: []write.Write{&write.Call{Source: "flow", Operation: operation, Request: in}}})
}

// lines returns the differences of a sheet as lines.
func lines(s *review.Sheet) string {
	var out []string
	for _, item := range s.Items {
		out = append(out, item.Key)
		for _, f := range item.Fields {
			if !strings.HasPrefix(f.Path, "request/") {
				out = append(out, fmt.Sprintf("%s %s%s→%s%s", f.Path, f.Before.Text, mark(f.Before), f.After.Text, mark(f.After)))
			}
		}
		if item.Hidden > 0 {
			out = append(out, fmt.Sprintf("%d hidden", item.Hidden))
		}
	}
	return strings.Join(out, "\n")
}

func mark(s review.Shown) string {
	return map[string]string{"absent": "-", "unread": "~", "unknown": "?"}[s.Kind]
}

// TestCallRead checks that reads return only data that the principal may see.
func TestCallRead(t *testing.T) {
	o, _ := newHall(t, nil)
	read := func(p identity.Principal, operation, path string) string {
		var out string
		err := o.gateway.Do(t.Context(), p, bailiwick.CallSpec{Tool: "call_api_read", Needs: identity.Read}, func(ctx context.Context, c *bailiwick.Call) (int, error) {
			ask := bailiwick.APIRead{Operation: operation}
			ask.Arguments.Path, _ = value.Read([]byte(path), 0)
			got, err := c.CallAPI(ctx, ask)
			if err == nil {
				out = got.Body.String()
			}
			return 0, err
		})
		if err != nil {
			return fmt.Sprint(problem.Of(err).Code, " ", problem.Of(err).Detail)
		}
		return out
	}
	agent, operator := o.bot(), o.token(identity.Human, "olga", "", identity.Read, identity.Operator)
	for _, row := range []struct {
		who                   identity.Principal
		operation, path, want string
	}{
		{agent, "getMachine", `{"id": "m1"}`, `{"id":"m1","labels":{"a":"1","b":"2"},"name":"one","size":1}`},
		{operator, "getMachine", `{"id": "m1"}`, `{"adminNote":"psst","id":"m1","labels":{"a":"1","b":"2"},"name":"one","size":1}`},
		{agent, "setMachine", `{"id": "m1"}`, "invalid_argument setMachine is a write operation: it isn't called as a read"},
		{agent, "getMachines", `{}`, `not_found unknown operation "getMachines". Did you mean getMachine or setMachine?`},
	} {
		if got := read(row.who, row.operation, row.path); got != row.want {
			t.Errorf("%s\n got %s\nwant %s", row.operation, got, row.want)
		}
	}
	if got := o.credentials(t, "call_api_read"); got != "program for ana, program for olga, , " {
		t.Error("recorded:", got)
	}
}

// credentials returns the owners of the credentials in the records of a tool's calls.
func (o *office) credentials(t *testing.T, tool string) string {
	t.Helper()
	var out []string
	err := o.store.Records(t.Context(), audit.First, func(r audit.Record) bool {
		if r.Tool == tool {
			out = append(out, r.Credential)
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(out, ", ")
}

// TestCallChange checks calls from the proposal to the requests to the API. The API must receive exactly the request
// that people saw, once.
func TestCallChange(t *testing.T) {
	o, h := newHall(t, nil)
	bot, ben := o.bot(), o.gateway.Reviewer(o.token(identity.Human, "ben", "acme", identity.Read, identity.Review, identity.Operator), "visit")
	for _, row := range []struct{ operation, request, diff, sent, title string }{
		{"patchMachine", `{"path": {"id": "m1"}, "body": {"size": 2, "labels": {"b": "3"}}}`,
			"PATCH /machines/m1\nsize 1→2\nlabels/b 2→3", `PATCH /machines/m1 {"size":2,"labels":{"b":"3"}}`, "patchMachine: PATCH /machines/m1 \"one\""},
		{"setMachine", `{"path": {"id": "m1"}, "body": {"name": "two"}}`,
			"PUT /machines/m1\nname one→two\nadminNote psst→-\nlabels {\"b\":\"3\"}→-\nsize 2→-", `PUT /machines/m1 {"name":"two"}`, "setMachine: PUT /machines/m1 \"one\""},
		{"makeMachine", `{"body": {"name": "nine", "size": 9007199254740993}}`,
			"POST /machines\nname ~→nine\nsize ~→9007199254740993", `POST /machines {"name":"nine","size":9007199254740993}`, "makeMachine: POST /machines"},
		{"dropMachine", `{"path": {"id": "m1"}}`, "DELETE /machines/m1\nname two→-", "DELETE /machines/m1", "dropMachine: DELETE /machines/m1 \"two\""},
	} {
		s, err := o.call(bot, row.operation, row.request)
		if err != nil {
			t.Fatal(row.operation, err)
		}
		sheet, err := ben.Sheet(t.Context(), s.ID)
		if err != nil {
			t.Fatal(err)
		}
		if got := lines(sheet); got != row.diff || !sheet.CanApprove || sheet.Title != row.title {
			t.Errorf("%s\n%s\nwant\n%s\n%s %+v", row.operation, got, row.diff, sheet.Title, sheet.Checks)
		}
		before := h.calls()
		done, err := ben.Approve(t.Context(), s.ID, s.Digest, "")
		if err != nil || done.State != change.Applied {
			t.Fatalf("%s: %+v %v", row.operation, done, err)
		}
		if got := strings.TrimPrefix(strings.TrimPrefix(h.calls(), before), "\n"); got != row.sent {
			t.Errorf("%s: sent %s, want %s", row.operation, got, row.sent)
		}
		if row.operation == "makeMachine" && fmt.Sprint(done.Locations) != "[/machines/m9?token=[masked]]" {
			t.Error(done.Locations)
		}
		if row.operation == "makeMachine" && done.Answer.String() != `{"id":"m9","name":"nine","size":9007199254740993}` {
			t.Error("what the API answered:", done.Answer)
		}
		if _, err := ben.Revert(t.Context(), s.ID, ""); problem.CodeOf(err) != problem.Conflict {
			t.Error("a call was taken back:", err)
		}
	}
	if got := o.credentials(t, "changes/sending"); got != strings.TrimSuffix(strings.Repeat("program for ana, ", 4), ", ") {
		t.Error("recorded:", got)
	}
}

// TestCallHidden replaces a machine that contains a note by its administrators. The note must be hidden from the
// agent. A reviewer who can't see it can't approve its removal. A reviewer who can see it sees the removal.
func TestCallHidden(t *testing.T) {
	sheets := map[bool]string{}
	for _, note := range []bool{true, false} {
		o, h := newHall(t, nil)
		if !note {
			delete(h.machine, "adminNote")
		}
		s, err := o.call(o.bot(), "setMachine", `{"path": {"id": "m1"}, "body": {"name": "two", "size": 1, "labels": {}}}`)
		if err != nil {
			t.Fatal(err)
		}
		items, err := json.Marshal(s.Items)
		if err != nil {
			t.Fatal(err)
		}
		sheets[note] = fmt.Sprint(s.Title, s.Fields, string(items))
		if !note {
			continue
		}
		ben, err := o.person("ben").Sheet(t.Context(), s.ID)
		if err != nil || ben.CanApprove || !strings.Contains(lines(ben), "1 hidden") {
			t.Errorf("%v %t\n%s", err, ben.CanApprove, lines(ben))
		}
		olga := o.gateway.Reviewer(o.token(identity.Human, "olga", "acme", identity.Read, identity.Review, identity.Operator), "visit")
		sheet, err := olga.Sheet(t.Context(), s.ID)
		if err != nil || !sheet.CanApprove || !strings.Contains(lines(sheet), "adminNote psst→-") {
			t.Errorf("%v %t\n%s", err, sheet.CanApprove, lines(sheet))
		}
	}
	if sheets[true] != sheets[false] {
		t.Errorf("the agent is told of the note:\n%s\n%s", sheets[true], sheets[false])
	}
}

// TestCallEnds checks each way in which an approved call may end.
func TestCallEnds(t *testing.T) {
	for _, row := range []struct {
		name    string
		happens func(*office, *hall)
		want    string
		calls   int
	}{
		{"done", func(*office, *hall) {}, "applied ", 1},
		{"the API refuses", func(_ *office, h *hall) { h.fails = 409 }, "failed the API found a conflict: 409 name_taken: the name is taken. Nothing was written", 1},
		{"the API refuses in its answer", func(_ *office, h *hall) { h.fails = -3 }, "failed the API says that it did not do this: 200: machine_locked. Nothing was written", 1},
		{"the API breaks", func(_ *office, h *hall) { h.fails = 500 }, "unknown the API failed after it had the request (500: the name is taken): it may have happened or not", 1},
		{"a web page answers", func(_ *office, h *hall) { h.fails = -4 }, "unknown the service answered with a web page and not as its document says, and probably wants a sign-in: it may have happened or not", 1},
		{"the API does it and a web page answers", func(_ *office, h *hall) { h.fails = -5 }, "applied ", 1},
		{"a redirect to a web page answers", func(_ *office, h *hall) { h.fails = -6 }, "unknown the API redirects (status 302) elsewhere: it may have happened or not", 1},
		{"the API hangs up", func(_ *office, h *hall) { h.fails = -1 }, "unknown ", 1},
		{"the API does it and hangs up", func(_ *office, h *hall) { h.fails = -2 }, "applied ", 1},
		{"the machine has changed", func(_ *office, h *hall) { h.machine["size"] = 7 }, "stale ", 0},
		{"what the agent doesn't see has changed", func(_ *office, h *hall) { h.machine["adminNote"] = "another" }, "applied ", 1},
		{"the machine is gone", func(_ *office, h *hall) { h.machine = nil }, "failed ", 0},
		{"the rules hide it now", func(o *office, _ *hall) {
			rules := o.rules
			api := rules.APIs["flow"]
			api.Hidden = append(api.Hidden, calls.Hidden{Operations: []string{"patchMachine"}, When: `!("review" in principal.scopes)`})
			rules.APIs = map[string]calls.Rules{"flow": api}
			if err := o.gateway.SetRules(o.Context(), rules, nil); err != nil {
				o.Fatal(err)
			}
		}, `conflict conflict: unknown operation "patchMachine"`, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			o, h := newHall(t, nil)
			s, err := o.call(o.bot(), "patchMachine", `{"path": {"id": "m1"}, "body": {"size": 2}}`)
			if err != nil {
				t.Fatal(err)
			}
			ben := o.person("ben")
			row.happens(o, h)
			done, err := ben.Approve(t.Context(), s.ID, s.Digest, "")
			got := fmt.Sprint(problem.CodeOf(err), " ", err)
			if err == nil {
				got = string(done.State) + " " + done.Outcome
			}
			if !strings.HasPrefix(got, row.want) {
				t.Errorf("%s, want %s", got, row.want)
			}
			if n := len(h.asked); n != row.calls {
				t.Errorf("%d calls, want %d: %s", n, row.calls, h.calls())
			}
			// A later executor must not send it again.
			ctx, cancel := context.WithTimeout(t.Context(), 400*time.Millisecond)
			defer cancel()
			o.gateway.Execute(ctx, nil)
			if n := len(h.asked); n != row.calls {
				t.Errorf("it was sent again: %s", h.calls())
			}
		})
	}
}

// TestCallReadBack checks a POST whose answer was lost. A read must settle it if a rule says how, even if the created
// object appears late. Otherwise the outcome stays unknown.
func TestCallReadBack(t *testing.T) {
	rule := calls.ReadBack{Operations: []string{"makeMachine"}, By: "inventory", Query: map[string]string{"name": "body.name"}, Match: map[string]string{"name": "body.name", "size": "body.size"}}
	o, h := newHall(t, func(r *calls.Rules) { r.ReadBack = []calls.ReadBack{rule} })
	ben := o.person("ben")
	for _, row := range []struct {
		name, body  string
		fails, late int
		state       change.State
		answer      string
	}{
		{"made, and the answer lost", `{"name": "nine", "size": 2}`, -2, 0, change.Applied, `{"id":"m9","name":"nine","size":2}`},
		{"made, shown late", `{"name": "ten", "size": 2}`, -2, 2, change.Applied, `{"id":"m9","name":"ten","size":2}`},
		{"made, beside an equal one", `{"name": "ten", "size": 2}`, -2, 0, change.Applied, ""},
		{"not made", `{"name": "eleven", "size": 2}`, -1, 0, change.Unknown, ""},
		{"a call that doesn't say what to look for", `{"name": "twelve"}`, -2, 0, change.Unknown, ""},
	} {
		s, err := o.call(o.bot(), "makeMachine", `{"body": `+row.body+`}`)
		if err != nil {
			t.Fatal(row.name, err)
		}
		h.mu.Lock()
		h.fails = row.fails
		if row.late > 0 {
			h.late = row.late
		}
		h.mu.Unlock()
		done, err := ben.Approve(t.Context(), s.ID, s.Digest, "")
		for deadline := time.Now().Add(time.Minute); err == nil && !done.State.IsFinal() && done.State != change.Unknown && time.Now().Before(deadline); {
			time.Sleep(20 * time.Millisecond)
			done, err = ben.Sheet(t.Context(), s.ID)
		}
		if err != nil || done.State != row.state || done.Answer.String() != row.answer {
			t.Errorf("%s: %s %s, want %s %s: %v", row.name, done.State, done.Answer, row.state, row.answer, err)
		}
	}
	for want, wrong := range map[string]calls.ReadBack{
		`the document has no operation "inventry". Did you mean inventory?`: {Operations: rule.Operations, By: "inventry", Match: rule.Match},
		"makeMachine doesn't read":                                               {Operations: rule.Operations, By: "makeMachine", Match: rule.Match},
		"is empty: it names the fields that tell what a call made":               {Operations: rule.Operations, By: "inventory"},
		`"name" is no place in a call. Write body.name, path.name or query.name`: {Operations: rule.Operations, By: "inventory", Match: map[string]string{"name": "name"}},
	} {
		d, err := spec.Load([]byte(machines))
		if err != nil {
			t.Fatal(err)
		}
		_, err = policy.New(policy.Rules{APIs: map[string]calls.Rules{"flow": {Document: d, ReadBack: []calls.ReadBack{wrong}}}}, nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestCallLeft takes over a call whose executor stopped after it began to send. The call must not be sent again, and
// a person decides its outcome.
func TestCallLeft(t *testing.T) {
	o, h := newHall(t, nil)
	s, err := o.call(o.bot(), "patchMachine", `{"path": {"id": "m1"}, "body": {"size": 2}}`)
	if err != nil {
		t.Fatal(err)
	}
	queue := o.queue
	if _, err := queue.Approve(t.Context(), s.ID, o.token(identity.Human, "ben", "acme", identity.Read, identity.Review), change.Verdict{Digest: s.Digest}); err != nil {
		t.Fatal(err)
	}
	if _, err := audit.Drain(t.Context(), o.store, s.ID, o.store); err != nil {
		t.Fatal(err)
	}
	left, err := queue.Claim(t.Context(), s.ID, "left")
	if err != nil {
		t.Fatal(err)
	}
	if err := queue.Sending(t.Context(), left, ""); err != nil {
		t.Fatal(err)
	}
	if err := queue.Sending(t.Context(), left, ""); problem.CodeOf(err) != problem.Conflict {
		t.Error("it could be sent twice:", err)
	}
	time.Sleep(300 * time.Millisecond) // the lease expires
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	go o.gateway.Execute(ctx, failing(t))
	ben := o.person("ben")
	for {
		now, err := ben.Sheet(ctx, s.ID)
		if err != nil {
			t.Fatal(err)
		}
		if now.State == change.Unknown {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	if h.calls() != "" {
		t.Error("it was sent:", h.calls())
	}
}
