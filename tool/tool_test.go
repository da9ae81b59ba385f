package tool_test

import (
	"bufio"
	"bytes"
	"database/sql"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/argcheck"
	"github.com/bailiwick-dev/bailiwick/metric"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/source/sqlite"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const shop = `
CREATE TABLE customers (id INTEGER PRIMARY KEY, org TEXT NOT NULL, name TEXT NOT NULL, email TEXT, password_hash TEXT, vip BOOLEAN NOT NULL DEFAULT 0);
CREATE TABLE orders (id INTEGER PRIMARY KEY, org TEXT NOT NULL, customer_id INTEGER REFERENCES customers (id), state TEXT NOT NULL CHECK (state IN ('open', 'paid', 'sent')),
	total DECIMAL(10,2), big INTEGER, placed_at TIMESTAMP, note TEXT, items JSON, margin REAL, deleted_at TIMESTAMP);
CREATE INDEX by_customer ON orders (customer_id);
CREATE INDEX by_margin ON orders (margin);
CREATE TABLE lines (order_id INTEGER NOT NULL REFERENCES orders (id), n INTEGER NOT NULL, sku TEXT, PRIMARY KEY (order_id, n));
CREATE TABLE audit_trail (what TEXT);
CREATE TABLE secrets (id INTEGER PRIMARY KEY, word TEXT);
INSERT INTO customers VALUES (1, 'acme', 'Ada', 'ada@example.org', 'x', 1), (2, 'acme', '=1+1 Bob', NULL, 'y', 0), (3, 'globex', 'Cat', 'cat@example.org', 'z', 0);
INSERT INTO orders VALUES (10, 'acme', 1, 'open', 12.5, 9007199254740993, '2026-01-31 10:00:00', 'first | note', '[{"sku": "a", "n": 2}]', 0.1, NULL),
	(11, 'acme', 2, 'paid', 99, NULL, '2026-02-01T00:00:00Z', NULL, NULL, 0.2, NULL),
	(12, 'acme', 3, 'sent', NULL, -1, NULL, 'points to another tenant', '{}', 0.3, NULL),
	(13, 'acme', 1, 'open', 1, 1, '2026-03-01', 'deleted', NULL, 0.4, '2026-03-02'),
	(20, 'globex', 3, 'open', 7, 7, '2026-01-01', 'theirs', NULL, 0.5, NULL);
INSERT INTO lines VALUES (10, 1, 'a'), (10, 2, 'b'), (20, 1, 'c');
CREATE VIRTUAL TABLE words USING fts5(org, note, content='orders', content_rowid='id');
INSERT INTO words (words) VALUES ('rebuild');`

func shopRules() policy.Rules {
	tenant := &policy.TenantRule{Field: "org"}
	return policy.Rules{Version: "v1", Classes: map[string]policy.ClassRule{
		"customers": {Tenant: tenant, Description: "People who buy.", Visible: []string{"id", "name", "vip"}},
		"orders": {Tenant: tenant, Denied: []string{"margin", "org"}, Large: []string{"note"}, Canonical: query.Compare{Path: query.Path{"deleted_at"}, Op: query.Eq},
			Fields: map[string]policy.FieldRule{"state": {Description: "How far it is", Values: []policy.FieldValue{{Value: "open", Meaning: "not paid yet"}, {Value: "paid"}, {Value: "sent"}}}}},
		"lines":   {Tenant: &policy.TenantRule{Through: "order_id"}},
		"secrets": {Hidden: true},
	}}
}

func shopMetrics() []metric.Declaration {
	paid := query.Compare{Path: query.Path{"state"}, Op: query.Eq, Value: value.OfString("paid")}
	return []metric.Declaration{
		{Name: "revenue", On: "orders", Measure: "sum(total)", Where: paid, Time: "placed_at", Unit: "EUR", Description: "Paid orders."},
		{Name: "orders", On: "shop.orders", Measure: "count()", Time: "placed_at"},
		{Name: "average_order", Ratio: []string{"revenue", "orders"}, Unit: "EUR"},
		{Name: "buyers", On: "orders", Measure: "count_distinct(customer_id)", Dimensions: []string{"state"}},
		{Name: "lines", On: "lines", Measure: "count()"},
		{Name: "internal", On: "orders", Measure: "count()", When: `principal.tenant == "globex"`},
	}
}

// open returns the tools on a shop with three customers, behind a complete gateway.
func open(t testing.TB, budget int) (*tool.Set, *audit.Memory) {
	t.Helper()
	return openWith(t, budget, shopRules())
}

func openWith(t testing.TB, budget int, rules policy.Rules, metrics ...metric.Declaration) (*tool.Set, *audit.Memory) {
	t.Helper()
	g, log := newGateway(t, budget, rules, metrics...)
	set, err := tool.NewSet(g, tool.Data(tool.Options{})...)
	if err != nil {
		t.Fatal(err)
	}
	return set, log
}

func newGateway(t testing.TB, budget int, rules policy.Rules, metrics ...metric.Declaration) (*bailiwick.Gateway, *audit.Memory) {
	t.Helper()
	return gatewayOf(t, budget, rules, bailiwick.Declarations{Metrics: metrics})
}

func gatewayOf(t testing.TB, budget int, rules policy.Rules, d bailiwick.Declarations) (*bailiwick.Gateway, *audit.Memory) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "shop.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(shop); err != nil {
		t.Fatal(err)
	}
	db.Close()
	src, err := sqlite.Open(t.Context(), "shop", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	log := &audit.Memory{}
	g, _, err := bailiwick.New(t.Context(), bailiwick.Options{Sources: map[string]source.Source{"shop": src}, Rules: rules, Metrics: d.Metrics, Queries: d.Queries, Audit: log,
		Secret: make([]byte, 32), Budget: budget, Now: func() time.Time { return time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC) }})
	if err != nil {
		t.Fatal(err)
	}
	return g, log
}

func agent() identity.Principal {
	return identity.Principal{ID: "token:1", Owner: "ann", Tenant: "acme", Scopes: []identity.Scope{identity.Read}}
}

// TestConversations plays each file of testdata/conversations: lines that begin with ">" are calls, followed by the
// exact answer. Run with -update to rewrite the answers, and review the change.
func TestConversations(t *testing.T) {
	files, err := filepath.Glob("testdata/conversations/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no conversations", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			budget := 0
			if strings.Contains(file, "budget") {
				budget = 260
			}
			rules, p := shopRules(), agent()
			if strings.Contains(file, "scans") {
				rules.RefuseScans = true
				customers := rules.Classes["customers"]
				customers.AllowScan = true
				rules.Classes["customers"] = customers
			}
			if strings.Contains(file, "masks") {
				rules = maskedRules()
			}
			if strings.Contains(file, "scope_explain") {
				p.Scopes = append(p.Scopes, identity.Explain)
			}
			var metrics []metric.Declaration
			if strings.Contains(file, "metrics") {
				metrics = shopMetrics()
			}
			set, _ := openWith(t, budget, rules, metrics...)
			if strings.Contains(file, "declared") {
				set = openDeclared(t, rules)
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := play(t, set, p, want)
			if *update {
				if err := os.WriteFile(file, got, 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("%s (-file +now):\n%s", file, diff)
			}
		})
	}
}

// maskedRules returns rules of the shop with masks and a join.
func maskedRules() policy.Rules {
	rules := shopRules()
	customers, orders := rules.Classes["customers"], rules.Classes["orders"]
	customers.Visible = []string{"id", "name", "email", "vip"}
	customers.Mask = map[string]policy.Mask{"email": policy.Partial}
	customers.Join = []string{"name", "email"}
	orders.Mask = map[string]policy.Mask{"big": policy.Hash, "items": policy.Null, "note": policy.Partial, "state": policy.Hash}
	rules.Classes["customers"], rules.Classes["orders"] = customers, orders
	return rules
}

// play answers the calls of a conversation. "$next" makes the call in the last answer's next_call.
func play(t *testing.T, set *tool.Set, p identity.Principal, conversation []byte) []byte {
	var out bytes.Buffer
	var last []byte
	lines := bufio.NewScanner(bytes.NewReader(conversation))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		if strings.HasPrefix(line, "#") {
			fmt.Fprintln(&out, line)
		}
		call, ok := strings.CutPrefix(line, "> ")
		if !ok {
			continue
		}
		name, args, _ := strings.Cut(call, " ")
		if call == "$next" {
			var next struct {
				NextCall struct {
					Tool      string
					Arguments json.RawMessage
				} `json:"next_call"`
			}
			if err := json.Unmarshal(last, &next); err != nil {
				t.Fatal(err)
			}
			name, args = next.NextCall.Tool, string(next.NextCall.Arguments)
		}
		doc, err := value.Read([]byte(args), 0)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		res, err := set.Call(t.Context(), p, tool.Request{Name: name, Arguments: doc})
		fmt.Fprintf(&out, "%s\n", line)
		if err != nil {
			out.WriteString(refusal(problem.Of(err)))
			continue
		}
		last = res.Structured
		checkOutput(t, set, name, res.Structured)
		fmt.Fprintf(&out, "%s\n%s\n\n", res.Structured, indent(res.Text))
	}
	return out.Bytes()
}

func refusal(p *problem.Error) string {
	out := fmt.Sprintf("! %s %s: %s", p.Code, p.Pointer, p.Detail)
	for _, more := range []struct{ name, text string }{{"near", strings.Join(p.Near, ", ")}, {"suggestion", p.Suggestion}, {"(audit) kind", p.Kind}} {
		if more.text != "" {
			out += "\n  " + more.name + ": " + more.text
		}
	}
	for _, f := range p.Faults {
		out += fmt.Sprintf("\n  fault: %s %s: %s", f.Pointer, f.Rule, f.Message)
	}
	return out + "\n\n"
}

func indent(s string) string {
	return "  | " + strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n  | ")
}

// checkOutput checks every structured result against the tool's own output schema.
func checkOutput(t *testing.T, set *tool.Set, name string, structured []byte) {
	t.Helper()
	for _, tl := range set.List(agent(), "") {
		if tl.Name != name {
			continue
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(tl.Output))
		if err != nil {
			t.Fatal(err)
		}
		c := jsonschema.NewCompiler()
		if err := c.AddResource("out.json", doc); err != nil {
			t.Fatal(err)
		}
		schema, err := c.Compile("out.json")
		if err != nil {
			t.Fatal(err)
		}
		in, err := jsonschema.UnmarshalJSON(bytes.NewReader(structured))
		if err != nil {
			t.Fatalf("%s: %v: %s", name, err, structured)
		}
		if err := schema.Validate(in); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSchemas compares the description of each tool with its golden file, and compiles its schema. NewSet leaves that
// for the first call.
func TestSchemas(t *testing.T) {
	set, _ := open(t, 0)
	for _, tl := range set.List(agent(), "") {
		if _, err := argcheck.Compile(tl.Input, false); err != nil {
			t.Errorf("%s: %v", tl.Name, err)
		}
		doc, err := json.Marshal(map[string]any{"name": tl.Name, "title": tl.Title, "description": tl.Description, "inputSchema": tl.Input,
			"outputSchema": tl.Output, "category": tl.Category, "timeout": tl.Timeout.String(), "annotations": tl.Annotations})
		if err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		if err := json.Indent(&got, doc, "", "  "); err != nil {
			t.Fatal(err)
		}
		got.WriteByte('\n')
		file := filepath.Join("testdata/schemas", tl.Name+".json")
		if *update {
			if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got.String()); diff != "" {
			t.Errorf("%s (-file +now):\n%s", file, diff)
		}
	}
}

func TestNewSetRefuses(t *testing.T) {
	good := tool.Data(tool.Options{})[1]
	for _, tt := range []struct {
		change func(*tool.Tool)
		want   string
	}{
		{func(t *tool.Tool) { t.Annotations.Destructive = true }, "tool get_all_schemas: what only reads can't be destructive"},
		{func(t *tool.Tool) { t.Handle = nil }, "tool get_all_schemas: it has no handler"},
		{func(t *tool.Tool) { t.Name = "get_schema" }, "tool get_schema appears twice"},
		{func(t *tool.Tool) { t.Input = []byte(`{"type":"array"}`) }, "tool get_all_schemas: its input schema is not of type object"},
		{func(t *tool.Tool) { t.Input = []byte(`{"type":"object"}`) }, "tool get_all_schemas: its input schema is not closed (additionalProperties: false)"},
		{func(t *tool.Tool) { t.Input = []byte(`{"type":"object","additionalProperties":false,"anyOf":[{}]}`) }, "tool get_all_schemas: its input schema has anyOf at the top"},
		{func(t *tool.Tool) {
			t.Input = []byte(`{"type":"object","additionalProperties":false,"properties":{"a":{"type":["string","null"]}}}`)
		}, "tool get_all_schemas: its input schema has a list of types"},
		{func(t *tool.Tool) {
			t.Input = []byte(`{"type":"object","additionalProperties":false,"properties":{"a":{"$ref":"#"}}}`)
		}, "tool get_all_schemas: its input schema uses $ref"},
	} {
		bad := good
		tt.change(&bad)
		if _, err := tool.NewSet(nil, tool.Data(tool.Options{})[2], bad); err == nil || err.Error() != tt.want {
			t.Errorf("NewSet: %v; want %s", err, tt.want)
		}
	}
}

// TestRecord checks that every call is recorded with its actual reason, and that no value of an argument is recorded.
func TestRecord(t *testing.T) {
	set, log := open(t, 0)
	for _, tt := range []struct{ name, args, want string }{
		{"count_objects", `{"class_name":"orders","where":{"state":"open"}}`, "count_objects orders ok   rows 0 [class_name where]"},
		{"query_class", `{"class_name":"orders","limit":1}`, "query_class orders ok   rows 1 [class_name limit]"},
		{"query_class", `{"class_name":"secrets"}`, "query_class secrets refused not_found hidden_class rows 0 [class_name]"},
		{"query_class", `{"class_name":"audit_trail"}`, "query_class audit_trail refused not_found unlisted_class rows 0 [class_name]"},
		{"query_class", `{"class_name":"orders","keys":["margin"]}`, "query_class orders refused invalid_query field_denied rows 0 [class_name keys]"},
		{"query_class", `{"class_name":"orders","cursor":"x"}`, "query_class orders refused invalid_argument  rows 0 [class_name cursor]"},
		{"get_object", `{"class_name":"orders","object_id":"20"}`, "get_object orders refused not_found  rows 0 [class_name object_id]"},
		{"aggregate", `{"class_name":"orders","pipeline":[{"$match":{"state":"open"}}]}`, "aggregate orders ok   rows 1 [class_name pipeline]"},
		{"aggregate", `{"class_name":"orders","pipeline":[{"$unionWith":"secrets"}]}`, "aggregate orders refused not_found hidden_class rows 0 [class_name pipeline]"},
		{"group_by", `{"class_name":"orders","field":"state"}`, "group_by orders ok   rows 3 [class_name field]"},
		{"distinct", `{"class_name":"orders","field":"margin","dry_run":true}`, "distinct orders refused invalid_query field_denied rows 0 [class_name dry_run field]"},
		{"explain_query", `{"class_name":"secrets"}`, "explain_query secrets refused not_found hidden_class rows 0 [class_name]"},
		{"export_data", `{"class_name":"orders","limit":2}`, "export_data orders ok   rows 2 [class_name limit]"},
		{"nothing", `{}`, "nothing  refused unknown_tool unknown_tool rows 0 []"},
	} {
		doc, _ := value.Read([]byte(tt.args), 0)
		_, _ = set.Call(t.Context(), agent(), tool.Request{Name: tt.name, Arguments: doc, Correlation: "c1"})
		var last audit.Record
		if err := log.Backwards(t.Context(), audit.Last, func(r audit.Record) bool { last = r; return false }); err != nil {
			t.Fatal(err)
		}
		got := fmt.Sprintf("%s %s %s %s %s rows %d %v", last.Tool, last.Class, last.Outcome, last.Code, last.Kind, last.Rows, last.ArgKeys)
		if got != tt.want {
			t.Errorf("%s %s is recorded as\n%s, want\n%s", tt.name, tt.args, got, tt.want)
		}
		if last.Principal != "token:1" || last.Owner != "ann" || last.Tenant != "acme" || last.Correlation != "c1" || last.Policy != "v1" {
			t.Errorf("the record doesn't say who: %+v", last)
		}
	}
}
