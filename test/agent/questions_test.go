package agent

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A question is something a user asks of an application, the right answer as SQL, and the calls that a model makes for
// it. calls use query_sql or the best tool. structured use only the structured tools, or are nil if they can't say it.
type question struct {
	words, truth      string
	calls, structured []string
}

// questions reads the questions about an application.
func questions(t *testing.T, name string) (out []question) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		kind, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch kind {
		case "?":
			out = append(out, question{words: rest})
		case "=":
			out[len(out)-1].truth = rest
		case ">":
			out[len(out)-1].calls = append(out[len(out)-1].calls, rest)
		case "+":
			out[len(out)-1].structured = append(out[len(out)-1].structured, rest)
		}
	}
	return out
}

// application opens the application of testdata/NAME.sql with all that a database without rules shows.
func application(t *testing.T, name string) (*tool.Set, *sql.DB) {
	t.Helper()
	ddl, err := os.ReadFile(filepath.Join("testdata", name+".sql"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), name+".db")
	db, err := sql.Open("sqlite", path)
	if err == nil {
		_, err = db.Exec(string(ddl))
	}
	if err != nil {
		t.Fatal(err)
	}
	db.Close()
	return served(t, name, path, policy.Rules{Version: "1", Unlisted: true})
}

// applications are five applications with questions: the demo's tracker, and four that are as others make them.
var applications = map[string]func(*testing.T) (*tool.Set, *sql.DB){
	"questions": tracker,
	"music":     func(t *testing.T) (*tool.Set, *sql.DB) { return application(t, "music") },
	"films":     func(t *testing.T) (*tool.Set, *sql.DB) { return application(t, "films") },
	"clinic":    func(t *testing.T) (*tool.Set, *sql.DB) { return application(t, "clinic") },
	"wholesale": func(t *testing.T) (*tool.Set, *sql.DB) { return application(t, "wholesale") },
}

// TestQuestions asks ordinary questions about five applications as a model does, in both ways. It checks that the answer of the last
// call of each is the one that SQL finds in the database itself. It counts the refusals and the calls, with those for
// the schema.
func TestQuestions(t *testing.T) {
	asked, calls, refused := 0, 0, 0
	for name, open := range applications {
		set, db := open(t)
		for _, q := range questions(t, name) {
			asked++
			for way, lines := range map[string][]string{"": q.calls, "structured": q.structured} {
				if lines == nil {
					continue
				}
				got, no := conversed(t, set, lines)
				if want := truth(t, db, q.truth); got != want {
					t.Errorf("%s: %s %s\n got %s\nwant %s", name, q.words, way, got, want)
				}
				if way == "" {
					calls, refused = calls+len(lines), refused+no
				}
			}
		}
		if set.Schema(reader()) == "" {
			calls += len(questions(t, name)) // each conversation begins with get_all_schemas
		}
	}
	t.Logf("%d questions: %d calls, %d refused", asked, calls, refused)
	if asked < 100 || calls*10 > 16*asked || refused*20 > asked {
		t.Errorf("%d questions took %d calls, of which %d were refused; want 100 with at most 1.6 each, and 5%% refused", asked, calls, refused)
	}
}

// conversed makes the calls of a conversation, and returns the answer of the last one and how many were refused.
func conversed(t *testing.T, set *tool.Set, lines []string) (got string, refused int) {
	t.Helper()
	for _, line := range lines {
		res, err := set.Call(t.Context(), reader(), request(t, line))
		if err != nil {
			refused++
			got = problem.Of(err).Error()
			continue
		}
		got = answered(t, res)
	}
	return got, refused
}

// TestQuestionsCanFail checks that a wrong answer is found.
func TestQuestionsCanFail(t *testing.T) {
	set, db := tracker(t)
	res, err := set.Call(t.Context(), reader(), request(t, `count_objects {"class_name":"issues","where":{"type":"Bug"}}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := answered(t, res); got == truth(t, db, "SELECT count(*) FROM issues") {
		t.Errorf("the bugs count as all issues of all: %s", got)
	}
}

// answered returns the values in the answer, in their order, without the names around them.
func answered(t *testing.T, res tool.Result) string {
	t.Helper()
	doc, err := value.Read(res.Structured, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"results", "groups", "values", "count"} {
		if v, ok := doc.Get(name); ok {
			return strings.Join(leaves(nil, v), " | ")
		}
	}
	return string(res.Structured)
}

func leaves(out []string, v value.Value) []string {
	switch v.Kind() {
	case value.Array:
		for _, e := range v.List() {
			out = leaves(out, e)
		}
	case value.Object:
		for _, m := range v.Members() {
			out = leaves(out, m.Value)
		}
	default:
		out = append(out, written(v.String()))
	}
	return out
}

// written returns a value in a form common to both sides: numbers to 9 digits, since sums of doubles differ in the last.
func written(s string) string {
	if v, err := value.Read([]byte(s), 0); err == nil && v.IsNumber() {
		f, _ := v.AsFloat()
		return value.OfFloat(float64(int64(f*1e6+0.5)) / 1e6).String()
	}
	return s
}

func truth(t *testing.T, db *sql.DB, query string) string {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(query, err)
	}
	defer rows.Close()
	columns, _ := rows.Columns()
	var out []string
	for rows.Next() {
		row := make([]sql.NullString, len(columns))
		at := make([]any, len(columns))
		for i := range row {
			at[i] = &row[i]
		}
		if err := rows.Scan(at...); err != nil {
			t.Fatal(err)
		}
		for _, c := range row {
			if !c.Valid { // null has no text
				c.String = ""
			}
			out = append(out, written(c.String))
		}
	}
	return strings.Join(out, " | ")
}
