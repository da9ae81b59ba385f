package query

import (
	"fmt"

	"github.com/bailiwick-dev/bailiwick/value"
)

// defaultGraphDepth is how many links a $graphLookup follows that names no maxDepth.
const defaultGraphDepth = 10

func (p *parser) lookup(o operand) (Stage, error) {
	if err := o.object("from", "localField", "foreignField", "let", "pipeline", "as"); err != nil {
		return nil, err
	}
	l := Lookup{At: o.at}
	var err error
	if l.From, l.As, err = o.fromAs(); err != nil {
		return nil, err
	}
	local, hasLocal := o.get("localField")
	foreign, hasForeign := o.get("foreignField")
	pipeline, hasPipeline := o.get("pipeline")
	switch {
	case hasLocal != hasForeign:
		return nil, invalid(o.at, "$lookup takes localField and foreignField together")
	case !hasLocal && !hasPipeline:
		return nil, invalid(o.at, "$lookup needs localField and foreignField, or pipeline")
	}
	if hasLocal {
		if l.Local, err = local.path(); err != nil {
			return nil, err
		}
		if l.Foreign, err = foreign.path(); err != nil {
			return nil, err
		}
	}
	names, err := p.let(o, &l)
	if err != nil || !hasPipeline {
		return l, err
	}
	pipeline.inside = "$lookup"
	l.Stages, err = p.stages(pipeline.v, pipeline.deeper().with(names...))
	return l, err
}

// let reads the variables of a $lookup, and returns their names.
func (p *parser) let(o operand, l *Lookup) ([]string, error) {
	let, ok := o.get("let")
	if !ok {
		return nil, nil
	}
	if let.v.Kind() != value.Object {
		return nil, invalid(let.at, "let takes an object of variables, not "+article(let.v.Kind().String()))
	}
	if _, ok := o.get("pipeline"); !ok {
		return nil, invalid(let.at, "let goes with pipeline")
	}
	var names []string
	for _, m := range let.v.Members() {
		here := let.to(m.Name)
		if err := checkVariable(m.Name, here.at); err != nil {
			return nil, err
		}
		x, err := p.expr(m.Value, here.deeper())
		if err != nil {
			return nil, err
		}
		l.Let = append(l.Let, Computed{Name: Path{m.Name}, Value: x, At: here.at})
		names = append(names, m.Name)
	}
	return names, nil
}

// fromAs reads the class that is read, and the column that the stage adds.
func (o operand) fromAs() (from, as string, err error) {
	class, err := o.need("from")
	if err != nil {
		return "", "", err
	}
	if from, err = class.class(); err != nil {
		return "", "", err
	}
	column, err := o.need("as")
	if err != nil {
		return "", "", err
	}
	as, err = column.column()
	return from, as, err
}

func (p *parser) graphLookup(o operand) (Stage, error) {
	err := o.object("from", "startWith", "connectFromField", "connectToField", "as", "maxDepth", "depthField", "restrictSearchWithMatch")
	if err != nil {
		return nil, err
	}
	g := GraphLookup{MaxDepth: defaultGraphDepth, At: o.at}
	if g.From, g.As, err = o.fromAs(); err != nil {
		return nil, err
	}
	start, err := o.need("startWith")
	if err != nil {
		return nil, err
	}
	if g.Start, err = p.expr(start.v, start.deeper()); err != nil {
		return nil, err
	}
	for _, link := range []struct {
		key string
		to  *Path
	}{{"connectFromField", &g.ConnectFrom}, {"connectToField", &g.ConnectTo}} {
		field, err := o.need(link.key)
		if err != nil {
			return nil, err
		}
		if *link.to, err = field.path(); err != nil {
			return nil, err
		}
	}
	if depth, ok := o.get("maxDepth"); ok {
		if g.MaxDepth, err = depth.whole(0, MaxGraphDepth); err != nil {
			return nil, err
		}
	}
	if name, ok := o.get("depthField"); ok {
		if g.Depth, err = name.column(); err != nil {
			return nil, err
		}
	}
	if match, ok := o.get("restrictSearchWithMatch"); ok {
		g.Restrict, err = p.where(match.v, place{at: match.at, depth: 1})
	}
	return g, err
}

func (p *parser) unionWith(o operand) (Stage, error) {
	u := UnionWith{At: o.at}
	var err error
	if o.v.Kind() == value.String {
		u.Class, err = o.class()
		return u, err
	}
	if err := o.object("coll", "pipeline"); err != nil {
		return nil, err
	}
	class, err := o.need("coll")
	if err != nil {
		return nil, err
	}
	if u.Class, err = class.class(); err != nil {
		return nil, err
	}
	if pipeline, ok := o.get("pipeline"); ok {
		u.Stages, err = p.stages(pipeline.v, pipeline.deeper())
	}
	return u, err
}

func (p *parser) facet(o operand) (Stage, error) {
	members := o.v.Members()
	switch {
	case o.inside != "":
		return nil, invalid(o.at, "$facet can't stand inside of "+o.inside)
	case o.v.Kind() != value.Object || len(members) == 0:
		return nil, invalid(o.at, `$facet takes an object of pipelines, as in {"total": [{"$count": "n"}]}`)
	case len(members) > MaxBranches:
		return nil, invalid(o.at, fmt.Sprintf("$facet takes at most %d pipelines; got %d", MaxBranches, len(members)))
	}
	f := Facet{At: o.at}
	for _, m := range members {
		here := o.to(m.Name)
		if err := checkName(m.Name, here.at); err != nil {
			return nil, err
		}
		if m.Value.Kind() == value.Array && len(m.Value.List()) == 0 {
			return nil, invalid(here.at, "a pipeline of $facet has at least one stage")
		}
		here.inside = "$facet"
		stages, err := p.stages(m.Value, here.deeper())
		if err != nil {
			return nil, err
		}
		f.Branches = append(f.Branches, Branch{Name: m.Name, Stages: stages, At: here.at})
	}
	return f, nil
}

// inQuery reads $inQuery, $notInQuery, $select and $dontSelect.
func (p *parser) inQuery(path Path, m value.Member, o place) (Filter, error) {
	if o.within {
		return nil, invalid(o.at, m.Name+" can't stand inside of $elemMatch")
	}
	in := InQuery{Path: path, Not: m.Name == "$notInQuery" || m.Name == "$dontSelect", At: o.at}
	from := operand{m.Name, m.Value, site{at: o.at}}
	var err error
	if m.Name == "$select" || m.Name == "$dontSelect" {
		if err = from.object("query", "key"); err != nil {
			return nil, err
		}
		key, err := from.need("key")
		if err != nil {
			return nil, err
		}
		if in.Key, err = key.path(); err != nil {
			return nil, err
		}
		if from, err = from.need("query"); err != nil {
			return nil, err
		}
	}
	if err = from.object("className", "where"); err != nil {
		return nil, err
	}
	class, err := from.need("className")
	if err != nil {
		return nil, err
	}
	if in.Class, err = class.class(); err != nil {
		return nil, err
	}
	if where, ok := from.get("where"); ok {
		o.at, o.level = where.at, 0
		in.Where, err = p.where(where.v, o.deeper())
	}
	return in, err
}
