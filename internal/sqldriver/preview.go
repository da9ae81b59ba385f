package sqldriver

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/internal/writes"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// point is the savepoint to which a refused item is rolled back.
const point = "bailiwick_item"

// preview runs the plan item by item and returns its effects. The caller rolls back. If the database refuses an item,
// preview rolls back only that item and continues.
func (r *run) preview(ctx context.Context) (change.Preview, error) {
	p := change.Preview{Kind: change.Executed}
	if classes, err := r.changesClasses(); err != nil || classes {
		if err == nil {
			p, err = r.previewClasses(ctx)
		}
		return p, err
	}
	if err := r.sound(ctx); err != nil {
		return p, err
	}
	if err := r.there(ctx); err != nil {
		return p, err
	}
	var refusals []string
	var cascades cascades
	for i := range r.plan.Items {
		it, whole := r.plan.Items[i].With(r.key)
		attempt := r.try
		if !whole {
			attempt = r.tryApart
		}
		r.last = nil
		e, why, err := attempt(ctx, it, &cascades)
		if err != nil {
			return p, err
		}
		if why != nil {
			r.last = nil
		}
		r.made = append(r.made, r.last)
		if p.Effects = append(p.Effects, e); why != nil {
			refusals = append(refusals, r.refusalText(i, why))
		}
	}
	if err := r.tx.Settle(ctx); err != nil {
		why := r.refusal(ctx, &r.plan.Items[len(r.plan.Items)-1], err)
		if why == nil {
			return p, err
		}
		refusals = append(refusals, why.String())
	}
	p.Refusal, p.Cascades = problem.Sentences(refusals...), cascades.list
	return p, nil
}

// there returns a not-found error if an item names a record that can't be seen before the change begins. Without this
// check, a group could create a record and then name it by the key that the database will generate. Whether that
// guess is right depends on records that the caller can't see. An item may name a key that an earlier item sets
// itself.
func (r *run) there(ctx context.Context) error {
	if len(r.plan.Items) == 1 {
		return nil // try checks the record
	}
	now, err := r.lock(ctx)
	if err != nil {
		return err
	}
	for i := range r.plan.Items {
		it := &r.plan.Items[i]
		if it.ID != nil && now[i].Before.IsNull() && !slices.ContainsFunc(r.plan.Items[:i], func(earlier writes.Item) bool { return sets(&earlier, it) }) {
			return it.NotFoundError()
		}
	}
	return nil
}

// sets reports whether item a gives its record the key that item b names.
func sets(a, b *writes.Item) bool {
	if a.View == nil || a.View.Class() != b.View.Class() || a.Op != write.OpCreate && a.Op != write.OpUpdate {
		return false
	}
	id := a.ID
	if id == nil {
		id = make([]value.Value, len(a.View.Class().Key))
	}
	id = moving(a.View.Class(), id, a.Sets)
	return slices.EqualFunc(id, b.ID, value.Equal)
}

// refusalText returns the text of a refusal, with the number of the item if there are several.
func (r *run) refusalText(i int, why *Refusal) string {
	if len(r.plan.Items) == 1 {
		return why.String()
	}
	return fmt.Sprintf("write %d: %s", i+1, why)
}

// try runs an item, and rolls it back if the database refuses it.
func (r *run) try(ctx context.Context, it *writes.Item, cascades *cascades) (change.Effect, *Refusal, error) {
	e := it.Effect()
	var err error
	if e.Before, err = r.record(ctx, it, it.ID, true); err != nil {
		return e, nil, err
	}
	if it.ID != nil && e.Before.IsNull() {
		return e, nil, it.NotFoundError()
	}
	counts, err := r.counts(ctx, it)
	if err != nil {
		return e, nil, err
	}
	if err := r.do(ctx, "SAVEPOINT "+point); err != nil {
		return e, nil, err
	}
	_, e.After, _, err = r.write(ctx, it)
	if err != nil {
		if e.After, err = r.undo(ctx, it, err, e.Before); err != nil {
			why, ok := err.(*refused)
			if !ok {
				return e, nil, err
			}
			return e, &why.why, nil
		}
	}
	cascades.add(counts)
	return e, nil, r.do(ctx, "RELEASE SAVEPOINT "+point)
}

// tryApart is like try, for an item that refers to the record of a refused item. A hidden record may be the reason
// for that refusal, so the agent's result must not depend on it. tryApart tries the item with a placeholder for the
// missing key, to check its values against the database. It checks the item against its view without the pointer to
// that record.
func (r *run) tryApart(ctx context.Context, it *writes.Item, _ *cascades) (change.Effect, *Refusal, error) {
	e := it.Effect()
	var err error
	if e.Before, err = r.record(ctx, it, it.ID, true); err != nil {
		return e, nil, err
	}
	if it.ID != nil && e.Before.IsNull() {
		return e, nil, it.NotFoundError()
	}
	if err := r.do(ctx, "SAVEPOINT "+point); err != nil {
		return e, nil, err
	}
	_, _, err = r.send(ctx, it)
	if hasMeaning(err) {
		return e, nil, err
	}
	if back := r.do(ctx, "ROLLBACK TO SAVEPOINT "+point); back != nil {
		return e, nil, cmp.Or(err, back)
	}
	if err != nil && r.refusal(ctx, it, err) == nil {
		return e, nil, err
	}
	in, err := r.would(ctx, it)
	if err == nil && !in {
		err = it.NotFoundError()
	}
	e.After = plannedRecord(it, e.Before)
	return e, nil, err
}

// undo rolls back an item that failed with err. If the database refused the item, undo returns the record that the
// item would have written, and the refusal. Otherwise it returns err.
func (r *run) undo(ctx context.Context, it *writes.Item, err error, before value.Value) (value.Value, error) {
	if hasMeaning(err) {
		return value.Value{}, err
	}
	if back := r.do(ctx, "ROLLBACK TO SAVEPOINT "+point); back != nil {
		return value.Value{}, err
	}
	why := r.refusal(ctx, it, err)
	if why == nil {
		return value.Value{}, err
	}
	// Callers don't see refusals, because hidden records may cause them. So a refused item must have the same answer
	// as an accepted item if both would end outside of the view.
	in, err := r.would(ctx, it)
	if err == nil && !in {
		err = it.NotFoundError()
	}
	if err != nil {
		return value.Value{}, err
	}
	return plannedRecord(it, before), &refused{*why}
}

// would reports whether the record of an item would be in its view after the write.
func (r *run) would(ctx context.Context, it *writes.Item) (bool, error) {
	if it.Op != write.OpCreate && it.Op != write.OpUpdate {
		return true, nil
	}
	forms, err := r.forms(ctx, it)
	if err != nil {
		return false, err
	}
	st, err := WouldStatement(r.db.Dialect(), it.View, it.ID, it.Sets, forms)
	if err != nil {
		return false, err
	}
	rows, err := r.tx.Query(ctx, st)
	return len(rows) > 0, err
}

// plannedRecord returns the record before with the item's sets applied.
func plannedRecord(it *writes.Item, before value.Value) value.Value {
	if it.Op == write.OpDelete {
		return value.Value{}
	}
	members := make([]value.Member, len(it.View.Fields()))
	for i, f := range it.View.Fields() {
		members[i].Name = f.Name
		members[i].Value, _ = before.Get(f.Name)
		for _, s := range it.Sets {
			if s.Field.Name == f.Name {
				members[i].Value = s.Value
			}
		}
	}
	return value.OfObject(members)
}

// do runs a statement without values.
func (r *run) do(ctx context.Context, statement string) error {
	_, err := r.tx.Exec(ctx, sqlgen.Statement{Text: statement})
	return err
}

// counts returns how many records will be deleted or changed with a record.
func (r *run) counts(ctx context.Context, it *writes.Item) ([]change.Cascade, error) {
	if it.Op != write.OpUpdate && it.Op != write.OpDelete {
		return nil, nil
	}
	c := it.View.Class()
	var fields []string
	if it.Op == write.OpUpdate {
		fields = []string{}
		for _, s := range it.Sets {
			fields = append(fields, s.Field.Name)
		}
	}
	if r.refs == nil {
		var err error
		if r.refs, err = r.db.References(ctx, r.tx); err != nil {
			return nil, err
		}
	}
	counts, err := CascadeCounts(r.db.Dialect(), c, it.ID, fields, r.refs)
	if err != nil {
		return nil, err
	}
	var out []change.Cascade
	for _, n := range counts {
		rows, err := r.tx.Query(ctx, n.Statement)
		if err != nil {
			return nil, err
		}
		if rows[0][0].Int() > 0 {
			out = append(out, change.Cascade{Class: c.Source + "." + classNameOf(c, n.Space, n.Table), Effect: n.Effect, Records: rows[0][0].Int()})
		}
	}
	return out, nil
}

// classNameOf returns the class name of a table that is related to c. In a source with one schema per tenant, tables
// in the schema of c have their own names.
func classNameOf(c *schema.Class, space, table string) string {
	if space == "" || c.Spaces != nil && space == c.Space {
		return table
	}
	return space + "_" + table
}

// cascades are the cascades of all items.
type cascades struct{ list []change.Cascade }

// add adds each count to the entry with the same class and effect.
func (c *cascades) add(counts []change.Cascade) {
next:
	for _, n := range counts {
		for i := range c.list {
			if c.list[i].Class == n.Class && c.list[i].Effect == n.Effect {
				c.list[i].Records += n.Records
				continue next
			}
		}
		c.list = append(c.list, n)
	}
}
