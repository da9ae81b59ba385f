package bailiwick_test

import (
	"context"
	"fmt"
	"log"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/declared"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/metric"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/source/memory"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A program declares a query and a metric. Agents run both by their names, and so does the program.
func ExampleGateway_Ask() {
	ctx := context.Background()
	object := func(text string) value.Value {
		v, err := value.Read([]byte(text), 0)
		if err != nil {
			log.Fatal(err)
		}
		return v
	}
	orders := schema.Class{Source: "shop", Name: "orders", Key: []string{"id"}, Fields: []schema.Field{
		{Name: "id", Type: schema.Integer}, {Name: "customer", Type: schema.String}, {Name: "status", Type: schema.String}, {Name: "total", Type: schema.Integer}}}
	row := func(id int64, customer, status string, total int64) value.Row {
		return value.Row{value.OfInt(id), value.OfString(customer), value.OfString(status), value.OfInt(total)}
	}
	gateway, _, err := bailiwick.New(ctx, bailiwick.Options{
		Sources: map[string]source.Source{"shop": memory.New([]schema.Class{orders}, map[string][]value.Row{
			"orders": {row(1, "ann", "paid", 40), row(2, "bob", "open", 25), row(3, "ann", "open", 12)}})},
		Rules: policy.Rules{Unlisted: true},
		Audit: &audit.Memory{},
		Queries: []declared.Declaration{{
			Name:        "open_orders",
			Description: "Open orders of one customer, newest first.",
			Input:       object(`{"required": ["customer"], "properties": {"customer": {"type": "string"}}}`),
			SQL:         "SELECT id, total FROM orders WHERE customer = :customer AND status = 'open' ORDER BY id DESC",
		}},
		Metrics: []metric.Declaration{{
			Name: "revenue", On: "shop.orders", Measure: "sum(total)", Unit: "EUR",
			Where: query.Compare{Path: query.Path{"status"}, Op: query.Eq, Value: value.OfString("paid")},
		}},
	})
	if err != nil {
		log.Fatal(err)
	}
	ann := identity.Principal{ID: "app:ann", Scopes: []identity.Scope{identity.Read}}
	page, err := gateway.Ask(ctx, ann, "open_orders", object(`{"customer": "ann"}`), declared.Page{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(page.AppendJSON(nil)))

	// Agents have the tools run_query and query_metrics.
	tools, err := tool.NewSet(gateway, tool.Data(tool.Options{})...)
	if err != nil {
		log.Fatal(err)
	}
	answer, err := tools.Call(ctx, ann, tool.Request{Name: "query_metrics", Arguments: object(`{"metrics": ["revenue"]}`)})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer.Text)
	// Output:
	// [{"id":"3","total":12}]
	// revenue
	// 40
	// revenue: sum of total where status is paid, in EUR
}
