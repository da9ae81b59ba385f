package endtoend

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/internal/review"
	"github.com/bailiwick-dev/bailiwick/internal/tools"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
)

// proposed calls propose_changes with these API calls. It returns the id of the change or the error.
func (o *office) proposed(p identity.Principal, list ...string) (string, error) {
	o.Helper()
	return o.proposedAfter(p, "", list...)
}

// proposedAfter is like proposed for a change that waits for the change after. With "", it doesn't wait.
func (o *office) proposedAfter(p identity.Principal, after string, list ...string) (string, error) {
	o.Helper()
	set, err := tool.NewSet(o.gateway, tools.NewChangeTools(tools.ChangeOptions{Gateway: o.gateway}).Tools()...)
	if err != nil {
		o.Fatal(err)
	}
	if after != "" {
		after = `"after":["` + after + `"],`
	}
	in, err := value.Read([]byte(`{`+after+`"writes":[`+strings.Join(list, ",")+`]}`), 0)
	if err != nil {
		o.Fatal(err)
	}
	res, err := set.Call(o.Context(), p, tool.Request{Name: "propose_changes", Arguments: in, Correlation: "c1"})
	if err != nil {
		return "", err
	}
	doc, err := value.Read(res.Structured, 0)
	if err != nil {
		o.Fatal(err)
	}
	id, _ := doc.Get("change_id")
	return id.Text(), nil
}

const (
	makeOne  = `{"op":"call","call":{"operationId":"makeMachine","body":{"name":"nine","size":9}}}`
	growIt   = `{"op":"call","call":{"operationId":"patchMachine","path":{"id":"$1.id"},"body":{"size":"$1.size","labels":{"of":"$1.name"}}}}`
	dropTens = `{"op":"call","call":{"operationId":"dropMachine","path":{"id":"m1"}}}`
)

// TestSeveralCalls proposes three calls as one change. The second and third call use values from answers of earlier
// calls. The reviewer sees each call, and the calls are sent once, in order.
func TestSeveralCalls(t *testing.T) {
	o, h := newHall(t, nil)
	bot := o.token(identity.Agent, "ana", "acme", identity.Read, identity.Write, identity.Delete)
	id, err := o.proposed(bot, makeOne, growIt, dropTens)
	if err != nil {
		t.Fatal(err, problem.Of(err).Pointer)
	}
	ben := o.gateway.Reviewer(o.token(identity.Human, "ben", "acme", identity.Read, identity.Review, identity.Operator), "visit")
	sheet, err := ben.Sheet(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	want := "POST /machines\nname ~→nine\nsize ~→9\nPATCH /machines/$1.id\nsize ?→$1.size\nlabels ?→{\"of\":\"$1.name\"}\nDELETE /machines/m1\nadminNote psst→-\nid m1→-\nlabels {\"a\":\"1\",\"b\":\"2\"}→-\nname one→-\nsize 1→-"
	if got := lines(sheet); got != want {
		t.Error(cmp.Diff(want, got))
	}
	takes := []change.Taken{{At: "/path/id", Call: 1, Path: "id"}, {At: "/body/size", Call: 1, Path: "size"}, {At: "/body/labels/of", Call: 1, Path: "name"}}
	if d := cmp.Diff(takes, sheet.Items[1].Takes); d != "" || sheet.Risk != change.High || sheet.Title != "3 calls in order: flow.makeMachine, flow.patchMachine, flow.dropMachine" {
		t.Error(d, sheet.Risk, sheet.Title)
	}
	done, err := ben.Approve(t.Context(), id, sheet.Digest, "")
	if err != nil || done.State != change.Applied {
		t.Fatalf("%+v %v", done, err)
	}
	sent := "POST /machines {\"name\":\"nine\",\"size\":9}\nPATCH /machines/m9 {\"size\":9,\"labels\":{\"of\":\"nine\"}}\nDELETE /machines/m1"
	if d := cmp.Diff(sent, h.calls()); d != "" {
		t.Error(d)
	}
	if got := done.Answer.String(); !strings.HasPrefix(got, `[{"id":"m9","name":"nine","size":9},{`) || !strings.HasSuffix(got, `},null]`) {
		t.Error(got)
	}
	steps := 0
	for _, step := range done.History {
		if step.Event == change.EventSending {
			steps++
		}
	}
	if steps != 3 {
		t.Errorf("%d steps of sending, want one for each call: %+v", steps, done.History)
	}
}

// TestSeveralCallsEnd checks each way in which three calls may end. The sheet and the outcome must say which calls
// were made and which weren't. No call may be sent again.
func TestSeveralCallsEnd(t *testing.T) {
	for _, row := range []struct {
		name          string
		fails, spares int
		happens       func(*hall)
		state         change.State
		outcome       string
		came          string
		calls         int
	}{
		{name: "the first is refused", fails: 409, state: change.Failed, outcome: "the API found a conflict: 409 name_taken: the name is taken. Nothing was written", came: "[  ]", calls: 1},
		{name: "the second is refused", fails: 409, spares: 1, state: change.Failed, calls: 2,
			outcome: "the API found a conflict: 409 name_taken: the name is taken. Call 1 was carried out, call 2 was refused, call 3 was not sent", came: "[carried out failed not sent]"},
		{name: "the third is refused", fails: 409, spares: 2, state: change.Failed, calls: 3,
			outcome: "the API found a conflict: 409 name_taken: the name is taken. Calls 1 to 2 were carried out, call 3 was refused", came: "[carried out carried out failed]"},
		{name: "the first is lost", fails: -1, state: change.Unknown, calls: 1, outcome: "Call 1 may have happened or not, calls 2 to 3 were not sent", came: "[it may have happened or not not sent not sent]"},
		{name: "the second is lost", fails: 500, spares: 1, state: change.Unknown, calls: 2,
			outcome: "Call 1 was carried out, call 2 may have happened or not, call 3 was not sent", came: "[carried out it may have happened or not not sent]"},
		{name: "what the third deletes has changed", happens: func(h *hall) { h.machine["size"] = 7 }, state: change.Stale, outcome: "the records have changed since the review. Nothing was written", came: "[  ]"},
	} {
		t.Run(row.name, func(t *testing.T) {
			o, h := newHall(t, nil)
			id, err := o.proposed(o.token(identity.Agent, "ana", "acme", identity.Read, identity.Write, identity.Delete), makeOne, growIt, dropTens)
			if err != nil {
				t.Fatal(err)
			}
			ben := o.gateway.Reviewer(o.token(identity.Human, "ben", "acme", identity.Read, identity.Review, identity.Operator), "visit")
			sheet, err := ben.Sheet(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			h.fails, h.spares = row.fails, row.spares
			if row.happens != nil {
				row.happens(h)
			}
			done, err := ben.Approve(t.Context(), id, sheet.Digest, "")
			if err != nil {
				t.Fatal(err)
			}
			var came []string
			for _, item := range done.Items {
				came = append(came, item.Came)
			}
			if done.State != row.state || !strings.HasSuffix(done.Outcome, row.outcome) || fmt.Sprint(came) != row.came {
				t.Errorf("%s %q %s", done.State, done.Outcome, came)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 400*time.Millisecond)
			defer cancel()
			o.gateway.Execute(ctx, nil)
			if n := len(h.asked); n != row.calls {
				t.Errorf("%d calls, want %d: %s", n, row.calls, h.calls())
			}
		})
	}
}

// TestSeveralCallsRefused checks each refusal of several calls and its position. Hidden objects and missing objects
// must be refused in the same way.
func TestSeveralCallsRefused(t *testing.T) {
	o, h := newHall(t, func(r *calls.Rules) { r.Parameters = []calls.Parameter{{Name: "name", Is: `"nine"`}} })
	bot := o.token(identity.Agent, "ana", "acme", identity.Read, identity.Write, identity.Delete)
	patch := func(id, body string) string {
		return fmt.Sprintf(`{"op":"call","call":{"operationId":"patchMachine","path":{"id":%q},"body":%s}}`, id, body)
	}
	for _, row := range []struct {
		list []string
		want string
	}{
		{[]string{makeOne, patch("$1.ide", `{}`)}, `/writes/1/call/path/id $1.ide: call 1, makeMachine, doesn't answer with "ide". Did you mean id?`},
		{[]string{makeOne, patch("$1.adminNote", `{}`)}, `/writes/1/call/path/id $1.adminNote: call 1, makeMachine, doesn't answer with "adminNote". It has id, name, size, labels`},
		{[]string{makeOne, patch("$1.otherThing", `{}`)}, `/writes/1/call/path/id $1.otherThing: call 1, makeMachine, doesn't answer with "otherThing". It has id, name, size, labels`},
		{[]string{patch("$2.id", `{}`), makeOne}, `/writes/0/call/path/id $2.id names call 2, and this is call 1: only an earlier call has answered by then`},
		{[]string{makeOne, patch("$2.id", `{}`)}, `/writes/1/call/path/id $2.id names call 2, and this is call 2: only an earlier call has answered by then`},
		{[]string{makeOne, patch("$1.id", `{"name":"$1.name"}`)}, `/writes/1/call/body/name this name is not one that you may use`},
		{[]string{makeOne, patch("$1.id", `{"nam":"$1.name"}`)}, `/writes/1/call/body/nam unknown field "nam". Did you mean name?`},
		{[]string{makeOne, patch("$1.id", `{"size":"big"}`)}, `/writes/1/call/body/size body/size must be a whole number, not the text "big"`},
		{[]string{makeOne, `{"op":"call","call":{"operationId":"getMachine","path":{"id":"$1.id"}}}`}, `/writes/1/call/operationId getMachine only reads`},
		{[]string{makeOne, `{"op":"call","call":{"operationId":"patchMachine","pat":{"id":"$1.id"}}}`}, `/writes/1/call/pat a write has no "pat". Did you mean path?`},
		{[]string{makeOne, `{"op":"call","call":{"path":{"id":"$1.id"}}}`}, `/writes/1/call call is an object with operationId, and what call_api_write takes beside it`},
		{[]string{makeOne, `{"op":"call","call":{"operationId":"patchMachine","path":{"id":"m1"},"body":{"size":"$1.name"}}}`}, `/writes/1/call/body/size body/size must be a whole number, not the text "$1.name"`},
		{[]string{makeOne, `{"op":"call","call":{"operationId":"patchMachine","path":{"id":"m1"},"body":{"name":"$1.labels.password"}}}`}, `/writes/1/call/body/name $1.labels.password: "password" is masked in answers`},
		{[]string{makeOne, `{"op":"delete","class_name":"issues","object_id":"1"}`}, `/writes/1 direct writes of records (create, update, delete) are switched off for all agents here`},
		{strings.Split(strings.Repeat(makeOne+"\n", 21)[:21*(len(makeOne)+1)-1], "\n"), `/writes/20 one change makes at most 20 calls`},
	} {
		_, err := o.proposed(bot, row.list...)
		if err == nil {
			t.Error("proposed:", row.want)
			continue
		}
		p := problem.Of(err)
		if got := p.Pointer + " " + p.Detail; !strings.HasPrefix(got, row.want) {
			t.Errorf("got  %s\nwant %s", got, row.want)
		}
	}
	if h.calls() != "" {
		t.Error("sent:", h.calls())
	}
	bound := bot
	bound.Tools = identity.List{Only: []string{"propose_changes"}} // it may not call an API directly
	if _, err := o.proposed(bound, makeOne, dropTens); err == nil || strings.Contains(err.Error(), "makeMachine") {
		t.Error("a principal without call_api_write proposed calls:", err)
	}
}

// TestSeveralCallsTaken checks values of answers that must never be sent: hidden values, masked values, and values
// that the rules don't let the agent send.
func TestSeveralCallsTaken(t *testing.T) {
	loose := func(r *calls.Rules) { r.OpenBodies = true }
	for _, row := range []struct {
		name, first, second, want string
		rules                     func(*calls.Rules)
		calls                     int
	}{
		{"masked", `{"op":"call","call":{"operationId":"makeMachine","body":{"labels":{"name":"DB_PASSWORD","value":"hunter2"}}}}`,
			`{"op":"call","call":{"operationId":"patchMachine","path":{"id":"m1"},"body":{"name":"$1.labels.value"}}}`, "$1.labels.value is not a value in the answer of call 1", nil, 1},
		{"an object", makeOne, `{"op":"call","call":{"operationId":"patchMachine","path":{"id":"m1"},"body":{"labels":{"x":"$1.labels"}}}}`, "$1.labels is not a value in the answer of call 1", nil, 1},
		{"another path", `{"op":"call","call":{"operationId":"makeMachine","body":{"name":".."}}}`, `{"op":"call","call":{"operationId":"dropMachine","path":{"id":"$1.name"}}}`, `can't be "." or ".."`, loose, 1},
		{"another type", `{"op":"call","call":{"operationId":"makeMachine","body":{"labels":{"a":"x"}}}}`, `{"op":"call","call":{"operationId":"patchMachine","path":{"id":"m1"},"body":{"size":"$1.labels.a"}}}`, "body/size must be a whole number, not the text \"x\"", nil, 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			o, h := newHall(t, row.rules)
			id, err := o.proposed(o.token(identity.Agent, "ana", "acme", identity.Read, identity.Write, identity.Delete), row.first, row.second)
			if err != nil {
				t.Fatal(err)
			}
			ben := o.gateway.Reviewer(o.token(identity.Human, "ben", "acme", identity.Read, identity.Review, identity.Operator), "visit")
			sheet, err := ben.Sheet(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			done, err := ben.Approve(t.Context(), id, sheet.Digest, "")
			if err != nil || done.State != change.Failed || !strings.Contains(done.Outcome, row.want) || len(h.asked) != row.calls || done.Items[0].Came != review.Made {
				t.Errorf("%v %+v\n%s", err, done.Outcome, h.calls())
			}
		})
	}
}
