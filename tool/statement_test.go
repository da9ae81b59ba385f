package tool_test

import (
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
)

// TestStatement checks that the text of a statement, which names what views are made of, and the database's plan are
// shown only to a principal with the scope explain, or one that sees everything.
func TestStatement(t *testing.T) {
	all := policy.Rules{Unlisted: true, Classes: map[string]policy.ClassRule{"customers": {
		Visible: []string{"id", "org", "name", "email", "password_hash", "vip"}, Lift: []string{"password_hash"}}}}
	hidden := policy.Rules{Unlisted: true, Classes: map[string]policy.ClassRule{"customers": all.Classes["customers"], "secrets": {Hidden: true}}}
	explain := agent()
	explain.Scopes = []identity.Scope{identity.Read, identity.Explain}
	for _, tt := range []struct {
		name  string
		rules policy.Rules
		who   identity.Principal
		want  bool
	}{
		{"who sees all", all, agent(), true},
		{"one class is hidden, another one than is asked for", hidden, agent(), false},
		{"a tenant's agent", shopRules(), agent(), false},
		{"a tenant's agent who may explain", shopRules(), explain, true},
	} {
		set, _ := openWith(t, 0, tt.rules)
		args, err := value.Read([]byte(`{"class_name": "orders", "where": {"id": "10"}}`), 0)
		if err != nil {
			t.Fatal(err)
		}
		res, err := set.Call(t.Context(), tt.who, tool.Request{Name: "explain_query", Arguments: args})
		if err != nil {
			t.Fatal(err)
		}
		for what, part := range map[string]string{"statement": "SELECT", "plan": "SEARCH t USING INTEGER PRIMARY KEY (rowid=?)"} {
			if got := strings.Contains(string(res.Structured), part); got != tt.want || strings.Contains(res.Text, part) != tt.want {
				t.Errorf("%s: a %s is shown: %t, want %t: %s", tt.name, what, got, tt.want, res.Structured)
			}
		}
	}
}

// TestSelectNotes checks that an answer says once that a text is compared with a number, each way once.
func TestSelectNotes(t *testing.T) {
	set, _ := openWith(t, 0, policy.Rules{Unlisted: true})
	args, err := value.Read([]byte(`{"sql": "SELECT id FROM customers WHERE name > 5 OR email < 7 OR name = 3 OR email IN (4, 5) OR '9' > 8"}`), 0)
	if err != nil {
		t.Fatal(err)
	}
	res, err := set.Call(t.Context(), agent(), tool.Request{Name: "query_sql", Arguments: args})
	if err != nil {
		t.Fatal(err)
	}
	for _, said := range []string{"compared as texts: '10' comes before '9'", "compared with the digits of the number"} {
		if strings.Count(string(res.Structured), said) != 1 || strings.Count(res.Text, said) != 1 {
			t.Errorf("%q isn't there once: %s\n%s", said, res.Structured, res.Text)
		}
	}
}
