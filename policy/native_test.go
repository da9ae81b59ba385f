package policy

import (
	"testing"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// TestNativeFaults checks the faults in the columns that a statement of the owner returns.
func TestNativeFaults(t *testing.T) {
	column := func(name string, t schema.Type, m Mask) []ReturnedColumn { return []ReturnedColumn{{name, t, m}} }
	for _, tt := range []struct {
		rule NativeRule
		want string
	}{
		{NativeRule{Source: "app"}, "queries.own.returns: needs the name and the type of each column of the result"},
		{NativeRule{Source: "app", Returns: append(column("a", schema.String, ""), column("a", schema.String, "")...)}, "queries.own.returns: the column a appears twice. Give one of them another name, with AS"},
		{NativeRule{Source: "app", Returns: column("a", schema.Opaque, "")}, "queries.own.returns: a needs a type"},
		{NativeRule{Source: "app", Returns: column("password_hash", schema.String, "")}, "queries.own.returns: password_hash looks like a credential by its name. Leave the column out, or give it another name with AS"},
		{NativeRule{Source: "app", Returns: column("a", schema.String, Pseudonym)}, `queries.own.returns: there is no mask "pseudonym" for a returned column. Write partial, hash or null`},
		{NativeRule{Source: "app", Returns: column("a", schema.Boolean, Partial)}, "queries.own.returns: partial can't mask a column of type boolean. null masks any"},
		{NativeRule{Source: "divided", Returns: column("a", schema.String, "")}, "queries.own.source: the source divided has one schema per tenant, and a statement of its own can't be kept to one"},
	} {
		_, err := New(Rules{Native: map[string]NativeRule{"own": tt.rule}, Schemas: map[string]string{"divided": "principal.tenant"}}, nil)
		if err == nil || err.Error() != tt.want {
			t.Errorf("got %v\nwant %s", err, tt.want)
		}
	}
}

// TestNativePlan checks that the result of a statement is masked, and that no query can name it as a class.
func TestNativePlan(t *testing.T) {
	p, err := New(Rules{Unlisted: true, Native: map[string]NativeRule{"own": {Source: "app", Text: "SELECT 1", Returns: []ReturnedColumn{{"a", schema.String, Partial}, {"b", schema.Integer, ""}}}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	permit, err := p.Read(agent(), &query.Native{Name: "own", Limit: 2})
	if err != nil {
		t.Fatal(err)
	}
	plan, _ := permit.Plan()
	if plan.Native.Text != "SELECT 1" || plan.Columns[0].Mask == nil || plan.Columns[1].Mask != nil || plan.View.Source() != "app" || plan.Unique || plan.Limit != 2 {
		t.Errorf("%+v", plan)
	}
	for _, q := range []query.Query{&query.Find{Class: "own"}, &query.Find{Class: "app.own"}, &query.Native{Name: "other"}} {
		if _, err := p.Read(agent(), q); problem.CodeOf(err) != problem.NotFound {
			t.Errorf("%T: %v", q, err)
		}
	}
	if len(p.Views(agent())) != 0 {
		t.Error("a statement is listed as a class")
	}
	unscoped := agent()
	unscoped.Scopes = nil
	if _, err := p.Read(unscoped, &query.Native{Name: "own"}); problem.CodeOf(err) != problem.PermissionDenied {
		t.Error(err)
	}
}
