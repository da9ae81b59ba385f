package parse

import (
	"context"
	"slices"

	"github.com/bailiwick-dev/bailiwick/internal/interpret"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// visible returns the records of a page that are in the view.
func (w *walk) visible(ctx context.Context, page []value.Row) ([]value.Row, error) {
	return interpret.Visible(ctx, w.view, func(c *schema.Class) ([]value.Row, error) {
		if c == w.view.Class() {
			return page, nil
		}
		return w.parents(ctx, w.view, c, page)
	})
}

// parents returns the records of class c that rows reference in layers of v. They don't count against the budget,
// because the principal may not be able to see them.
func (w *walk) parents(ctx context.Context, v *policy.View, c *schema.Class, rows []value.Row) ([]value.Row, error) {
	var out []value.Row
	for _, l := range v.Layers() {
		if l.Through == nil {
			continue
		}
		found, err := w.pointerTargets(ctx, v, l.Through, rows)
		if err != nil {
			return nil, err
		}
		if l.Through.View.Class() == c {
			out = append(out, found...)
		}
		above, err := w.parents(ctx, l.Through.View, c, found)
		if err != nil {
			return nil, err
		}
		out = append(out, above...)
	}
	return out, nil
}

// pointerTargets returns the records that rows of v reference with the pointer of a Through.
func (w *walk) pointerTargets(ctx context.Context, v *policy.View, t *policy.Through, rows []value.Row) ([]value.Row, error) {
	at := slices.IndexFunc(v.Class().Fields, func(f schema.Field) bool { return f.Name == t.Field })
	var ids []value.Value
	seen := map[string]bool{}
	for _, row := range rows {
		if id := row[at]; !id.IsNull() && !seen[id.Text()] {
			seen[id.Text()] = true
			ids = append(ids, id)
		}
	}
	var out []value.Row
	key := uses{read: func(name string) bool { return name == t.Key }, whole: everything.whole}
	at = slices.IndexFunc(t.View.Class().Fields, func(f schema.Field) bool { return f.Name == t.Key })
	for some := range slices.Chunk(ids, mostEqual) {
		up, err := w.walk(t.View, query.In{Path: query.Path{t.Key}, Values: some}, key)
		if err != nil {
			return nil, err
		}
		for !up.ended {
			page, err := up.page(ctx)
			if err != nil {
				return nil, err
			}
			for _, row := range page {
				if row[at], err = up.unread[&row[0]].Field(&t.View.Class().Fields[at], 0); err != nil {
					return nil, illegible(err)
				}
			}
			out = append(out, page...)
		}
	}
	return out, nil
}
