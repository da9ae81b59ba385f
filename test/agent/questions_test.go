package agent

import (
	"database/sql"
	"os"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A question is something a user asks of the tracker, the right answer as SQL, and the calls that a model makes for it.
type question struct {
	words, truth string
	calls        []string
}

func questions(t *testing.T) (out []question) {
	t.Helper()
	text, err := os.ReadFile("testdata/questions.txt")
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
		}
	}
	return out
}

// TestQuestions asks 26 ordinary questions as a model does: it counts the calls and the refusals, and checks that the
// answer of the last call of each is what SQL finds in the database itself.
func TestQuestions(t *testing.T) {
	set, db := tracker(t)
	calls, refused := 0, 0
	all := questions(t)
	for _, q := range all {
		var got string
		for _, line := range q.calls {
			calls++
			res, err := set.Call(t.Context(), reader(), request(t, line))
			if err != nil {
				refused++
				got = problem.Of(err).Error()
				continue
			}
			got = answered(t, res)
		}
		if want := truth(t, db, q.truth); got != want {
			t.Errorf("%s\n got %s\nwant %s", q.words, got, want)
		}
	}
	t.Logf("%d questions: %d calls, %d refused", len(all), calls, refused)
	if len(all) != 26 || calls > 34 || refused > 3 {
		t.Errorf("%d questions took %d calls, of which %d were refused; want 26 in at most 34, with at most 3", len(all), calls, refused)
	}
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
