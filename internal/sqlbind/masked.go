package sqlbind

import (
	"slices"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlparse"
)

// by adds the keys of the group. A masked column can't be a key. It is taken if the other keys determine it.
func (g *grouping) by(list []sqlparse.Expr) error {
	var masked []*sqlparse.Name
	for _, e := range list {
		if n := g.maskedColumn(e); n != nil {
			masked = append(masked, n)
			continue
		}
		if err := g.key(e); err != nil {
			return err
		}
	}
	for _, n := range masked {
		if err := g.take(n); err != nil {
			return err
		}
		if _, c, err := g.find(n); err == nil && !g.fixes(c.at) {
			return plan.MaskedFieldError(n.Written(), At(n.Pos()))
		}
	}
	return nil
}

// maskedColumn returns e if it is a masked column of this query whose values can't be a key, otherwise nil.
func (g *grouping) maskedColumn(e sqlparse.Expr) *sqlparse.Name {
	n, ok := e.(*sqlparse.Name)
	if !ok {
		return nil
	}
	up, c, err := g.find(n)
	if err != nil || up > 0 || c.at < 0 || !g.shape.Columns[c.at].Mask.Hides() {
		return nil
	}
	return n
}

// pseudonym binds e if it is a column with pseudonyms. A group by pseudonyms is a group by the key of the record, which
// is returned as a pseudonym. Grouping sets can't have such keys.
func (g *grouping) pseudonym(e sqlparse.Expr) (node, bool) {
	n, ok := e.(*sqlparse.Name)
	if !ok || g.set {
		return node{}, false
	}
	x, err := g.PassColumn(n)
	_, ref := x.Expr.(plan.Ref)
	return x, err == nil && ref && x.Column != nil && x.Column.Mask.Names()
}

// namesIn finds pseudonyms in expressions and adds them to the keys of the group. They must be outside of aggregates,
// and the group's keys must determine them: SELECT id, name … GROUP BY id. The groups stay the same. Only a key of a
// group can keep a pseudonym.
func (g *grouping) namesIn(over []any) error {
	var names []*sqlparse.Name
	sqlparse.Walk(over, func(e sqlparse.Expr) bool {
		if c, ok := e.(*sqlparse.Call); ok && sqlparse.AggregateIn(c) == c {
			return false
		}
		if n, ok := e.(*sqlparse.Name); ok {
			names = append(names, n)
		}
		return true
	})
	for _, n := range names {
		up, c, err := g.find(n)
		if err != nil || up > 0 || c.at < 0 || !g.shape.Columns[c.at].Mask.Names() || slices.Contains(g.keys, g.rel.key(n)) || !g.fixes(c.at) {
			continue // a later step returns the error
		}
		if err := g.key(n); err != nil {
			return err
		}
	}
	return nil
}
