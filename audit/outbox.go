package audit

import "context"

// An Outbox stores the audit records of steps, in the same transaction as the steps, until the log has them. So each
// step has its record even if the process ends in between: then another process moves the record to the log.
type Outbox interface {
	// Unrecorded returns at most limit records of one Record.Subject, or of all for "", that the log may not have yet.
	// Their order is the order in which their steps were stored.
	PendingRecords(ctx context.Context, subject string, limit int) ([]Record, error)
	// Recorded removes the records of these steps. The log must have them.
	RemoveSteps(ctx context.Context, steps ...string) error
}

// Drain moves the records of the Record.Subject subject, or of all subjects for "", from an outbox to log, at most 100.
// It returns the records that it appended. After an error, the other records are still in the outbox. Several processes
// may call Drain at once, because the log keeps each step only once.
func Drain(ctx context.Context, from Outbox, subject string, log Log) ([]Record, error) {
	const most = 100
	found, err := from.PendingRecords(ctx, subject, most)
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
	return found, from.RemoveSteps(ctx, steps...)
}
