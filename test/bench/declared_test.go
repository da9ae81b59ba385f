package bench_test

import (
	"slices"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/declared"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
)

// declaredQueries are statements that an owner declares, with the input schema and the arguments of a call. agent is the
// same statement as an agent writes it.
var declaredQueries = []struct{ name, sql, input, arguments, agent string }{
	{"five", "SELECT number, title, priority FROM issues WHERE type = :type AND status = 'Todo' ORDER BY created_at DESC LIMIT 5",
		`{"required": ["type"], "properties": {"type": {"type": "string"}}}`, `{"type": "Bug"}`,
		"SELECT number, title, priority FROM issues WHERE type = 'Bug' AND status = 'Todo' ORDER BY created_at DESC LIMIT 5"},
	{"join", "SELECT i.number, i.title, u.name FROM issues i JOIN users u ON u.id = i.assignee_id JOIN projects p ON p.id = i.project_id WHERE p.key = :key AND i.number = :number AND i.status IN ('Todo', 'Review', 'InProgress', 'Done', 'Backlog')",
		`{"required": ["key", "number"], "properties": {"key": {"type": "string"}, "number": {"type": "integer"}}}`, `{"key": "PAY", "number": 17}`,
		"SELECT i.number, i.title, u.name FROM issues i JOIN users u ON u.id = i.assignee_id JOIN projects p ON p.id = i.project_id WHERE p.key = 'PAY' AND i.number = 17 AND i.status IN ('Todo', 'Review', 'InProgress', 'Done', 'Backlog')"},
}

// BenchmarkDeclared compares a declared query with query_sql of the same statement. "times" is the median of the ratios
// of alternating calls: how many calls of the declared query fit into the time of one of query_sql.
func BenchmarkDeclared(b *testing.B) {
	for _, q := range declaredQueries {
		read := func(text string) value.Value {
			v, err := value.Read([]byte(text), 0)
			if err != nil {
				b.Fatal(err)
			}
			return v
		}
		g, _, err := bailiwick.New(b.Context(), bailiwick.Options{Sources: map[string]source.Source{"tracker": sqliteSource(b, tracker(b))}, Rules: rules(b), Audit: &sealed{}, Limits: unlimited(),
			Queries: []declared.Declaration{{Name: "declared", SQL: q.sql, Input: read(q.input), Tool: true}}})
		if err != nil {
			b.Fatal(err)
		}
		set, err := tool.NewSet(g, append(tool.Data(tool.Options{}), tool.QueryTools(g.AllQueries())...)...)
		if err != nil {
			b.Fatal(err)
		}
		byName := request(b, "declared", q.arguments)
		written := request(b, "query_sql", string(value.OfObject([]value.Member{{Name: "sql", Value: value.OfString(q.agent)}}).AppendJSON(nil)))
		took := func(r tool.Request) (time.Duration, string) {
			begun := time.Now()
			res, err := set.Call(b.Context(), agent(), r)
			if err != nil {
				b.Fatal(err)
			}
			return time.Since(begun), string(res.Structured)
		}
		b.Run(q.name, func(b *testing.B) {
			var ratios []float64
			for b.Loop() {
				sql, want := took(written)
				own, got := took(byName)
				if got != want {
					b.Fatalf("%s\nquery_sql answers %s", got, want)
				}
				ratios = append(ratios, float64(sql)/float64(own))
			}
			slices.Sort(ratios)
			b.ReportMetric(ratios[len(ratios)/2], "times")
		})
	}
}
