package query

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A projected is what a $project says of one path: keep it (true), drop it (false), or compute it.
type projected struct {
	Computed
	drop bool
}

func (p *parser) project(o operand) (Stage, error) {
	if o.v.Kind() != value.Object || len(o.v.Members()) == 0 {
		return nil, invalid(o.at, `$project takes an object of fields, as in {"title": 1}`)
	}
	fields, err := p.projected(nil, o)
	if err != nil {
		return nil, err
	}
	out := Project{At: o.at}
	isID := func(f projected) bool { return f.drop && len(f.Name) == 1 && f.Name[0] == "_id" }
	rest := slices.DeleteFunc(slices.Clone(fields), isID)
	if out.NoID = len(rest) > 0 && len(rest) < len(fields) && !rest[0].drop; out.NoID {
		fields = rest
	}
	out.Drop = fields[0].drop
	for _, f := range fields {
		if f.drop != out.Drop {
			return nil, hinted(f.At, "$project can't keep some fields and drop others, but for \"_id\": 0",
				"Name all that stay, or use $unset for what goes.")
		}
		out.Fields = append(out.Fields, f.Computed)
	}
	return out, collision(out.Fields)
}

// projected reads the members of a $project, or of an object in one that stands at the path prefix.
func (p *parser) projected(prefix Path, o operand) ([]projected, error) {
	var fields []projected
	for _, m := range o.v.Members() {
		f := operand{m.Name, m.Value, o.to(m.Name)}
		name, err := p.name(prefix, f)
		if err != nil {
			return nil, err
		}
		if nests(m.Value) {
			inner, err := p.projected(name, f)
			if err != nil {
				return nil, err
			}
			fields = append(fields, inner...)
			continue
		}
		field := projected{Computed: Computed{Name: name, At: f.at}}
		switch {
		case m.Value.Kind() == value.Bool:
			field.drop = !m.Value.Bool()
		case m.Value.IsNumber():
			n, ok := m.Value.AsInt()
			if !ok || n != 0 && n != 1 {
				return nil, hinted(f.at, "a number in $project is 1 to keep a field or 0 to drop it", `Write {"$literal": 5} for the number itself.`)
			}
			field.drop = n == 0
		default:
			if field.Value, err = p.expr(m.Value, f.deeper()); err != nil {
				return nil, err
			}
		}
		fields = append(fields, field)
	}
	return fields, nil
}

func (p *parser) addFields(o operand) (Stage, error) {
	if o.v.Kind() != value.Object || len(o.v.Members()) == 0 {
		return nil, invalid(o.at, o.name+` takes an object of fields to compute, as in {"total": {"$add": ["$a", "$b"]}}`)
	}
	fields, err := p.computed(nil, o)
	if err != nil {
		return nil, err
	}
	return AddFields{Fields: fields, At: o.at}, collision(fields)
}

// computed reads the members of an $addFields, or of an object in one that stands at the path prefix.
func (p *parser) computed(prefix Path, o operand) ([]Computed, error) {
	var fields []Computed
	for _, m := range o.v.Members() {
		f := operand{m.Name, m.Value, o.to(m.Name)}
		name, err := p.name(prefix, f)
		if err != nil {
			return nil, err
		}
		if nests(m.Value) {
			inner, err := p.computed(name, f)
			if err != nil {
				return nil, err
			}
			fields = append(fields, inner...)
			continue
		}
		x, err := p.expr(m.Value, f.deeper())
		if err != nil {
			return nil, err
		}
		fields = append(fields, Computed{Name: name, Value: x, At: f.at})
	}
	return fields, nil
}

// name reads the path that a member names, behind prefix.
func (p *parser) name(prefix Path, f operand) (Path, error) {
	if len(prefix) > 0 && strings.HasPrefix(f.name, "$") {
		return nil, invalid(f.at, "operators can't stand beside plain keys in one object")
	}
	path, err := CheckPath(f.name, f.at)
	if err != nil {
		return nil, err
	}
	if len(prefix)+len(path) > MaxPath {
		return nil, invalid(f.at, fmt.Sprintf("a path has at most %d parts", MaxPath))
	}
	if f.v.Kind() == value.Object && len(f.v.Members()) == 0 {
		return nil, hinted(f.at, fmt.Sprintf("%s is given an empty object", problem.Cut(f.name)), `Write {"$literal": {}} for the empty object itself.`)
	}
	return append(slices.Clip(prefix), path...), p.node(f.site)
}

// nests reports whether v is an object of fields rather than an expression.
func nests(v value.Value) bool {
	_, typed := v.Get("__type")
	return v.Kind() == value.Object && !operators(v) && !typed
}

func (p *parser) unset(o operand) (Stage, error) {
	names := []operand{o}
	if o.v.Kind() == value.Array {
		names = nil
		for i, e := range o.v.List() {
			names = append(names, operand{o.name, e, o.to(strconv.Itoa(i))})
		}
	}
	if len(names) == 0 {
		return nil, invalid(o.at, "$unset takes the name of a field, or a list of them")
	}
	out := Project{Drop: true, At: o.at}
	for _, n := range names {
		path, err := n.path()
		if err != nil {
			return nil, err
		}
		if err := p.node(n.site); err != nil {
			return nil, err
		}
		out.Fields = append(out.Fields, Computed{Name: path, At: n.at})
	}
	return out, collision(out.Fields)
}

// collision refuses a field that is named twice, or beside a part of itself.
func collision(fields []Computed) error {
	for i, f := range fields {
		for _, g := range fields[:i] {
			if n := min(len(f.Name), len(g.Name)); slices.Equal(f.Name[:n], g.Name[:n]) {
				return invalid(f.At, fmt.Sprintf("%q is named beside %q", problem.Cut(f.Name.String()), problem.Cut(g.Name.String())))
			}
		}
	}
	return nil
}

func (p *parser) replaceRoot(o operand) (Stage, error) {
	root := o
	if o.name == "$replaceRoot" {
		err := o.object("newRoot")
		if err != nil {
			return nil, err
		}
		if root, err = o.need("newRoot"); err != nil {
			return nil, err
		}
	}
	x, err := p.expr(root.v, root.deeper())
	return ReplaceRoot{Root: x, At: o.at}, err
}
