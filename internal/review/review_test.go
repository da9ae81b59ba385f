package review

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

func read(t testing.TB, text string) value.Value {
	t.Helper()
	v, err := value.Read([]byte(text), 0)
	if err != nil {
		t.Fatal(text, err)
	}
	return v
}

// issues is a visibility of the class used in the tests.
func issues(string) Visibility {
	return Visibility{Class: "issues", Key: []string{"id"}, Fields: map[string]schema.Type{"id": schema.Integer, "title": schema.String, "status": schema.String,
		"due": schema.Date, "custom": schema.JSON, "hours": schema.Decimal, "seal": schema.Bytes}}
}

// of returns a change of one record of issues. The records before and after are JSON.
func of(t testing.TB, op write.Op, before, after string, asked ...string) *change.Change {
	data := value.Value{}
	if after := read(t, after); !after.IsNull() {
		var members []value.Member
		for _, name := range asked {
			v, _ := after.Get(name)
			members = append(members, value.Member{Name: name, Value: v})
		}
		data = value.OfObject(members)
	}
	key := "42"
	if op == write.OpCreate {
		key = ""
	}
	parts := []value.Member{{Name: "op", Value: value.OfString(string(op))}, {Name: "class", Value: value.OfString("issues")}, {Name: "id", Value: value.OfString(key)}, {Name: "data", Value: data}}
	at := time.Date(2026, 11, 21, 17, 0, 0, 0, time.UTC)
	return &change.Change{
		ID: "01JDC0000000000000000000AA", Version: 1, State: change.Pending, Source: "tracker", Op: op,
		Writes: []value.Value{value.OfObject(parts)}, Preview: change.Executed, Digest: "d1", Tool: string(op) + "_object",
		Effects: []change.Effect{{Op: op, Class: "tracker.issues", Key: key, Before: read(t, before), After: read(t, after), Asked: asked}},
		Title:   string(op) + " issue 42", Classes: []string{"tracker.issues"}, Fields: asked, Rows: 1, Need: 1, Risk: change.Low,
		Agent:   change.Party{Principal: "token:a", Name: "triage bot", Kind: "agent", Owner: "olga@example.org"},
		Created: at, Updated: at, Expires: at.Add(24 * time.Hour),
		History: []change.Step{{State: change.Pending, Event: change.EventCreated, By: "triage bot", At: at}},
	}
}

// lines formats the fields of an item, one per line.
func lines(i Item) string {
	var out strings.Builder
	for _, f := range i.Fields {
		fmt.Fprintf(&out, "%s %s: %s → %s", f.Path, f.Type, f.Before, f.After)
		if f.Now != nil {
			fmt.Fprintf(&out, " now %s", *f.Now)
		}
		if f.Source {
			out.WriteString(" by source")
		}
		for _, w := range f.Words {
			fmt.Fprintf(&out, " %s%q", map[string]string{"same": "=", "removed": "-", "added": "+", "cut": "~"}[w.Kind], w.Text)
		}
		out.WriteString("\n")
	}
	if i.Hidden > 0 {
		fmt.Fprintf(&out, "hidden %d\n", i.Hidden)
	}
	return out.String()
}

func (s Shown) String() string {
	if s.Text == "" {
		return s.Kind
	}
	out := s.Kind + "(" + s.Text
	if s.Length > 0 {
		out += fmt.Sprintf("… %d %.8s", s.Length, s.Digest)
	}
	return out + ")"
}

// TestDiff checks the parts of a write that a reviewer and the agent see.
func TestDiff(t *testing.T) {
	const update = write.OpUpdate
	for _, c := range []struct {
		name, before, after string
		op                  write.Op
		asked               string
		want, agent         string // an empty agent means that the agent sees the same
	}{
		{name: "a create is all that was asked, and what the source adds", op: write.OpCreate, before: `null`, asked: "title status",
			after: `{"id":7,"title":"x","status":null,"due":null,"hours":0}`,
			want:  "title string: absent → text(x)\nstatus string: absent → null\nid integer: absent → number(7) by source\nhours decimal: absent → number(0) by source\n",
			agent: "title string: absent → text(x)\nstatus string: absent → null\n"},
		{name: "an update is what changes", op: update, before: `{"id":42,"title":"x","status":"Todo"}`, after: `{"id":42,"title":"x","status":"Done"}`, asked: "status",
			want: "status string: text(Todo) → text(Done)\n"},
		{name: "a field that was asked and stays as it is is shown", op: update, before: `{"id":42,"status":"Todo"}`, after: `{"id":42,"status":"Todo"}`, asked: "status",
			want: "status string: text(Todo) → text(Todo)\n"},
		{name: "a trigger sets another field", op: update, before: `{"status":"a","title":"was"}`, after: `{"status":"b","title":"is"}`, asked: "status",
			want:  "status string: text(a) → text(b)\ntitle string: text(was) → text(is) by source\n",
			agent: "status string: text(a) → text(b)\n"},
		{name: "a delete is all of the record", op: write.OpDelete, before: `{"id":42,"title":"x","status":null}`, after: `null`,
			want: "id integer: number(42) → absent\ntitle string: text(x) → absent\nstatus string: null → absent\n"},
		{name: "null, empty and blank differ", op: update, before: `{"title":null,"status":""}`, after: `{"title":"","status":" "}`, asked: "title status",
			want: "title string: null → empty\nstatus string: empty → text( )\n"},
		{name: "the text null is no null", op: update, before: `{"title":null}`, after: `{"title":"null"}`, asked: "title", want: "title string: null → text(null)\n"},
		{name: "a text of digits is no number", op: update, before: `{"hours":1}`, after: `{"hours":"1"}`, asked: "hours", want: "hours decimal: number(1) → text(1)\n"},
		{name: "integers beyond doubles", op: update, before: `{"hours":9007199254740992,"id":1}`, after: `{"hours":9007199254740993,"id":1}`, asked: "",
			want: "hours decimal: number(9007199254740992) → number(9007199254740993) by source\n", agent: "-"},
		{name: "decimals beyond doubles", op: update, before: `{"hours":0.1}`, after: `{"hours":0.10000000000000000001}`, asked: "",
			want: "hours decimal: number(0.1) → number(0.10000000000000000001) by source\n", agent: "-"},
		{name: "a number written otherwise is the same", op: update, before: `{"hours":1.50,"custom":{"n":1}}`, after: `{"hours":1.5,"custom":{"n":1.0}}`, asked: "", want: ""},
		{name: "dates and bytes", op: update, before: `{"due":"2026-01-01T00:00:00Z","seal":"AAE="}`, after: `{"due":"no date","seal":"?"}`, asked: "due seal",
			want: "due date: date(2026-01-01T00:00:00Z) → text(no date)\nseal bytes: bytes(AAE=) → text(?)\n"},
		{name: "parts of objects", op: update, asked: "custom",
			before: `{"custom":{"a":1,"b":{"x/y":"u","gone":true},"tags":["p","q"]}}`, after: `{"custom":{"b":{"x/y":null},"a":1,"tags":["p","r","q"],"new":{}}}`,
			want: "custom/b/x~1y null: text(u) → null\ncustom/b/gone boolean: boolean(true) → absent\ncustom/tags/1 string: absent → text(r)\ncustom/new object: absent → json({})\n"},
		{name: "parts of lists", op: update, asked: "custom", before: `{"custom":[1,{"n":1},3,4]}`, after: `{"custom":[1,{"n":2},4]}`,
			want: "custom/1/n integer: number(1) → number(2)\ncustom/2 integer: number(3) → absent\n"},
		{name: "members in another order are the same", op: update, asked: "custom", before: `{"custom":{"a":1,"b":2}}`, after: `{"custom":{"b":2,"a":1}}`,
			want: `custom json: json({"a":1,"b":2}) → json({"b":2,"a":1})` + "\n"},
		{name: "an object for a list", op: update, asked: "custom", before: `{"custom":[]}`, after: `{"custom":{}}`, want: "custom json: json([]) → json({})\n"},
		{name: "a name that looks like another field", op: update, asked: "custom", before: `{"custom":{}}`, after: `{"custom":{"a\n\u202estatus: \"Todo\"":1}}`,
			want: "custom/a⟨U+000A⟩⟨U+202E⟩status: \"Todo\" integer: absent → number(1)\n"},
		{name: "hidden fields are counted", op: update, asked: "status salary", before: `{"status":"a","salary":1,"grade":1}`, after: `{"status":"b","salary":2,"grade":2}`,
			want: "status string: text(a) → text(b)\nhidden 2\n", agent: "status string: text(a) → text(b)\nhidden 1\n"},
		{name: "words", op: update, asked: "title", before: `{"title":"Crash on start of the app"}`, after: `{"title":"Crash at the start of my app!"}`,
			want: `title string: text(Crash on start of the app) → text(Crash at the start of my app!) ="Crash " -"on " +"at the " ="start of " -"the" +"my" =" app" +"!"` + "\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			change := of(t, c.op, c.before, c.after, strings.Fields(c.asked)...)
			sheet := New(change, issues, Viewer{Human: "rita", Reviewer: true})
			if diff := cmp.Diff(c.want, lines(sheet.Items[0])); diff != "" {
				t.Error("the reviewer:", diff)
			}
			want := c.agent
			switch want {
			case "":
				want = c.want
			case "-":
				want = ""
			}
			if diff := cmp.Diff(want, lines(New(change, issues, Viewer{}).Items[0])); diff != "" {
				t.Error("the agent:", diff)
			}
		})
	}
}

// TestAgentIsToldWhatItAsked checks that an agent sees its own values even if the source changes them.
func TestAgentIsToldWhatItAsked(t *testing.T) {
	c := of(t, write.OpUpdate, `{"title":"a"}`, `{"title":"B 17"}`, "title")
	c.Writes[0] = read(t, `{"op":"update","class":"issues","id":42,"data":{"title":"b"}}`)
	c.Cascades = []change.Cascade{{Class: "tracker.comments", Effect: "delete", Records: 17}}
	if got, want := lines(New(c, issues, Viewer{}).Items[0]), "title string: text(a) → text(b)\n"; got != want {
		t.Errorf("got %s want %s", got, want)
	}
	if New(c, issues, Viewer{}).Cascades != nil {
		t.Error("the agent is told of cascades")
	}
	if got := New(c, issues, Viewer{Reviewer: true}); len(got.Cascades) != 1 || got.Cascades[0].Class != "issues" {
		t.Error(got.Cascades)
	}
}

func TestStale(t *testing.T) {
	c := of(t, write.OpUpdate, `{"id":42,"status":"Todo","custom":{"a":[1]}}`, `{"id":42,"status":"Done","custom":{"a":[2]}}`, "status", "custom")
	c.State = change.Stale
	for _, r := range []struct{ now, want string }{
		{`{"id":42,"status":"Review","custom":{"a":[]}}`, "status string: text(Todo) → text(Done) now text(Review)\ncustom/a/0 integer: number(1) → number(2) now absent\n"},
		{`{"id":42,"status":"Todo","custom":{"a":[1]}}`, "status string: text(Todo) → text(Done) now text(Todo)\ncustom/a/0 integer: number(1) → number(2) now number(1)\n"},
		{`null`, "status string: text(Todo) → text(Done) now absent\ncustom/a/0 integer: number(1) → number(2) now absent\n"},
	} {
		c.Outcome = &change.Outcome{Now: []change.Effect{{Before: read(t, r.now)}}}
		if diff := cmp.Diff(r.want, lines(New(c, issues, Viewer{Reviewer: true}).Items[0])); diff != "" {
			t.Error(diff)
		}
		if got := lines(New(c, issues, Viewer{}).Items[0]); strings.Contains(got, "now") {
			t.Error("the agent is told what the record is now:", got)
		}
	}
}

func TestCall(t *testing.T) {
	c := of(t, write.OpCall, `null`, `null`)
	c.Writes[0] = read(t, `{"op":"call","source":"crm","operation":"send","request":{"path":{"id":7},"body":{"a":"b"}}}`)
	want := "request/path object: absent → json({\"id\":7})\nrequest/body object: absent → json({\"a\":\"b\"})\n"
	if diff := cmp.Diff(want, lines(New(c, issues, Viewer{}).Items[0])); diff != "" {
		t.Error(diff)
	}
}

// TestSight checks a change for a viewer who doesn't see all of it.
func TestSight(t *testing.T) {
	masked := issues("")
	masked.Masks = map[string]Masked{"title": func(value.Value) value.Value { return value.OfString("s•••") }}
	keyless := issues("")
	delete(keyless.Fields, "id")
	for _, r := range []struct {
		name       string
		visibility Visibility
		want       string
		unseen     int
	}{
		{"all", issues(""), "Issue 42: title secret → secreter, status null → x | issues | title,status | 42 | title string: text(secret) → text(secreter)|status string: null → text(x)|", 0},
		{"a mask", masked, "Issue 42: title, status null → x | issues | title,status | 42 | title string: masked(s•••) → masked(s•••)|status string: null → text(x)|", 1},
		{"no key", keyless, "Issue: title secret → secreter, status null → x | issues | title,status |  | title string: text(secret) → text(secreter)|status string: null → text(x)|", 0},
		{"a field less", Visibility{Class: "issues", Key: []string{"id"}, Fields: map[string]schema.Type{"id": schema.Integer, "status": schema.String}}, "Issue 42: status null → x | issues | status | 42 | status string: null → text(x)|hidden 1|", 1},
		{"nothing", Visibility{}, "Update what you don't see |  |  |  | hidden 2|", 1},
	} {
		t.Run(r.name, func(t *testing.T) {
			c := of(t, write.OpUpdate, `{"id":42,"title":"secret","status":null}`, `{"id":42,"title":"secreter","status":"x"}`, "title", "status")
			c.Title = "update Fix secret"
			visibility := func(string) Visibility { return r.visibility }
			s := New(c, visibility, Viewer{Reviewer: true})
			got := fmt.Sprintf("%s | %s | %s | %s | %s", s.Title, strings.Join(s.Classes, ","), strings.Join(s.Row.Fields, ","), s.Items[0].Key, strings.ReplaceAll(lines(s.Items[0]), "\n", "|"))
			if got != r.want {
				t.Errorf("got  %s\nwant %s", got, r.want)
			}
			if n, _ := HiddenCount(c, visibility); n != r.unseen {
				t.Errorf("%d unseen, want %d", n, r.unseen)
			}
		})
	}
}

func TestRowCountsPeople(t *testing.T) {
	c := of(t, write.OpUpdate, `{"status":"a"}`, `{"status":"b"}`, "status")
	say := func(token, human, digest string, approve bool) {
		c.Decisions = append(c.Decisions, change.Decision{By: change.Party{Principal: token, Owner: human}, Digest: digest, Approve: approve})
	}
	say("token:1", "rita", "d1", true)
	say("token:2", "Rita ", "d1", true) // the same person with another credential
	say("token:3", "sven", "d0", true)  // about an earlier digest
	say("token:4", "tom", "d1", false)
	row := NewRow(c, issues, Viewer{Human: "rita", Reviewer: true})
	if row.Approvals != 1 || !row.Mine {
		t.Error(row.Approvals, row.Mine)
	}
	if NewRow(c, issues, Viewer{Human: "sven", Reviewer: true}).Mine {
		t.Error("sven has decided about another digest")
	}
}

// TestJSON checks a whole sheet as GET /api/changes/{id} returns it.
func TestJSON(t *testing.T) {
	c := of(t, write.OpUpdate, `{"id":42,"status":"Todo","salary":1}`, `{"id":42,"status":"Done","salary":2}`, "status")
	c.Reason = "the customer\u202e said so"
	c.Decisions = []change.Decision{{By: change.Party{Owner: "rita@example.org"}, Approve: true, Digest: "d1", At: c.Created, Single: true}}
	c.History = append(c.History, change.Step{State: c.State, Event: change.EventCommented, By: "rita", Comment: "why?", Digest: "d1", At: c.Created},
		change.Step{State: c.State, Event: change.EventDecided, By: "rita@example.org", Comment: "single operator", Digest: "d1", At: c.Created})
	got, err := json.MarshalIndent(New(c, issues, Viewer{Human: "rita@example.org", Reviewer: true}), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("testdata/sheet.json")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.TrimSpace(string(want)), string(got)); diff != "" {
		t.Errorf("%s\n%s", diff, got)
	}
}

// TestHiddenValuesStayHidden generates changes and visibilities. No byte of a hidden value, and no name of a hidden
// field or class, may appear in a sheet, a row or its text.
func TestHiddenValuesStayHidden(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fields := []string{"f0", "f1", "f2", "f3"}
		visibility := Visibility{Class: "seen", Fields: map[string]schema.Type{}, Masks: map[string]Masked{}}
		visibility.Key = rapid.SliceOfNDistinct(rapid.SampledFrom(fields), 0, 2, func(s string) string { return s }).Draw(t, "key")
		kind := map[string]string{}
		for _, f := range fields {
			kind[f] = rapid.SampledFrom([]string{"seen", "hidden", "masked"}).Draw(t, f)
			if kind[f] != "hidden" {
				visibility.Fields[f] = schema.Any
			}
			if kind[f] == "masked" {
				visibility.Masks[f] = func(v value.Value) value.Value { return value.OfString("•••") }
			}
		}
		class := rapid.SampledFrom([]string{"seen", "HIDDENCLASS"}).Draw(t, "class")
		secret := func(f string) value.Value {
			text := rapid.StringMatching(`[a-z]{3}`).Draw(t, "value")
			if kind[f] != "seen" || class != "seen" {
				text = "SECRET" + text
			}
			v := value.OfString(text)
			if rapid.Bool().Draw(t, "nested") {
				v = value.OfObject([]value.Member{{Name: text, Value: value.OfArray([]value.Value{v})}})
			}
			return v
		}
		record := func(which string) value.Value {
			if rapid.IntRange(0, 3).Draw(t, which) == 0 {
				return value.Value{}
			}
			var members []value.Member
			for _, f := range fields {
				members = append(members, value.Member{Name: f, Value: secret(f)})
			}
			return value.OfObject(members)
		}
		e := change.Effect{Op: rapid.SampledFrom([]write.Op{write.OpCreate, write.OpUpdate, write.OpDelete}).Draw(t, "op"), Class: class, Before: record("before"), After: record("after")}
		e.Asked = rapid.SliceOfNDistinct(rapid.SampledFrom(fields), 0, 4, func(s string) string { return s }).Draw(t, "asked")
		for _, f := range visibility.Key {
			e.Key += secret(f).String()
		}
		var data []value.Member
		for _, f := range e.Asked {
			data = append(data, value.Member{Name: f, Value: secret(f)})
		}
		c := &change.Change{ID: "id", State: rapid.SampledFrom(change.States()).Draw(t, "state"), Op: e.Op, Effects: []change.Effect{e}, Classes: []string{class}, Fields: e.Asked, Rows: 1,
			Title:    "write " + e.Before.String() + e.After.String(),
			Writes:   []value.Value{value.OfObject([]value.Member{{Name: "data", Value: value.OfObject(data)}})},
			Cascades: []change.Cascade{{Class: "HIDDENCLASS", Effect: "delete", Records: 3}},
			Outcome:  &change.Outcome{Now: []change.Effect{{Before: record("now")}}},
		}
		see := func(class string) Visibility {
			if class != "seen" {
				return Visibility{}
			}
			return visibility
		}
		for _, viewer := range []Viewer{{}, {Human: "rita", Reviewer: true}} {
			sheet := New(c, see, viewer)
			out, err := json.Marshal(sheet)
			if err != nil {
				t.Fatal(err)
			}
			for _, text := range []string{string(out), Text(sheet)} {
				if strings.Contains(text, "SECRET") || strings.Contains(text, "HIDDENCLASS") {
					t.Fatalf("%+v sees %s", viewer, text)
				}
				for f, k := range kind {
					if k == "hidden" && strings.Contains(text, f) {
						t.Fatalf("%+v sees the name %s in %s", viewer, f, text)
					}
				}
			}
		}
	})
}

// TestRowCounts checks how many records a row counts by operation. A reviewer isn't told of records in hidden classes,
// and an agent isn't told what the database writes along with its own writes.
func TestRowCounts(t *testing.T) {
	c := of(t, write.OpUpdate, `{"id":1,"status":"x"}`, `{"id":1,"status":"y"}`, "status")
	c.Effects = append(c.Effects, of(t, write.OpCreate, `null`, `{"title":"a"}`, "title").Effects[0], of(t, write.OpDelete, `{"id":2}`, `null`).Effects[0])
	c.Cascades = []change.Cascade{{Class: "tracker.comments", Effect: "delete", Records: 4}, {Class: "tracker.links", Effect: "set_null", Records: 2}, {Class: "tracker.secrets", Effect: "delete", Records: 9}}
	sees := func(class string) Visibility {
		if class == "tracker.secrets" {
			return Visibility{}
		}
		return issues(class)
	}
	for _, tt := range []struct {
		name   string
		change *change.Change
		agent  bool
		want   [3]int64
	}{
		{"a reviewer", c, false, [3]int64{1, 3, 5}},
		{"the agent", c, true, [3]int64{1, 1, 1}},
		{"a call", &change.Change{Effects: []change.Effect{{Op: write.OpCall}}}, false, [3]int64{}},
	} {
		row := NewRow(tt.change, sees, Viewer{Reviewer: !tt.agent})
		if got := [3]int64{row.Creates, row.Updates, row.Deletes}; got != tt.want {
			t.Errorf("%s: got %v created, updated, deleted; want %v", tt.name, got, tt.want)
		}
	}
}
