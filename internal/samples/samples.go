// Package samples scans samples of column values. It finds credentials that neither the name nor the type of a column
// reveals. It stores counts, and no values.
//
// The same scan runs when a configuration is written, when it is checked, and while a gateway serves it. A column
// may be filled after the rules were written.
package samples

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/secretnames"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/value"
)

// Bounds limits the scan of one class. The zero Bounds mean Usual.
type Bounds struct {
	Rows    int           // maximum records of each sample
	Time    time.Duration // maximum time for all samples of the class
	Schemas int           // maximum schemas of a class with one schema per tenant. They share Rows. 0 means all
	Turns   *Turns        // chooses the next schemas. Nil begins with the first
}

// Usual returns the bounds for scans of a class while a gateway runs.
func Usual() Bounds { return Bounds{Rows: 60, Time: 500 * time.Millisecond, Schemas: 4} }

// Thorough returns the bounds for scans that an operator requests.
func Thorough() Bounds { return Bounds{Rows: 1000, Time: 10 * time.Second} }

// Limits of one sample.
const (
	mostValue  = 16 << 10 // bytes of one value. Only the beginning of a longer value is scanned
	mostSample = 8 << 20  // bytes of all values
	mostLong   = 10       // long values of a column
	fewest     = 8        // minimum characters of a credential
)

// Can reports whether a field can contain credentials that its name doesn't reveal. Such fields are texts, JSON,
// bytes and lists without declared values.
func Can(f *schema.Field) bool {
	return f.Type.Open() && f.Values == nil && (f.Length == 0 || f.Length >= fewest)
}

// A Sampler takes samples of one source.
type Sampler struct {
	source source.Source
	policy *policy.Policy
	bounds Bounds
}

// New returns a Sampler for classes of s. It reads fields even if the rules hide them.
func New(s source.Source, classes []schema.Class, b Bounds) (*Sampler, error) {
	if b.Rows == 0 {
		b = Usual()
	}
	rules := policy.Rules{Classes: map[string]policy.ClassRule{}}
	for i := range classes {
		c := &classes[i]
		rule := policy.ClassRule{Visible: []string{}}
		for j := range c.Fields {
			if f := &c.Fields[j]; !secretnames.Internal(f.Name) {
				rule.Visible, rule.Lift = append(rule.Visible, f.Name), append(rule.Lift, f.Name)
			}
		}
		rules.Classes[c.FullName()] = rule
	}
	p, err := policy.New(rules, classes)
	if err != nil {
		return nil, fmt.Errorf("prepare a look at values: %w", err)
	}
	return &Sampler{source: s, policy: p.AtMost().InAnySchema(), bounds: b}, nil
}

// Look counts the kinds of values in fields of a class. It samples the newest records by key, and records in the
// source's order. For fields that have no value in these samples, it samples records with a value. On an error,
// nothing was scanned.
func (s *Sampler) Look(ctx context.Context, class *schema.Class, fields []string) (map[string]Seen, error) {
	l := &look{Sampler: s, class: class, tallies: map[string]*Tally{}, rows: s.bounds.Rows}
	for _, name := range fields {
		l.tallies[name] = &Tally{}
	}
	var errs []error
	if class.Spaces == nil {
		limited, cancel := context.WithTimeout(ctx, s.bounds.Time)
		defer cancel()
		errs = l.all(limited, fields)
	} else {
		errs = l.spaces(ctx, fields)
	}
	if l.read == 0 {
		if err := errors.Join(errs...); err != nil {
			return nil, err
		}
	}
	out := map[string]Seen{}
	for name, t := range l.tallies {
		out[name] = t.Counts()
	}
	return out, nil
}

// all takes every sample of one table.
func (l *look) all(ctx context.Context, fields []string) []error {
	errs := []error{l.first(ctx, fields)}
	if !l.whole {
		errs = append(errs, l.newest(ctx, fields), l.sparse(ctx, fields))
	}
	for _, name := range fields {
		if l.tallies[name].cut > 0 {
			l.tallies[name].cut = 0
			errs = append(errs, l.long(ctx, name))
		}
	}
	return errs
}

// A look is a scan in progress.
type look struct {
	*Sampler
	rows    int // maximum records of each sample
	class   *schema.Class
	tallies map[string]*Tally
	read    int  // number of completed samples
	whole   bool // the first sample contained every record
}

// first samples records in the source's order.
func (l *look) first(ctx context.Context, fields []string) error {
	n, err := l.take(ctx, &query.Find{Keys: paths(fields)}, false)
	l.whole = err == nil && n < l.rows
	return err
}

// newest samples the records with the greatest keys.
func (l *look) newest(ctx context.Context, fields []string) error {
	find := &query.Find{Keys: paths(fields)}
	for _, name := range l.class.Key {
		if f := l.class.Field(name); f == nil || f.Type.IsStructured() || f.Type == schema.Opaque {
			return nil
		}
		find.Order = append(find.Order, query.Sort{Path: query.Path{name}, Desc: true})
	}
	if find.Order == nil {
		return nil
	}
	_, err := l.take(ctx, find, true)
	return err
}

// sparse samples records with a value in at least one of the fields that had no value so far.
func (l *look) sparse(ctx context.Context, fields []string) error {
	var any query.Or
	for _, name := range fields {
		if f := l.class.Field(name); l.tallies[name].seen.Values == 0 && !f.NotNull {
			any = append(any, query.Exists{Path: query.Path{name}, Want: true})
		}
	}
	if any == nil {
		return nil
	}
	_, err := l.take(ctx, &query.Find{Keys: paths(fields), Where: any}, false)
	return err
}

// long samples the beginnings of values that are too long to read completely.
func (l *look) long(ctx context.Context, field string) error {
	permit, err := l.permit(&query.Find{Class: l.class.FullName(), Limit: mostLong, Part: &query.Part{Field: field, Length: mostValue},
		Where: query.Exists{Path: query.Path{field}, Want: true}}, false)
	if err != nil {
		return err
	}
	return l.reads(ctx, permit, mostLong, func(plan *policy.Plan, row value.Row) {
		for i, c := range plan.Columns {
			if c.Piece != nil && !c.Piece.Size {
				l.tallies[field].Add(row[i])
			}
		}
	})
}

// take counts the values of a sample and returns the number of records.
func (l *look) take(ctx context.Context, find *query.Find, ordered bool) (int, error) {
	find.Class, find.Limit = l.class.FullName(), l.rows
	permit, err := l.permit(find, ordered)
	if err != nil {
		return 0, err
	}
	n := 0
	err = l.reads(ctx, permit, l.rows, func(plan *policy.Plan, row value.Row) {
		n++
		for i, c := range plan.Columns {
			if t := l.tallies[c.Field.Name]; t != nil {
				t.Add(row[i])
			}
		}
	})
	return n, err
}

// permit returns the permit to read find.
func (l *look) permit(find *query.Find, ordered bool) (policy.Permit, error) {
	permit, err := l.policy.Read(sampling(), find)
	if err != nil {
		return permit, fmt.Errorf("look at values of %s: %w", find.Class, err)
	}
	if !ordered {
		if permit, err = permit.WithoutOrder(); err != nil {
			return permit, err
		}
	}
	return permit.Within(mostValue)
}

// reads calls add for at most most rows, until it reaches the size limit of a sample.
func (l *look) reads(ctx context.Context, permit policy.Permit, most int, add func(*policy.Plan, value.Row)) error {
	plan, err := permit.Plan()
	if err != nil {
		return err
	}
	rows, err := l.source.Read(ctx, permit)
	if err != nil {
		return err
	}
	n, bytes := 0, 0
	for row, err := range rows {
		if err != nil {
			return err
		}
		if n++; n > most || bytes > mostSample {
			break
		}
		for _, v := range row[:len(plan.Columns)] {
			bytes += len(v.Text())
		}
		add(&plan, row)
	}
	l.read++
	return ctx.Err()
}

// sampling returns the principal that reads samples. It may read everything.
func sampling() identity.Principal {
	return identity.Principal{ID: "sample", Kind: identity.Human, Scopes: []identity.Scope{identity.Read}}
}

func paths(fields []string) []query.Path {
	out := make([]query.Path, len(fields))
	for i, name := range fields {
		out[i] = query.Path{name}
	}
	return out
}

// IsKeyField reports whether a field belongs to the key of c or to a pointer. The values of such a field identify
// records, so they count as credentials only if they have a known form.
func IsKeyField(c *schema.Class, name string) bool {
	return slices.Contains(c.Key, name) || slices.ContainsFunc(c.Relations, func(r schema.Relation) bool { return slices.Contains(r.Fields, name) })
}

// Why returns the reason why the values of f suggest hiding the field, or "".
func (s Seen) Why(c *schema.Class, f *schema.Field) string {
	if IsKeyField(c, f.Name) {
		s.Random = 0
	}
	return s.Secret(f)
}
