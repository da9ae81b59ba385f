// Package pipelines tests pipelines. It is a part of the suite for sources.
//
// It complements package sourcetest and uses its datasets. Only tests import it. Run tests every stage, accumulator
// and operator of a source and compares with answers written by hand. Differential runs random pipelines and compares
// with package memory. Features that a source lacks are declared as limits, and the suite checks these limits.
package pipelines

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest/canonical"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A Target describes a source under test: how to open it, and which features it lacks.
type Target struct {
	Open   sourcetest.Open
	Tables sourcetest.Limits // the limits that it declares for sourcetest. Tables that need one of them are omitted
	Limits Limits
	Oracle sourcetest.Oracle          // memory.New, for Differential
	Show   func(policy.Permit) string // returns what the source runs, for error messages
	Adapt  func(*sourcetest.Table)    // replaces records that the source can't store. May be nil
	UTC    bool                       // its $dateTrunc ignores time zones, so Differential uses none
}

// Run tests a source with every question.
func Run(t *testing.T, target Target) {
	s := newSubject(t, target)
	files, err := questions.ReadDir("questions")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if f.IsDir() {
			continue // tested by views
		}
		t.Run(strings.TrimSuffix(f.Name(), ".txt"), func(t *testing.T) { s.answers(t, f.Name()) })
	}
	t.Run("complete", complete)
	t.Run("views", s.views)
	for a := range s.Limits {
		if !s.met[a] {
			t.Errorf("no test asks for the declared limit: %s", a)
		}
	}
}

// A subject is the source under test with the dataset that was loaded into it.
type subject struct {
	Target
	source  source.Source
	data    sourcetest.Dataset
	classes []schema.Class
	policy  *policy.Policy // without restrictions
	met     map[Ability]bool
}

func newSubject(t *testing.T, target Target) *subject {
	t.Helper()
	s := &subject{Target: target, met: map[Ability]bool{}}
	for _, table := range append(sourcetest.Tables(), tables()...) {
		if _, lacks := target.Tables[table.Needs]; !lacks {
			s.data.Tables = append(s.data.Tables, table)
		}
	}
	for i := range s.data.Tables {
		if target.Adapt != nil {
			target.Adapt(&s.data.Tables[i])
		}
	}
	s.data = s.data.Leave(t, target.Tables)
	s.source = target.Open(t, s.data)
	var err error
	if s.classes, _, err = s.source.Describe(t.Context()); err != nil {
		t.Fatalf("describe: %v", err)
	}
	s.policy = s.rules(t, nil)
	return s
}

func (s *subject) lacks(a Ability) bool { return s.Limits[a] != "" }

// rules returns a policy with these rules in which all other classes are visible.
func (s *subject) rules(t *testing.T, rules map[string]policy.ClassRule) *policy.Policy {
	t.Helper()
	all := map[string]policy.ClassRule{"held": sourcetest.DeclaredRules(s.classes)["held"]}
	if s.Tables[sourcetest.Conversions] != "" {
		delete(all, "held")
	}
	maps.Copy(all, rules)
	p, err := policy.New(policy.Rules{Unlisted: true, Classes: all}, s.classes)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// reader may read everything.
var reader = identity.Principal{ID: "test", Kind: identity.Agent, Scopes: []identity.Scope{identity.Read}}

// An asker is a principal with the rules for it.
type asker struct {
	policy *policy.Policy
	who    identity.Principal
}

// ask runs a pipeline and returns its records as objects.
func (s *subject) ask(ctx context.Context, as asker, q *query.Pipeline) ([]value.Value, error) {
	permit, err := as.policy.Read(as.who, q)
	if err != nil {
		return nil, err
	}
	return collect(ctx, s.source, permit)
}

// collect reads all records of a permit as objects.
func collect(ctx context.Context, from source.Source, permit policy.Permit) ([]value.Value, error) {
	plan, err := permit.Plan()
	if err != nil {
		return nil, err
	}
	rows, err := sourcetest.Collect(ctx, from, permit)
	if err != nil {
		return nil, err
	}
	out := make([]value.Value, len(rows))
	for i, row := range rows {
		if len(row) < len(plan.Columns) {
			return nil, fmt.Errorf("a row of %d values for %d columns", len(row), len(plan.Columns))
		}
		out[i] = object(&plan, row)
	}
	return out, nil
}

// parse parses the JSON of a list of stages.
func parse(t testing.TB, class, text string) *query.Pipeline {
	t.Helper()
	v, err := value.Read([]byte(text), 0)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	stages, err := query.ParsePipeline(v, "/pipeline")
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return &query.Pipeline{Class: class, Stages: stages, Limit: 1000}
}

// A place is a member of the object made from a row.
type place struct {
	path query.Path
	at   int // index of the value in the row
}

// object returns a row as an object. Member names with dots become nested objects.
func object(plan *policy.Plan, row value.Row) value.Value {
	var places []place
	for i, c := range plan.ReturnedColumns() {
		places = append(places, place{c.Path, i})
	}
	o := build(places, nil, row, plan.Program.Out().Optional)
	if o.IsNull() {
		return value.OfObject(nil)
	}
	return o
}

// build returns the object with these members. All their paths begin with path.
func build(places []place, path query.Path, row value.Row, optional []query.Path) value.Value {
	members := []value.Member{}
	empty := true
	for i, p := range places {
		name := p.path[len(path)]
		if slices.ContainsFunc(members, func(m value.Member) bool { return m.Name == name }) {
			continue
		}
		if len(p.path) == len(path)+1 {
			members = append(members, value.Member{Name: name, Value: plain(row[p.at])})
		} else {
			inner := append(slices.Clone(path), name)
			var below []place
			for _, q := range places[i:] {
				if len(q.path) > len(inner) && slices.Equal(q.path[:len(inner)], inner) {
					below = append(below, q)
				}
			}
			members = append(members, value.Member{Name: name, Value: build(below, inner, row, optional)})
		}
		empty = empty && members[len(members)-1].Value.IsNull()
	}
	if empty && slices.ContainsFunc(optional, func(o query.Path) bool { return slices.Equal(o, path) }) {
		return value.Value{}
	}
	return value.OfObject(members)
}

// plain converts dates and bytes to their JSON text. It sorts the members of objects by name.
func plain(v value.Value) value.Value {
	switch v.Kind() {
	case value.Date, value.Day, value.Bytes:
		return value.OfString(v.String())
	}
	return canonical.Of(v)
}
