package endtoend

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/internal/fair"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/client"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/internal/review"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/source/openapi"
	"github.com/bailiwick-dev/bailiwick/write"
)

const letterAPI = `{"openapi": "3.0.3", "info": {"title": "Letters", "version": "1"}, "paths": {
  "/items/letters/{id}": {
    "parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "string"}}],
    "get": {"operationId": "readLetter", "responses": {"200": {"description": "ok", "content": {"application/json": {"schema": {"type": "object", "properties": {"data": {"$ref": "#/components/schemas/Letter"}}}}}}}},
    "patch": {"operationId": "changeLetter", "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Letter"}}}}, "responses": {"200": {"description": "ok"}}},
    "post": {"operationId": "updateLetter", "requestBody": {"content": {"application/x-www-form-urlencoded": {"schema": {"$ref": "#/components/schemas/Letter"}}}}, "responses": {"200": {"description": "ok"}}}},
  "/items/letters": {"post": {"operationId": "makeLetter", "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Letter"}}}}, "responses": {"200": {"description": "ok"}}}},
  "/stamps/{id}": {"put": {"operationId": "setStamp", "parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "string"}}],
    "requestBody": {"content": {"application/json": {"schema": {"type": "object", "properties": {"worth": {"type": "integer"}}}}}}, "responses": {"200": {"description": "ok"}}}}},
 "components": {"schemas": {"Letter": {"type": "object", "properties": {"id": {"type": "integer", "readOnly": true}, "status": {"type": "string"}, "title": {"type": "string"}, "seal": {"type": "string", "writeOnly": true}}}}}}`

// An enveloper is a service whose answers have an envelope, like those of Directus, and the time of the answer.
type enveloper struct {
	mu     sync.Mutex
	letter map[string]any
	writes []string
	reads  int
}

func (p *enveloper) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r.Method != "GET" {
		in := map[string]any{}
		if r.Header.Get("Content-Type") == "application/json" {
			_ = json.NewDecoder(r.Body).Decode(&in)
		} else {
			_ = r.ParseForm()
			for k := range r.Form {
				in[k] = r.Form.Get(k)
			}
		}
		for k, v := range in {
			p.letter[k] = v
		}
		p.writes = append(p.writes, r.Method+" "+r.URL.Path)
	}
	p.reads++
	w.Header().Set("Content-Type", "application/json")
	shown := map[string]any{}
	for k, v := range p.letter {
		if k != "seal" {
			shown[k] = v
		}
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"data": shown, "served": map[string]any{"number": p.reads}})
}

// givenBack returns the memory for answers. The test fails if some of it isn't released at the end.
func givenBack(t *testing.T) *fair.Answers {
	memory := fair.NewAnswers(0, 0)
	t.Cleanup(func() {
		if raw, parsed := memory.Load(); raw != 0 || parsed != 0 {
			t.Errorf("answers still hold %d and %d bytes", raw, parsed)
		}
	})
	return memory
}

// newEnveloper opens an office whose agents call the service. mode is the mode of calls in the rules.
func newEnveloper(t *testing.T, mode write.Mode) (*office, *enveloper) {
	t.Helper()
	p := &enveloper{letter: map[string]any{"id": 7, "status": "draft", "title": "one"}}
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	d, err := spec.Load([]byte(letterAPI))
	if err != nil {
		t.Fatal(err)
	}
	sender, err := client.New(client.Options{Base: server.URL, Answers: givenBack(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sender.Close)
	rules := calls.Rules{Document: d, Write: map[spec.Class]write.Mode{spec.ClassWrite: mode}}
	return newOffice(t, func(o *bailiwick.Options, _ *change.Options) {
		o.Sources["flow"] = openapi.New("flow", sender)
		o.Rules = policy.Rules{Version: "v1", APIs: map[string]calls.Rules{"flow": rules}, Gates: policy.Gates{Writes: policy.On}}
	}), p
}

// TestEnvelopedChange checks changes of a record in an envelope. People must see its current values. They can't
// approve a change of a record that has changed since, even in fields that the call doesn't set. Values that differ
// in each read don't count as changed.
func TestEnvelopedChange(t *testing.T) {
	for _, row := range []struct {
		operation, body, diff, text string
		moves                       map[string]any
		want                        change.State
	}{
		{"changeLetter", `{"status": "sent"}`, "PATCH /items/letters/7\nstatus draft→sent", `status: "draft" → "sent"`, nil, change.Applied},
		{"changeLetter", `{"status": "sent"}`, "PATCH /items/letters/7\nstatus draft→sent", ``, map[string]any{"status": "held"}, change.Stale},
		{"changeLetter", `{"status": "sent"}`, "PATCH /items/letters/7\nstatus draft→sent", ``, map[string]any{"title": "two"}, change.Stale},
		{"updateLetter", `{"status": "sent"}`, "POST /items/letters/7\nstatus draft→sent", `status: "draft" → "sent"`, nil, change.Applied},
		{"updateLetter", `{"status": "sent"}`, "POST /items/letters/7\nstatus draft→sent", ``, map[string]any{"status": "held"}, change.Stale},
		{"changeLetter", `{"seal": "red", "status": "sent"}`, "PATCH /items/letters/7\nseal ?→red\nstatus draft→sent",
			`seal: (the present value is not known) → "red"`, nil, change.Applied},
	} {
		o, p := newEnveloper(t, write.Review)
		s, err := o.call(o.bot(), row.operation, `{"path": {"id": "7"}, "body": `+row.body+`}`)
		if err != nil {
			t.Fatal(row.operation, err)
		}
		if text := review.Text(s); !strings.Contains(text, row.text) || strings.Contains(text, "(none)") {
			t.Errorf("%s: %s", row.operation, text)
		}
		ben := o.person("ben")
		sheet, err := ben.Sheet(t.Context(), s.ID)
		if err != nil || lines(sheet) != row.diff || !sheet.CanApprove {
			t.Fatalf("%v %s %+v", err, lines(sheet), sheet.Checks)
		}
		for k, v := range row.moves {
			p.mu.Lock()
			p.letter[k] = v
			p.mu.Unlock()
		}
		done, err := ben.Approve(t.Context(), s.ID, s.Digest, "")
		if err != nil || done.State != row.want || row.want == change.Stale && len(p.writes) > 0 {
			t.Errorf("%s %s: %v %s %s %v", row.operation, row.body, err, done.State, done.Outcome, p.writes)
		}
	}
}

// TestNotKnown checks calls whose target was not read. The first line of the sheet must say so. If the call may
// change existing data, a person must decide, whatever the rules allow.
func TestNotKnown(t *testing.T) {
	for _, row := range []struct {
		operation, request, first string
		want                      change.State
	}{
		{"changeLetter", `{"path": {"id": "7"}, "body": {"status": "sent"}}`, "Change applied. ID", change.Applied},
		{"makeLetter", `{"body": {"status": "sent"}}`, "Nothing was read before this call.", change.Applied},
		{"setStamp", `{"path": {"id": "1"}, "body": {"worth": 3}}`, "The present value is not known: nothing was read before this call.", change.Pending},
		{"changeLetter", `{"path": {"id": "7"}, "body": {"seal": "red"}}`, "The present value of some fields is not known", change.Pending},
	} {
		o, _ := newEnveloper(t, write.Allow)
		s, err := o.call(o.bot(), row.operation, row.request)
		if err != nil {
			t.Fatal(row.operation, err)
		}
		first, rest, _ := strings.Cut(review.Text(s), "\n")
		if s.State != row.want || !strings.Contains(first, row.first) || strings.Contains(rest, "(none)") {
			t.Errorf("%s: %s %s\n%s", row.operation, s.State, first, rest)
		}
		if s.State == change.Pending {
			sheet, err := o.person("ben").Sheet(t.Context(), s.ID)
			if err != nil || !sheet.CanApprove || strings.Contains(fmt.Sprint(sheet.Checks), "the target is as it was previewed}") {
				t.Errorf("%v %+v", err, sheet.Checks)
			}
		}
	}
}
