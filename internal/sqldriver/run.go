package sqldriver

import (
	"context"
	"fmt"
	"slices"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/internal/writes"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// A run is one transaction over a plan.
type run struct {
	*Writer
	tx   WriteTx
	plan *writes.Plan
	refs []schema.Reference // nil until they have been read
	read int64              // the bytes of the records read
	made [][]value.Value    // the key of each item's record, or nil for a refused item
	last []value.Value      // the key of the last item's record

	shared bool // other plans share tx
	whole  bool // the whole plan is done, and tx is to be committed
}

// mostRead is the maximum size in bytes of all records that a change reads. A change reads each record before, during
// and after its write, and is kept in memory as a whole.
const mostRead = 3 * writes.MostRecord

// apply applies the whole plan, writes its marker, and commits.
func (r *run) apply(ctx context.Context) (change.Receipt, error) {
	none := change.Receipt{}
	classes, err := r.changesClasses()
	holder, commits := r.tx.(Holder)
	m := marker{change: r.plan.Change, digest: r.plan.Digest, fence: r.plan.Fence}
	switch {
	case err != nil:
		return none, err
	case classes && commits:
		m.digest = "" // until the schema change has begun
		err = holder.Hold(ctx, m.change)
	case !classes:
		err = r.sound(ctx)
	}
	if err != nil {
		return none, err
	}
	switch m, err = writingClaim(ctx, r.db.Dialect(), r.tx, m); {
	case err != nil:
		return none, err
	case m.receipt != nil && m.digest != r.plan.Digest:
		return none, problem.New(problem.Internal, "the change was applied with another digest")
	case m.receipt != nil:
		return *m.receipt, nil
	case m.fence > r.plan.Fence:
		return none, change.ErrFenced
	case classes && commits:
		return r.applyAlone(ctx, m)
	}
	do := r.records
	if classes {
		do = r.applyClasses
	}
	receipt, err := do(ctx)
	if err != nil {
		return none, err
	}
	m.digest, m.fence = r.plan.Digest, r.plan.Fence
	if err := m.storeReceipt(ctx, r.db.Dialect(), r.tx, receipt); err != nil {
		return none, err
	}
	if err := r.commit(ctx); err != nil {
		if classes {
			return none, err
		}
		return none, r.conflict(ctx, &r.plan.Items[0], err)
	}
	return receipt, nil
}

// records applies all items of the plan if the records are still as reviewed.
func (r *run) records(ctx context.Context) (change.Receipt, error) {
	none, receipt := change.Receipt{}, change.Receipt{}
	now, err := r.lock(ctx)
	if err != nil {
		return none, err
	}
	for i := range r.plan.Items {
		it, _ := r.plan.Items[i].With(r.key)
		before := now[i].Before
		if i > 0 { // an earlier item may have changed the record, as in the preview
			if before, err = r.record(ctx, it, it.ID, false); err != nil {
				return none, err
			}
		}
		if it.ID != nil && it.HasChanged(before) {
			return none, &change.Moved{Now: now}
		}
		key, after, rows, err := r.write(ctx, it)
		if err != nil {
			return none, r.conflict(ctx, it, err)
		}
		r.made = append(r.made, r.last)
		receipt.Keys, receipt.After = append(receipt.Keys, key), append(receipt.After, after)
		receipt.Rows += rows
	}
	return receipt, nil
}

// sound rejects items of an unknown kind, and items of classes whose writes can't be rolled back.
func (r *run) sound(ctx context.Context) error {
	seen := map[*schema.Class]bool{}
	for i := range r.plan.Items {
		it := &r.plan.Items[i]
		switch it.Op {
		case write.OpCreate, write.OpUpdate, write.OpDelete, write.OpAction:
		default:
			return unsupportedError("an SQL database has no write of the kind %s", it.Op)
		}
		if it.View == nil {
			return problem.New(problem.Internal, "a write without a view")
		}
		c := it.View.Class()
		switch {
		case seen[c], it.Op == write.OpAction && c.View: // the owner is responsible for the writes of an action's statement
			continue
		case it.Op == write.OpAction:
		case c.View:
			return unsupportedError("%s is a view of the database. Only tables can be written to", it.View.Name())
		case len(c.Key) == 0:
			return unsupportedError("records of %s have no key, so none can be named to be written", it.View.Name())
		}
		if err := r.db.Sound(ctx, r.tx, c); err != nil {
			return err
		}
		seen[c] = true
	}
	return nil
}

// lock reads and locks all records that the plan names, until the transaction ends.
func (r *run) lock(ctx context.Context) ([]change.Effect, error) {
	now := make([]change.Effect, len(r.plan.Items))
	for i := range r.plan.Items {
		it := &r.plan.Items[i]
		now[i] = it.Effect()
		if it.ID == nil {
			continue
		}
		var err error
		if now[i].Before, err = r.record(ctx, it, it.ID, true); err != nil {
			return nil, err
		}
	}
	return now, nil
}

// record reads the record with the key id through the item's view. It returns an Object of the visible fields, or
// Null if there is no record.
func (r *run) record(ctx context.Context, it *writes.Item, id []value.Value, lock bool) (value.Value, error) {
	if id == nil {
		return value.Value{}, nil
	}
	st, err := RecordStatement(r.db.Dialect(), it.View, id, lock)
	if err != nil {
		return value.Value{}, err
	}
	rows, err := r.tx.Query(ctx, st)
	switch {
	case err != nil:
		return value.Value{}, err
	case len(rows) == 0:
		return value.Value{}, nil
	case len(rows) > 1:
		return value.Value{}, problem.New(problem.Conflict, fmt.Sprintf("several records of %s have this key", it.View.Name()))
	}
	members := make([]value.Member, len(it.View.Fields()))
	size := rows[0][len(members)].Int()
	switch r.read += size; {
	case size > writes.MostRecord:
		return value.Value{}, writes.TooLarge(it.View)
	case r.read > mostRead:
		return value.Value{}, writes.TooLargeTogether()
	}
	for i, f := range it.View.Fields() {
		members[i] = value.Member{Name: f.Name, Value: rows[0][i]}
	}
	return value.OfObject(members), nil
}

// key returns the key of the record that the n-th item has created, or nil if the item was refused.
func (r *run) key(n int) []value.Value { return r.made[n] }

// write runs one item. It returns the key of the record, its present values and the number of written records. The
// values are Null if the record no longer exists. It returns a database error unchanged.
func (r *run) write(ctx context.Context, it *writes.Item) (key string, after value.Value, n int64, err error) {
	r.last = nil
	if it.Op == write.OpAction {
		after, n, err = r.own(ctx, it)
		return it.Key, after, n, err
	}
	id, n, err := r.send(ctx, it)
	if err != nil {
		return key, after, n, err
	}
	if key = keyText(it.View, id); it.Op == write.OpDelete {
		return key, after, n, nil
	}
	if after, err = r.record(ctx, it, id, false); err == nil && after.IsNull() {
		err = it.NotFoundError()
	}
	r.last = id
	return key, after, n, err
}

// send runs the statement of one item, and returns the key of the record and the number of written records.
func (r *run) send(ctx context.Context, it *writes.Item) (id []value.Value, n int64, err error) {
	d, c := r.db.Dialect(), it.View.Class()
	forms, err := r.forms(ctx, it)
	if err != nil {
		return nil, 0, err
	}
	id = it.ID
	var rows []value.Row
	switch it.Op {
	case write.OpCreate:
		var st sqlgen.Statement
		if st, err = InsertStatement(d, c, it.Sets, forms); err == nil {
			rows, err = r.tx.Query(ctx, st)
		}
		if n = int64(len(rows)); err == nil && n == 1 {
			id = rows[0]
		}
	case write.OpUpdate:
		var st sqlgen.Statement
		if st, err = UpdateStatement(d, c, id, it.Sets, forms); err == nil {
			n, err = r.tx.Exec(ctx, st)
		}
		id = moving(c, id, it.Sets)
	case write.OpDelete:
		var st sqlgen.Statement
		if st, err = DeleteStatement(d, c, id); err == nil {
			n, err = r.tx.Exec(ctx, st)
		}
	}
	if err != nil {
		return nil, n, r.valueError(ctx, it, err)
	}
	// Exactly one record must be written. A rule of the database may have skipped the record without an error.
	if n != 1 {
		return nil, n, &refused{Refusal{Kind: refusedLeftOut}}
	}
	return id, n, nil
}

// valueError returns the error of a write. If the database rejected a value of the caller, it returns an error about
// that value. Such an error doesn't depend on any record.
func (r *run) valueError(ctx context.Context, it *writes.Item, err error) error {
	if hasMeaning(err) {
		return it.WithRequestPointer(err)
	}
	why := r.db.Refusal(ctx, it.View.Class(), it.Op, err)
	if why == nil || why.Argument < 1 || why.Argument > len(it.Sets) {
		return err
	}
	f := it.Sets[why.Argument-1].Field
	detail := f.Name + " does not take this value: it is not of the type of the field, or out of its range"
	if f.Form != "" {
		detail = f.Name + " must be " + f.Form
	}
	return it.WithRequestPointer(UnfitValue(f, detail))
}

// refused is the error for a Refusal that this package detected itself.
type refused struct{ why Refusal }

func (e *refused) Error() string { return e.why.String() }

// moving returns the key of a record after an update, because the update may set a part of the key.
func moving(c *schema.Class, id []value.Value, sets []writes.Set) []value.Value {
	id = slices.Clone(id)
	for _, s := range sets {
		if i := slices.Index(c.Key, s.Field.Name); i >= 0 {
			id[i] = s.Value
		}
	}
	return id
}

// keyText returns the key of a record in the form that get_object accepts, or "" if the caller can't see the key.
func keyText(v *policy.View, id []value.Value) string {
	if v.Key() == nil {
		return ""
	}
	return writes.KeyText(id)
}

// forms returns the stored form of dates for each date column that the item sets. It returns nil if the database has
// a type for dates.
func (r *run) forms(ctx context.Context, it *writes.Item) (map[string]WriteForm, error) {
	if r.db.Dialect().Writes().Moment == nil {
		return nil, nil
	}
	out := map[string]WriteForm{}
	for _, s := range it.Sets {
		if s.Field.Type != schema.Date && s.Field.Type != schema.Day || s.Field.Stored != nil {
			continue
		}
		st, err := SampleStatement(r.db.Dialect(), it.View.Class(), s.Field.Name)
		if err != nil {
			return nil, err
		}
		rows, err := r.tx.Query(ctx, st)
		if err != nil {
			return nil, err
		}
		if len(rows) == 0 {
			continue
		}
		switch v := rows[0][0]; v.Kind() {
		case value.Int:
			out[s.Field.Name] = v.Int()
		case value.Float:
			out[s.Field.Name] = v.Float()
		case value.String:
			out[s.Field.Name] = v.Text()
		}
	}
	return out, nil
}

// refusal returns the Refusal for an error of an item, or nil if the error is not a refusal.
func (r *run) refusal(ctx context.Context, it *writes.Item, err error) *Refusal {
	if own, ok := err.(*refused); ok {
		return &own.why
	}
	if hasMeaning(err) {
		return nil
	}
	return r.db.Refusal(ctx, it.View.Class(), it.Op, err)
}

// conflict turns a refusal of the database into an error for the caller that applies a change. It returns other
// errors unchanged.
func (r *run) conflict(ctx context.Context, it *writes.Item, err error) error {
	why := r.refusal(ctx, it, err)
	if why == nil {
		return err
	}
	return why.problem()
}
