package policy

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// TestBounds checks that joins, windows and set operations count as often as they are read, in the language of SELECT
// and in pipelines. The refusal names the count, the bound, the place and the setting.
func TestBounds(t *testing.T) {
	rules := Rules{Unlisted: true, Version: "v1"}
	repeated := func(n int, part string) string {
		var out strings.Builder
		for i := range n {
			fmt.Fprintf(&out, part, i)
		}
		return out.String()
	}
	windows := func(n int) string {
		return "SELECT id" + repeated(n, ", lag(id, %d + 1) OVER (ORDER BY id)") + " FROM shops"
	}
	lookups := func(n int) string {
		return "[" + strings.Join(strings.Split(strings.TrimSuffix(repeated(n, `{"$lookup": {"from": "people", "localField": "boss", "foreignField": "id", "as": "b%d"}};`), ";"), ";"), ", ") + "]"
	}
	outputs := func(n int) string {
		return `[{"$setWindowFields": {"sortBy": {"id": 1}, "output": {` + strings.TrimSuffix(repeated(n, `"n%d": {"$sum": 1},`), ",") + `}}}]`
	}
	for name, tt := range map[string]struct {
		bounds Bounds
		text   string
		want   string // "" for no refusal
	}{
		"20 joins":             {Bounds{}, "SELECT a.id FROM shops a" + repeated(20, " CROSS JOIN shops b%d"), ""},
		"21 joins":             {Bounds{}, "SELECT a.id FROM shops a" + repeated(21, " CROSS JOIN shops b%d"), "line 1, column 436: too many joins: 21 so far, each counted as often as it is read, and a query may have 20"},
		"commas":               {Bounds{}, "SELECT a.id FROM shops a" + repeated(39, ", shops b%d"), "line 1, column 237: too many joins: 21 so far, each counted as often as it is read, and a query may have 20"},
		"a query named thrice": {Bounds{Joins: 6}, "WITH t AS (SELECT a.id FROM shops a JOIN shops b ON a.id = b.id) SELECT x.id FROM t x JOIN t y ON x.id = y.id JOIN t z ON x.id = z.id", ""},
		"and one join less":    {Bounds{Joins: 4}, "WITH t AS (SELECT a.id FROM shops a JOIN shops b ON a.id = b.id) SELECT x.id FROM t x JOIN t y ON x.id = y.id JOIN t z ON x.id = z.id", "too many joins: 5 so far, each counted as often as it is read, and a query may have 4"},
		"in a sub-query":       {Bounds{Joins: 1}, "SELECT id FROM shops WHERE id IN (SELECT a.id FROM shops a JOIN shops b ON a.id = b.id JOIN shops c ON a.id = c.id)", "too many joins: 2 so far"},
		"50 windows":           {Bounds{}, windows(50), ""},
		"300 windows":          {Bounds{}, windows(300), "line 1, column 12: too many window functions: 300 so far, each counted as often as it is read, and a query may have 50"},
		"of two queries":       {Bounds{Windows: 3}, "SELECT n FROM (SELECT row_number() OVER (ORDER BY id) AS n, lag(id) OVER (ORDER BY id) AS l FROM shops) AS t ORDER BY row_number() OVER (ORDER BY n), lead(n) OVER (ORDER BY n)", "too many window functions: 4 so far"},
		"sub-queries":          {Bounds{Queries: 3}, "SELECT (SELECT max(id) FROM shops) AS a, (SELECT min(id) FROM shops) AS b FROM shops WHERE EXISTS (SELECT 1 FROM people)", ""},
		"a sub-query more":     {Bounds{Queries: 3}, "SELECT (SELECT max(id) FROM shops) AS a, (SELECT min(id) FROM shops) AS b FROM shops WHERE EXISTS (SELECT 1 FROM people) AND id IN (SELECT boss FROM shops)", "too many sub-queries in expressions: 4 so far"},
		"one within another":   {Bounds{Queries: 1}, "SELECT id FROM shops WHERE id IN (SELECT boss FROM shops WHERE id = (SELECT max(id) FROM shops))", "too many sub-queries in expressions: 2 so far"},
		"read twice":           {Bounds{Queries: 1}, "SELECT id FROM shops WHERE NOT id IN (SELECT boss FROM shops)", "line 1, column 35: too many sub-queries in expressions: 2 so far"},
		"41 without FROM":      {Bounds{}, "SELECT 0" + repeated(41, " + (SELECT %d)"), "too many sub-queries in expressions: 41 so far"},
		"LATERAL values":       {Bounds{Queries: 1}, "SELECT s.id, l.a FROM shops s, LATERAL (SELECT max(p.id) AS a, min(p.id) AS b FROM people p WHERE p.id = s.boss) AS l", "too many sub-queries in expressions: 2 so far"},
		"LATERAL joins":        {Bounds{Joins: 1}, "SELECT s.id FROM shops s, LATERAL (SELECT p.id FROM people p WHERE p.id = s.boss) AS l, LATERAL (SELECT p.id FROM people p WHERE p.id = s.id) AS m", "too many joins: 2 so far"},
		"LATERAL numbers":      {Bounds{Windows: 1}, "SELECT s.id FROM shops s, LATERAL (SELECT p.id FROM people p WHERE p.id = s.boss LIMIT 1) AS l, LATERAL (SELECT p.id FROM people p WHERE p.id = s.id LIMIT 1) AS m", "too many window functions: 2 so far"},
		"modes":                {Bounds{Windows: 1}, "SELECT mode() WITHIN GROUP (ORDER BY boss) AS m, (SELECT mode() WITHIN GROUP (ORDER BY boss) FROM shops) AS n FROM shops", "too many window functions: 2 so far"},
		"full joins":           {Bounds{Joins: 1}, "SELECT a.id FROM shops a FULL JOIN shops b ON a.id = b.id", "too many joins: 2 so far"},
		"unions":               {Bounds{Sets: 2}, "SELECT id FROM shops" + repeated(3, " UNION ALL SELECT id + %d FROM shops"), "too many set operations and grouping sets: 3 so far"},
		"grouping sets":        {Bounds{Sets: 2}, "SELECT count(*) FROM shops GROUP BY CUBE (id, boss)", "too many set operations and grouping sets: 3 so far"},
		"lookups":              {Bounds{Joins: 3}, lookups(3), ""},
		"a lookup more":        {Bounds{Joins: 3}, lookups(4), "/pipeline/3/$lookup: too many joins: 4 so far, each counted as often as it is read, and a query may have 3"},
		"in a facet":           {Bounds{Joins: 3}, `[{"$facet": {"a": ` + lookups(2) + `, "b": ` + lookups(2) + `}}]`, "too many joins: 4 so far"},
		"outputs":              {Bounds{Windows: 5}, outputs(6), "/pipeline/0/$setWindowFields: too many window functions: 6 so far"},
		"unionWith":            {Bounds{Sets: 1}, `[{"$unionWith": "shops"}, {"$unionWith": "shops"}]`, "too many set operations and grouping sets: 2 so far"},
	} {
		t.Run(name, func(t *testing.T) {
			rules.Bounds = tt.bounds
			p, err := New(rules, market())
			if err != nil {
				t.Fatal(err)
			}
			_, err = p.Read(agent(), parseQuery(t, tt.text))
			if tt.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil {
				t.Fatal("it was taken")
			}
			wrong := problem.Of(err)
			said := wrong.Detail
			if strings.HasPrefix(tt.text, "[") {
				said = wrong.Pointer + ": " + said
			}
			if !strings.Contains(said, tt.want) || !strings.Contains(wrong.Suggestion, "limits.statements.") {
				t.Errorf("%s; %s", said, wrong.Suggestion)
			}
		})
	}
}

// TestBoundsSayNothing checks that a statement with too many joins is refused in the same bytes over a hidden class and
// over one that doesn't exist.
func TestBoundsSayNothing(t *testing.T) {
	p, err := New(Rules{Unlisted: true, Version: "v1", Bounds: Bounds{Joins: 2}, Classes: map[string]ClassRule{"app.teams": {Hidden: true}}}, market())
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]string{}
	for _, class := range []string{"teams", "geese"} {
		q, err := query.ParseSQL("SELECT 1 FROM shops a CROSS JOIN " + class + " b CROSS JOIN shops c CROSS JOIN shops d")
		if err != nil {
			t.Fatal(err)
		}
		_, err = p.Read(agent(), q)
		said[class] = strings.ReplaceAll(fmt.Sprint(problem.Of(err)), class, "x")
	}
	if said["teams"] != said["geese"] || said["teams"] == "" {
		t.Errorf("%q", said)
	}
}

// TestAgentBounds: of all entries that hold for a principal, or for one that it derives from, the smallest bound wins. The refusal names the setting.
// A condition that fails refuses the query.
func TestAgentBounds(t *testing.T) {
	named := func(n int) string {
		text := "SELECT a.id FROM shops a"
		for i := range n {
			text += fmt.Sprintf(" CROSS JOIN shops b%d", i)
		}
		return text
	}
	clerk := agent()
	clerk.ID = "clerk"
	below, err := identity.Derive(clerk, identity.Derivation{Name: "helper", Scopes: []identity.Scope{identity.Read}})
	if err != nil {
		t.Fatal(err)
	}
	rules := Rules{Unlisted: true, Version: "v1", Bounds: Bounds{Joins: 5}, AgentBounds: []AgentBound{
		{When: `principal.id == "clerk"`, Bounds: Bounds{Joins: 3, Windows: 1}, Time: 5 * time.Second},
		{When: `principal.id in ["clerk", "guest"]`, Bounds: Bounds{Joins: 2, Queries: 1}, Time: 7 * time.Second},
		{When: `principal.id == "loose"`, Bounds: Bounds{Joins: 9}},
		{When: `principal.id == "broken" && principal.claims.team == "a"`, Bounds: Bounds{Joins: 1}},
	}}
	p, err := New(rules, market())
	if err != nil {
		t.Fatal(err)
	}
	other := func(id string) identity.Principal {
		who := agent()
		who.ID = id
		return who
	}
	const general, own = "The owner can allow more with limits.statements.joins", "The owner bounds joins for you with limits.statements.agents"
	for name, tt := range map[string]struct {
		who       identity.Principal
		text      string
		detail    string // "" for no refusal
		suggested string
		time      time.Duration
	}{
		"nobody named":            {other("other"), named(5), "", "", 0},
		"nobody named, more":      {other("other"), named(6), "6 so far, each counted as often as it is read, and a query may have 5", general, 0},
		"smallest of two":         {clerk, named(3), "3 so far, each counted as often as it is read, and a query may have 2", own, 5 * time.Second},
		"as many":                 {clerk, named(2), "", "", 5 * time.Second},
		"of the first only":       {clerk, "SELECT id, lag(id) OVER (ORDER BY id), lead(id) OVER (ORDER BY id) FROM shops", "2 so far, each counted as often as it is read, and a query may have 1", "The owner bounds windows for you", 5 * time.Second},
		"of the second only":      {other("guest"), "SELECT id, (SELECT max(id) FROM shops), (SELECT min(id) FROM shops) FROM shops", "2 so far, each counted as often as it is read, and a query may have 1", "The owner bounds queries for you", 7 * time.Second},
		"not named in it":         {other("guest"), "SELECT id, lag(id) OVER (ORDER BY id), lead(id) OVER (ORDER BY id) FROM shops", "", "", 7 * time.Second},
		"a sub-principal":         {below, named(3), "3 so far, each counted as often as it is read, and a query may have 2", own, 5 * time.Second},
		"larger than that of all": {other("loose"), named(6), "6 so far, each counted as often as it is read, and a query may have 5", general, 0},
		"a pipeline":              {clerk, `[{"$lookup": {"from": "people", "localField": "boss", "foreignField": "id", "as": "a"}}, {"$lookup": {"from": "people", "localField": "boss", "foreignField": "id", "as": "b"}}, {"$lookup": {"from": "people", "localField": "boss", "foreignField": "id", "as": "c"}}]`, "a query may have 2", own, 5 * time.Second},
		"it fails":                {other("broken"), "SELECT id FROM shops", "what they may cost can't be computed for you", "The log names the expression in limits.statements.agents", -1},
		"it fails, a pipeline":    {other("broken"), `[{"$match": {"id": 1}}]`, "what they may cost can't be computed for you", "The log names the expression in limits.statements.agents", -1},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := p.Read(tt.who, parseQuery(t, tt.text))
			wrong := problem.Of(err)
			switch {
			case err == nil && tt.detail != "":
				t.Error("it was taken")
			case err != nil && (tt.detail == "" || !strings.Contains(wrong.Detail, tt.detail) || !strings.Contains(wrong.Suggestion, tt.suggested)):
				t.Errorf("%s; %s", wrong.Detail, wrong.Suggestion)
			}
			most, err := p.TimeOf(tt.who)
			if tt.time < 0 {
				if cause := problem.Of(err); err == nil || cause.Err == nil || !strings.HasPrefix(cause.Err.Error(), "limits.statements.agents.3.when: ") {
					t.Errorf("the cause is %v", err)
				}
			} else if err != nil || most != tt.time {
				t.Errorf("it may take %v, %v", most, err)
			}
		})
	}
	rules.AgentBounds = []AgentBound{{When: "principal.tenants"}}
	if _, err := New(rules, market()); err == nil || !strings.Contains(err.Error(), "limits.statements.agents.0.when: ") {
		t.Errorf("a wrong condition: %v", err)
	}
}

// parseQuery parses a statement, or a pipeline of the class shops.
func parseQuery(t *testing.T, text string) query.Query {
	t.Helper()
	if !strings.HasPrefix(text, "[") {
		q, err := query.ParseSQL(text)
		if err != nil {
			t.Fatal(err)
		}
		return q
	}
	doc, err := value.Read([]byte(text), 0)
	if err != nil {
		t.Fatal(err)
	}
	stages, err := query.ParsePipeline(doc, "/pipeline")
	if err != nil {
		t.Fatal(err)
	}
	return &query.Pipeline{Class: "shops", Stages: stages, Limit: 5}
}
