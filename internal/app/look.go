package app

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/samples"
	"github.com/bailiwick-dev/bailiwick/internal/scaffold"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source"
)

// These limit the time to sample records: of one class, and of all classes.
const (
	lookOne = 3 * time.Second
	lookAll = 30 * time.Second
	lookMax = 64 << 10 // maximum size of one value in bytes
)

// Look opens a database temporarily. It returns the classes, the warnings about omitted parts, and the evidence from a
// sample of the records. The evidence names classes that can't be read in time. They are not an error. Look doesn't
// read fields and classes that are hidden by name.
func Look(ctx context.Context, s config.Source) (classes []schema.Class, warnings []string, e scaffold.Evidence, err error) {
	e = scaffold.Evidence{Fields: map[string]samples.Seen{}, Counts: map[string]int64{}}
	opened, err := OpenSource(ctx, &config.Config{Sources: []config.Source{s}}, s)
	if err != nil {
		return nil, nil, e, err
	}
	defer CloseAfter(opened, &err)
	if classes, warnings, err = opened.Describe(ctx); err != nil {
		return nil, nil, e, err
	}
	warnings = append(warnings, alike(classes)...)
	rules, err := policy.New(policy.Rules{Unlisted: true}, classes)
	if err != nil {
		return nil, nil, e, err
	}
	rules = rules.AtMost()
	if counter, ok := opened.(source.Estimator); ok {
		if counts, err := counter.Estimate(ctx); err == nil { // without an estimate, only the sample is used
			for name, n := range counts {
				e.Counts[s.Name+"."+name] = n
			}
		}
	}
	ctx, cancel := context.WithTimeout(ctx, lookAll)
	defer cancel()
	for i := range classes {
		c := &classes[i]
		if scaffold.Hides(c) {
			continue
		}
		if err := sample(ctx, opened, rules, c, &e); err != nil {
			e.Missed = append(e.Missed, c.FullName())
		}
	}
	e.Points, e.Doubts = confirmedRules(ctx, opened, scaffold.Pointers(classes, e), classes)
	return classes, warnings, e, nil
}

// alike returns a warning if several schemas have the same tables with the same columns, because each schema may
// belong to a tenant.
func alike(classes []schema.Class) []string {
	tables := map[string][]string{}
	for i := range classes {
		if c := &classes[i]; c.Space != "" && !c.Recordless {
			fields := slices.Sorted(slices.Values(c.FieldNames()))
			tables[c.Space] = append(tables[c.Space], fmt.Sprintf("%q %q", c.Table, fields))
		}
	}
	same := map[string][]string{}
	for _, space := range slices.Sorted(maps.Keys(tables)) {
		slices.Sort(tables[space])
		same[strings.Join(tables[space], "\n")] = append(same[strings.Join(tables[space], "\n")], space)
	}
	var out []string
	for _, key := range slices.Sorted(maps.Keys(same)) {
		if names := same[key]; len(names) > 1 {
			list := names[:min(len(names), 3)]
			more := ""
			if len(names) > len(list) {
				more = fmt.Sprintf(" and %d others", len(names)-len(list))
			}
			out = append(out, fmt.Sprintf("the schemas %s%s have the same tables. If each is the schema of a tenant, write schema: {$cel: principal.tenant} and template: %s in the source, and rules for the classes of one schema (docs/connections.md, One schema per tenant)",
				strings.Join(list, ", "), more, names[0]))
		}
	}
	return out
}

// sample adds evidence from the first records of c to e.
func sample(ctx context.Context, s source.Source, rules *policy.Policy, c *schema.Class, e *scaffold.Evidence) error {
	ctx, cancel := context.WithTimeout(ctx, lookOne)
	defer cancel()
	permit, err := rules.Read(identity.Principal{ID: "init", Kind: identity.Human, Scopes: []identity.Scope{identity.Read}}, &query.Find{Class: c.FullName(), Limit: scaffold.SampleSize})
	if err != nil {
		return nil //nolint:nilerr // no field of the class can be seen
	}
	if permit, err = permit.Within(lookMax); err != nil {
		return err
	}
	plan, err := permit.Plan()
	if err != nil {
		return err
	}
	rows, err := s.Read(ctx, permit)
	if err != nil {
		return err
	}
	tallies := make([]samples.Tally, len(plan.Columns))
	for i := range tallies {
		tallies[i].Personal = true
	}
	n := int64(0)
	for row, err := range rows {
		if err != nil {
			return err
		}
		if n++; n > scaffold.SampleSize {
			break
		}
		for i := range tallies {
			tallies[i].Add(row[i])
		}
	}
	for i, col := range plan.Columns {
		e.Fields[c.FullName()+"."+col.Field.Name] = tallies[i].Counts()
	}
	if n < scaffold.SampleSize {
		e.Counts[c.FullName()] = n
	}
	return nil
}
