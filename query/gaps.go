package query

import (
	"fmt"
	"strings"

	"github.com/bailiwick-dev/bailiwick/value"
)

// The methods of $fill.
const (
	LastValue = "locf"   // the last value before the record
	Linear    = "linear" // linear interpolation between the nearest values on both sides
)

// fill parses $fill.
func (o operand) fill() Stage {
	o.object("partitionBy", "partitionByFields", "sortBy", "output")
	f := Fill{By: o.partition(), At: o.at}
	if order, ok := o.get("sortBy"); ok && o.err == nil {
		order.name = "sortBy"
		if sort, ok := order.sort().(SortStage); ok {
			f.Order = sort.Order
		}
	}
	output := o.need("output")
	if o.err == nil && len(output.v.Members()) == 0 {
		o.refuse(invalid(output.at, `output takes an object of fields, as in {"price": {"method": "locf"}} or {"price": {"value": 0}}`))
	}
	for m := range output.members {
		f.Output = append(f.Output, m.parseFill(len(f.Order)))
	}
	return f
}

// parseFill parses the filling of the field called o.name. sorted is the number of fields in the order of the records.
func (o operand) parseFill(sorted int) Filled {
	path, err := CheckPath(o.name, o.at)
	o.refuse(err)
	if !o.is(value.Object) || len(o.v.Members()) != 1 {
		o.refuse(invalidWithHint(o.at, "a field of $fill takes a value or a method", `Write {"value": 0}, {"method": "locf"} (the last value before) or {"method": "linear"}.`))
	}
	o.object("value", "method")
	if o.err != nil {
		return Filled{}
	}
	f := Filled{Name: path, At: o.at}
	if constant, ok := o.get("value"); ok {
		f.Value = constant.expr()
		return f
	}
	method := o.need("method")
	f.Method = method.v.Text()
	switch {
	case f.Method != LastValue && f.Method != Linear:
		o.refuse(invalid(method.at, "the method is locf or linear. {\"value\": …} fills with a value"))
	case sorted == 0:
		o.refuse(invalidWithHint(method.at, "a method of $fill needs sortBy", `Add the order in which values follow one another, as in "sortBy": {"day": 1}.`))
	case f.Method == Linear && sorted != 1:
		o.refuse(invalid(method.at, "linear takes a sortBy of one field, whose values it computes with"))
	}
	return f
}

// partition parses partitionBy, an expression, or partitionByFields, a list of fields. It returns nil for neither.
func (o operand) partition() Expr {
	by, one := o.get("partitionBy")
	list, several := o.get("partitionByFields")
	switch {
	case one && several:
		o.refuse(invalid(list.at, o.name+" takes partitionBy or partitionByFields, not both"))
	case one && !by.is(value.Null):
		return by.expr()
	case several:
		by := ObjectExpr{At: list.at}
		for i, path := range list.paths() {
			at := Pointer(list.at, fmt.Sprint(i))
			by.Members = append(by.Members, Computed{Name: Path{fmt.Sprint("k", i)}, Value: FieldRef{Path: path, At: at}, At: at})
		}
		return by
	}
	return nil
}

// paths parses a list of fields, without dollars.
func (o operand) paths() []Path {
	if !o.is(value.Array) {
		o.refuse(invalid(o.at, o.name+` takes a list of fields, as in ["region"]`))
	}
	var out []Path
	for e := range o.members {
		out = append(out, e.path())
	}
	return out
}

// points parses the range of a $densify: its bounds, a step and, for times, its unit.
func (o operand) points(d *Densify) {
	o.object("step", "unit", "bounds")
	step := o.need("step")
	if d.Step = step.v; !step.v.IsNumber() && o.err == nil {
		o.refuse(invalid(step.at, "step takes a number above 0"))
	}
	if unit, ok := o.get("unit"); ok {
		d.Unit = strings.ToLower(unit.text("a unit of time"))
	}
	bounds := o.need("bounds")
	if o.err == nil && len(bounds.v.List()) != 2 {
		o.refuse(invalidWithHint(bounds.at, "bounds takes a list of the first value and the one before which it ends",
			`Write {"bounds": [{"$date": "2026-01-01"}, {"$date": "2026-02-01"}]}. A $group with $min and $max tells which values there are.`))
	}
	for b := range bounds.members {
		b.name = "a bound"
		d.From, d.To = d.To, b.scalar()
	}
}

// densify parses $densify.
func (o operand) densify() Stage {
	o.object("field", "partitionByFields", "range")
	d := Densify{Field: o.need("field").path(), At: o.at}
	if list, ok := o.get("partitionByFields"); ok {
		d.By = list.paths()
	}
	o.need("range").points(&d)
	return d
}

// printDensify encodes a Densify.
func printDensify(d Densify) value.Member {
	by := make([]value.Value, len(d.By))
	for i, path := range d.By {
		by[i] = value.OfString(path.String())
	}
	bounds := value.OfArray([]value.Value{printLiteral(d.From), printLiteral(d.To)})
	return object("$densify", text("field", d.Field.String()), when(by != nil, "partitionByFields", value.OfArray(by)),
		object("range", value.Member{Name: "step", Value: d.Step}, text("unit", d.Unit), value.Member{Name: "bounds", Value: bounds}))
}

// printFill encodes a Fill.
func printFill(f Fill) value.Member {
	output := make([]value.Member, len(f.Output))
	for i, out := range f.Output {
		output[i] = object(out.Name.String(), expr("value", out.Value), text("method", out.Method))
	}
	return object("$fill", expr("partitionBy", f.By), when(len(f.Order) > 0, "sortBy", printSort(SortStage{Order: f.Order}).Value),
		value.Member{Name: "output", Value: value.OfObject(output)})
}
