package query

import (
	"fmt"

	"github.com/bailiwick-dev/bailiwick/internal/literals"
	"github.com/bailiwick-dev/bailiwick/value"
)

// defaultGraphDepth is the default for the maxDepth of a $graphLookup.
const defaultGraphDepth = 10

// lookup parses $lookup with localField and foreignField, with pipeline, or with both, like MongoDB 5.0. The variables
// of let are only visible in the pipeline, together with those of the stages around it.
func (o operand) lookup() Stage {
	o.object("from", "localField", "foreignField", "let", "pipeline", "as")
	l := Lookup{From: o.need("from").class(), As: o.need("as").column(), At: o.at}
	local, hasLocal := o.get("localField")
	foreign, hasForeign := o.get("foreignField")
	pipeline, hasPipeline := o.get("pipeline")
	switch {
	case hasLocal != hasForeign:
		o.refuse(invalid(o.at, "$lookup takes localField and foreignField together"))
	case hasLocal:
		l.Local, l.Foreign = local.path(), foreign.path()
	case !hasPipeline:
		o.refuse(invalid(o.at, "$lookup needs localField and foreignField, or pipeline"))
	}
	var names []string
	if let, ok := o.get("let"); ok {
		if !let.is(value.Object) {
			o.refuse(invalid(let.at, "let takes an object of variables, not "+let.a()))
		}
		if !hasPipeline {
			o.refuse(invalid(let.at, "let goes with pipeline"))
		}
		for m := range let.members {
			names = append(names, m.variable(m.name))
			l.Let = append(l.Let, Computed{Name: Path{m.name}, Value: m.expr(), At: m.at})
		}
	}
	if hasPipeline {
		pipeline.inside = "$lookup"
		l.Stages = pipeline.pipeline(names...)
	}
	return l
}

// graphLookup parses $graphLookup. Unlike in MongoDB, maxDepth has a default and an upper bound.
func (o operand) graphLookup() Stage {
	o.object("from", "startWith", "connectFromField", "connectToField", "as", "maxDepth", "depthField", "restrictSearchWithMatch")
	g := GraphLookup{From: o.need("from").class(), As: o.need("as").column(), Start: o.need("startWith").expr(),
		ConnectFrom: o.need("connectFromField").path(), ConnectTo: o.need("connectToField").path(), MaxDepth: defaultGraphDepth, At: o.at}
	if depth, ok := o.get("maxDepth"); ok {
		g.MaxDepth = depth.whole(0, MaxGraphDepth)
	}
	if name, ok := o.get("depthField"); ok {
		g.Depth = name.column()
	}
	if match, ok := o.get("restrictSearchWithMatch"); ok {
		g.Restrict = match.where()
	}
	return g
}

// unionWith parses both forms of $unionWith: the name of a class, or an object with a pipeline.
func (o operand) unionWith() Stage {
	if o.is(value.String) {
		return UnionWith{Class: o.class(), At: o.at}
	}
	o.object("coll", "pipeline")
	u := UnionWith{Class: o.need("coll").class(), At: o.at}
	if pipeline, ok := o.get("pipeline"); ok {
		u.Stages = pipeline.pipeline()
	}
	return u
}

// facet parses $facet: 1 to MaxBranches pipelines by name, each with at least one stage. It refuses a $facet inside of
// another one, like MongoDB, and in the pipeline of a $lookup.
func (o operand) facet() Stage {
	switch n := len(o.v.Members()); {
	case o.inside != "":
		o.refuse(invalid(o.at, "$facet isn't allowed inside of "+o.inside))
	case n == 0:
		o.refuse(invalid(o.at, `$facet takes an object of pipelines, as in {"total": [{"$count": "n"}]}`))
	case n > MaxBranches:
		o.refuse(invalid(o.at, fmt.Sprintf("$facet takes at most %d pipelines, got %d", MaxBranches, n)))
	}
	f := Facet{At: o.at}
	for b := range o.members {
		o.refuse(literals.Name(b.name, b.at))
		if b.is(value.Array) && len(b.v.List()) == 0 {
			o.refuse(invalid(b.at, "a pipeline of $facet has at least one stage"))
		}
		b.inside = "$facet"
		f.Branches = append(f.Branches, Branch{Name: b.name, Stages: b.pipeline(), At: b.at})
	}
	return f
}
