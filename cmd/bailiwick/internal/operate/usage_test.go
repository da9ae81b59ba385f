package operate

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/cmd/bailiwick/internal/terminal"
	"github.com/bailiwick-dev/bailiwick/store/sqlite"
)

func TestUsage(t *testing.T) {
	noon := time.Date(2026, 7, 28, 12, 0, 0, 0, time.UTC)
	log, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "store.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	for _, r := range []audit.Record{
		{Time: noon.Add(-37 * time.Hour), Owner: "ana", Tool: "count_objects", Outcome: audit.OK, Rows: 1000}, // two days before
		{Time: noon.Add(-12*time.Hour - time.Minute), Owner: "ana", Tool: "count_objects", Outcome: audit.OK, Rows: 100},
		{Time: noon.Add(-12 * time.Hour), Owner: "ana", Principal: "token:t1", TokenID: "t1", Correlation: "c-1", Tool: "query_class", Class: "issues", Outcome: audit.OK, Rows: 7, Bytes: 400, Tokens: 100, Cost: 300},
		{Time: noon.Add(-12*time.Hour - 30*time.Minute), Owner: "bob", Principal: "host:a/b", Tool: "query_class", Class: "issues", Outcome: audit.OK, Rows: 5}, // its end is later than its start time
		{Time: noon, Owner: "ana", Principal: "token:t1/helper", Depth: 1, TokenID: "t1", Correlation: "c-1", Tool: "get_object", Class: "issues", Outcome: audit.Refused, Rows: 1, Bytes: 4, Tokens: 1, Cost: 3},
		{Time: noon, Owner: "eve", Principal: "token:eve", Tool: "console/audit", Outcome: audit.OK, Person: true},
		{Time: noon, Principal: "host:a/b/helper/x", Depth: 2, Tool: "query_class", Outcome: audit.Failed},
	} {
		if err := log.Append(t.Context(), &r); err != nil {
			t.Fatal(err)
		}
	}
	today := noon.Truncate(24 * time.Hour)
	for _, tt := range []struct {
		what  string
		since time.Time
		want  []sum
	}{
		{"owner", today, []sum{{Name: "ana", Calls: 2, Refused: 1, Rows: 8, Bytes: 404, Tokens: 101, Cost: 0.000303}, {Name: "", Calls: 1, Refused: 1}}},
		{"token", today.Add(-24 * time.Hour), []sum{{Name: "host:a/b", Calls: 2, Refused: 1, Rows: 5},
			{Name: "t1", Calls: 2, Refused: 1, Rows: 8, Bytes: 404, Tokens: 101, Cost: 0.000303}, {Name: "", Calls: 1, Rows: 100}}},
		{"tool", today, []sum{{Name: "get_object", Calls: 1, Refused: 1, Rows: 1, Bytes: 4, Tokens: 1, Cost: 0.000003},
			{Name: "query_class", Calls: 2, Refused: 1, Rows: 7, Bytes: 400, Tokens: 100, Cost: 0.0003}}},
		{"class", today, []sum{{Name: "issues", Calls: 2, Refused: 1, Rows: 8, Bytes: 404, Tokens: 101, Cost: 0.000303}, {Calls: 1, Refused: 1}}},
		{"conversation", today, []sum{{Name: "c-1", Calls: 2, Refused: 1, Rows: 8, Bytes: 404, Tokens: 101, Cost: 0.000303}, {Calls: 1, Refused: 1}}},
		{"day", today.Add(-48 * time.Hour), []sum{{Name: "2026-07-28", Calls: 3, Refused: 2, Rows: 8, Bytes: 404, Tokens: 101, Cost: 0.000303},
			{Name: "2026-07-27", Calls: 2, Rows: 105}, {Name: "2026-07-26", Calls: 1, Rows: 1000}}},
		{"owner", noon.Add(time.Hour), nil},
	} {
		got, err := sumUp(t.Context(), log, tt.what, tt.since, false)
		less := cmpopts.SortSlices(func(a, b sum) bool { return a.Name < b.Name })
		if diff := cmp.Diff(tt.want, got, cmpopts.IgnoreUnexported(sum{}), cmpopts.EquateEmpty(), less); diff != "" || err != nil {
			t.Errorf("by %s: %v %s", tt.what, err, diff)
		}
		for i := 1; i < len(got); i++ {
			if got[i].Calls > got[i-1].Calls {
				t.Errorf("by %s: %v stands before one with more calls", tt.what, got[i-1])
			}
		}
	}
	if got, err := sumUp(t.Context(), log, "tool", today, true); err != nil || len(got) != 3 || !slices.ContainsFunc(got, func(s sum) bool { return s.Name == "console/audit" && s.Calls == 1 }) {
		t.Errorf("with people: %+v %v", got, err)
	}
	var out bytes.Buffer
	printSums(terminal.New(nil, &out, &out), "owner", []sum{{Name: "ana\x1b[2J", Calls: 3, Refused: 1, Rows: 12, Bytes: 400, Tokens: 100, Cost: 0.0003}, {Calls: 1}})
	want := strings.Join([]string{
		`owner              calls     not ok         rows          bytes       tokens   US dollars`,
		`"ana\x1b[2J"           3          1           12            400          100       0.0003`,
		`-                      1          0            0              0            0       0.0000`, ""}, "\n")
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}
