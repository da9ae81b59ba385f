package query

import (
	"fmt"
	"math"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/hint"
	"github.com/bailiwick-dev/bailiwick/value"
)

// Stages lists the stages of pipelines, in the order of docs/pipelines.md.
var Stages = []string{"$match", "$project", "$addFields", "$set", "$unset", "$group", "$sort", "$skip", "$limit", "$count",
	"$unwind", "$lookup", "$graphLookup", "$unionWith", "$facet", "$bucket", "$bucketAuto", "$setWindowFields", "$fill", "$densify", "$sortByCount", "$replaceRoot",
	"$replaceWith", "$sample", "$redact"}

// ParsePipeline parses a list of 1 to MaxStages stages at the JSON pointer at. Errors are problem.InvalidQuery,
// problem.Unsupported for features of MongoDB that are not implemented, or problem.SecurityBlocked for stages that
// write or run code, each with its pointer.
func ParsePipeline(v value.Value, at string) ([]Stage, error) {
	o := operand{parser: &parser{}, v: v, site: site{at: at}}
	if o.is(value.Array) && len(v.List()) == 0 {
		return nil, invalidWithHint(at, "a pipeline has at least one stage", `Use {"$match": {}} for all records.`)
	}
	stages := o.stages()
	if o.err != nil {
		return nil, o.err
	}
	return stages, nil
}

// stages parses a list of at most MaxStages stages, each an object with one key. It counts each stage with node, so
// that nested pipelines together are limited too.
func (o operand) stages() []Stage {
	if !o.is(value.Array) {
		o.refuse(invalid(o.at, "a pipeline is a list of stages, not "+o.a()))
	}
	if n := len(o.v.List()); n > MaxStages {
		o.refuse(invalid(o.at, fmt.Sprintf("a pipeline has at most %d stages, got %d", MaxStages, n)))
	}
	var stages []Stage
	for e := range o.members {
		if !e.is(value.Object) || len(e.v.Members()) != 1 {
			o.refuse(invalid(e.at, `a stage is an object with one key, as in {"$match": {"status": "open"}}`))
			break
		}
		e.node()
		for s := range e.members {
			stage := s.stage()
			if g, ok := stage.(Group); ok {
				stages = append(stages, s.around(g)...)
				continue
			}
			stages = append(stages, stage)
		}
	}
	return stages
}

// stage parses the stage called o.name. The refusal of an unknown name has the nearest stage. For a stage of MongoDB
// that isn't supported, it has an alternative.
func (o operand) stage() Stage {
	switch o.name {
	case "$match":
		return o.filter()
	case "$project":
		return o.project()
	case "$addFields", "$set":
		return o.addFields()
	case "$unset":
		return o.unset()
	case "$group":
		return o.group()
	case "$sort":
		return o.sort()
	case "$skip":
		return Skip{N: o.whole(0, math.MaxInt64), At: o.at}
	case "$limit":
		return Limit{N: o.whole(1, math.MaxInt64), At: o.at}
	case "$count":
		return CountStage{Name: o.column(), At: o.at}
	case "$unwind":
		return o.unwind()
	case "$lookup":
		return o.lookup()
	case "$graphLookup":
		return o.graphLookup()
	case "$unionWith":
		return o.unionWith()
	case "$facet":
		return o.facet()
	case "$bucket":
		return o.bucket()
	case "$bucketAuto":
		return o.bucketAuto()
	case "$setWindowFields":
		return o.windows()
	case "$fill":
		return o.fill()
	case "$densify":
		return o.densify()
	case "$sortByCount":
		return SortByCount{By: o.expr(), At: o.at}
	case "$replaceRoot":
		o.object("newRoot")
		return ReplaceRoot{Root: o.need("newRoot").expr(), At: o.at}
	case "$replaceWith":
		return ReplaceRoot{Root: o.expr(), At: o.at}
	case "$sample":
		o.object("size")
		return Sample{N: o.need("size").whole(1, math.MaxInt64), At: o.at}
	case "$redact":
		return o.redact()
	}
	o.refuse(hint.Operator("stage", o.name, o.at, Stages))
	return nil
}

// filter parses a where object, which may contain $expr at its top level or in a $and there.
func (o operand) filter() Stage {
	if !o.is(value.Object) {
		o.refuse(invalid(o.at, "$match takes a where object, not "+o.a()))
	}
	o.match, o.matched = 2, nil
	m := Match{Where: o.where(), At: o.at}
	switch len(o.matched) {
	case 0:
	case 1:
		m.If = o.matched[0]
	default:
		m.If = Call{Op: "$and", Args: o.matched, At: o.at}
	}
	return m
}

// sort parses the operand of $sort, or sortBy of $setWindowFields: 1 to MaxSort paths in order, 1 ascending or -1
// descending. The refusal of a sort by {$meta: …} names $meta.
func (o operand) sort() Stage {
	s := SortStage{At: o.at}
	if n := len(o.v.Members()); n > MaxSort {
		o.refuse(invalid(o.at, fmt.Sprintf("%s takes at most %d fields, got %d", o.name, MaxSort, n)))
	} else if n == 0 {
		o.refuse(invalid(o.at, o.name+` takes an object of fields, as in {"created_at": -1}`))
	}
	for f := range o.members {
		path, err := CheckPath(f.name, f.at)
		o.refuse(err)
		if meta, ok := f.get("$meta"); ok {
			o.refuse(hint.Operator("expression", "$meta", meta.at, nil))
		}
		n, ok := f.v.AsInt()
		switch strings.ToLower(f.v.Text()) { // the form in other languages
		case "asc", "ascending":
			n, ok = 1, true
		case "desc", "descending":
			n, ok = -1, true
		}
		if !ok || n != 1 && n != -1 {
			o.refuse(invalid(f.at, "a field of "+o.name+" is 1 for ascending or -1 for descending"))
		}
		s.Order = append(s.Order, Sort{Path: path, Desc: n < 0})
	}
	return s
}

// unwind parses both forms of $unwind, "$path" and an object. The path must begin with a dollar, as in MongoDB.
// Unwind.Path is without it.
func (o operand) unwind() Stage {
	u := Unwind{At: o.at}
	path := o
	if o.is(value.Object) {
		o.object("path", "includeArrayIndex", "preserveNullAndEmptyArrays")
		path = o.need("path")
		if index, ok := o.get("includeArrayIndex"); ok {
			u.Index = index.column()
		}
		if keep, ok := o.get("preserveNullAndEmptyArrays"); ok {
			if u.Keep = keep.v.Bool(); !keep.is(value.Bool) {
				o.refuse(invalid(keep.at, "preserveNullAndEmptyArrays takes true or false"))
			}
		}
	}
	name, ok := strings.CutPrefix(path.v.Text(), "$")
	if !path.is(value.String) || !ok {
		o.refuse(invalid(path.at, `$unwind takes a path that begins with $, as in "$labels"`))
	}
	var err error
	u.Path, err = CheckPath(name, path.at)
	o.refuse(err)
	return u
}

// outcome parses a system variable of $redact. keep reports whether it keeps the whole record.
func (o operand) outcome() (keep, ok bool) {
	t := o.v.Text()
	return t != "$$PRUNE", o.is(value.String) && (t == "$$KEEP" || t == "$$DESCEND" || t == "$$PRUNE")
}

// redact parses the forms of $redact that keep or drop the whole record.
func (o operand) redact() Stage {
	m := Match{At: o.at}
	if keep, ok := o.outcome(); ok {
		m.If = Literal{Value: value.OfBool(keep), At: o.at}
		return m
	}
	refused := invalidWithHint(o.at, "$redact takes $$KEEP, $$PRUNE, or a $cond with one of them on each side",
		`Write {"$cond": [condition, "$$KEEP", "$$PRUNE"]}, or use $match with $expr.`)
	cond, ok := o.get("$cond")
	if !ok || len(o.v.Members()) != 1 {
		o.refuse(refused)
		return nil
	}
	parts := cond.branches()
	then, ok1 := parts[1].outcome()
	otherwise, ok2 := parts[2].outcome()
	if !ok1 || !ok2 {
		o.refuse(refused)
		return nil
	}
	switch m.If = parts[0].expr(); {
	case then == otherwise:
		m.If = Literal{Value: value.OfBool(then), At: o.at}
	case !then:
		m.If = Call{Op: "$not", Args: []Expr{m.If}, At: parts[0].at}
	}
	return m
}
