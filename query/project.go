package query

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// project parses a $project, which either keeps or drops its fields. Together with kept fields, only _id may be
// dropped, as in MongoDB. It returns nil after an error, because the first field decides which form it is.
func (o operand) project() Stage {
	if len(o.v.Members()) == 0 {
		o.refuse(invalid(o.at, `$project takes an object of fields, as in {"title": 1}`))
		return nil
	}
	var fields []Computed
	var drop []bool
	o.fields(nil, func(path Path, f operand) {
		field, dropped := f.projectField()
		field.Name = path
		fields, drop = append(fields, field), append(drop, dropped)
	})
	if o.err != nil {
		return nil
	}
	out := Project{At: o.at}
	id := slices.IndexFunc(fields, func(f Computed) bool { return len(f.Name) == 1 && f.Name[0] == "_id" })
	if id >= 0 && drop[id] && slices.Contains(drop, false) {
		out.NoID = true
		fields, drop = slices.Delete(fields, id, id+1), slices.Delete(drop, id, id+1)
	}
	out.Drop, out.Fields = drop[0], fields
	if i := slices.Index(drop, !drop[0]); i >= 0 {
		o.refuse(invalidWithHint(fields[i].At, `$project can't keep some fields and drop others, but for "_id": 0`,
			"Name all that stay, or use $unset for what goes."))
	}
	o.collision(fields)
	return out
}

// projectField parses the operand of one field of a $project: an expression, or whether to keep or drop the field.
func (o operand) projectField() (field Computed, drop bool) {
	field.At = o.at
	n, ok := o.v.AsInt()
	switch {
	case o.is(value.Bool):
		return field, !o.v.Bool()
	case !o.v.IsNumber():
		field.Value = o.expr()
	case !ok || n != 0 && n != 1:
		o.refuse(invalidWithHint(o.at, "a number in $project is 1 to keep a field or 0 to drop it", `Write {"$literal": 5} for the number itself.`))
	}
	return field, ok && n == 0
}

// addFields parses $addFields and its synonym $set.
func (o operand) addFields() Stage {
	if len(o.v.Members()) == 0 {
		o.refuse(invalid(o.at, o.name+` takes an object of fields to compute, as in {"total": {"$add": ["$a", "$b"]}}`))
	}
	out := AddFields{At: o.at}
	o.fields(nil, func(path Path, f operand) {
		out.Fields = append(out.Fields, Computed{Name: path, Value: f.expr(), At: f.at})
	})
	o.collision(out.Fields)
	return out
}

// fields calls visit for each field in a $project or an $addFields, including the fields of nested objects. Their paths
// are appended to prefix.
func (o operand) fields(prefix Path, visit func(Path, operand)) {
	for f := range o.members {
		if len(prefix) > 0 && strings.HasPrefix(f.name, "$") {
			o.refuse(invalid(f.at, "operators and plain keys can't be in one object"))
		}
		f.node()
		part, err := CheckPath(f.name, f.at)
		o.refuse(err)
		path := append(slices.Clip(prefix), part...)
		switch {
		case len(path) > MaxPath:
			o.refuse(invalid(f.at, fmt.Sprintf("a path has at most %d parts", MaxPath)))
		case !f.nests():
			visit(path, f)
		case len(f.v.Members()) == 0:
			o.refuse(invalidWithHint(f.at, fmt.Sprintf("%q is given an empty object", problem.Cut(f.name)), `Write {"$literal": {}} for the empty object itself.`))
		default:
			f.fields(path, visit)
		}
	}
}

// nests reports whether the operand is an object of fields or arguments rather than an expression.
func (o operand) nests() bool {
	_, typed := o.v.Get("__type")
	return o.is(value.Object) && !operators(o.v) && !typed
}

// unset parses $unset, the name of a field or a list of names, into the Project that drops them.
func (o operand) unset() Stage {
	out := Project{Drop: true, At: o.at}
	drop := func(f operand) {
		f.node()
		out.Fields = append(out.Fields, Computed{Name: f.path(), At: f.at})
	}
	if !o.is(value.Array) {
		drop(o)
		return out
	}
	if len(o.v.List()) == 0 {
		o.refuse(invalid(o.at, "$unset takes the name of a field, or a list of them"))
	}
	for f := range o.members {
		drop(f)
	}
	o.collision(out.Fields)
	return out
}

// collision rejects a field that occurs twice, or together with a part of itself.
func (o operand) collision(fields []Computed) {
	for i, f := range fields {
		for _, g := range fields[:i] {
			if n := min(len(f.Name), len(g.Name)); slices.Equal(f.Name[:n], g.Name[:n]) {
				o.refuse(invalid(f.At, fmt.Sprintf("%q is named beside %q", problem.Cut(f.Name.String()), problem.Cut(g.Name.String()))))
			}
		}
	}
}
