package query

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/hint"
	"github.com/bailiwick-dev/bailiwick/internal/literals"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// group parses $group. Like MongoDB it requires _id, so that nobody groups all records by mistake.
func (o operand) group() Stage {
	if !o.is(value.Object) {
		o.refuse(invalid(o.at, "$group takes an object with _id and accumulators, not "+o.a()))
	}
	id, ok := o.get("_id")
	if !ok {
		o.refuse(invalidWithHint(o.at, "$group needs _id", `Write "_id": "$field" for a group for each value, or "_id": null for one group of all.`))
	}
	o.picks = nil
	return Group{Key: id.expr(), Accumulators: o.accumulators(), At: o.at}
}

// accumulators parses the members of o, except the _id of a $group.
func (o operand) accumulators() []Accumulator {
	var out []Accumulator
	for m := range o.members {
		switch ops := m.v.Members(); {
		case m.name == "_id" && o.name == "$group":
			continue
		case m.name == "_id":
			o.refuse(invalid(m.at, "output can't name _id, which is the bucket"))
		case len(ops) != 1:
			o.refuse(invalid(m.at, fmt.Sprintf(`%q takes one accumulator, as in {"$sum": "$amount"}`, problem.Cut(m.name))))
		default:
			o.refuse(literals.Name(m.name, m.at))
			a := m.member(ops[0].Name, ops[0].Value)
			if o.name == "$group" && slices.Contains(Picks, a.name) {
				out = append(out, a.pick(m.name))
				continue
			}
			out = append(out, a.accumulator(m.name))
		}
	}
	return out
}

// accumulator parses one member {$op: operand} of a stage, the column called name. It accepts $average for $avg, which
// is a common mistake. $count requires {}, as in MongoDB. The operands of quantiles have their own form.
func (o operand) accumulator(name string) Accumulator {
	if o.name == "$average" {
		o.name = "$avg"
	}
	a := Accumulator{Name: name, Op: o.name, At: o.at}
	switch {
	case slices.Contains(Picks, o.name):
		o.refuse(&problem.Error{Code: problem.Unsupported, Pointer: o.at, Detail: o.name + " is supported only in $group", Near: []string{"$first", "$last", "$push", "$min", "$max"}})
	case !slices.Contains(Accumulators, o.name):
		o.refuse(hint.Operator("accumulator", o.name, o.at, Accumulators))
	case o.name == "$percentile" || o.name == "$median":
		o.percentile(&a)
	case o.name != "$count":
		a.X = o.expr()
	case !o.is(value.Object) || len(o.v.Members()) > 0:
		o.refuse(invalidWithHint(o.at, "$count takes an empty object", `Write {"$count": {}}.`))
	default:
		o.node()
	}
	return a
}

// output parses the accumulators of a bucket stage, or returns none if they are missing.
func (o operand) output() []Accumulator {
	out, ok := o.get("output")
	if ok && len(out.v.Members()) == 0 {
		o.refuse(invalid(out.at, `output takes an object of accumulators, as in {"total": {"$sum": "$amount"}}`))
	}
	return out.accumulators()
}

// bucket parses $bucket. default must be outside of the boundaries, because otherwise it could be the key of a bucket.
func (o operand) bucket() Stage {
	o.object("groupBy", "boundaries", "default", "output")
	b := Bucket{By: o.need("groupBy").expr(), Boundaries: o.need("boundaries").boundaries(), At: o.at}
	if other, ok := o.get("default"); ok && o.err == nil {
		b.Default = other.scalar()
		first, alike := value.Compare(b.Default, b.Boundaries[0])
		last, _ := value.Compare(b.Default, b.Boundaries[len(b.Boundaries)-1])
		if alike && first >= 0 && last < 0 {
			o.refuse(invalid(other.at, "default can't be within the boundaries, where it is a bucket of its own"))
		}
	}
	b.Output = o.output()
	return b
}

// boundaries parses the boundaries of a $bucket: at least two constants of one type, each greater than the one before.
func (o operand) boundaries() []value.Value {
	if len(o.v.List()) < 2 {
		o.refuse(invalid(o.at, "boundaries takes a list of at least 2 constants"))
	}
	var out []value.Value
	for e := range o.members {
		e.name = "a boundary"
		e.node()
		v := e.scalar()
		if n := len(out); n > 0 {
			if c, alike := value.Compare(out[n-1], v); !alike || c >= 0 {
				o.refuse(invalid(e.at, "boundaries are of one type and ascend"))
			}
		}
		out = append(out, v)
	}
	return out
}

// scalar parses a constant that can be ordered.
func (o operand) scalar() value.Value {
	v := o.v
	var err error
	if date, ok := v.Get("$date"); ok && len(v.Members()) == 1 {
		v = o.member("$date", date).date()
	} else if _, typed := v.Get("__type"); typed {
		v, err = literals.Value(v, o.at)
	}
	switch {
	case err != nil:
	case v.Kind() == value.Null, v.Kind() == value.Array, v.Kind() == value.Object:
		err = invalid(o.at, fmt.Sprintf("%s takes a number, a string, a date or a boolean, not %s", o.name, literals.Kind(v)))
	case v.Kind() == value.String && strings.HasPrefix(v.Text(), "$"):
		err = invalid(o.at, o.name+" takes a constant, not a path")
	default:
		err = literals.Sane(v, o.at)
	}
	o.refuse(err)
	return v
}

func (o operand) bucketAuto() Stage {
	o.object("groupBy", "buckets", "output", "granularity")
	if g, ok := o.get("granularity"); ok {
		o.refuse(&problem.Error{Code: problem.Unsupported, Pointer: g.at, Detail: "granularity is not supported",
			Suggestion: "Use $bucket with the boundaries that you want."})
	}
	return BucketAuto{By: o.need("groupBy").expr(), Buckets: o.need("buckets").whole(1, MaxBuckets), Output: o.output(), At: o.at}
}
