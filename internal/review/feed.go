package review

import (
	"context"

	"github.com/bailiwick-dev/bailiwick/change"
)

// A Feed reads the events of Store that a reviewer of Tenant may see. With an empty Tenant it reads the events of all
// tenants. Its errors are those of the store.
type Feed struct {
	Store  change.Store
	Tenant string
	Sees   func(context.Context, change.Event) bool // reports whether the reviewer may see an event. Nil means all
}

// Next returns the next events after the sequence number after. The result to is the sequence number up to which it
// has read.
func (f Feed) Next(ctx context.Context, after int64) (events []change.Event, to int64, err error) {
	const most = 500
	for {
		found, err := f.Store.Events(ctx, after, most)
		if err != nil {
			return nil, after, err
		}
		for _, e := range found {
			after = e.Seq
			if (f.Tenant == "" || e.Tenant == f.Tenant) && (f.Sees == nil || f.Sees(ctx, e)) {
				events = append(events, e)
			}
		}
		if len(events) > 0 || len(found) < most {
			return events, after, nil
		}
	}
}

// Await waits for the next visible event after the sequence number after. Events of other tenants don't end the wait.
// It fails if ctx ends.
func (f Feed) Await(ctx context.Context, after int64) error {
	for {
		if err := f.Store.Await(ctx, after); err != nil || f.Tenant == "" && f.Sees == nil {
			return err
		}
		events, to, err := f.Next(ctx, after)
		if err != nil || len(events) > 0 {
			return err
		}
		after = to
	}
}
