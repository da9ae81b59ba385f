package tool_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/declared"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/metric"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
)

// declarations are queries of the shop in each form. Agents don't see the last two.
func declarations(t testing.TB) []declared.Declaration {
	read := func(text string) value.Value {
		v, err := value.Read([]byte(text), 0)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	state := read(`{"required": ["state"], "properties": {"state": {"type": "string", "enum": ["open", "paid", "sent"]}}}`)
	return []declared.Declaration{
		{Name: "orders_of", Tool: true, Limit: 2, Description: "Orders of one customer, newest first.", SQL: "SELECT id, state, total FROM orders\nWHERE (:customer IS NULL OR customer_id = :customer) AND (:since IS NULL OR placed_at >= :since)\nORDER BY placed_at DESC, id",
			Input: read(`{"properties": {"customer": {"type": "integer"}, "since": {"type": "string", "format": "date"}}}`)},
		{Name: "in_state", Description: "Orders in one state. Each with its customer.", Limit: 1, Input: state,
			Find: read(`{"class": "orders", "where": {"state": {"$input": "state"}}, "keys": ["id", "customer_id.name"], "order": "id"}`)},
		{Name: "worth", Input: state, Pipeline: read(`{"class": "orders", "stages": [{"$match": {"state": {"$ne": {"$input": "state"}}}}, {"$group": {"_id": "$state", "n": {"$count": {}}, "not": {"$max": {"$input": "state"}}}}, {"$sort": {"_id": 1}}]}`)},
		{Name: "margins", When: `"operator" in principal.scopes`, SQL: "SELECT id FROM orders"},
		{Name: "acme_only", When: `principal.tenant == "globex"`, SQL: "SELECT id FROM orders", Tool: true},
	}
}

// TestUnlistedRunQuery checks the tool run_query for a caller whose queries all have tools: it isn't listed, and it can be
// called by name. For a caller without queries it doesn't exist.
func TestUnlistedRunQuery(t *testing.T) {
	g, _ := gatewayOf(t, 0, shopRules(), bailiwick.Declarations{Queries: declarations(t)[:1]})
	set, err := tool.NewSet(g, append(tool.Data(tool.Options{}), tool.QueryTools(g.AllQueries())...)...)
	if err != nil {
		t.Fatal(err)
	}
	nobody := agent()
	nobody.Classes = identity.List{Only: []string{"customers"}}
	for _, tt := range []struct {
		who  identity.Principal
		want string
	}{{agent(), "unlisted orders_of(customer?, since?): Orders of one customer, newest first.\n  customer integer\n  since string date"}, {nobody, " unknown_tool"}} {
		got := ""
		for _, tl := range set.List(tt.who, "") {
			if tl.Name == declared.RunTool {
				got = map[bool]string{true: "unlisted", false: "listed"}[tl.Unlisted]
			}
		}
		res, err := set.Call(t.Context(), tt.who, tool.Request{Name: declared.RunTool, Arguments: value.OfObject(nil)})
		if got += " " + res.Text + string(problem.CodeOf(err)); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}

// openDeclared returns the tools on the shop with the declared queries.
func openDeclared(t testing.TB, rules policy.Rules) *tool.Set {
	t.Helper()
	set, _ := declaredSet(t, rules)
	return set
}

func declaredSet(t testing.TB, rules policy.Rules) (*tool.Set, *audit.Memory) {
	t.Helper()
	g, log := gatewayOf(t, 0, rules, bailiwick.Declarations{Queries: declarations(t)})
	set, err := tool.NewSet(g, append(tool.Data(tool.Options{}), tool.QueryTools(g.AllQueries())...)...)
	if err != nil {
		t.Fatal(err)
	}
	return set, log
}

// TestDeclaredTools checks which tools a caller has, how they are described, and what the audit records of a call.
func TestDeclaredTools(t *testing.T) {
	set, log := declaredSet(t, shopRules())
	operator, globex, nobody := agent(), agent(), agent()
	operator.Scopes = append(operator.Scopes, identity.Operator)
	globex.Tenant, nobody.Classes = "globex", identity.List{Only: []string{"customers"}}
	for _, tt := range []struct {
		who         identity.Principal
		tools, says string
	}{
		{agent(), "orders_of run_query", "Run a query that the owner declared, by name:\nin_state(state): Orders in one state.\nworth(state)"},
		{operator, "orders_of run_query", "Run a query that the owner declared, by name:\nin_state(state): Orders in one state.\nmargins()\nworth(state)"},
		{globex, "acme_only orders_of run_query", "Run a query that the owner declared, by name:\nin_state(state): Orders in one state.\nworth(state)"},
		{nobody, "", ""},
	} {
		var names []string
		says := ""
		for _, tl := range set.List(tt.who, "") {
			if slices.Contains([]string{"orders_of", "acme_only", "run_query"}, tl.Name) {
				names = append(names, tl.Name)
			}
			if tl.Name == declared.RunTool {
				says = tl.Description
			}
		}
		if got := strings.Join(names, " "); got != tt.tools || says != tt.says {
			t.Errorf("%s\n%s\nwant %s\n%s", got, says, tt.tools, tt.says)
		}
	}
	if tl := set.Tool("orders_of"); string(tl.Input) != `{"type":"object","additionalProperties":false,"properties":{"customer":{"type":"integer"},"since":{"type":"string","format":"date"},"limit":{"type":"integer","minimum":1,"maximum":2},"cursor":{"type":"string"},"format":{"type":"string","enum":["json","csv","markdown","table"]}}}` {
		t.Errorf("%s", tl.Input)
	}
	for name, want := range map[string]string{
		`orders_of {"customer": 1}`:                               "orders_of ok shop.orders shop.orders.customer_id shop.orders.id shop.orders.placed_at shop.orders.state shop.orders.total queries.orders_of",
		`run_query {"name": "worth", "input": {"state": "open"}}`: "run_query ok shop.orders shop.orders.state queries.worth",
		`run_query {"name": "margins"}`:                           "run_query refused ",
	} {
		name, args, _ := strings.Cut(name, " ")
		doc, _ := value.Read([]byte(args), 0)
		_, _ = set.Call(t.Context(), agent(), tool.Request{Name: name, Arguments: doc})
		var last audit.Record
		if err := log.Backwards(t.Context(), audit.Last, func(r audit.Record) bool { last = r; return false }); err != nil {
			t.Fatal(err)
		}
		if got := last.Tool + " " + last.Outcome + " " + strings.Join(last.Uses, " "); got != want {
			t.Errorf("%s is recorded as\n%s\nwant\n%s", args, got, want)
		}
	}
}

// TestQueryPatterns checks patterns that a declared query makes of its arguments.
func TestQueryPatterns(t *testing.T) {
	input, _ := value.Read([]byte(`{"properties": {"part": {"type": "string"}, "n": {"type": "integer"}}}`), 0)
	g, _ := gatewayOf(t, 0, shopRules(), bailiwick.Declarations{Queries: []declared.Declaration{
		{Name: "named", Input: input, SQL: "SELECT name, :n AS n FROM customers WHERE name ILIKE '%' || :part || '%' OR name LIKE :n || '%' ORDER BY id"},
		{Name: "exactly", Input: input, SQL: "SELECT name, :n AS n FROM customers WHERE name LIKE concat('%', replace(replace(:part, '%', '\\%'), '_', '\\_'), '%') ORDER BY id"},
	}})
	set, err := tool.NewSet(g, tool.Data(tool.Options{})...)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ query, input, want string }{
		{"named", `{"part": "DA"}`, "name,n\n\"Ada\",\n1 record, no more"},
		{"named", `{"part": "_"}`, "name,n\n\"Ada\",\n\"=1+1 Bob\",\n2 records, no more"},
		{"named", `{"part": "%"}`, "name,n\n\"Ada\",\n\"=1+1 Bob\",\n2 records, no more"},
		{"named", `{"part": "' OR 1=1 --"}`, "name,n\n0 records, no more"},
		{"named", `{"part": "\\"}`, "name,n\n0 records, no more"},
		{"named", `{}`, "name,n\n0 records, no more"},
		{"named", `{"n": 0}`, "name,n\n0 records, no more"},
		{"named", `{"part": "` + strings.Repeat("x", 300) + `"}`, "invalid_query: the query named can't run with these arguments: the pattern has 302 characters, and at most 256 are possible"},
		{"exactly", `{"part": "1 B"}`, "name,n\n\"=1+1 Bob\",\n1 record, no more"},
		{"exactly", `{"part": "_"}`, "name,n\n0 records, no more"},
		{"exactly", `{"part": "%"}`, "name,n\n0 records, no more"},
		{"exactly", `{}`, "name,n\n\"Ada\",\n\"=1+1 Bob\",\n2 records, no more"},
	} {
		doc, _ := value.Read([]byte(`{"name": "`+tt.query+`", "input": `+tt.input+`}`), 0)
		res, err := set.Call(t.Context(), agent(), tool.Request{Name: declared.RunTool, Arguments: doc})
		got := res.Text
		if err != nil {
			got = problem.Of(err).Text()
		}
		if got != tt.want {
			t.Errorf("%s %.40s:\n%s\nwant\n%s", tt.query, tt.input, got, tt.want)
		}
	}
}

// textDeclarations are queries with MEASURE, and one in the database's own SQL, with a metric.
func textDeclarations(t *testing.T, measure, native string) bailiwick.Declarations {
	input, err := value.Read([]byte(`{"properties": {"least": {"type": "number"}}}`), 0)
	if err != nil {
		t.Fatal(err)
	}
	return bailiwick.Declarations{
		Metrics: []metric.Declaration{{Name: "worth", On: "orders", Measure: measure}, {Name: "theirs", On: "orders", Measure: "count()", When: `principal.tenant == "globex"`}},
		Queries: []declared.Declaration{
			{Name: "by_state", Limit: 9, Input: input, SQL: "SELECT state, MEASURE(worth) FROM orders GROUP BY state HAVING :least IS NULL OR MEASURE(worth) >= :least ORDER BY state"},
			{Name: "their_orders", SQL: "SELECT MEASURE(theirs) AS n FROM orders"},
			{Name: "own", Limit: 1, Source: "shop", Native: native, Returns: []policy.ReturnedColumn{{Name: "id", Type: schema.Integer}}},
		},
	}
}

// TestMeasuredQueries checks a declared query with MEASURE: its answer, its definitions, and who has it. A cursor of a
// statement ends when the definition of its metric changes, and that of a native query when its text does.
func TestMeasuredQueries(t *testing.T) {
	const own = "SELECT id FROM orders ORDER BY id"
	g, _ := gatewayOf(t, 0, shopRules(), textDeclarations(t, "sum(total)", own))
	set, err := tool.NewSet(g, tool.Data(tool.Options{})...)
	if err != nil {
		t.Fatal(err)
	}
	globex := agent()
	globex.Tenant = "globex"
	ask := func(who identity.Principal, call string) string {
		t.Helper()
		name, args, _ := strings.Cut(call, " ")
		doc, err := value.Read([]byte(args), 0)
		if err != nil {
			t.Fatal(err)
		}
		res, err := set.Call(t.Context(), who, tool.Request{Name: name, Arguments: doc})
		if err != nil {
			return problem.Of(err).Text()
		}
		return string(res.Structured)
	}
	const sql = `query_sql {"sql": "SELECT state, MEASURE(worth) FROM orders GROUP BY state ORDER BY state", "limit": 1`
	const listed = `query_sql {"sql": "SELECT name, definition FROM information_schema.metrics UNION ALL SELECT state, state FROM orders ORDER BY 1", "limit": 1`
	calls := []string{`run_query {"name": "by_state", "limit": 1`, sql, listed, `run_query {"name": "own"`}
	cursor := regexp.MustCompile(`"cursor":"([^"]+)"`)
	next := make([]string, len(calls))
	for i, call := range calls {
		got := ask(agent(), call+"}")
		found := cursor.FindStringSubmatch(got)
		if found == nil {
			t.Fatalf("%s: %s", call, got)
		}
		next[i] = call + `, "cursor": "` + found[1] + `"}`
		if got := ask(agent(), next[i]); !strings.HasPrefix(got, `{"results":[{`) {
			t.Errorf("%s: %s", next[i], got)
		}
	}
	for _, tt := range []struct {
		who        identity.Principal
		call, want string
	}{
		{agent(), `query_sql {"sql": "SELECT state, MEASURE(worth) FROM orders GROUP BY state ORDER BY state"}`, ask(agent(), `run_query {"name": "by_state", "limit": 9}`)},
		{agent(), `run_query {"name": "by_state", "input": {"least": 1000}}`, `{"results":[],"result_count":0,"has_more":false,"definitions":["worth: sum of total"]}`},
		{agent(), `run_query {"name": "by_state", "dry_run": true}`, `{"results":[],"result_count":0,"definitions":["worth: sum of total"]}`},
		{agent(), `run_query {"name": "their_orders"}`, "not_found: there is no query \"their_orders\" (at /name)\n→ the description of run_query names your queries"},
		{globex, `run_query {"name": "their_orders"}`, `{"results":[{"n":1}],"result_count":1,"has_more":false,"definitions":["theirs: number of records"]}`},
	} {
		if got := ask(tt.who, tt.call); got != tt.want {
			t.Errorf("%s:\n%s\nwant\n%s", tt.call, got, tt.want)
		}
	}
	nothing := func(bailiwick.Moment) (bailiwick.Parts, error) { return nil, nil }
	if err := g.Install(t.Context(), shopRules(), textDeclarations(t, "min(total)", "SELECT id FROM orders ORDER BY id DESC"), nothing); err != nil {
		t.Fatal(err)
	}
	for _, call := range next {
		want := "invalid_argument: the cursor does not belong to this call (at /cursor)\n→ repeat the call that gave it with the same arguments, or start again without a cursor"
		if got := ask(agent(), call); got != want {
			t.Errorf("%s with another definition:\n%s\nwant\n%s", call, got, want)
		}
	}
}
