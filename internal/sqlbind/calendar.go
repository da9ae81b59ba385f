package sqlbind

import (
	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlparse"
)

// nameOf binds a function that returns the name of a part of a date.
func nameOf(t *timeNames) func(*called, []node) (node, error) {
	return func(f *called, a []node) (node, error) {
		d, err := f.date(&a[0], f.Call.Name)
		return computedOf(t.Of(d), f.place()), err
	}
}

// partOfAge binds extract and date_part of age(x, y), the only supported use of age. It returns false for other calls.
func (b *Binder) partOfAge(c *sqlparse.Call) (node, bool, error) {
	if c.Name != "extract" && c.Name != "date_part" || len(c.Args) != 2 {
		return node{}, false, nil
	}
	age, ok := c.Args[1].(*sqlparse.Call)
	if !ok || age.Name != "age" || len(age.Args) == 0 || len(age.Args) > 2 {
		return node{}, false, nil
	}
	name, err := b.Constant(c.Args[0])
	if err != nil {
		return node{}, true, err
	}
	op, ok := map[string]plan.Op{"year": plan.Quo, "month": plan.Mod}[Unit(name.Text())]
	if !ok {
		return node{}, false, nil
	}
	ends := []plan.Expr{b.today().Expr} // the first date of age(x) is today
	for _, e := range age.Args {
		x, err := b.Value(e)
		if err != nil {
			return node{}, true, err
		}
		d, err := b.date(&x, "age")
		if err != nil {
			return node{}, true, err
		}
		ends = append(ends, d)
	}
	ends = ends[len(ends)-2:]
	n := computedOf(Integers(op, wholeMonths(ends[1], ends[0]), Whole(12)), c.At)
	n.Number = numberOfPart(c.Name)
	return n, true, nil
}
