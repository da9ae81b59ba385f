package calls_test

import (
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/expression"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/search"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/validate"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// TestOpenParameters checks which query parameters that the document doesn't declare a call may have.
func TestOpenParameters(t *testing.T) {
	all := compiled(t, func(r *calls.Rules) {
		r.OpenParameters = []calls.Opened{{Operations: []string{"getTeam"}, Names: []string{"sort", "filter[state]"}}}
	})
	who := agent("t1", identity.Read)
	reach, err := all.Reach(who, "flow", "")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct{ operation, query, want string }{
		{"getTeam", `{"sort": "name", "filter[state]": "open"}`, "filter[state]=open&sort=name"},
		{"getTeam", `{"sort": ["a", "b"]}`, "sort=a&sort=b"},
		{"getTeam", `{"srt": "name"}`, `unknown query parameter "srt". Did you mean sort?`},
		{"listInvoices", `{"sort": "name"}`, `unknown query parameter "sort"`},
	} {
		path := `{"teamId": "t1"}`
		if row.operation != "getTeam" {
			path = `{}`
		}
		permit, err := reach.Permit(t.Context(), who, calls.Request{Operation: row.operation, Arguments: validate.Arguments{Path: object(t, path), Query: object(t, row.query)}})
		got := ""
		if err != nil {
			got = problem.Of(err).Detail
		} else {
			plan, _ := permit.Plan()
			pairs := strings.Split(plan.Request.Query, "&")
			if len(pairs) == 2 && pairs[0] > pairs[1] {
				pairs[0], pairs[1] = pairs[1], pairs[0]
			}
			got = strings.Join(pairs, "&")
		}
		if !strings.HasPrefix(got, row.want) {
			t.Errorf("%s %s: %s, want %s", row.operation, row.query, got, row.want)
		}
	}
	op, err := reach.View.Operation("getTeam")
	if err != nil {
		t.Fatal(err)
	}
	if detail := search.DescribeOperation(reach.View, op); !strings.Contains(detail, "  sort: any // not in the document: opened by the owner of this gateway\n") {
		t.Error(detail)
	}
}

// TestOpenParameterFaults checks which names can't be opened.
func TestOpenParameterFaults(t *testing.T) {
	for _, row := range []struct {
		rules calls.Rules
		want  string
	}{
		{calls.Rules{OpenParameters: []calls.Opened{{Names: nil}}}, "apis.flow/OpenParameters/0: it names no parameters"},
		{calls.Rules{OpenParameters: []calls.Opened{{Operations: []string{"getTeem"}, Names: []string{"a"}}}}, `apis.flow/OpenParameters/0/operations/0: no operation of the document is "getTeem"`},
		{calls.Rules{OpenParameters: []calls.Opened{{Names: []string{"Team_ID"}}}, Parameters: []calls.Parameter{{Name: "teamId", Is: "principal.tenant"}}}, `apis.flow/OpenParameters/0/Names/0: "Team_ID" can't be opened: a rule of parameters says what it must be`},
		{calls.Rules{OpenParameters: []calls.Opened{{Names: []string{"a", "SECRET"}}}, Hidden: []calls.Hidden{{Fields: []string{"secret"}}}}, `apis.flow/OpenParameters/0/Names/1: "SECRET" can't be opened: a rule hides fields of that name`},
		{calls.Rules{OpenParameters: []calls.Opened{{Names: []string{"key"}}}, Sends: []calls.Place{{In: "query", Name: "key"}}}, `apis.flow/OpenParameters/0/Names/0: "key" can't be opened: the credential sets it`},
	} {
		d, err := spec.Load([]byte(teams))
		if err != nil {
			t.Fatal(err)
		}
		row.rules.Document = d
		if _, err = calls.New(map[string]calls.Rules{"flow": row.rules}, expression.NewCompiler()); err == nil || !strings.HasPrefix(err.Error(), row.want) {
			t.Errorf("%v\nwant %s", err, row.want)
		}
	}
}
