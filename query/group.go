package query

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

func (p *parser) group(o operand) (Stage, error) {
	if o.v.Kind() != value.Object {
		return nil, invalid(o.at, "$group takes an object with _id and accumulators, not "+article(o.v.Kind().String()))
	}
	id, ok := o.get("_id")
	if !ok {
		return nil, hinted(o.at, "$group needs _id", `Write "_id": "$field" for a group for each value, or "_id": null for one group of all.`)
	}
	key, err := p.expr(id.v, id.deeper())
	if err != nil {
		return nil, err
	}
	g := Group{Key: key, At: o.at}
	g.Accumulators, err = p.accumulators(o)
	return g, err
}

// accumulators reads the members of o but _id.
func (p *parser) accumulators(o operand) ([]Accumulator, error) {
	var out []Accumulator
	for _, m := range o.v.Members() {
		here := o.to(m.Name)
		if m.Name == "_id" {
			if o.name == "output" {
				return nil, invalid(here.at, "output can't name _id, which is the bucket")
			}
			continue
		}
		if err := checkName(m.Name, here.at); err != nil {
			return nil, err
		}
		if m.Value.Kind() != value.Object || len(m.Value.Members()) != 1 {
			return nil, invalid(here.at, fmt.Sprintf(`%q takes one accumulator, as in {"$sum": "$amount"}`, problem.Cut(m.Name)))
		}
		op := m.Value.Members()[0]
		a, err := p.accumulator(operand{op.Name, op.Value, here.to(op.Name)})
		if err != nil {
			return nil, err
		}
		a.Name = m.Name
		out = append(out, a)
	}
	return out, nil
}

func (p *parser) accumulator(o operand) (Accumulator, error) {
	a := Accumulator{Op: o.name, At: o.at}
	known := false
	for _, op := range Accumulators {
		known = known || op == o.name
	}
	if !known {
		return a, unknown("accumulator", o.name, o.at, Accumulators)
	}
	if o.name == "$count" {
		if o.v.Kind() != value.Object || len(o.v.Members()) > 0 {
			return a, hinted(o.at, "$count takes an empty object", `Write {"$count": {}}.`)
		}
		return a, p.node(o.deeper())
	}
	var err error
	a.X, err = p.expr(o.v, o.deeper())
	return a, err
}

// by reads the groupBy of a bucket stage.
func (p *parser) by(o operand) (Expr, error) {
	by, err := o.need("groupBy")
	if err != nil {
		return nil, err
	}
	return p.expr(by.v, by.deeper())
}

// output reads the accumulators of a bucket stage; none when they are left out.
func (p *parser) output(o operand) ([]Accumulator, error) {
	out, ok := o.get("output")
	if !ok {
		return nil, nil
	}
	if out.v.Kind() != value.Object || len(out.v.Members()) == 0 {
		return nil, invalid(out.at, `output takes an object of accumulators, as in {"total": {"$sum": "$amount"}}`)
	}
	return p.accumulators(out)
}

func (p *parser) bucket(o operand) (Stage, error) {
	if err := o.object("groupBy", "boundaries", "default", "output"); err != nil {
		return nil, err
	}
	b := Bucket{At: o.at}
	var err error
	if b.By, err = p.by(o); err != nil {
		return nil, err
	}
	boundaries, err := o.need("boundaries")
	if err != nil {
		return nil, err
	}
	if b.Boundaries, err = p.boundaries(boundaries); err != nil {
		return nil, err
	}
	if other, ok := o.get("default"); ok {
		if b.Default, err = scalar(other); err != nil {
			return nil, err
		}
		first, alike := value.Compare(b.Default, b.Boundaries[0])
		last, _ := value.Compare(b.Default, b.Boundaries[len(b.Boundaries)-1])
		if alike && first >= 0 && last < 0 {
			return nil, invalid(other.at, "default can't stand within the boundaries, where it is a bucket of its own")
		}
	}
	b.Output, err = p.output(o)
	return b, err
}

func (p *parser) boundaries(o operand) ([]value.Value, error) {
	if o.v.Kind() != value.Array || len(o.v.List()) < 2 {
		return nil, invalid(o.at, "boundaries takes a list of at least 2 constants")
	}
	var out []value.Value
	for i, e := range o.v.List() {
		here := operand{"a boundary", e, o.to(strconv.Itoa(i))}
		if err := p.node(here.deeper()); err != nil {
			return nil, err
		}
		v, err := scalar(here)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			if c, alike := value.Compare(out[i-1], v); !alike || c >= 0 {
				return nil, invalid(here.at, "boundaries are of one type and ascend")
			}
		}
		out = append(out, v)
	}
	return out, nil
}

// scalar reads a constant that has a place in an order.
func scalar(o operand) (value.Value, error) {
	v, err := constantDate(o.v, o.at)
	if err != nil {
		return v, err
	}
	switch {
	case v.Kind() == value.Null, v.Kind() == value.Array, v.Kind() == value.Object:
		return v, invalid(o.at, fmt.Sprintf("%s takes a number, a string, a date or a boolean, not %s", o.name, article(v.Kind().String())))
	case v.Kind() == value.String && strings.HasPrefix(v.Text(), "$"):
		return v, invalid(o.at, o.name+" takes a constant, not a path")
	}
	return v, sane(v, o.at)
}

func (p *parser) bucketAuto(o operand) (Stage, error) {
	if err := o.object("groupBy", "buckets", "output", "granularity"); err != nil {
		return nil, err
	}
	if g, ok := o.get("granularity"); ok {
		return nil, &problem.Error{Code: problem.Unsupported, Pointer: g.at, Detail: "granularity is not supported",
			Suggestion: "Use $bucket with the boundaries that you want."}
	}
	b := BucketAuto{At: o.at}
	var err error
	if b.By, err = p.by(o); err != nil {
		return nil, err
	}
	n, err := o.need("buckets")
	if err != nil {
		return nil, err
	}
	if b.Buckets, err = n.whole(1, MaxBuckets); err != nil {
		return nil, err
	}
	b.Output, err = p.output(o)
	return b, err
}
