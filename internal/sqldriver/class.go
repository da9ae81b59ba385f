package sqldriver

import (
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

// A Holder is a WriteTx of a database that commits implicitly with every schema change. Hold blocks other calls with
// the same name until the transaction is ended by Commit or Rollback. Implicit commits in between don't end it.
type Holder interface {
	Hold(ctx context.Context, name string) error
}

// changesClasses reports whether the plan creates or drops classes. If a schema change can't be rolled back, such a
// plan may have only one item.
func (r *run) changesClasses() (bool, error) {
	n := 0
	for i := range r.plan.Items {
		if r.plan.Items[i].Op == write.OpSchema {
			n++
		}
	}
	if _, commits := r.tx.(Holder); n > 0 && (commits || n < len(r.plan.Items)) && len(r.plan.Items) > 1 {
		return true, unsupportedError("a class is made or taken away by a change of its own")
	}
	return n > 0, nil
}

// A classChange is one item that creates or drops a class.
type classChange struct {
	effect change.Effect
	made   []string      // the fields of the class that it creates
	class  *schema.Class // the class that it drops
	run    sqlgen.Statement
}

// classChange returns the class change of an item.
func (r *run) classChange(it *writes.Item) (classChange, error) {
	c := classChange{effect: change.Effect{Op: write.OpSchema, Key: it.Key}}
	var err error
	switch w := it.Write.(type) {
	case *write.CreateClass:
		c.run, c.made, err = CreateTable(r.db.Dialect(), w)
		c.effect.Class, c.effect.After = r.plan.Source+"."+w.Class, value.OfObject([]value.Member{{Name: "fields", Value: w.Fields}})
		c.effect.Asked = []string{"fields"}
	case *write.DeleteClass:
		if it.View == nil {
			return c, problem.New(problem.Internal, "a class to be taken away without a view")
		}
		c.class = it.View.Class()
		c.run, err = DropTable(r.db.Dialect(), c.class)
		c.effect.Class, c.effect.Before = c.class.FullName(), classDescription(it)
	case *write.AddFields:
		err = &problem.Error{Code: problem.Unsupported, Kind: "fields", Pointer: "/class_name", Detail: w.Class + " is a table already, and further columns are not added to one here",
			Suggestion: "ask for a migration of the application, or create a class with another name"}
	default:
		err = problem.New(problem.Internal, "a change of the schema that is none")
	}
	return c, err
}

// classDescription returns the visible description of a class that is dropped.
func classDescription(it *writes.Item) value.Value {
	var fields []value.Value
	for _, f := range it.View.Fields() {
		fields = append(fields, value.OfObject([]value.Member{{Name: "name", Value: value.OfString(f.Name)}, {Name: "type", Value: value.OfString(f.Type.String())}}))
	}
	return value.OfObject([]value.Member{{Name: "fields", Value: value.OfArray(fields)}})
}

// obstacle returns the reason why a class can't be created or dropped, or nil. there reports whether its table
// exists.
func (r *run) obstacle(ctx context.Context, c *classChange, lock bool) (why *Refusal, there bool, err error) {
	name := c.effect.Key
	if c.class != nil {
		name = c.class.Table
	}
	// A new class has only one possible obstacle: a table with its name.
	columns, err := r.columns(ctx, name)
	if there = columns != nil; err != nil || c.class == nil {
		if there {
			why = &Refusal{Kind: RefusedExists}
		}
		return why, there, err
	}
	if !there {
		return nil, false, nil
	}
	if c.class.View {
		return nil, there, unsupportedError("%s is a view of the database. Only tables can be taken away", c.class.Name)
	}
	// A table can be dropped if no other table references it and it has no record. The lock prevents new records.
	refs, err := r.db.References(ctx, r.tx)
	if err != nil {
		return nil, there, err
	}
	for _, ref := range refs {
		if ref.ToSpace == c.class.Space && ref.To == c.class.Table && (ref.Space != ref.ToSpace || ref.Table != ref.To) {
			return &Refusal{Kind: RefusedReferenced, Class: classNameOf(c.class, ref.Space, ref.Table)}, there, nil
		}
	}
	if lock {
		if err := r.lockTable(ctx, c.class); err != nil {
			return nil, there, err
		}
	}
	st, err := AnyRecordStatement(r.db.Dialect(), c.class)
	if err != nil {
		return nil, there, err
	}
	rows, err := r.tx.Query(ctx, st)
	if len(rows) > 0 {
		why = &Refusal{Kind: refusedNotEmpty}
	}
	return why, there, err
}

func (r *run) lockTable(ctx context.Context, c *schema.Class) error {
	st, err := LockTable(r.db.Dialect(), c)
	if err != nil || st.Text == "" {
		return err
	}
	_, err = r.tx.Exec(ctx, st)
	return err
}

// columns returns the columns of the table called name, or nil if there is none.
func (r *run) columns(ctx context.Context, name string) ([]string, error) {
	st, err := TableExists(r.db.Dialect(), name)
	if err != nil {
		return nil, err
	}
	rows, err := r.tx.Query(ctx, st)
	var out []string
	for _, row := range rows {
		out = append(out, row[0].Text())
	}
	return out, err
}

// previewClasses previews items that create or drop classes. It checks that they are possible. If they can be rolled
// back, it also runs them.
func (r *run) previewClasses(ctx context.Context) (change.Preview, error) {
	p := change.Preview{Kind: change.Executed}
	_, commits := r.tx.(Holder)
	if commits {
		p.Kind = change.Computed
	}
	for i := range r.plan.Items {
		c, err := r.classChange(&r.plan.Items[i])
		if err != nil {
			return p, err
		}
		p.Effects = append(p.Effects, c.effect)
		why, there, err := r.obstacle(ctx, &c, !commits)
		if err == nil && c.class != nil && !there {
			err = problem.New(problem.NotFound, fmt.Sprintf("there is no class %q", c.effect.Key))
		}
		if err != nil {
			return p, err
		}
		if why == nil && !commits {
			if _, err := r.tx.Exec(ctx, c.run); err != nil {
				if why = r.db.Refusal(ctx, c.asClass(), write.OpSchema, err); why == nil {
					return p, err
				}
			}
		}
		if why != nil {
			p.Refusal = r.refusalText(i, why)
			return p, r.rest(&p, i)
		}
	}
	return p, nil
}

// rest adds the effects of the items after item i to the preview, as requested.
func (r *run) rest(p *change.Preview, i int) error {
	for j := i + 1; j < len(r.plan.Items); j++ {
		c, err := r.classChange(&r.plan.Items[j])
		if err != nil {
			return err
		}
		p.Effects = append(p.Effects, c.effect)
	}
	return nil
}

// asClass returns the class of c for refusals. For a class to be created, the class has only a name and a table.
func (c *classChange) asClass() *schema.Class {
	if c.class != nil {
		return c.class
	}
	return &schema.Class{Name: c.effect.Key, Table: c.effect.Key}
}

// applyClasses applies the whole plan, in a database whose transactions cover schema changes.
func (r *run) applyClasses(ctx context.Context) (receipt change.Receipt, err error) {
	for i := range r.plan.Items {
		c, err := r.classChange(&r.plan.Items[i])
		if err != nil {
			return receipt, err
		}
		why, there, err := r.obstacle(ctx, &c, true)
		switch {
		case err != nil:
			return receipt, err
		case why != nil:
			return receipt, why.problem()
		case c.class != nil && !there:
			return receipt, &change.Moved{Now: []change.Effect{{Op: write.OpSchema, Class: c.effect.Class, Key: c.effect.Key}}}
		}
		if _, err := r.tx.Exec(ctx, c.run); err != nil {
			if why := r.db.Refusal(ctx, c.asClass(), write.OpSchema, err); why != nil {
				return receipt, why.problem()
			}
			return receipt, err
		}
		receipt.Keys, receipt.After = append(receipt.Keys, c.effect.Key), append(receipt.After, c.effect.After)
	}
	return receipt, nil
}

// applyAlone applies the one item of a plan in a database that commits with each schema change. First the marker
// records that the item has begun. A later attempt that finds the marker checks the catalogue for the progress of the
// earlier one, and continues. The Hold blocks other attempts meanwhile.
func (r *run) applyAlone(ctx context.Context, m marker) (change.Receipt, error) {
	none := change.Receipt{}
	c, err := r.classChange(&r.plan.Items[0])
	if err != nil {
		return none, err
	}
	begun := m.digest == r.plan.Digest
	why, there, err := r.obstacle(ctx, &c, false)
	if err == nil && why != nil && begun && c.class == nil {
		columns, failed := r.columns(ctx, c.effect.Key)
		if err = failed; slices.Equal(columns, c.made) {
			why = nil // an earlier attempt has created it
		}
	}
	switch {
	case err != nil:
		return none, err
	case why != nil:
		return none, why.problem()
	case c.class != nil && !there && !begun:
		return none, &change.Moved{Now: []change.Effect{{Op: write.OpSchema, Class: c.effect.Class, Key: c.effect.Key}}}
	}
	// The marker is committed first. The schema change then commits implicitly. Finally the marker records that the
	// change is done.
	d := r.db.Dialect()
	st, err := BegunStatement(d, m.change, r.plan.Digest, r.plan.Fence)
	if err == nil {
		err = exactly(ctx, r.tx, st)
	}
	if err == nil {
		err = r.do(ctx, "COMMIT")
	}
	if err == nil && (c.class == nil || there) {
		err = r.alter(ctx, &c)
	}
	if err != nil {
		return none, err
	}
	receipt := change.Receipt{Keys: []string{c.effect.Key}, After: []value.Value{c.effect.After}}
	m.digest, m.fence = r.plan.Digest, r.plan.Fence
	if err := m.storeReceipt(ctx, d, r.tx, receipt); err != nil {
		return none, err
	}
	return receipt, r.tx.Commit(ctx)
}

// alter creates the class, or drops it while no other transaction can add a record to it.
func (r *run) alter(ctx context.Context, c *classChange) error {
	if c.class != nil {
		if err := r.lockTable(ctx, c.class); err != nil {
			return err
		}
		st, err := AnyRecordStatement(r.db.Dialect(), c.class)
		if err != nil {
			return err
		}
		rows, err := r.tx.Query(ctx, st)
		if err == nil && len(rows) > 0 {
			err = (&Refusal{Kind: refusedNotEmpty}).problem()
		}
		if err != nil {
			return err
		}
	}
	_, err := r.tx.Exec(ctx, c.run)
	if why := r.db.Refusal(ctx, c.asClass(), write.OpSchema, err); err != nil && why != nil {
		err = why.problem()
	}
	if err == nil && c.class != nil {
		err = r.do(ctx, "UNLOCK TABLES")
	}
	return err
}
