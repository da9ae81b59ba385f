package parse

import (
	"context"
	"errors"
	"slices"

	"github.com/bailiwick-dev/bailiwick/internal/interpret"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// visible returns those of a page's records that are in the view. Only these count against the budget.
func (w *walk) visible(ctx context.Context, page []value.Row) ([]value.Row, error) {
	rows, err := interpret.Visible(ctx, w.view, func(c *schema.Class) ([]value.Row, error) {
		if c == w.view.Class() {
			return page, nil
		}
		return w.parents(ctx, w.view, c, page)
	})
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		if err := w.budget.Take(w.view.Name(), row); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// errNoParent is the error for a class that no layer of a view leads to.
var errNoParent = errors.New("no layer leads to the class")

// parents returns the records of class c that a layer of v leads to from rows. They don't count against the budget: a
// principal may not see them.
func (w *walk) parents(ctx context.Context, v *policy.View, c *schema.Class, rows []value.Row) ([]value.Row, error) {
	for _, l := range v.Layers() {
		if l.Through == nil {
			continue
		}
		at := slices.IndexFunc(v.Class().Fields, func(f schema.Field) bool { return f.Name == l.Through.Field })
		var ids []value.Value
		seen := map[string]bool{}
		for _, row := range rows {
			if id := row[at]; !id.IsNull() && !seen[id.Text()] {
				seen[id.Text()] = true
				ids = append(ids, id)
			}
		}
		var found []value.Row
		for some := range slices.Chunk(ids, mostEqual) {
			up, err := w.walk(l.Through.View, query.In{Path: query.Path{l.Through.Key}, Values: some})
			if err != nil {
				return nil, err
			}
			for !up.ended {
				page, err := up.page(ctx)
				if err != nil {
					return nil, err
				}
				found = append(found, page...)
			}
		}
		if l.Through.View.Class() == c {
			return found, nil
		}
		if above, err := w.parents(ctx, l.Through.View, c, found); !errors.Is(err, errNoParent) {
			return above, err
		}
	}
	return nil, errNoParent
}
