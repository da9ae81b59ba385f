package pipelines

import (
	"embed"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// An Ability is a feature of pipelines that some sources lack. The questions use its name.
type Ability string

// The abilities. A source that lacks one refuses with problem.Unsupported, or returns inexact results.
const (
	Decimals   Ability = "Decimals"   // arithmetic with more digits than a double or a 64-bit integer has
	Digits     Ability = "Digits"     // decimals with more than 35 digits before the point or 30 after it
	Reduce     Ability = "Reduce"     // $reduce
	Spread     Ability = "Spread"     // sums of doubles whose sizes differ by more digits than the source's decimals have. Without it they are null
	FindAll    Ability = "FindAll"    // $regexFindAll
	Correlated Ability = "Correlated" // a $lookup whose pipeline uses a variable outside a first $match, or counts nothing
)

// Limits contains the abilities that a source lacks, with the reasons.
type Limits map[Ability]string

// The questions specify the language. Each family of stages or operators has a file.
//
//go:embed questions
var questions embed.FS

// A question is a pipeline on a class with its answer, which is the records in order.
//
// In the files, a question begins on a line that is not indented. It consists of the class and the stages, or of an
// expression that is computed for the single record of the class values. The expected records or the expected value
// follow on indented lines. A line "! Decimals" before a question names the ability that it requires.
//
// Ids are texts within lists and objects that a pipeline creates. At the top level they still have the type of the
// database. They become texts when they leave the gateway.
type question struct {
	class, pipeline string
	rows            []value.Value
	needs           Ability
}

func (q *question) String() string { return q.class + " " + q.pipeline }

// read parses the questions in a file.
func read(t *testing.T, file string) []question {
	t.Helper()
	b, err := questions.ReadFile("questions/" + file)
	if err != nil {
		t.Fatal(err)
	}
	var out []question
	var needs Ability
	single := false // the question is an expression
	for line := range strings.Lines(string(b)) {
		line = strings.TrimRight(line, "\n")
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '!':
			needs = Ability(strings.TrimSpace(line[1:]))
		case line[0] == ' ':
			q := &out[len(out)-1]
			if single {
				line = `{"v":` + line + `}`
			}
			v, err := value.Read([]byte(line), 0)
			if err != nil {
				t.Fatalf("%s: %s: %v", file, line, err)
			}
			q.rows = append(q.rows, v)
		case line[0] == '{' || line[0] == '[':
			out = append(out, question{class: "values", pipeline: `[{"$project":{"v":` + line + `}}]`, needs: needs})
			needs, single = "", true
		default:
			class, pipeline, ok := strings.Cut(line, " [")
			if !ok {
				t.Fatalf("%s: %s", file, line)
			}
			out = append(out, question{class: class, pipeline: "[" + pipeline, needs: needs})
			needs, single = "", false
		}
	}
	return out
}

func (s *subject) answers(t *testing.T, file string) {
	for _, q := range read(t, file) {
		rows, err := s.ask(t.Context(), asker{s.policy, reader}, parse(t, q.class, q.pipeline))
		if err == nil {
			err = differ(rows, q.rows)
		}
		s.judge(t, &q, err)
	}
}

// judge reports a wrong answer, and a declared limit that no longer applies.
func (s *subject) judge(t *testing.T, q *question, err error) {
	t.Helper()
	why, lacks := s.Limits[q.needs]
	s.met[q.needs] = s.met[q.needs] || lacks
	var refused *problem.Error
	if errors.As(err, &refused) && refused.Code != problem.Unsupported {
		t.Errorf("%s: %v: %v", q, err, refused.Err)
		return
	}
	switch {
	case lacks && err == nil:
		t.Errorf("%s is answered, yet the source is said to have no %s (%s)", q, q.needs, why)
	case !lacks && err != nil:
		t.Errorf("%s: %v", q, err)
	}
}

// differ describes the difference between all rows and the expected rows.
func differ(got, want []value.Value) error {
	return unlike(got, want, same)
}

// unlike is like differ with a given equality of records.
func unlike(got, want []value.Value, same func(a, b value.Value) bool) error {
	if slices.EqualFunc(got, want, same) {
		return nil
	}
	n := 0 // the number of equal records at the beginning, which the message omits
	for n < min(len(got), len(want)) && same(got[n], want[n]) {
		n++
	}
	return fmt.Errorf("after %d records as they should be\n got%s\nwant%s", n, show(got[n:]), show(want[n:]))
}

// same reports whether two records have equal members in the same order.
func same(a, b value.Value) bool {
	return equal(a, b) && slices.EqualFunc(a.Members(), b.Members(), func(x, y value.Member) bool { return x.Name == y.Name })
}

// equal is like value.Equal, but compares numbers as they are written. It tolerates a different last digit of
// standard deviations, because databases compute square roots differently.
func equal(a, b value.Value) bool {
	switch {
	case a.Kind() == value.Array && b.Kind() == value.Array:
		return slices.EqualFunc(a.List(), b.List(), equal)
	case a.Kind() == value.Object && b.Kind() == value.Object:
		if len(a.Members()) != len(b.Members()) {
			return false
		}
		for _, m := range a.Members() {
			other, ok := b.Get(m.Name)
			if !ok || !equal(m.Value, other) && !(strings.HasPrefix(m.Name, deviation) && near(m.Value, other, 1e-12)) {
				return false
			}
		}
		return true
	}
	return value.Equal(shortestDecimal(a), shortestDecimal(b))
}

// about is like same, but tolerates a different last digit of doubles. Beyond 2^53, two decimals may be equally near
// to a double. Databases choose differently, and sums are computed from these decimals.
func about(a, b value.Value) bool {
	switch {
	case a.Kind() == value.Array && b.Kind() == value.Array:
		return slices.EqualFunc(a.List(), b.List(), about)
	case a.Kind() == value.Object && b.Kind() == value.Object:
		return slices.EqualFunc(a.Members(), b.Members(), func(x, y value.Member) bool {
			return x.Name == y.Name && (about(x.Value, y.Value) || strings.HasPrefix(x.Name, deviation) && near(x.Value, y.Value, 1e-12))
		})
	}
	x, _ := a.AsFloat()
	y, _ := b.AsFloat()
	double := a.Kind() == value.Float || b.Kind() == value.Float || x == y && math.Abs(x) > 1<<54 // the number is a double in JSON
	return equal(a, b) || double && near(a, b, 1e-15)
}

// shortestDecimal returns a double as its shortest decimal.
func shortestDecimal(v value.Value) value.Value {
	if x := v.Float(); v.Kind() == value.Float && !math.IsNaN(x) && !math.IsInf(x, 0) {
		return value.OfDecimal(v.String())
	}
	return v
}

func near(a, b value.Value, by float64) bool {
	x, ok := a.AsFloat()
	y, also := b.AsFloat()
	return ok && also && math.Abs(x-y) <= by*math.Max(math.Abs(x), math.Abs(y))
}

// show formats some of the records.
func show(rows []value.Value) string {
	var out strings.Builder
	for i, r := range rows {
		if i == 12 {
			fmt.Fprintf(&out, "\n  … %d in all", len(rows))
			break
		}
		out.WriteString("\n  " + r.String())
	}
	return out.String()
}

// complete checks that every stage, accumulator and operator has a question.
func complete(t *testing.T) {
	var all strings.Builder
	files, err := questions.ReadDir("questions")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if f.IsDir() {
			continue
		}
		for _, q := range read(t, f.Name()) {
			all.WriteString(q.pipeline)
		}
	}
	names := append(slices.Concat(query.Stages, query.Accumulators, query.Picks), "$cond", "$switch", "$literal", "$filter", "$map", "$reduce", "$let", "$$ROOT", "$expr")
	for _, s := range query.Signatures {
		names = append(names, s.Op)
	}
	for _, name := range names {
		if !strings.Contains(all.String(), `"`+name+`"`) {
			t.Errorf("no question asks for %s", name)
		}
	}
}
