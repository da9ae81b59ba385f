package bailiwick

import (
	"context"
	"fmt"
	"slices"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/write"
)

// follow reads the change events after Seq after, of this and other processes, and describes the sources again if a
// class was created or removed. It returns the last Seq it read. An error is reported once: the classes in force
// stay, and the next change of a class or Refresh tries again.
func (g *Gateway) follow(ctx context.Context, after int64) (int64, error) {
	const most = 200
	queue, outdated := g.options.Changes, false
	for more := true; more; {
		events, err := queue.Store().Events(ctx, after, most)
		if err != nil {
			return after, err
		}
		for _, e := range events {
			if e.Kind == change.EventApplied && !outdated {
				c, err := queue.Get(ctx, e.Change)
				if err != nil {
					return after, err
				}
				outdated = ofClass(c)
			}
		}
		for _, e := range events {
			after = e.Seq
		}
		more = len(events) == most
	}
	if outdated {
		return after, g.described(ctx)
	}
	return after, nil
}

// described describes the sources again after a change that created or removed a class.
func (g *Gateway) described(ctx context.Context) error {
	if _, err := g.Refresh(ctx); err != nil {
		return fmt.Errorf("a class has come or gone, and what was in force stays: %w", err)
	}
	return nil
}

// ofClass reports whether c creates or removes a class.
func ofClass(c *change.Change) bool {
	return slices.ContainsFunc(c.Effects, func(e change.Effect) bool { return e.Op == write.OpSchema })
}
