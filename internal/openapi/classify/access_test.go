package classify

import (
	"fmt"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/problem"
)

const doc = `{"openapi":"3.0.0","paths":{"/teams":{"get":{"tags":["Teams"]},"post":{"tags":["Teams"]},"head":{}},"/teams/{id}":{"put":{},"patch":{},"delete":{},"options":{},"trace":{}},
	"/x.S/GetThing":{"post":{}},"/x.S/Getaway":{"post":{}},"/x.S/BatchGetThings":{"post":{}},"/x.S/DeleteThing":{"post":{}},"/x.S/RunThing":{"post":{}},"/x.S/Search":{"post":{}},"/keys":{"post":{"operationId":"mint"}}}}`

func read(t *testing.T) *spec.Document {
	t.Helper()
	d, err := spec.Load([]byte(doc))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestClasses checks the class of every operation by method, name and rules.
func TestClasses(t *testing.T) {
	d := read(t)
	for _, tt := range []struct {
		name string
		o    Options
		want string
	}{
		{"by method", Options{}, "read write read write write destructive destructive destructive write write write destructive write write write"},
		{"by name", Options{RPCNames: true}, "read write read write write destructive destructive destructive read write read destructive write read write"},
		{"by rule", Options{RPCNames: true, Rules: []Rule{
			{Operations: []string{"POST /x.S/GetThing"}, Class: Write},
			{Operations: []string{"mint"}, Class: Forbidden, Reason: "mints a key", Instead: "in the settings"},
			{Operations: []string{"* /teams*"}, Tags: []string{"Teams"}, Class: Excluded},
			{Operations: []string{"POST /x.*/*Thing"}},
		}}, "excluded excluded read write write destructive destructive destructive write write read destructive destructive read forbidden"},
	} {
		rules, err := New(d, tt.o)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for i, op := range d.Operations {
			if i > 0 {
				got += " "
			}
			got += rules.Of(op).Class.String()
		}
		if got != tt.want {
			t.Errorf("%s\n got %s\nwant %s", tt.name, got, tt.want)
		}
	}
	for _, r := range []*Rules{nil, {}} {
		if got := r.Of(d.Operations[0]); got.Class != Destructive {
			t.Errorf("zero rules say %v", got)
		}
	}
	if _, ok := Parse("reed"); ok {
		t.Error("reed is a class")
	}
	if c, ok := Parse("forbidden"); c != Forbidden || !ok {
		t.Error(c, ok)
	}
}

// TestRefuses checks that a rule that is incomplete or matches nothing is refused with its pointer.
func TestRefuses(t *testing.T) {
	for _, tt := range []struct {
		rule Rule
		want string
	}{
		{Rule{Class: Read}, "/rules/0 a rule names operations or tags"},
		{Rule{Operations: []string{"mint"}, Class: Forbidden}, "/rules/0 a rule that forbids says why (reason) and where a person does it (instead)"},
		{Rule{Operations: []string{"mint", "mimt"}}, `/rules/0/operations/1 no operation of the document is "mimt"; did you mean mint?`},
		{Rule{Operations: []string{"GET /nothing*"}}, `/rules/0/operations/0 no operation of the document is "GET /nothing*"`},
		{Rule{Tags: []string{"Team"}}, `/rules/0/tags/0 no operation of the document has the tag "Team"; did you mean Teams or teams?`},
	} {
		_, err := New(read(t), Options{Rules: []Rule{tt.rule}})
		p := problem.Of(err)
		if got := fmt.Sprintf("%s %s", p.Pointer, p.Detail); got != tt.want || p.Code != problem.InvalidArgument {
			t.Errorf("%+v\n got %s\nwant %s", tt.rule, got, tt.want)
		}
	}
}

// TestWords checks the classes of operations by name, without rules. A GET whose name is a verb of action is not a
// read.
func TestWords(t *testing.T) {
	for _, row := range []struct {
		method, path, id, more string
		want                   Class
	}{
		{"get", "/pods/{name}/exec", "connectGetNamespacedPodExec", "", Destructive},
		{"get", "/pods/{name}/attach", "", "", Destructive},
		{"get", "/pods/{name}/portforward", "", "", Destructive},
		{"get", "/pods/{name}/proxy/{path}", "", "", Destructive},
		{"get", "/containers/{id}/stream", "", `,"101":{"description":"upgrades"}`, Destructive},
		{"get", "/exec/{id}/json", "ExecInspect", "", Read},
		{"get", "/cache/purge", "", "", Destructive},
		{"get", "/tokens/{id}", "revokeToken", "", Destructive},
		{"get", "/logout", "", "", Write},
		{"get", "/jobs/{id}/run", "", "", Write},
		{"get", "/runs", "listRuns", "", Read},
		{"get", "/orders/cancelled", "listCancelled", "", Read},
		{"get", "/deleted", "getDeletedThings", "", Read},
		{"get", "/input_tokens", "countInputTokens", "", Read},
		{"post", "/orders/{id}/cancel", "", "", Destructive},
		{"post", "/operations/{id}:cancel", "", "", Destructive},
		{"post", "/images/prune", "ImagePrune", "", Destructive},
		{"post", "/subscriptions", "subscriptions.cancel", "", Destructive},
		{"put", "/users/{id}/delete-all", "", "", Destructive},
		{"post", "/files", "createFile", "", Write},
		{"post", "/credit_grants", "createCreditGrant", "", Write},
		{"delete", "/models/{id}", "deleteModel", "", Destructive},
	} {
		id := ""
		if row.id != "" {
			id = `"operationId":"` + row.id + `",`
		}
		d, err := spec.Load([]byte(`{"openapi":"3.0.0","paths":{"` + row.path + `":{"` + row.method + `":{` + id + `"responses":{"200":{"description":"ok"}` + row.more + `}}}}}`))
		if err != nil {
			t.Fatal(err)
		}
		rules, err := New(d, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := rules.Of(d.Operations[0]).Class; got != row.want {
			t.Errorf("%s %s %s: %s, want %s", row.method, row.path, row.id, got, row.want)
		}
	}
}
