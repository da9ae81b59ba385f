package spec

import (
	"fmt"
	"testing"

	"github.com/bailiwick-dev/bailiwick/problem"
)

const classifyDoc = `{"openapi":"3.0.0","paths":{"/teams":{"get":{"tags":["Teams"]},"post":{"tags":["Teams"]},"head":{}},"/teams/{id}":{"put":{},"patch":{},"delete":{},"options":{},"trace":{}},
	"/x.S/GetThing":{"post":{}},"/x.S/Getaway":{"post":{}},"/x.S/BatchGetThings":{"post":{}},"/x.S/DeleteThing":{"post":{}},"/x.S/RunThing":{"post":{}},"/x.S/Search":{"post":{}},"/keys":{"post":{"operationId":"mint"}}}}`

func classifyRead(t *testing.T) *Document {
	t.Helper()
	d, err := Load([]byte(classifyDoc))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestClasses checks the class of every operation by method, name and rules.
func TestClasses(t *testing.T) {
	d := classifyRead(t)
	for _, tt := range []struct {
		name string
		o    ClassOptions
		want string
	}{
		{"by method", ClassOptions{}, "read write read write write destructive destructive destructive write write write destructive write write write"},
		{"by name", ClassOptions{RPCNames: true}, "read write read write write destructive destructive destructive read write read destructive write read write"},
		{"by rule", ClassOptions{RPCNames: true, Rules: []ClassRule{
			{Operations: []string{"POST /x.S/GetThing"}, Class: ClassWrite},
			{Operations: []string{"mint"}, Class: ClassForbidden, Reason: "mints a key", Instead: "in the settings"},
			{Operations: []string{"* /teams*"}, Tags: []string{"Teams"}, Class: ClassExcluded},
			{Operations: []string{"POST /x.*/*Thing"}},
		}}, "excluded excluded read write write destructive destructive destructive write write read destructive destructive read forbidden"},
	} {
		rules, err := NewClassifier(d, tt.o)
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
	for _, r := range []*Classifier{nil, {}} {
		if got := r.Of(d.Operations[0]); got.Class != ClassDestructive {
			t.Errorf("zero rules say %v", got)
		}
	}
	if _, ok := ParseClass("reed"); ok {
		t.Error("reed is a class")
	}
	if c, ok := ParseClass("forbidden"); c != ClassForbidden || !ok {
		t.Error(c, ok)
	}
}

// TestRefuses checks that an incomplete rule, or a rule that matches nothing, is refused with its pointer.
func TestRefuses(t *testing.T) {
	for _, tt := range []struct {
		rule ClassRule
		want string
	}{
		{ClassRule{Class: ClassRead}, "/rules/0 a rule names operations or tags"},
		{ClassRule{Operations: []string{"mint"}, Class: ClassForbidden}, "/rules/0 a rule that forbids says why (reason) and where a person does it (instead)"},
		{ClassRule{Operations: []string{"mint", "mimt"}}, `/rules/0/operations/1 no operation of the document is "mimt". Did you mean mint?`},
		{ClassRule{Operations: []string{"GET /nothing*"}}, `/rules/0/operations/0 no operation of the document is "GET /nothing*"`},
		{ClassRule{Tags: []string{"Team"}}, `/rules/0/tags/0 no operation of the document has the tag "Team". Did you mean Teams or teams?`},
	} {
		_, err := NewClassifier(classifyRead(t), ClassOptions{Rules: []ClassRule{tt.rule}})
		p := problem.Of(err)
		if got := fmt.Sprintf("%s %s", p.Pointer, p.Detail); got != tt.want || p.Code != problem.InvalidArgument {
			t.Errorf("%+v\n got %s\nwant %s", tt.rule, got, tt.want)
		}
	}
}

// TestWords checks the classes of operations by name, without rules. A GET whose name is an action verb is not a
// read.
func TestWords(t *testing.T) {
	for _, row := range []struct {
		method, path, id, more string
		want                   Class
	}{
		{"get", "/pods/{name}/exec", "connectGetNamespacedPodExec", "", ClassDestructive},
		{"get", "/pods/{name}/attach", "", "", ClassDestructive},
		{"get", "/pods/{name}/portforward", "", "", ClassDestructive},
		{"get", "/pods/{name}/proxy/{path}", "", "", ClassDestructive},
		{"get", "/containers/{id}/stream", "", `,"101":{"description":"upgrades"}`, ClassDestructive},
		{"get", "/exec/{id}/json", "ExecInspect", "", ClassRead},
		{"get", "/cache/purge", "", "", ClassDestructive},
		{"get", "/tokens/{id}", "revokeToken", "", ClassDestructive},
		{"get", "/logout", "", "", ClassWrite},
		{"get", "/jobs/{id}/run", "", "", ClassWrite},
		{"get", "/runs", "listRuns", "", ClassRead},
		{"get", "/orders/cancelled", "listCancelled", "", ClassRead},
		{"get", "/deleted", "getDeletedThings", "", ClassRead},
		{"get", "/input_tokens", "countInputTokens", "", ClassRead},
		{"post", "/orders/{id}/cancel", "", "", ClassDestructive},
		{"post", "/operations/{id}:cancel", "", "", ClassDestructive},
		{"post", "/images/prune", "ImagePrune", "", ClassDestructive},
		{"post", "/subscriptions", "subscriptions.cancel", "", ClassDestructive},
		{"put", "/users/{id}/delete-all", "", "", ClassDestructive},
		{"post", "/files", "createFile", "", ClassWrite},
		{"post", "/credit_grants", "createCreditGrant", "", ClassWrite},
		{"delete", "/models/{id}", "deleteModel", "", ClassDestructive},
	} {
		id := ""
		if row.id != "" {
			id = `"operationId":"` + row.id + `",`
		}
		d, err := Load([]byte(`{"openapi":"3.0.0","paths":{"` + row.path + `":{"` + row.method + `":{` + id + `"responses":{"200":{"description":"ok"}` + row.more + `}}}}}`))
		if err != nil {
			t.Fatal(err)
		}
		rules, err := NewClassifier(d, ClassOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got := rules.Of(d.Operations[0]).Class; got != row.want {
			t.Errorf("%s %s %s: %s, want %s", row.method, row.path, row.id, got, row.want)
		}
	}
}
