package query

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// Stages are all stages of a pipeline, by name, in the order of docs/pipelines.md.
var Stages = []string{"$match", "$project", "$addFields", "$set", "$unset", "$group", "$sort", "$skip", "$limit", "$count",
	"$unwind", "$lookup", "$graphLookup", "$unionWith", "$facet", "$bucket", "$bucketAuto", "$sortByCount", "$replaceRoot",
	"$replaceWith", "$sample", "$redact"}

// ParsePipeline reads a list of 1 to MaxStages stages that stands at the JSON pointer at. Errors are
// problem.InvalidQuery, problem.Unsupported for what MongoDB knows and nothing here does, or problem.SecurityBlocked
// for what writes or runs code, with the pointer of the place.
func ParsePipeline(v value.Value, at string) ([]Stage, error) {
	p := &parser{}
	if v.Kind() == value.Array && len(v.List()) == 0 {
		return nil, hinted(at, "a pipeline has at least one stage", `Use {"$match": {}} for all records.`)
	}
	return p.stages(v, site{at: at})
}

// A site is where the parser stands in a pipeline.
type site struct {
	at     string   // JSON pointer
	depth  int      // expressions and pipelines around it
	vars   []string // the variables that can be named here, without dollars
	inside string   // the $facet or $lookup around it, "" for none
}

func (s site) to(token string) site {
	s.at = Pointer(s.at, token)
	return s
}

func (s site) deeper() site {
	s.depth++
	return s
}

// with adds variables.
func (s site) with(names ...string) site {
	s.vars = append(slices.Clip(s.vars), names...)
	return s
}

func (p *parser) stages(v value.Value, s site) ([]Stage, error) {
	if v.Kind() != value.Array {
		return nil, invalid(s.at, "a pipeline is a list of stages, not "+article(v.Kind().String()))
	}
	if n := len(v.List()); n > MaxStages {
		return nil, invalid(s.at, fmt.Sprintf("a pipeline has at most %d stages; got %d", MaxStages, n))
	}
	var stages []Stage
	for i, e := range v.List() {
		here := s.to(strconv.Itoa(i))
		if e.Kind() != value.Object || len(e.Members()) != 1 {
			return nil, invalid(here.at, `a stage is an object with one key, as in {"$match": {"status": "open"}}`)
		}
		if err := p.node(here); err != nil {
			return nil, err
		}
		m := e.Members()[0]
		stage, err := p.stage(operand{m.Name, m.Value, here.to(m.Name)})
		if err != nil {
			return nil, err
		}
		stages = append(stages, stage)
	}
	return stages, nil
}

// node counts what a pipeline is made of: stages, expressions, fields and boundaries.
func (p *parser) node(s site) error {
	if p.exprs++; p.exprs > MaxExprNodes {
		return invalid(s.at, fmt.Sprintf("a pipeline has at most %d stages, fields and expressions in all", MaxExprNodes))
	}
	if s.depth > MaxExprDepth {
		return invalid(s.at, fmt.Sprintf("a pipeline is nested deeper than %d", MaxExprDepth))
	}
	return nil
}

func (p *parser) stage(o operand) (Stage, error) {
	switch o.name {
	case "$match":
		return p.match(o)
	case "$project":
		return p.project(o)
	case "$addFields", "$set":
		return p.addFields(o)
	case "$unset":
		return p.unset(o)
	case "$group":
		return p.group(o)
	case "$sort":
		return sortStage(o)
	case "$skip":
		n, err := o.whole(0, math.MaxInt64)
		return Skip{N: n, At: o.at}, err
	case "$limit":
		n, err := o.whole(1, math.MaxInt64)
		return Limit{N: n, At: o.at}, err
	case "$count":
		name, err := o.column()
		return CountStage{Name: name, At: o.at}, err
	case "$unwind":
		return unwind(o)
	case "$lookup":
		return p.lookup(o)
	case "$graphLookup":
		return p.graphLookup(o)
	case "$unionWith":
		return p.unionWith(o)
	case "$facet":
		return p.facet(o)
	case "$bucket":
		return p.bucket(o)
	case "$bucketAuto":
		return p.bucketAuto(o)
	case "$sortByCount":
		by, err := p.expr(o.v, o.deeper())
		return SortByCount{By: by, At: o.at}, err
	case "$replaceRoot", "$replaceWith":
		return p.replaceRoot(o)
	case "$sample":
		return sample(o)
	case "$redact":
		return p.redact(o)
	}
	return nil, unknown("stage", o.name, o.at, Stages)
}

// match reads a where object, in which $expr may stand at the top or in a $and there.
func (p *parser) match(o operand) (Stage, error) {
	if o.v.Kind() != value.Object {
		return nil, invalid(o.at, "$match takes a where object, not "+article(o.v.Kind().String()))
	}
	p.reading, p.matched = &o.site, nil
	parts, err := p.object(o.v, place{at: o.at, depth: 1, level: 1})
	found := p.matched
	p.reading, p.matched = nil, nil
	if err != nil {
		return nil, err
	}
	m := Match{Where: all(parts), At: o.at}
	switch len(found) {
	case 0:
	case 1:
		m.If = found[0]
	default:
		m.If = Call{Op: "$and", Args: found, At: o.at}
	}
	return m, nil
}

func sortStage(o operand) (Stage, error) {
	members := o.v.Members()
	if o.v.Kind() != value.Object || len(members) == 0 {
		return nil, invalid(o.at, `$sort takes an object of fields, as in {"created_at": -1}`)
	}
	if len(members) > MaxSort {
		return nil, invalid(o.at, fmt.Sprintf("$sort takes at most %d fields; got %d", MaxSort, len(members)))
	}
	order := make([]Sort, len(members))
	for i, m := range members {
		here := o.to(m.Name)
		path, err := CheckPath(m.Name, here.at)
		if err != nil {
			return nil, err
		}
		n, ok := m.Value.AsInt()
		if _, meta := m.Value.Get("$meta"); meta {
			return nil, unknown("expression", "$meta", Pointer(here.at, "$meta"), nil)
		}
		if !ok || n != 1 && n != -1 {
			return nil, invalid(here.at, "a field of $sort is 1 for ascending or -1 for descending")
		}
		order[i] = Sort{Path: path, Desc: n < 0}
	}
	return SortStage{Order: order, At: o.at}, nil
}

func unwind(o operand) (Stage, error) {
	u := Unwind{At: o.at}
	path := o
	if o.v.Kind() == value.Object {
		err := o.keys("path", "includeArrayIndex", "preserveNullAndEmptyArrays")
		if err != nil {
			return nil, err
		}
		if path, err = o.need("path"); err != nil {
			return nil, err
		}
		if index, ok := o.get("includeArrayIndex"); ok {
			if u.Index, err = index.column(); err != nil {
				return nil, err
			}
		}
		if keep, ok := o.get("preserveNullAndEmptyArrays"); ok {
			if keep.v.Kind() != value.Bool {
				return nil, invalid(keep.at, "preserveNullAndEmptyArrays takes true or false")
			}
			u.Keep = keep.v.Bool()
		}
	}
	name, ok := strings.CutPrefix(path.v.Text(), "$")
	if path.v.Kind() != value.String || !ok {
		return nil, invalid(path.at, `$unwind takes a path that begins with $, as in "$labels"`)
	}
	var err error
	u.Path, err = CheckPath(name, path.at)
	return u, err
}

func sample(o operand) (Stage, error) {
	if err := o.object("size"); err != nil {
		return nil, err
	}
	size, err := o.need("size")
	if err != nil {
		return nil, err
	}
	n, err := size.whole(1, math.MaxInt64)
	return Sample{N: n, At: o.at}, err
}

// redact reads the forms whose outcome is for the whole record.
func (p *parser) redact(o operand) (Stage, error) {
	keeps := func(v value.Value) (keep, ok bool) {
		t := v.Text()
		return t != "$$PRUNE", v.Kind() == value.String && (t == "$$KEEP" || t == "$$DESCEND" || t == "$$PRUNE")
	}
	if keep, ok := keeps(o.v); ok {
		return Match{If: Literal{Value: value.OfBool(keep), At: o.at}, At: o.at}, nil
	}
	refused := hinted(o.at, "$redact takes $$KEEP, $$PRUNE, or a $cond with one of them on each side", `Write {"$cond": [condition, "$$KEEP", "$$PRUNE"]}, or use $match with $expr.`)
	cond, ok := o.get("$cond")
	if !ok || len(o.v.Members()) != 1 {
		return nil, refused
	}
	parts, err := cond.condition()
	if err != nil {
		return nil, err
	}
	then, ok1 := keeps(parts[1].v)
	otherwise, ok2 := keeps(parts[2].v)
	if !ok1 || !ok2 {
		return nil, refused
	}
	test, err := p.expr(parts[0].v, parts[0].deeper())
	switch {
	case err != nil:
		return nil, err
	case then == otherwise:
		test = Literal{Value: value.OfBool(then), At: o.at}
	case !then:
		test = Call{Op: "$not", Args: []Expr{test}, At: parts[0].at}
	}
	return Match{If: test, At: o.at}, nil
}

// An operand is what a stage or an operator is given, where it stands.
type operand struct {
	name string // of the stage, the operator, or the key in it
	v    value.Value
	site
}

// get returns the member called key.
func (o operand) get(key string) (operand, bool) {
	v, ok := o.v.Get(key)
	return operand{key, v, o.to(key)}, ok
}

// need returns the member called key, which can't be left out.
func (o operand) need(key string) (operand, error) {
	m, ok := o.get(key)
	if !ok {
		return m, invalid(o.at, fmt.Sprintf("%s needs %s", o.name, key))
	}
	return m, nil
}

// object refuses all but an object of the known keys.
func (o operand) object(known ...string) error {
	if o.v.Kind() != value.Object {
		return invalid(o.at, fmt.Sprintf("%s takes an object with %s, not %s", o.name, listed(known), article(o.v.Kind().String())))
	}
	return o.keys(known...)
}

func (o operand) keys(known ...string) error {
	for _, m := range o.v.Members() {
		if !slices.Contains(known, m.Name) {
			return &problem.Error{Code: problem.InvalidQuery, Pointer: Pointer(o.at, m.Name), Near: problem.Nearest(m.Name, known, 3),
				Detail: fmt.Sprintf("%s has no key %q; it takes %s", o.name, problem.Cut(m.Name), listed(known))}
		}
	}
	return nil
}

// whole reads a whole number from least to most.
func (o operand) whole(least, most int64) (int64, error) {
	n, ok := o.v.AsInt()
	if ok && n >= least && n <= most {
		return n, nil
	}
	if most == math.MaxInt64 {
		return 0, invalid(o.at, fmt.Sprintf("%s takes a whole number, %d or more", o.name, least))
	}
	return 0, invalid(o.at, fmt.Sprintf("%s takes a whole number from %d to %d", o.name, least, most))
}

// column reads the name of a column to make.
func (o operand) column() (string, error) {
	if o.v.Kind() != value.String {
		return "", invalid(o.at, fmt.Sprintf("%s takes a name, not %s", o.name, article(o.v.Kind().String())))
	}
	return o.v.Text(), checkName(o.v.Text(), o.at)
}

// class reads the name of a class.
func (o operand) class() (string, error) {
	if o.v.Kind() != value.String || o.v.Text() == "" {
		return "", invalid(o.at, o.name+" takes the name of a class")
	}
	return o.v.Text(), nil
}

// path reads a path without a dollar.
func (o operand) path() (Path, error) {
	if o.v.Kind() != value.String {
		return nil, invalid(o.at, fmt.Sprintf("%s takes the name of a field, not %s", o.name, article(o.v.Kind().String())))
	}
	return CheckPath(o.v.Text(), o.at)
}

// checkName refuses what isn't the name of one column or member.
func checkName(s, at string) error {
	if strings.Contains(s, ".") {
		return invalid(at, fmt.Sprintf("%q can't have a dot: it names one field", problem.Cut(s)))
	}
	_, err := CheckPath(s, at)
	return err
}

// listed writes names as a sentence does.
func listed(names []string) string {
	if last := len(names) - 1; last > 0 {
		return strings.Join(names[:last], ", ") + " and " + names[last]
	}
	return strings.Join(names, "")
}
