package calls_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/expression"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/search"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/validate"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A world is a document and its rules.
type world struct {
	operations []call
	schemas    []shape
	rules      calls.Rules
}

type call struct{ id, method, tag, body, answer string }

type shape struct {
	name   string
	fields []string // the last one refers to next
	next   string
}

var (
	ids     = []string{"listTeams", "getTeam", "makeTeam", "dropTeam", "mintToken", "listTokens"}
	methods = []string{"GET", "POST", "PUT", "DELETE"}
	tags    = []string{"Teams", "Keys"}
	named   = []string{"Team", "x.Token", "x.Vault"}
	fielded = []string{"name", "secret", "teamId", "key"}
	whens   = []string{"", `principal.tenant == "t1"`, `!("delete" in principal.scopes)`, `principal.depth == 0`, "principal.claims.none == 1"}
)

func some[T ~string](t *rapid.T, label string, of []T) []T {
	return rapid.SliceOfNDistinct(rapid.SampledFrom(of), 0, 2, rapid.ID[T]).Draw(t, label)
}

func drawWorld(t *rapid.T) world {
	var w world
	pick := append([]string{""}, named...)
	for _, name := range named {
		s := shape{name: name, fields: some(t, "fields", fielded)}
		if len(s.fields) > 0 {
			s.next = rapid.SampledFrom(pick).Draw(t, "next")
		}
		w.schemas = append(w.schemas, s)
	}
	for _, id := range ids {
		w.operations = append(w.operations, call{id, rapid.SampledFrom(methods).Draw(t, "method"), rapid.SampledFrom(tags).Draw(t, "tag"),
			rapid.SampledFrom(pick).Draw(t, "body"), rapid.SampledFrom(pick).Draw(t, "answer")})
	}
	one := func(label string) []string { return []string{rapid.SampledFrom(ids).Draw(t, label)} }
	for range rapid.IntRange(0, 2).Draw(t, "access") {
		class, _ := spec.ParseClass(rapid.SampledFrom([]string{"read", "write", "destructive", "excluded", "forbidden"}).Draw(t, "class"))
		w.rules.Access.Rules = append(w.rules.Access.Rules, spec.ClassRule{Operations: one("classed"), Class: class, Reason: "it is", Instead: "elsewhere"})
	}
	if rapid.Bool().Draw(t, "shown") {
		w.rules.Shown = append(some(t, "shown", ids), "base")
	}
	for range rapid.IntRange(0, 3).Draw(t, "hidden") {
		h := calls.Hidden{When: rapid.SampledFrom(whens).Draw(t, "when")}
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0:
			h.Operations = one("hides")
		case 1:
			h.Schemas = []string{rapid.SampledFrom(append([]string{"x.*", "Vault"}, named...)).Draw(t, "schema")}
		case 2:
			h.Fields = []string{rapid.SampledFrom(fielded).Draw(t, "field")}
		default:
			h.Fields = []string{rapid.SampledFrom(named).Draw(t, "schema") + "." + rapid.SampledFrom(fielded).Draw(t, "field")}
		}
		w.rules.Hidden = append(w.rules.Hidden, h)
	}
	w.rules.Parameters = []calls.Parameter{{Name: "teamId", Is: "principal.tenant"}}
	return w
}

// text returns the document with the operations, schemas and "schema.field"s for which keep is true. Objects that lost
// something are closed. A name that no schema declares might be one that was lost.
func (w world) text(keep func(string) bool) string {
	var b strings.Builder
	b.WriteString(`{"openapi":"3.0.0","paths":{"/base":{"get":{"operationId":"base","tags":["Base"],"parameters":[{"name":"teamId","in":"query","schema":{"type":"string"}}],"responses":{"200":{"description":"ok"}}}}`)
	schema := func(name string) string {
		switch {
		case name == "":
			return `{"type":"string"}`
		case !keep(name):
			return `{"additionalProperties":false}`
		}
		return fmt.Sprintf(`{"$ref":"#/components/schemas/%s"}`, name)
	}
	for _, op := range w.operations {
		if !keep(op.id) {
			continue
		}
		body := ""
		if op.method != "GET" {
			body = fmt.Sprintf(`"requestBody":{"content":{"application/json":{"schema":%s}}},`, schema(op.body))
		}
		fmt.Fprintf(&b, `,"/%s":{%q:{"operationId":%q,"tags":[%q],%s"responses":{"200":{"description":"ok","content":{"application/json":{"schema":%s}}}}}}`,
			op.id, strings.ToLower(op.method), op.id, op.tag, body, schema(op.answer))
	}
	b.WriteString(`},"components":{"schemas":{"Nobody":{}`)
	for _, s := range w.schemas {
		if !keep(s.name) {
			continue
		}
		var fields []string
		for i, field := range s.fields {
			if next := ""; keep(s.name + "." + field) {
				if i == len(s.fields)-1 {
					next = s.next
				}
				fields = append(fields, fmt.Sprintf("%q:%s", field, schema(next)))
			}
		}
		closed := ""
		if len(fields) < len(s.fields) {
			closed = `,"additionalProperties":false`
		}
		fmt.Fprintf(&b, `,%q:{"type":"object","properties":{%s}%s}`, s.name, strings.Join(fields, ","), closed)
	}
	b.WriteString("}}}")
	return b.String()
}

// reach compiles rules over a document and returns p's view.
func reach(t *rapid.T, text string, rules calls.Rules, p identity.Principal) *calls.Reach {
	var err error
	if rules.Document, err = spec.Load([]byte(text)); err != nil {
		t.Fatal(err)
	}
	all, err := calls.New(map[string]calls.Rules{"flow": rules}, expression.NewCompiler())
	if err != nil {
		t.Fatal(err)
	}
	r, err := all.Reach(p, "flow", "")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// hides specifies Hidden.When: an error hides, and so does a condition that holds for an ancestor.
func hides(h calls.Hidden, principal identity.Principal) bool {
	for p := &principal; p != nil; p = p.Above {
		switch h.When {
		case whens[1]:
			if p.Tenant == "t1" {
				return true
			}
		case whens[2]:
			if !p.Has(identity.Delete) {
				return true
			}
		case whens[3]:
			if p.Depth == 0 {
				return true
			}
		default:
			return true
		}
	}
	return false
}

// without returns the document without everything hidden from p, and the remaining rules.
func (w world) without(p identity.Principal) (string, calls.Rules) {
	gone := map[string]bool{}
	for _, h := range w.rules.Hidden {
		if !hides(h, p) {
			continue
		}
		for _, id := range h.Operations {
			gone[id] = true
		}
		for _, pattern := range h.Schemas {
			for _, name := range named {
				gone[name] = gone[name] || pattern == name || pattern == "x.*" && strings.HasPrefix(name, "x.") || "x."+pattern == name
			}
		}
		for _, field := range h.Fields {
			gone[field] = true // as Schema.field
			for _, name := range named {
				gone[name+"."+field] = true // in any schema
			}
		}
	}
	left := calls.Rules{Parameters: w.rules.Parameters}
	if w.rules.Shown != nil {
		left.Shown = []string{"base"}
	}
	// A name that a rule hides without a schema is refused in every place, even if the document doesn't have it.
	for _, h := range w.rules.Hidden {
		if len(h.Fields) > 0 && !strings.Contains(h.Fields[0], ".") && hides(h, p) {
			left.Hidden = append(left.Hidden, calls.Hidden{Fields: h.Fields})
		}
	}
	for _, op := range w.operations {
		if !p.Classes.Allows("flow", "flow."+op.id) || w.rules.Shown != nil && !slices.Contains(w.rules.Shown, op.id) {
			gone[op.id] = true
		}
		at := slices.IndexFunc(w.rules.Access.Rules, func(r spec.ClassRule) bool { return r.Operations[0] == op.id })
		switch {
		case at < 0:
			if op.method == "GET" && strings.Contains(op.id, "Token") && w.rules.Shown == nil { // it is held
				gone[op.id] = true
			}
		case w.rules.Access.Rules[at].Class == spec.ClassExcluded:
			gone[op.id] = true
		case !gone[op.id]:
			left.Access.Rules = append(left.Access.Rules, w.rules.Access.Rules[at])
		}
		if left.Shown != nil && !gone[op.id] { // the list confirms the operations that it names
			left.Shown = append(left.Shown, op.id)
		}
	}
	return w.text(func(name string) bool { return !gone[name] }), left
}

// answers returns everything that a principal learns about an API: by search, in detail, and by calls.
func answers(r *calls.Reach, principal identity.Principal) string {
	var b strings.Builder
	say := func(text string, err error) {
		fmt.Fprintf(&b, "%s\n", text)
		if p := problem.Of(err); err != nil {
			fmt.Fprintf(&b, "%s %s %s %s %v %v\n", p.Code, p.Pointer, // the kind is for the audit only
				p.Detail, p.Suggestion, p.Near, p.Faults)
		}
	}
	say(search.DescribeServices(r.View, r.Index().Services()), nil)
	for _, text := range append([]string{"", "team", "token vault secret", "keys"}, ids...) {
		found, err := r.Index().Search(search.Query{Text: text})
		say(search.DescribeResult(r.View, found), err)
	}
	for _, name := range slices.Concat(ids, []string{"base", "listTaems", "POST /mintToken", "GET /getTeam"}) {
		op, err := r.View.Operation(name)
		if err == nil {
			b.WriteString(search.DescribeOperation(r.View, op))
		}
		say(name, err)
		for _, writes := range []bool{false, true} {
			for _, body := range []string{"", `{"name": "n", "secret": "s"}`, `{"key": "k", "teamId": "t2"}`} {
				say(permitted(r, principal, name, writes, body))
			}
		}
	}
	for _, name := range slices.Concat(named, []string{"Token", "Vault", "x.Toke", "Nobody"}) {
		say(search.DescribeSchema(r.View, name))
	}
	return b.String()
}

// permitted returns the request that a call would send.
func permitted(r *calls.Reach, p identity.Principal, operation string, writes bool, body string) (string, error) {
	ask := calls.Request{Operation: operation, Writes: writes}
	if body != "" {
		v, err := value.Read([]byte(body), 0)
		if err != nil {
			return "", err
		}
		ask.Arguments = validate.Arguments{Body: v, HasBody: true}
	}
	permit, err := r.Permit(context.Background(), p, ask)
	if err != nil {
		return "", err
	}
	plan, err := permit.Plan()
	return fmt.Sprintf("%s %s %s", plan.Request.Method, plan.Request.Target(), plan.Request.Body), err
}

func drawPrincipal(t *rapid.T) identity.Principal {
	p := agent(rapid.SampledFrom([]string{"t1", "t2"}).Draw(t, "tenant"), some(t, "scopes", []identity.Scope{identity.Read, identity.Write, identity.Delete})...)
	p.Classes = drawList(t)
	return p
}

func drawList(t *rapid.T) identity.List {
	var l identity.List
	entries := []string{"flow", "flow.getTeam", "flow.listTokens", "flow.mintToken", "shop"}
	if rapid.Bool().Draw(t, "only") {
		l.Only = append(some(t, "only", entries), "flow.base")
	}
	l.Except = some(t, "except", entries[1:])
	return l
}

// TestNeverThere checks that hidden parts get the same bytes as with a document that never had them.
func TestNeverThere(t *testing.T) {
	differed := 0
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		all := w.text(func(string) bool { return true })
		seen := map[string]bool{}
		for range 2 {
			p := drawPrincipal(t)
			text, rules := w.without(p)
			free := p
			free.Classes = identity.List{}
			got, want := answers(reach(t, all, w.rules, p), p), answers(reach(t, text, rules, free), free)
			if got != want {
				t.Fatalf("what was never there -, what is hidden +\n%s\n%s\n%+v\n%+v", cmp.Diff(want, got), all, w.rules, p)
			}
			seen[got] = true
		}
		if len(seen) == 2 {
			differed++
		}
	})
	if differed == 0 {
		t.Error("two principals were never told different things: the test says nothing")
	}
}

// TestNeverMore checks that a derived principal sees and may do no more than its parent.
func TestNeverMore(t *testing.T) {
	less := 0
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		text := w.text(func(string) bool { return true })
		p := drawPrincipal(t)
		child, err := identity.Derive(p, identity.Derivation{Name: "c", Scopes: some(t, "asked", []identity.Scope{identity.Read, identity.Write, identity.Delete}), Classes: drawList(t)})
		if err != nil {
			t.Fatal(err)
		}
		above, below := reach(t, text, w.rules, p), reach(t, text, w.rules, child)
		for _, op := range below.View.Operations() {
			if _, err := above.View.Operation(op.ID); err != nil {
				t.Fatalf("%s is seen by the child alone: %+v", op.ID, w.rules)
			}
		}
		for _, name := range below.View.Schemas() {
			schema, err := below.View.SchemaByName(name)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range below.View.Object(schema).Fields {
				if !above.View.Field(name, f.Name) {
					t.Fatalf("%s.%s is seen by the child alone: %+v", name, f.Name, w.rules)
				}
			}
		}
		for _, id := range ids {
			for _, writes := range []bool{false, true} {
				got, err := permitted(below, child, id, writes, `{"name": "n"}`)
				if err != nil {
					less++
					continue
				}
				if want, err := permitted(above, p, id, writes, `{"name": "n"}`); err != nil || want != got {
					t.Fatalf("the child sends %q, and whom it is of %q, %v", got, want, err)
				}
			}
		}
	})
	if less == 0 {
		t.Error("nothing was ever refused: the test says nothing")
	}
}
