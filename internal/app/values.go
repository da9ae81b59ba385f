package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/policyops"
	"github.com/bailiwick-dev/bailiwick/internal/samples"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/source"
)

// These limit the time to sample values for an operator: by default, and on request.
const (
	valuesUsual    = 30 * time.Second
	valuesThorough = time.Hour
)

// Values are the results of sampling the values that agents could see.
type Values struct {
	Fields   []FieldValues      // the sampled fields, by class and field
	Withheld []samples.Withheld // the fields that the gateway hides because of their values
	Lifted   []samples.Withheld // the fields that the rules show despite their values
	Missed   []string           // the classes that could not be sampled
}

// FieldValues counts the sampled values of a field.
type FieldValues struct {
	Class  string `json:"class"`
	Field  string `json:"field"`
	Values int    `json:"values"`
	// Secrets is the number of values that look like credentials. Random is the number that look like keys or hashes
	// of an unknown form.
	Secrets int    `json:"credentials"`
	Random  int    `json:"random"`
	Why     string `json:"hidden_because,omitempty"` // with Lifted, the reason that would hide it
	Lifted  bool   `json:"lifted,omitempty"`
}

// Sample samples the values that agents could see under the rules of s. In s, it hides the fields that a gateway
// would hide because their values look like credentials. If thorough is true, it takes as much time as necessary.
func (s *Survey) Sample(ctx context.Context, c *config.Config, thorough bool) (err error) {
	if c.Unsampled && !thorough {
		return nil
	}
	most, bounds := valuesUsual, samples.Usual()
	if thorough {
		most, bounds = valuesThorough, samples.Thorough()
	}
	limited, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	var targets []samples.Target
	lifted := map[string][]string{}
	for _, e := range s.Policy.ExposedClasses() {
		t := samples.Target{Class: e.Class}
		for _, f := range e.Fields {
			if samples.Can(f) {
				t.Fields = append(t.Fields, f.Name)
			}
		}
		if t.Fields != nil {
			targets, lifted[e.Class.FullName()] = append(targets, t), e.Lifted
		}
	}
	sources, end, err := openTargets(limited, c, targets)
	defer func() { err = errors.Join(err, end()) }()
	if err != nil {
		return err
	}
	var mu sync.Mutex
	v := &Values{}
	hides := map[string][]string{}
	v.Missed = samples.Look(limited, sources, targets, bounds, func(t samples.Target, seen map[string]samples.Seen) {
		mu.Lock()
		defer mu.Unlock()
		for _, name := range t.Fields {
			class, n := t.Class.FullName(), seen[name]
			w := samples.Withheld{Class: class, Field: name, Why: n.Why(t.Class, t.Class.Field(name))}
			v.Fields = append(v.Fields, FieldValues{class, name, n.Values, n.Secrets, n.Random, w.Why, slices.Contains(lifted[class], name)})
			switch {
			case w.Why == "":
			case slices.Contains(lifted[class], name):
				v.Lifted = append(v.Lifted, w)
			default:
				v.Withheld, hides[class] = append(v.Withheld, w), append(hides[class], name)
			}
		}
	})
	v.sort()
	s.Values = v
	return errors.Join(ctx.Err(), s.withhold(c, hides))
}

// withhold compiles the rules of c again, with the given fields hidden.
func (s *Survey) withhold(c *config.Config, fields map[string][]string) (err error) {
	if len(fields) == 0 || c.Unsampled {
		return nil
	}
	rules := s.Policy.Rules()
	rules.Withheld = fields
	p, err := policy.New(rules, s.Policy.Catalogue())
	if err != nil {
		return fmt.Errorf("hide fields whose values look like credentials: %w", err)
	}
	s.Policy = p.AtMost()
	for i, w := range s.Values.Withheld {
		_, s.Values.Withheld[i].Whole = p.WithheldFields(w.Class)
	}
	s.Regime, err = policyops.NewRegime(s.Policy, offers(c), s.Queries, s.Metrics)
	return err
}

// sort orders v by class and field.
func (v *Values) sort() {
	by := func(a, b samples.Withheld) int { return order(a.Class, b.Class, a.Field, b.Field) }
	slices.SortFunc(v.Withheld, by)
	slices.SortFunc(v.Lifted, by)
	slices.SortFunc(v.Fields, func(a, b FieldValues) int { return order(a.Class, b.Class, a.Field, b.Field) })
}

// order compares a with b and, if they are equal, c with d.
func order(a, b, c, d string) int { return cmp.Or(cmp.Compare(a, b), cmp.Compare(c, d)) }

// openTargets opens the sources of c that contain the targets. end closes them.
func openTargets(ctx context.Context, c *config.Config, targets []samples.Target) (sources map[string]source.Source, end func() error, err error) {
	var closers []func() error
	end = func() error {
		var errs []error
		for _, close := range closers {
			errs = append(errs, close())
		}
		return errors.Join(errs...)
	}
	in := map[string]bool{}
	for _, t := range targets {
		in[t.Class.Source] = true
	}
	sources = map[string]source.Source{}
	for _, s := range c.Sources {
		if !in[s.Name] {
			continue
		}
		opened, err := openAsOperator(ctx, c, s)
		if err != nil {
			return nil, end, err
		}
		closers = append(closers, opened.Close)
		sources[s.Name] = opened
	}
	return sources, end, nil
}
