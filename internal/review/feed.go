package review

import (
	"context"

	"github.com/bailiwick-dev/bailiwick/change"
)

// A Feed is the events of Store that a reviewer of Tenant may see. "" is one of all tenants. Its errors are those of the
// store.
type Feed struct {
	Store  change.Store
	Tenant string
	Sees   func(context.Context, change.Event) bool // which of them, or nil for all
}

// Next returns the next events after Seq after, and the Seq up to which it looked.
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

// Await waits for the next event after Seq after, however many of other tenants come, or fails when ctx ends.
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
