package audit

import "context"

// An Outbox holds the records of steps from the transaction that keeps the steps until the log has the records. So no
// process that ends at any moment leaves a step without its record: who comes next puts it into the log.
type Outbox interface {
	// Unrecorded returns records that the log may not have yet, at most limit, in the order in which their steps were
	// kept: those of one change, or all for "".
	Unrecorded(ctx context.Context, change string, limit int) ([]Record, error)
	// Recorded takes out the records of steps, which the log has.
	Recorded(ctx context.Context, steps ...string) error
}

// Drain appends what an outbox has of a change to log, or of all changes for "", and takes it out. It returns the
// records that it appended; on an error those that are left are still in the outbox. Any number of processes may do it at
// once: the log keeps each step once.
func Drain(ctx context.Context, from Outbox, change string, log Log) ([]Record, error) {
	const most = 100
	found, err := from.Unrecorded(ctx, change, most)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	steps := make([]string, len(found))
	for i := range found {
		if err := log.Append(ctx, &found[i]); err != nil {
			return found[:i], err
		}
		steps[i] = found[i].Step
	}
	return found, from.Recorded(ctx, steps...)
}
