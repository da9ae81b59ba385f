package parse

import (
	"context"
	"slices"
	"time"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/internal/writes"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// receipt returns the receipt of a write that Parse Server has applied.
func (r *reading) receipt(ctx context.Context, it *writes.Item, answer value.Value) (change.Receipt, error) {
	out := change.Receipt{Rows: 1, Keys: []string{it.Key}}
	id := (&class{Class: it.View.Class()}).id(it)
	switch made, ok := answer.Get("objectId"); {
	case it.Op == write.OpDelete || it.Op == write.OpAction:
		return out, nil
	case it.Op == write.OpCreate && ok && id == nil:
		id = []value.Value{made}
	}
	if id == nil {
		return out, nil
	}
	out.Keys[0] = writes.KeyText(id)
	// The write was applied, even if the record can't be read now.
	if row, err := r.record(ctx, it, id); err == nil && row != nil {
		out.After = []value.Value{shownOf(it, row)}
	}
	return out, nil
}

// How often and in which intervals a record is read back.
const (
	settleTries = 4
	settlePause = 500 * time.Millisecond
	settleTime  = 10 * time.Second
)

// settle reads the record back to find out whether an unanswered write was applied. Only a visible result counts,
// because a write without a visible result may still be running.
func (r *reading) settle(ctx context.Context, it *writes.Item, unknown error) (change.Receipt, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTime)
	defer cancel()
	id := (&class{Class: it.View.Class()}).id(it)
	for n := 0; n < settleTries && id != nil && it.Op != write.OpAction; n++ {
		now, err := r.record(ctx, it, id)
		if err == nil && stands(it, now) {
			return r.receipt(ctx, it, value.Value{})
		}
		select {
		case <-ctx.Done():
		case <-time.After(settlePause):
		}
	}
	return change.Receipt{}, unknown
}

// stands reports whether a record is in the state after an item.
func stands(it *writes.Item, now value.Row) bool {
	if now == nil || it.Op == write.OpDelete {
		return now == nil && it.Op == write.OpDelete
	}
	return !slices.ContainsFunc(it.Sets, func(s writes.Set) bool { return !change.Same(now[fieldAt(it, s.Field.Name)], s.Value) })
}
