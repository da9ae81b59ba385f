package agent

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// commonest are ten calls that agents make most, over the demo's tracker.
var commonest = []string{
	`get_all_schemas {}`,
	`get_schema {"class_name":"issues"}`,
	`get_sample_objects {"class_name":"issues"}`,
	`query_class {"class_name":"issues","limit":20}`,
	`query_class {"class_name":"issues","keys":["number","title","assignee_id.name"],"limit":20}`,
	`count_objects {"class_name":"issues","where":{"status":"InProgress"}}`,
	`group_by {"class_name":"issues","field":"status"}`,
	`group_by_date {"class_name":"issues","field":"created_at","interval":"month"}`,
	`distinct {"class_name":"issues","field":"priority"}`,
	`aggregate {"class_name":"issues","pipeline":[{"$group":{"_id":"$project_id.key","n":{"$sum":1}}},{"$sort":{"n":-1}},{"$limit":10}]}`,
}

// TestTokens checks that docs/benchmarks.md says how many tokens, of 4 bytes, the text of each of the commonest answers
// is.
func TestTokens(t *testing.T) {
	doc, err := os.ReadFile("../../docs/benchmarks.md")
	if err != nil {
		t.Fatal(err)
	}
	set, _ := tracker(t)
	for _, line := range commonest {
		res, err := set.Call(t.Context(), reader(), request(t, line))
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		row := fmt.Sprintf("| `%s` | %d |", line, (len(res.Text)+3)/4)
		if !strings.Contains(string(doc), row+"\n") {
			t.Errorf("docs/benchmarks.md lacks %s", row)
		}
	}
}

// TestMetricTokens checks that a metric answers a question about the demo in one call. The call and its answer have at most
// 120 tokens of 4 bytes.
func TestMetricTokens(t *testing.T) {
	set, _ := tracker(t)
	for line, want := range map[string]string{
		`query_metrics {"metrics":["open_issues","open_work"],"by":["project_id.key"],"order":"-open_work"}`: `project_id.key,open_issues,open_work
"PAY",319,2293.5
"WEB",246,1799
"SHP",251,1747
"MOB",163,1128
"OPS",136,1002.5
open_issues: number of records where status is none of Done, Cancelled
open_work: sum of estimate where status is none of Done, Cancelled, in hours`,
		`query_metrics {"metrics":["bug_share"],"by":["time:quarter"],"from":"2026"}`: `time:quarter,bug_share
"2026-Q1",0.33695652173913043
"2026-Q2",0.33078880407124683
"2026-Q3",0.32954545454545453
"2026-Q4",0.3111111111111111
bug_share: reported_bugs / reported_issues
reported_bugs: number of records where type is Bug, by created_at
reported_issues: number of records, by created_at`,
		`query_metrics {"metrics":["open_work"],"by":["assignee_id.name"],"order":"-open_work","limit":4}`: `assignee_id.name,open_work
,3021.5
"Wanjiru Kamau",340.5
"Fergus O'Neill",309.5
"Oskar Nowak",293.5
4 of 25 groups: raise limit, or narrow where
open_work: sum of estimate where status is none of Done, Cancelled, in hours`,
	} {
		res, err := set.Call(t.Context(), reader(), request(t, line))
		if err != nil {
			t.Errorf("%s: %v", line, err)
		} else if res.Text != want {
			t.Errorf("%s:\n%s\nwant\n%s", line, res.Text, want)
		}
		if n := (len(line) + len(res.Text) + 3) / 4; n > 120 {
			t.Errorf("%s: %d tokens with the answer", line, n)
		}
	}
}
