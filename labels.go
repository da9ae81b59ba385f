package bailiwick

import (
	"context"
	"slices"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/review"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// maxLabels is the number of records that Labels asks for at once.
const maxLabels = 1000

// Labelled are records whose labels are asked for: those of Class whose Key has one of Values.
type Labelled struct {
	Class  string        // as the caller addresses it, or "source.Class"
	Key    string        // a field of Class, as of policy.Relation.TargetKey; "" means its id
	Values []value.Value // ids, as texts or as the source has them
	Raw    bool          // also records that the canonical filter leaves out
}

// Labels returns what records are called (policy.View.Label), by the text of their key, as far as the caller sees
// them. A record that the caller doesn't see, that doesn't exist or that has no label is absent. At most the first
// 1,000 values are looked up.
func (c *Call) Labels(ctx context.Context, of Labelled) (map[string]string, error) {
	who := c.reading()
	v, err := c.policy.View(who, of.Class, "", of.Raw)
	if err != nil || v.Label() == "" || v.Class().Recordless {
		return nil, nil //nolint:nilerr // a class that the caller doesn't see has no labels
	}
	key := of.Key
	if own := v.Key(); key == "" && len(own) == 1 {
		key = own[0]
	}
	f := v.Field(key)
	if f == nil || v.Mask(key) != nil || len(of.Values) == 0 {
		return nil, nil
	}
	values := slices.Clone(of.Values[:min(len(of.Values), maxLabels)])
	for i, id := range values { // ids are texts in answers, whatever type the source has
		if n, err := value.Read([]byte(id.Text()), 0); f.Type == schema.Integer && err == nil && n.Kind() == value.Int {
			values[i] = n
		}
	}
	q := &query.Find{Class: v.Class().FullName(), Where: query.In{Path: query.Path{key}, Values: values},
		Keys: []query.Path{{key}, {v.Label()}}, Limit: maxLabels, Raw: of.Raw}
	rows, err := c.gateway.rows(ctx, c.policy, who, q, 0)
	if err != nil {
		return nil, err
	}
	plan := rows.Plan()
	at := func(name string) int {
		return slices.IndexFunc(plan.Columns, func(col policy.Column) bool { return col.Join < 0 && col.Field.Name == name })
	}
	id, label := at(key), at(v.Label())
	out := map[string]string{}
	for row, err := range rows.All() {
		if err != nil {
			return nil, err
		}
		if text := row.Values[label].String(); !row.Values[label].IsNull() && text != "" {
			out[row.Values[id].String()] = text
		}
	}
	return out, nil
}

// refer sets the labels of pointers in a sheet. Without them a sheet has ids alone.
//
// raw also gives those of records that the canonical filter leaves out, which only people see here.
func (c *Call) refer(ctx context.Context, s *review.Sheet, raw bool) {
	s.Refer(func(to review.Pointer, values []value.Value) map[string]string {
		found, err := c.Labels(ctx, Labelled{Class: to.Class, Key: to.Key, Values: values, Raw: raw})
		if err != nil {
			return nil
		}
		return found
	})
}

// reading returns the caller with the scope read: for a reviewer, the scope review suffices to read what is reviewed.
// Classes, tenants and filters still apply.
func (c *Call) reading() identity.Principal {
	who := c.who
	if who.Has(identity.Review) && !who.Has(identity.Read) {
		who.Scopes = append(slices.Clone(who.Scopes), identity.Read)
	}
	return who
}
