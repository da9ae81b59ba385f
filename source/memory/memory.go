// Package memory is a source that stores its records in memory and evaluates queries by the definition of the query
// language.
//
// It implements source.Source like an adapter of a database, and runs only a Permit. With package interpret, which
// evaluates the plans, it is the oracle of sourcetest.
package memory

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/interpret"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A Source contains records in memory. It never changes, so it is safe for concurrent use.
type Source struct {
	classes []schema.Class
	rows    map[string][]value.Row
}

// New returns a Source of these classes. rows contains the records of each class, by class name. The values of a
// record have the order of the class's fields. The Source keeps both arguments.
func New(classes []schema.Class, rows map[string][]value.Row) *Source {
	sorted := slices.Clone(classes)
	slices.SortFunc(sorted, func(a, b schema.Class) int { return strings.Compare(a.Name, b.Name) })
	return &Source{sorted, rows}
}

// Describe returns the classes passed to New, sorted by name, and no warnings.
func (s *Source) Describe(ctx context.Context) ([]schema.Class, []string, error) {
	return s.classes, nil, interpret.ContextError(ctx)
}

// Read evaluates the permit's plan over all records of its classes.
func (s *Source) Read(ctx context.Context, p policy.Permit) (source.Rows, error) {
	plan, err := p.Plan()
	if err != nil {
		return nil, err
	}
	return interpret.Rows(ctx, &plan, func(ctx context.Context, n interpret.Need) ([]value.Row, error) {
		return interpret.Visible(ctx, n.View, s.of)
	})
}

// of returns all records of a class.
func (s *Source) of(c *schema.Class) ([]value.Row, error) {
	records, ok := s.rows[c.Name]
	if !ok && !slices.ContainsFunc(s.classes, func(have schema.Class) bool { return have.Name == c.Name }) {
		return nil, problem.New(problem.Internal, fmt.Sprintf("the plan names %s, which is not in this source", c.Name))
	}
	return toDeclaredTypes(c, records), nil
}

// toDeclaredTypes returns records with values of the types that the rules declare.
func toDeclaredTypes(c *schema.Class, records []value.Row) []value.Row {
	if !slices.ContainsFunc(c.Fields, func(f schema.Field) bool { return f.Stored != nil }) {
		return records
	}
	out := make([]value.Row, len(records))
	for i, row := range records {
		out[i] = slices.Clone(row)
		for j := range c.Fields {
			if c.Fields[j].Stored != nil {
				out[i][j] = interpret.DecodeValue(&c.Fields[j], row[j])
			}
		}
	}
	return out
}
