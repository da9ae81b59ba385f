package bench_test

import (
	"encoding/json"
	"slices"
	"strconv"
	"testing"
	"time"
)

// selects contains the questions of the analyses as SELECT statements. Each is written as by an agent, and by hand
// with the tenant.
var selects = []struct{ name, agent, hand string }{
	{"group", `SELECT status, count(*), sum(amount) FROM sales GROUP BY status ORDER BY status`,
		`SELECT status, count(*), sum(amount) FROM sales WHERE org = 'acme' GROUP BY status ORDER BY status`},
	{"top10", `SELECT customer_id, sum(amount) AS a FROM sales GROUP BY customer_id ORDER BY a DESC, customer_id LIMIT 10`,
		`SELECT customer_id, sum(amount) AS a FROM sales WHERE org = 'acme' GROUP BY customer_id ORDER BY a DESC, customer_id LIMIT 10`},
	{"lookup", `SELECT c.country, sum(s.amount) FROM sales s JOIN customers c ON c.id = s.customer_id GROUP BY c.country ORDER BY c.country`,
		`SELECT c.country, sum(s.amount) FROM sales s JOIN customers c ON c.id = s.customer_id WHERE s.org = 'acme' AND c.org = 'acme' GROUP BY c.country ORDER BY c.country`},
	{"facet", `SELECT status, count(*) AS n, 0 AS amount FROM sales GROUP BY status UNION ALL SELECT NULL, count(*), sum(amount) FROM sales`,
		`SELECT status, count(*) AS n, 0 AS amount FROM sales WHERE org = 'acme' GROUP BY status UNION ALL SELECT NULL, count(*), sum(amount) FROM sales WHERE org = 'acme'`},
	{"list1000", `SELECT id, customer_id, status, amount, placed FROM sales ORDER BY id LIMIT 1000`,
		`SELECT id, customer_id, status, amount, placed FROM sales WHERE org = 'acme' ORDER BY id LIMIT 1000`},
}

// BenchmarkSelect compares query_sql with the handwritten statement. The figures are medians of the ratios of
// alternating calls. "ratio" compares with reading the rows. "json-ratio" compares with reading the rows and writing
// each as JSON, which any server has to do.
func BenchmarkSelect(b *testing.B) {
	for _, on := range analysts(b) {
		for _, q := range selects {
			args, err := json.Marshal(map[string]string{"sql": q.agent})
			if err != nil {
				b.Fatal(err)
			}
			call := request(b, "query_sql", string(args))
			b.Run(on.name+"/"+q.name, func(b *testing.B) {
				var ratios, written []float64
				for b.Loop() {
					begun := time.Now()
					n, err := on.raw(b.Context(), q.hand, nil)
					if err != nil {
						b.Fatal(err)
					}
					hand := time.Since(begun)
					begun = time.Now()
					var doc []byte
					if _, err := on.raw(b.Context(), q.hand, func(columns []string, row []any) { doc = appendRow(doc, columns, row) }); err != nil {
						b.Fatal(err)
					}
					encoded := time.Since(begun)
					begun = time.Now()
					res, err := on.set.Call(b.Context(), agent(), call)
					if err != nil {
						b.Fatal(err)
					}
					took := time.Since(begun)
					ratios, written = append(ratios, float64(took)/float64(hand)), append(written, float64(took)/float64(encoded))
					var got struct {
						Count int `json:"result_count"`
					}
					if err := json.Unmarshal(res.Structured, &got); err != nil || got.Count != n {
						b.Fatalf("%d rows, by hand %d: %v", got.Count, n, err)
					}
				}
				slices.Sort(ratios)
				slices.Sort(written)
				b.ReportMetric(ratios[len(ratios)/2], "ratio")
				b.ReportMetric(written[len(written)/2], "json-ratio")
			})
		}
	}
}

// appendRow appends a row as a JSON object.
func appendRow(doc []byte, columns []string, row []any) []byte {
	for i, v := range row {
		text, err := json.Marshal(v)
		if err != nil {
			panic(err)
		}
		doc = append(strconv.AppendQuote(append(doc, "{,"[min(i, 1)]), columns[i]), ':')
		doc = append(doc, text...)
	}
	return append(doc, "},"...)
}
