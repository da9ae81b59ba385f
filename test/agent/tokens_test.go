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
