// Package statements tests SQL. It is a part of the suite for sources.
//
// corpus.txt contains statements about a small shop, with PostgreSQL's answers to their text. Run tests a source with
// each of them. Raw compares the answers in the file with those of a PostgreSQL server that runs the text itself.
// errors.txt contains statements that are refused, with the refusals. Only tests import it.
package statements

import (
	"context"
	_ "embed"
	"flag"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest/canonical"
	"github.com/bailiwick-dev/bailiwick/value"
)

//go:embed corpus.txt
var corpus string

//go:embed errors.txt
var refused string

var update = flag.Bool("update-statements", false, "rewrite corpus.txt with the answers of PostgreSQL")

// now is the current time of the calls.
var now = time.Date(2026, 6, 15, 12, 0, 0, 0, time.UTC)

// parameters returns the arguments of the statements. A statement has those that it names.
func parameters() map[string]value.Value {
	return map[string]value.Value{"part": value.OfString("A"), "wild": value.OfString("_a"), "hundred": value.OfInt(100), "absent": {}}
}

// A statement is a statement of the corpus. Own means that PostgreSQL rejects this form and only the gateway accepts
// it.
type statement struct {
	text  string
	own   bool
	needs string // the feature that a source may lack
	rows  []string
}

// read parses a file. A line is a statement, and the indented lines after it are its answer. After "? " follows a
// statement in a form that PostgreSQL rejects. A line "! Name" before a statement names a feature that a source may
// lack.
func read(t *testing.T, file string) []statement {
	t.Helper()
	var out []statement
	needs := ""
	for line := range strings.Lines(file) {
		line = strings.TrimRight(line, "\n")
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "! "):
			needs = line[2:]
		case strings.HasPrefix(line, "  "):
			s := &out[len(out)-1]
			s.rows = append(s.rows, line[2:])
		default:
			text, own := strings.CutPrefix(line, "? ")
			out = append(out, statement{text: text, own: own, needs: needs})
			needs = ""
		}
	}
	return out
}

// A Limits contains the features that a source lacks, with the reasons.
type Limits map[string]string

var reader = identity.Principal{ID: "test", Kind: identity.Agent, Scopes: []identity.Scope{identity.Read}}

// A subject is a source that contains the shop.
type subject struct {
	source source.Source
	policy *policy.Policy
}

func open(t *testing.T, open sourcetest.Open) *subject {
	t.Helper()
	s := open(t, sourcetest.Dataset{Tables: shop()})
	classes, _, err := s.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.New(policy.Rules{Unlisted: true}, classes)
	if err != nil {
		t.Fatal(err)
	}
	return &subject{s, p}
}

// parsed returns a statement with the values of its parameters.
func parsed(text string) (*query.SQL, error) {
	q, err := query.ParseSQL(text)
	if err != nil {
		return nil, err
	}
	q.Limit, q.Now = most, now
	for name, v := range parameters() {
		if strings.Contains(text, ":"+name) {
			if q.Params == nil {
				q.Params = map[string]value.Value{}
			}
			q.Params[name] = v
		}
	}
	return q, nil
}

// ask runs a statement and returns its records as text.
func (s *subject) ask(ctx context.Context, text string) ([]string, error) {
	q, err := parsed(text)
	if err != nil {
		return nil, err
	}
	permit, err := s.policy.Read(reader, q)
	if err != nil {
		return nil, err
	}
	planned, err := permit.Plan()
	if err != nil {
		return nil, err
	}
	rows, err := sourcetest.Collect(ctx, s.source, permit)
	if err != nil {
		return nil, err
	}
	out := make([]string, len(rows))
	for i, row := range rows {
		if err := planned.Refuse(row); err != nil {
			return nil, err
		}
		var members []value.Member
		for j, c := range planned.ReturnedColumns() {
			members = append(members, value.Member{Name: c.Path[0], Value: plain(row[j])})
		}
		out[i] = value.OfObject(members).String()
	}
	return out, nil
}

func plain(v value.Value) value.Value {
	switch v.Kind() {
	case value.Date, value.Day, value.Bytes:
		return value.OfString(v.String())
	}
	return canonical.Of(v)
}

// Run tests a source with every statement.
func Run(t *testing.T, o sourcetest.Open, limits Limits) {
	s := open(t, o)
	for _, st := range read(t, corpus) {
		got, err := s.ask(t.Context(), st.text)
		if why, lacks := limits[st.needs]; lacks {
			if problem.CodeOf(err) != problem.Unsupported {
				t.Errorf("%s: %v; the source is said to lack %s (%s)", st.text, err, st.needs, why)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s\n%s", st.text, errorText(err))
			continue
		}
		if !same(got, st.rows) {
			t.Errorf("%s\n got %s\nwant %s", st.text, strings.Join(got, "\n     "), strings.Join(st.rows, "\n     "))
		}
	}
	longLists(t, s)
	everything(t, s)
	for _, st := range read(t, refused) {
		got, err := s.ask(t.Context(), st.text)
		if err == nil {
			t.Errorf("%s is answered: %s", st.text, got)
		} else if want := strings.Join(st.rows, "\n"); errorText(err) != want {
			t.Errorf("%s\n got %s\nwant %s", st.text, errorText(err), want)
		}
	}
	got, err := s.ask(t.Context(), "SELECT count(*) AS n, max(id) AS last FROM orders")
	if want := []string{`{"n":10,"last":10}`}; err != nil || !slices.Equal(got, want) {
		t.Errorf("after all refused statements the orders are %s %v, want %s", got, err, want)
	}
}

// everything joins twelve tables without a condition. The read must end at its deadline, or before it uses much
// memory.
func everything(t *testing.T, s *subject) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	got, err := s.ask(ctx, "SELECT count(*) AS n FROM orders a, orders b, orders c, orders d, orders e, orders f, orders g, orders h, orders i, orders j, orders k, orders l")
	if code := problem.CodeOf(err); code != problem.Timeout && code != problem.Unsupported {
		t.Errorf("a join of everything is %s, %v; want an error", got, err)
	}
}

// longLists tests conditions with lists of 4,000 constants, and tables of as many constants.
func longLists(t *testing.T, s *subject) {
	t.Helper()
	var numbers, texts []string
	for n := 3; n < 4003; n++ {
		numbers, texts = append(numbers, fmt.Sprint(n)), append(texts, fmt.Sprintf("'c%d'", n))
	}
	ids, names := strings.Join(numbers, ","), strings.Join(texts, ",")+",'Oslo','eva'"
	for _, tt := range []struct{ text, want string }{
		{"SELECT count(*) AS n FROM customers WHERE id IN (" + ids + ")", `{"n":5}`},
		{"SELECT count(*) AS n FROM customers WHERE id NOT IN (" + ids + ")", `{"n":2}`},
		{"SELECT count(*) AS n FROM customers WHERE id = ANY (ARRAY[" + ids + "])", `{"n":5}`},
		{"SELECT count(*) AS n FROM customers WHERE city IN (" + names + ")", `{"n":2}`},
		{"SELECT count(*) AS n FROM customers WHERE id + 0 IN (" + ids + ")", `{"n":5}`},
		{"SELECT count(*) AS n FROM customers WHERE NOT (id + 0 IN (" + ids + "))", `{"n":2}`},
		{"SELECT count(*) AS n FROM customers WHERE city || '' NOT IN (" + names + ")", `{"n":4}`},
		{"SELECT count(*) AS n FROM customers WHERE city || '' NOT IN (" + names + ", NULL)", `{"n":0}`},
		{"SELECT count(*) AS n FROM customers WHERE lower(name) = ANY (ARRAY[" + names + ", NULL])", `{"n":2}`},
		{"SELECT count(*) AS n FROM generate_series(1, 6000) AS s(i) JOIN customers AS c ON c.id = s.i", `{"n":7}`},
		{"SELECT count(*) AS n, sum(x) AS sum, min(y) AS y FROM (VALUES (" + strings.Join(texts, ", 1), (") + ", NULL)) AS v(y, x)", `{"n":4000,"sum":3999,"y":"c10"}`},
	} {
		if got, err := s.ask(t.Context(), tt.text); err != nil || !slices.Equal(got, []string{tt.want}) {
			t.Errorf("%.60s…: %s %v, want %s", tt.text, got, err, tt.want)
		}
	}
}

// Alike runs every statement on a source and on the oracle. It is for a source whose types differ from those of the
// corpus.
func Alike(t *testing.T, o sourcetest.Open, oracle sourcetest.Oracle) {
	s := open(t, o)
	classes, _, err := s.source.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	right := &subject{oracle(classes, sourcetest.Dataset{Tables: shop()}.Rows(t, classes)), s.policy}
	answered := 0
	for _, st := range append(read(t, corpus), read(t, refused)...) {
		got, err := s.ask(t.Context(), st.text)
		want, wrong := right.ask(t.Context(), st.text)
		if (err == nil) != (wrong == nil) || err != nil && errorText(err) != errorText(wrong) || !slices.Equal(got, want) {
			t.Errorf("%s\n got %s %v\nwant %s %v", st.text, strings.Join(got, "\n     "), err, strings.Join(want, "\n     "), wrong)
		}
		if wrong == nil {
			answered++
		}
	}
	t.Logf("%d statements answered alike, %d refused alike", answered, len(read(t, corpus))+len(read(t, refused))-answered)
	if answered < len(read(t, corpus))/2 {
		t.Errorf("only %d of %d statements are answered", answered, len(read(t, corpus)))
	}
}

// errorText returns the text of a refusal.
func errorText(err error) string {
	p := problem.Of(err)
	text := p.Text()
	if p.Code == problem.Internal || p.Code == problem.Upstream {
		text += fmt.Sprint(" ", p.Err)
	}
	return text
}

// Raw compares the answers in the corpus with those of a PostgreSQL server that contains the shop. The function raw
// runs a text there and returns the records as JSON. With the flag, Raw writes the source's answers if both agree.
func Raw(t *testing.T, o sourcetest.Open, raw func(text string) ([]string, error)) {
	s := open(t, o)
	all := read(t, corpus)
	for i := range all {
		st := &all[i]
		got, err := s.ask(t.Context(), st.text)
		if err != nil {
			t.Errorf("%s\n%s", st.text, errorText(err))
			continue
		}
		if !st.own {
			want, err := raw(fixTime(st.text))
			if err != nil {
				t.Errorf("%s: PostgreSQL: %v", st.text, err)
				continue
			}
			if !same(got, want) {
				t.Errorf("%s\n got %s\nwant %s", st.text, strings.Join(got, "\n     "), strings.Join(want, "\n     "))
				continue
			}
		}
		st.rows = got
	}
	for _, st := range read(t, written) { // only forms that PostgreSQL also accepts
		want, err := raw(fixTime(st.text))
		if got, ours := s.ask(t.Context(), st.text); err == nil && ours == nil && !st.own && !same(got, want) {
			t.Errorf("%s\n got %s\nwant %s", st.text, strings.Join(got, "\n     "), strings.Join(want, "\n     "))
		}
	}
	if *update {
		write(t, "corpus.txt", corpus, all)
		denied := read(t, refused)
		for i := range denied {
			_, err := s.ask(t.Context(), denied[i].text)
			if denied[i].rows = nil; err != nil {
				denied[i].rows = strings.Split(errorText(err), "\n")
			}
		}
		write(t, "errors.txt", refused, denied)
	}
}

// fixTime replaces the current time in text by the time of the calls, and parameters by their values.
func fixTime(text string) string {
	const at = "timestamptz '2026-06-15 12:00:00Z'"
	for name, v := range parameters() {
		literal := "NULL::text"
		if !v.IsNull() {
			literal = "'" + v.String() + "'"
		}
		text = strings.ReplaceAll(text, ":"+name, literal)
	}
	return strings.NewReplacer("now()", at, "statement_timestamp()", at, "transaction_timestamp()", at, "clock_timestamp()", at, "current_date", "date '2026-06-15'").Replace(text)
}

// write replaces the answers in a file.
func write(t *testing.T, name, file string, all []statement) {
	t.Helper()
	var b strings.Builder
	i := 0
	for line := range strings.Lines(file) {
		if strings.HasPrefix(line, "  ") {
			continue
		}
		b.WriteString(line)
		if line != "\n" && line[0] != '#' && line[0] != '!' {
			for _, r := range all[i].rows {
				b.WriteString("  " + r + "\n")
			}
			i++
		}
	}
	if err := os.WriteFile("../../test/sourcetest/statements/"+name, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// same compares records. It compares numbers as numbers and dates as instants. Numbers that aren't whole are compared
// to fifteen digits.
func same(a, b []string) bool {
	return slices.EqualFunc(a, b, func(x, y string) bool {
		vx, errX := value.Read([]byte(x), 20)
		vy, errY := value.Read([]byte(y), 20)
		return errX == nil && errY == nil && alike(vx, vy)
	})
}

func alike(a, b value.Value) bool {
	switch {
	case a.Kind() == value.Object && b.Kind() == value.Object:
		return slices.EqualFunc(a.Members(), b.Members(), func(x, y value.Member) bool { return x.Name == y.Name && alike(x.Value, y.Value) })
	case a.Kind() == value.Array && b.Kind() == value.Array:
		return slices.EqualFunc(a.List(), b.List(), alike)
	case a.IsNumber() && b.IsNumber():
		x, _ := a.AsFloat()
		y, _ := b.AsFloat()
		return value.Equal(a, b) || math.Abs(x-y) <= 1e-12*math.Max(math.Abs(x), math.Abs(y))
	case a.Kind() == value.String && b.Kind() == value.String:
		x, okX := value.OfDateText(a.Text())
		y, okY := value.OfDateText(b.Text())
		return a.Text() == b.Text() || okX && okY && len(a.Text()) > 10 && len(b.Text()) > 10 && x.Micros() == y.Micros()
	}
	return value.Equal(a, b)
}
