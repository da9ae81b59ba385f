// Package sourcetest is the test suite that every source must pass.
//
// Only tests import it. Run tests every operator on every type and compares with answers written by hand.
// Differential runs random queries and compares with package memory. Features that a source lacks are declared as
// limits, and the suite checks these limits. A limit that no longer applies fails the suite.
package sourcetest

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/value"
)

// An Ability is a feature of the query language that some sources lack.
type Ability string

// The abilities. A source that lacks one refuses with problem.Unsupported, has no such data, or returns inexact
// results.
const (
	Untyped       Ability = "columns that hold values of any type"
	NaN           Ability = "doubles that are not a number"
	ExactDecimals Ability = "numbers with more digits than a double or a 64-bit integer holds"
	AnyKey        Ability = "filters on JSON keys with a quote or a backslash in them"
	LongRepeat    Ability = "regular expressions that repeat more than 255 times"
	Microseconds  Ability = "dates finer than a millisecond"
	OpenRepeats   Ability = "regular expressions with more than 4 repetitions such as * and +"
	Infinities    Ability = "doubles that are infinite"
	FarDecimals   Ability = "conditions on decimals that name infinity"
	Lists         Ability = "columns of lists, beside those of JSON"
	ListsInLists  Ability = "lists whose elements are lists"
	JSONDigits    Ability = "numbers in JSON with more digits than a double or a 64-bit integer holds"
	WideIntegers  Ability = "integers that a double doesn't hold"
	Planes        Ability = "characters from U+E000 on, which sort by their bytes"
	OddNames      Ability = "quotes and spaces in the names of tables and columns"
	Conversions   Ability = "fields read in types that the rules declare"
	DottedKeys    Ability = "JSON keys with a dot in them, or a dollar first"
	Days          Ability = "days, beside dates"
	UUIDs         Ability = "UUIDs, beside texts"
	EmptyBytes    Ability = "bytes of no length"
	MixedJSON     Ability = "JSON of other kinds beside objects in one column"
)

// Limits contains the abilities that a source lacks, with the reasons.
type Limits map[Ability]string

// An Open loads a dataset into a new source. The source is closed at the end of the test.
type Open func(*testing.T, Dataset) source.Source

// Run tests a source with every question.
func Run(t *testing.T, open Open, limits Limits) {
	s := newSubject(t, open, limits)
	t.Run("describe", s.describe)
	t.Run("where", s.where)
	t.Run("order", s.order)
	t.Run("pages", s.pages)
	t.Run("keys", s.keys)
	t.Run("include", s.include)
	t.Run("ids", s.ids)
	t.Run("views", s.views)
	t.Run("whole", s.whole)
	t.Run("refusals", s.refusals)
	for _, a := range s.untestedAbilities() {
		t.Errorf("no test asks for the declared limit: %s", a)
	}
}

// A subject is the source under test with the dataset that was loaded into it.
type subject struct {
	source  source.Source
	data    Dataset
	limits  Limits
	classes []schema.Class
	policy  *policy.Policy // without restrictions
	met     map[Ability]bool
	left    map[string]bool // classes with records that the source can't store
}

func newSubject(t *testing.T, open Open, limits Limits) *subject {
	t.Helper()
	s := &subject{limits: limits, met: map[Ability]bool{}, left: map[string]bool{}}
	for _, table := range Tables() {
		if _, lacks := limits[table.Needs]; lacks {
			s.met[table.Needs] = true
			continue
		}
		for _, lost := range table.leave(t, limits) {
			s.met[lost], s.left[table.Name] = true, true
		}
		s.data.Tables = append(s.data.Tables, table)
	}
	s.source = open(t, s.data)
	var err error
	if s.classes, _, err = s.source.Describe(t.Context()); err != nil {
		t.Fatalf("describe: %v", err)
	}
	s.policy = s.rules(t, nil)
	return s
}

// rules returns a policy with these rules in which all other classes are visible.
func (s *subject) rules(t *testing.T, rules map[string]policy.ClassRule) *policy.Policy {
	t.Helper()
	all := DeclaredRules(s.classes)
	maps.Copy(all, rules)
	p, err := policy.New(policy.Rules{Unlisted: true, Classes: all}, s.classes)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func (s *subject) untestedAbilities() []Ability {
	var out []Ability
	for a := range s.limits {
		if !s.met[a] {
			out = append(out, a)
		}
	}
	return out
}

// reader may read everything.
var reader = identity.Principal{ID: "test", Kind: identity.Agent, Scopes: []identity.Scope{identity.Read}}

// read runs q for principal and returns the plan and all rows.
func (s *subject) read(ctx context.Context, p *policy.Policy, principal identity.Principal, q query.Query) (*policy.Plan, []value.Row, error) {
	permit, err := p.Read(principal, q)
	if err != nil {
		return nil, nil, err
	}
	plan, err := permit.Plan()
	if err != nil {
		return nil, nil, err
	}
	rows, err := Collect(ctx, s.source, permit)
	return &plan, rows, err
}

// Collect reads all rows of a permit.
func Collect(ctx context.Context, from source.Source, permit policy.Permit) ([]value.Row, error) {
	rows, err := from.Read(ctx, permit)
	if err != nil {
		return nil, err
	}
	var out []value.Row
	for row, err := range rows {
		if err != nil {
			return out, err
		}
		out = append(out, slices.Clone(row))
	}
	return out, nil
}

// ids returns the keys of rows in order: "1 2 3", or "acme/1 acme/2" for a key of two fields.
func ids(plan *policy.Plan, rows []value.Row) string {
	key := plan.View.Key()
	out := make([]string, len(rows))
	for i, row := range rows {
		parts := make([]string, len(key))
		for k, name := range key {
			parts[k] = row[columnOf(plan, name)].String()
		}
		out[i] = strings.Join(parts, "/")
	}
	return strings.Join(out, " ")
}

func columnOf(plan *policy.Plan, path string) int {
	return slices.IndexFunc(plan.Columns, func(c policy.Column) bool { return c.Path.String() == path })
}

// where parses the JSON of a where object.
func where(t *testing.T, text string) query.Filter {
	t.Helper()
	if text == "" {
		return nil
	}
	v, err := value.Read([]byte(text), 0)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	f, err := query.ParseWhere(v, "/where")
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return f
}

func (s *subject) describe(t *testing.T) {
	want := s.data.Classes("")
	for _, w := range want {
		i := slices.IndexFunc(s.classes, func(c schema.Class) bool { return c.Name == w.Name })
		if i < 0 {
			t.Errorf("no class %s", w.Name)
			continue
		}
		got := s.classes[i]
		if !slices.Equal(got.Key, w.Key) {
			t.Errorf("%s: key %q; want %q", w.Name, got.Key, w.Key)
		}
		if !slices.EqualFunc(got.Relations, w.Relations, func(a, b schema.Relation) bool {
			return a.Target == b.Target && slices.Equal(a.Fields, b.Fields) && slices.Equal(a.TargetFields, b.TargetFields)
		}) {
			t.Errorf("%s: relations %v; want %v", w.Name, got.Relations, w.Relations)
		}
		if !slices.EqualFunc(got.Fields, w.Fields, func(a, b schema.Field) bool {
			simpler, ok := simplerTypes[b.Type]
			needs := simpler.without
			s.met[needs] = s.met[needs] || ok && a.Type == simpler.is
			return a.Name == b.Name && (a.Type == b.Type || ok && a.Type == simpler.is && s.limits[needs] != "") && a.NotNull == b.NotNull
		}) {
			t.Errorf("%s: fields %+v; want %+v", w.Name, got.Fields, w.Fields)
		}
	}
	if !slices.IsSortedFunc(s.classes, func(a, b schema.Class) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("the classes are not ordered by name")
	}
	if len(s.classes) != len(want) {
		t.Errorf("%d classes; want %d", len(s.classes), len(want))
	}
}

func (s *subject) refusals(t *testing.T) {
	if _, err := s.source.Read(t.Context(), policy.Permit{}); problem.CodeOf(err) != problem.PermissionDenied {
		t.Errorf("the zero permit: %v; want %s", err, problem.PermissionDenied)
	}
}
