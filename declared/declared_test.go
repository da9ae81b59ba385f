package declared

import (
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/metric"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source/sqlite"
	"github.com/bailiwick-dev/bailiwick/value"
)

// catalogue is a shop: orders of customers, with an indexed status.
var catalogue = []schema.Class{
	{Source: "shop", Name: "customers", Key: []string{"id"}, Fields: []schema.Field{{Name: "id", Type: schema.Integer}, {Name: "name", Type: schema.String}, {Name: "phone", Type: schema.String}}},
	{Source: "shop", Name: "orders", Key: []string{"id"}, Fields: []schema.Field{{Name: "id", Type: schema.Integer}, {Name: "customer_id", Type: schema.Integer},
		{Name: "status", Type: schema.String, Values: []value.Value{value.OfString("open"), value.OfString("paid")}}, {Name: "placed_at", Type: schema.Date},
		{Name: "total", Type: schema.Decimal}, {Name: "note", Type: schema.String}}},
	{Source: "shop", Name: "salaries", Key: []string{"id"}, Fields: []schema.Field{{Name: "id", Type: schema.Integer}, {Name: "amount", Type: schema.Decimal}}},
}

func rules(t *testing.T, r policy.Rules) *policy.Policy {
	t.Helper()
	p, err := policy.New(r, catalogue)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func everything(t *testing.T) *policy.Policy { return rules(t, policy.Rules{Unlisted: true}) }

// object parses JSON.
func object(t testing.TB, text string) value.Value {
	t.Helper()
	if text == "" {
		return value.Value{}
	}
	v, err := value.Read([]byte(text), 0)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

const customer = `{"required": ["customer"], "properties": {"customer": {"type": "integer"}, "since": {"type": "string", "format": "date"}}}`

const openOrders = `SELECT id, placed_at, total FROM shop.orders
WHERE customer_id = :customer AND status = 'open' AND (:since IS NULL OR placed_at >= :since)
ORDER BY placed_at DESC`

// TestFaults checks the place and the text of each fault in a declaration.
func TestFaults(t *testing.T) {
	worth, err := metric.Compile([]metric.Declaration{{Name: "worth", On: "orders", Measure: "sum(total)", When: "false"}}, everything(t))
	if err != nil {
		t.Fatal(err)
	}
	one := `{"properties": {"x": {"type": "string"}}}`
	for _, tt := range []struct {
		d    Declaration
		want string
	}{
		{Declaration{}, `queries.x: needs one of sql, find, pipeline and native`},
		{Declaration{SQL: "SELECT id FROM orders", Find: object(t, `{"class": "orders"}`)}, `queries.x.find: a query has one form, and this one has sql too`},
		{Declaration{SQL: "SELECT id FROM orders", Limit: 2000}, `queries.x.limit: must be 1 to 1000`},
		{Declaration{SQL: "SELECT id FROM orders", When: "principal.nme"}, `queries.x.when: character 1 of the expression: a principal has no "nme". Did you mean name? It has id, name, kind, owner, tenant, scopes, claims, token_id, parent, depth, author`},
		{Declaration{SQL: "SELECT id FROM orders", Input: object(t, one)}, `queries.x.input.properties.x: the query doesn't use it. Remove it`},
		{Declaration{SQL: "SELECT id FROM orders WHERE note = :y", Input: object(t, one)}, `queries.x.sql: input has no argument "y"`},
		{Declaration{SQL: "SELECT id FROM orders WHERE note = $1"}, `queries.x.sql: write :name, with the name of an argument of input`},
		{Declaration{SQL: "SELECT id FROM (SELECT id FROM orders WHERE note IN (SELECT :y)) AS t"}, `queries.x.sql: input has no argument "y"`},
		{Declaration{SQL: "SELECT id FROM orders WHERE note = :limit", Input: object(t, `{"properties": {"limit": {"type": "integer"}}}`)},
			`queries.x.input.properties.limit: is an argument that the gateway adds. Choose another name`},
		{Declaration{SQL: "SELECT id\nFROM ordres"}, `queries.x.sql: there is no class "ordres". Did you mean orders?`},
		{Declaration{SQL: "SELECT id\nFROM orders WHERE satus = 'open'"}, `queries.x.sql: unknown column "satus". Did you mean status?`},
		{Declaration{SQL: "DELETE FROM orders"}, `queries.x.sql: DELETE can't be run here: a statement is one SELECT. Changes are proposed with the tools for changes, and a person reviews them`},
		{Declaration{SQL: "SELECT id FROM orders WHERE placed_at > :x", Input: object(t, one)}, `queries.x.sql: > can't compare placed_at (date) with "x": they are never alike. Checked with the arguments {"x":"x"}. Write a date as '2026-01-31', or a time as '2026-01-31T10:00:00Z'`},
		{Declaration{SQL: "SELECT id FROM orders", Source: "shp"}, `queries.x.sql: orders is in the source shop, not in shp. Did you mean shop?`},
		{Declaration{SQL: "SELECT id FROM orders WHERE note = :x", Input: object(t, one), Example: object(t, `{"x": 1}`)}, `queries.x.example: x must be a text, not 1`},
		{Declaration{SQL: "SELECT id,\n  MEASURE(worths) FROM orders GROUP BY id"}, `queries.x.sql: unknown metric "worths". Did you mean worth?`},
		{Declaration{SQL: "SELECT MEASURE(worth) FROM customers"}, `queries.x.sql: worth is measured on orders, which is not in FROM here. Write FROM shop.orders without names for its columns, or ask query_metrics`},
		{Declaration{Find: object(t, `{"class": "ordres"}`)}, `queries.x.find.class: there is no class "ordres". Did you mean orders?`},
		{Declaration{Find: object(t, `{"klass": "orders"}`)}, `queries.x.find.klass: unknown key. Did you mean class?
queries.x.find: needs class, the name of a class`},
		{Declaration{Find: object(t, `{"class": "orders", "where": {"satus": 1}}`)}, `queries.x.find.where.satus: unknown field "satus" of orders. Did you mean status?`},
		{Declaration{Find: object(t, `{"class": "orders", "order": "satus"}`)}, `queries.x.find.order: unknown field "satus" of orders. Did you mean status?`},
		{Declaration{Find: object(t, `{"class": "orders", "where": {"note": {"$input": "y"}}}`)}, `queries.x.find.where.note: input has no argument "y"`},
		{Declaration{Find: object(t, `{"class": "orders", "where": {"note": {"$regex": {"$input": "x"}}}}`), Input: object(t, one)}, `queries.x.find.where: $input stands for a value that is compared or computed with. It can't be a name, a path, a pattern or a number of records`},
		{Declaration{Find: object(t, `{"class": "orders", "where": {"note": {"$startsWith": {"$input": "x"}}}}`), Input: object(t, one)}, `queries.x.find.where: $input stands for a value that is compared or computed with. It can't be a name, a path, a pattern or a number of records`},
		{Declaration{Find: object(t, `{"class": "orders", "where": {"customer_id": {"$inQuery": {"className": {"$input": "x"}, "where": {}}}}}`), Input: object(t, one)}, `queries.x.find.where: $input stands for a value that is compared or computed with. It can't be a name, a path, a pattern or a number of records`},
		{Declaration{Find: object(t, `{"class": "orders"}`), Source: "shop"}, `queries.x.source: belongs only to sql and native. Write the class as source.Class`},
		{Declaration{Pipeline: object(t, `{"class": "orders", "stages": [{"$match": {"satus": 1}}]}`)}, `queries.x.pipeline.stages.0.$match.satus: unknown field "satus" of orders. Did you mean status?`},
		{Declaration{Pipeline: object(t, `{"class": "orders", "stages": [{"$limit": {"$input": "x"}}]}`), Input: object(t, one)}, `queries.x.pipeline.stages.0.$limit: $limit takes a whole number, 1 or more`},
		{Declaration{Pipeline: object(t, `{"class": "orders", "stages": [{"$sort": {"$input": "x"}}]}`), Input: object(t, one)}, `queries.x.pipeline.stages.0.$sort: $sort takes an object of fields, as in {"created_at": -1}`},
		{Declaration{Pipeline: object(t, `{"class": "orders", "stages": [{"$unwind": {"$input": "x"}}]}`), Input: object(t, one)}, `queries.x.pipeline.stages.0.$unwind: $unwind takes a path that begins with $, as in "$labels"`},
		{Declaration{Pipeline: object(t, `{"class": "orders", "stages": [{"$group": {"_id": {"$getField": {"$input": "x"}}}}]}`), Input: object(t, one)}, `queries.x.pipeline.stages.0.$group._id.$getField: $getField is not supported. Write the path, as in "$a.b".`},
		{Declaration{Native: "SELECT 1"}, `queries.x: needs source, because a statement of its own names no class`},
		{Declaration{Native: "SELECT 1", Source: "shop", SQL: "SELECT id FROM orders"}, `queries.x.native: a query has one form, and this one has sql too`},
		{Declaration{Native: "SELECT 1; SELECT 2", Source: "shop"}, `queries.x.native: it has several statements. Write one`},
		{Declaration{Native: "WITH a AS (DELETE FROM orders RETURNING id) SELECT id FROM a", Source: "shop"}, `queries.x.native: it contains DELETE, and a query only reads. Put quotes around the word if it is a name`},
		{Declaration{Native: "SELECT :y AS a", Source: "shop", Input: object(t, one)}, `queries.x.native: neither input nor parameters has "y"`},
		{Declaration{Native: "SELECT :x AS a", Source: "shop", Input: object(t, one), Parameters: object(t, `{"x": {"$cel": "principal.tenant"}}`)}, `queries.x.parameters.x: input has an argument of this name too. Choose another name`},
		{Declaration{Native: "SELECT 1 AS a", Source: "shop", Parameters: object(t, `{"y": {"$cel": "principal.tenant"}}`)}, `queries.x.parameters.y: the statement doesn't use it. Remove it`},
		{Declaration{Native: "SELECT :y AS a", Source: "shop", Parameters: object(t, `{"y": {"$cel": "principal.tenent"}}`)}, `queries.x.parameters.y.$cel: character 1 of the expression: a principal has no "tenent". Did you mean tenant? It has id, name, kind, owner, tenant, scopes, claims, token_id, parent, depth, author`},
		{Declaration{SQL: "SELECT id FROM orders", Returns: []policy.ReturnedColumn{{Name: "id"}}}, `queries.x.returns: belongs only to native. The gateway knows the columns of the other forms`},
		{Declaration{SQL: "SELECT id FROM orders", Parameters: object(t, `{"y": 1}`)}, `queries.x.parameters: belongs only to native. Views apply to the other forms`},
	} {
		tt.d.Name = "x"
		_, err := Compile([]Declaration{tt.d}, withNatives(t, policy.Rules{Unlisted: true}, tt.d), catalogue, readNative, worth)
		if err == nil || err.Error() != tt.want {
			t.Errorf("got %v\nwant %s", err, tt.want)
		}
	}
}

// TestAsk checks the queries that arguments make, and that an argument is never more than a value.
func TestAsk(t *testing.T) {
	hostile := []string{"$secret", "$$ROOT", `{"$ne": null}`, "' OR 1=1 --", placeBegin + "b" + placeEnd, ":b", "$cel"}
	input := object(t, `{"properties": {"a": {"type": "string"}, "b": {"type": "string"}, "list": {"type": "array", "items": {"type": "string"}}}}`)
	set := compile(t, everything(t),
		Declaration{Name: "finds", Input: input, Limit: 7, Find: object(t, `{"class": "orders", "where": {"note": {"$input": "a"}, "status": {"$ne": {"$input": "b"}},
			"$or": [{"note": {"$in": {"$input": "list"}}}, {"note": {"$nin": [{"$input": "a"}, "z"]}}]}, "order": "-id", "keys": ["id"]}`)},
		Declaration{Name: "pipes", Input: input, Pipeline: object(t, `{"class": "orders", "stages": [
			{"$match": {"note": {"$input": "a"}, "$expr": {"$eq": ["$status", {"$input": "b"}]}}},
			{"$set": {"is": {"$in": ["$note", {"$input": "list"}]}, "n": {"$concat": ["$note", {"$input": "a"}]}}}]}`)})
	for _, s := range hostile {
		text := string(value.AppendQuote(nil, s))
		in := object(t, `{"a": `+text+`, "b": `+text+`, "list": [`+text+`, "y"]}`)
		for _, q := range set.All() {
			in, _, err := q.Take(in, "")
			if err != nil {
				t.Fatal(err)
			}
			asked, err := q.Ask(reader(), in, Page{})
			if err != nil {
				t.Fatal(err)
			}
			got, want := "", ""
			switch asked := asked.(type) {
			case *query.Find:
				got = query.Print(asked.Where).String()
				want = `{"$and":[{"note":{"$eq":` + text + `}},{"status":{"$ne":` + text + `}},{"$or":[{"note":{"$in":[` + text + `,"y"]}},{"note":{"$nin":[` + text + `,"z"]}}]}]}`
				if asked.Limit != 7 || len(asked.Keys) != 1 || len(asked.Order) != 1 {
					t.Errorf("%+v", asked)
				}
			case *query.Pipeline:
				got = query.PrintPipeline(asked.Stages).String()
				literal := text
				if strings.HasPrefix(s, "$") {
					literal = `{"$literal":` + text + `}`
				}
				want = literal
			}
			if q.Name == "finds" && got != want || !strings.Contains(got, want) || strings.Contains(got, placeBegin) != strings.Contains(s, placeBegin) {
				t.Errorf("%q: %s\ngot  %s\nwant %s", s, q.Name, got, want)
			}
			if _, err := everything(t).Read(reader(), asked); err != nil {
				t.Errorf("%q: %s: %v", s, q.Name, err)
			}
		}
	}
	// A missing argument is null, and the query itself doesn't change.
	find := set.All()[0]
	asked, err := find.Ask(reader(), object(t, `{}`), Page{Limit: 3, Cursor: "c"})
	if err != nil {
		t.Fatal(err)
	}
	f := asked.(*query.Find)
	if got := query.Print(f.Where).String(); got != `{"$and":[{"note":{"$eq":null}},{"status":{"$ne":null}},{"$or":[{"note":{"$in":[]}},{"note":{"$nin":[null,"z"]}}]}]}` || f.Limit != 3 || f.Cursor != "c" {
		t.Errorf("%s %+v", got, f)
	}
}

// TestParameters checks the parameters of a statement, and the refusal of arguments that don't fit.
func TestParameters(t *testing.T) {
	set := compile(t, everything(t), Declaration{Name: "open_orders", Input: object(t, customer), SQL: openOrders, Limit: 50})
	q := set.All()[0]
	if q.Signature() != "open_orders(customer, since?)" || !q.Pages() {
		t.Error(q.Signature())
	}
	for in, want := range map[string]string{
		`{"customer": 3}`:                             `{"customer":3,"since":null}`,
		`{"customer": "3"}`:                           `{"customer":3,"since":null}`,
		`{"customer": 3, "since": "2026-01-01"}`:      `{"customer":3,"since":"2026-01-01"}`,
		`{}`:                                          `/input/customer: the argument "customer" is missing`,
		`{"customer": "3 OR 1=1"}`:                    `/input/customer: customer must be a whole number, not the text "3 OR 1=1"`,
		`{"customer": {"$ne": null}}`:                 `/input/customer: customer must be a whole number, not an object`,
		`{"customer": 3, "sinc": "2026-01-01"}`:       `/input/sinc: unknown argument "sinc". Did you mean since?`,
		`{"customer": 3, "since": "' OR 1=1 --"}`:     `/input/since: since must be a date, such as 2026-11-28, not "' OR 1=1 --"`,
		`{"customer": 3, "since": "2026-13-01"}`:      `/input/since: since must be a date, such as 2026-11-28, not "2026-13-01"`,
		`{"customer": 3, "since": ["2026-01-01"]}`:    `/input/since: since must be a text, not a list`,
		`{"customer": 3, "where": {"$where": "1=1"}}`: `/input/where: unknown argument "where". It takes customer, since`,
	} {
		got := ""
		args, _, err := q.Take(object(t, in), "/input")
		if err != nil {
			got = problem.Of(err).Faults[0].Pointer + ": " + problem.Of(err).Faults[0].Message
		} else {
			asked, err := q.Ask(reader(), args, Page{})
			if err != nil {
				t.Fatal(err)
			}
			s := asked.(*query.SQL)
			got = value.OfObject([]value.Member{{Name: "customer", Value: s.Params["customer"]}, {Name: "since", Value: s.Params["since"]}}).String()
			if s.Limit != 50 || s.Most != 50 {
				t.Errorf("%+v", s)
			}
		}
		if got != want {
			t.Errorf("%s\ngot  %s\nwant %s", in, got, want)
		}
	}
}

// TestOf checks who may ask which query, and that the others are as if they didn't exist.
func TestOf(t *testing.T) {
	r := policy.Rules{Unlisted: true, Classes: map[string]policy.ClassRule{
		"salaries":  {Hidden: true, HiddenBut: identity.Operator},
		"orders":    {Denied: []string{"note"}},
		"customers": {Mask: map[string]policy.Mask{"phone": policy.Partial}, MaskBut: map[string]identity.Scope{"phone": identity.Operator}}}}
	p := rules(t, r)
	one := object(t, `{"properties": {"x": {"type": "string"}}}`)
	declared := []Declaration{
		{Name: "orders_of", SQL: openOrders, Input: object(t, customer)},
		{Name: "pay", Find: object(t, `{"class": "salaries"}`)},
		{Name: "phones", SQL: "SELECT name, phone FROM customers"},
		{Name: "whose", SQL: "SELECT name FROM customers WHERE phone = :x", Input: one},
		{Name: "mine", SQL: "SELECT id FROM orders", When: `principal.tenant == "acme"`},
		{Name: "broken", SQL: "SELECT id FROM orders", When: `principal.claims.no == "acme"`},
	}
	if _, err := Compile(append(declared, Declaration{Name: "notes", SQL: "SELECT note FROM orders"}), p, catalogue, nil, nil); err == nil || !strings.Contains(err.Error(), `queries.notes.sql: `) {
		t.Errorf("a query over a denied field: %v", err)
	}
	set := compile(t, p, declared...)
	operator, acme, nobody := reader(), reader(), identity.Principal{ID: "n"}
	operator.Scopes = append(operator.Scopes, identity.Operator)
	acme.Tenant = "acme"
	for _, tt := range []struct {
		who  identity.Principal
		want string
	}{
		{reader(), "orders_of phones"}, {operator, "orders_of pay phones whose"}, {acme, "mine orders_of phones"}, {nobody, ""}, {reader(), "orders_of phones"},
	} {
		var names []string
		for _, q := range set.Of(p, tt.who) {
			names = append(names, q.Name)
		}
		if got := strings.Join(names, " "); got != tt.want {
			t.Errorf("%v: %s, want %s", tt.who.Scopes, got, tt.want)
		}
	}
	// A hidden query and one that doesn't exist get the same error, except for the name.
	_, hidden := set.Find(p, reader(), "pay", "/name")
	_, absent := set.Find(p, reader(), "pey", "/name")
	if h, a := problem.Of(hidden), problem.Of(absent); h.Detail != strings.Replace(a.Detail, "pey", "pay", 1) || len(h.Near)+len(a.Near) > 0 || h.Kind != a.Kind {
		t.Errorf("%+v\n%+v", h, a)
	}
	if q, err := set.Find(p, reader(), "phones", "/name"); err != nil || q.Name != "phones" {
		t.Error(err)
	}
	if _, err := set.Find(p, reader(), "phone", "/name"); problem.Of(err).Near[0] != "phones" {
		t.Error(err)
	}
}

func compile(t *testing.T, p *policy.Policy, declared ...Declaration) *Set {
	t.Helper()
	set, err := Compile(declared, p, catalogue, readNative, &metric.Set{})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func reader() identity.Principal {
	return identity.Principal{ID: "a", Scopes: []identity.Scope{identity.Read}}
}

// readNative is a NativeCheck in SQLite's SQL.
func readNative(_, statement string) ([]string, error) {
	return sqlgen.ReadNative(sqlite.Dialect(), statement)
}

// withNatives returns the rules with the statements of declarations.
func withNatives(t *testing.T, r policy.Rules, declared ...Declaration) *policy.Policy {
	t.Helper()
	r.Native = Natives(declared)
	for name, n := range r.Native {
		if n.Returns == nil {
			n.Returns = []policy.ReturnedColumn{{Name: "a"}}
			r.Native[name] = n
		}
	}
	return rules(t, r)
}

// TestNativeOf checks who has a statement in the database's own SQL, and its parameters. Nothing would keep such a
// statement to the classes or records of a caller, so a caller that is kept to some doesn't have it.
func TestNativeOf(t *testing.T) {
	d := Declaration{Name: "own", Source: "shop", Native: "SELECT :x AS a WHERE :tenant = tenant", Input: object(t, `{"properties": {"x": {"type": "string"}}}`),
		Parameters: object(t, `{"tenant": {"$cel": "principal.tenant"}}`), Returns: []policy.ReturnedColumn{{Name: "a", Type: schema.String}}}
	p := withNatives(t, policy.Rules{Unlisted: true}, d)
	set := compile(t, p, d)
	acme := reader()
	acme.Tenant = "acme"
	for _, tt := range []struct {
		name string
		who  func(*identity.Principal)
		want int
	}{
		{"a tenant", func(*identity.Principal) {}, 1},
		{"no tenant", func(p *identity.Principal) { p.Tenant = "" }, 0},
		{"no scope", func(p *identity.Principal) { p.Scopes = nil }, 0},
		{"some classes", func(p *identity.Principal) { p.Classes.Only = []string{"orders"} }, 0},
		{"all but a class", func(p *identity.Principal) { p.Classes.Except = []string{"orders"} }, 0},
		{"its name", func(p *identity.Principal) { p.Classes.Only = []string{"own"} }, 1},
		{"its full name", func(p *identity.Principal) { p.Classes.Only = []string{"shop.own"} }, 1},
		{"all but itself", func(p *identity.Principal) { p.Classes = identity.List{Only: []string{"own"}, Except: []string{"own"}} }, 0},
		{"its name within some classes", func(p *identity.Principal) {
			p.Classes = identity.List{Only: []string{"own"}, Within: &identity.List{Only: []string{"orders"}}}
		}, 0},
		{"some records", func(p *identity.Principal) { p.Filters = map[string]query.Filter{"orders": query.And{}} }, 0},
		{"a parent with some records", func(p *identity.Principal) {
			above := *p
			above.Filters = map[string]query.Filter{"orders": query.And{}}
			p.Above = &above
		}, 0},
	} {
		who := acme
		tt.who(&who)
		if got := len(set.Of(p, who)); got != tt.want {
			t.Errorf("%s: %d queries, want %d", tt.name, got, tt.want)
		}
	}
	asked, err := set.All()[0].Ask(acme, object(t, `{"x": "' OR 1=1 --"}`), Page{Limit: 3, Cursor: "c"})
	if err != nil {
		t.Fatal(err)
	}
	n := asked.(*query.Native)
	if n.Params["tenant"].Text() != "acme" || n.Params["x"].Text() != "' OR 1=1 --" || n.Limit != 3 || n.Cursor != "c" || n.From() != "" {
		t.Errorf("%+v", n)
	}
}
