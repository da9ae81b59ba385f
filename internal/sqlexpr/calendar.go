package sqlexpr

import (
	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqltext"
	"github.com/bailiwick-dev/bailiwick/internal/sqltime"
)

// nameOf binds a function that names a part of a date.
func nameOf(t *sqltime.Table) func(*called, []Node) (Node, error) {
	return func(f *called, a []Node) (Node, error) {
		d, err := f.date(&a[0], f.Call.Name)
		return computedOf(t.Of(d), f.place()), err
	}
}

// partOfAge binds extract and date_part of age(x, y), the only form of age that has a value here; false for other calls.
func (b *Binder) partOfAge(c *sqltext.Call) (Node, bool, error) {
	if c.Name != "extract" && c.Name != "date_part" || len(c.Args) != 2 {
		return Node{}, false, nil
	}
	age, ok := c.Args[1].(*sqltext.Call)
	if !ok || age.Name != "age" || len(age.Args) == 0 || len(age.Args) > 2 {
		return Node{}, false, nil
	}
	name, err := b.Value(c.Args[0])
	if err != nil {
		return Node{}, true, err
	}
	k, _ := name.Expr.(plan.Const)
	op, ok := map[string]plan.Op{"year": plan.Quo, "month": plan.Mod}[sqltime.Unit(k.Value.Text())]
	if !ok {
		return Node{}, false, nil
	}
	ends := []Node{b.today()} // of age(x)
	if len(age.Args) == 2 {
		ends = nil
	}
	for _, e := range age.Args {
		x, err := b.Value(e)
		if err != nil {
			return Node{}, true, err
		}
		ends = append(ends, x)
	}
	to, err := b.date(&ends[0], "age")
	if err != nil {
		return Node{}, true, err
	}
	from, err := b.date(&ends[1], "age")
	return computedOf(sqltime.Integers(op, sqltime.WholeMonths(from, to), Whole(12)), c.At), true, err
}
