package bailiwick

import (
	"cmp"
	"context"
	"crypto/sha256"
	"io"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/result/listed"
	"github.com/bailiwick-dev/bailiwick/internal/result/pages"
	"github.com/bailiwick-dev/bailiwick/internal/result/redact"
	"github.com/bailiwick-dev/bailiwick/internal/trace"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// answered runs a query and passes its rows to shape. most is the maximum size of one value in bytes; 0 means the
// budget. The source is read while shape runs.
func answered[T any](ctx context.Context, c *Call, q query.Query, most int, shape func(redact.Rows) (T, error)) (out T, err error) {
	c.asked(q.From())
	q = c.timed(q)
	rows, err := c.gateway.rows(ctx, c.policy, c.who, q, most)
	if err != nil {
		return out, err
	}
	c.from = rows.Plan().View.Class().FullName()
	c.Note(rows.Plan().Notes...)
	if rows.Plan().Foreign() {
		c.record.Kind = "other_tenant"
	}
	return shaped(ctx, func() (T, error) { return shape(rows) })
}

// timed returns q; a SELECT statement without a time takes that of the call.
func (c *Call) timed(q query.Query) query.Query {
	if s, ok := q.(*query.SQL); ok && s.Now.IsZero() {
		timed := *s
		timed.Now = c.Time()
		return &timed
	}
	return q
}

// Read answers q with a page, cut to the byte budget, and a cursor if there is more.
func (c *Call) Read(ctx context.Context, q *query.Find) (*pages.Page, error) {
	page, err := c.page(ctx, q, pages.Rows)
	if err == nil && page.More {
		page.Cursor = c.gateway.cursors.Seal(page.Next, bound(c.policy, c.who, q))
	}
	if err == nil {
		c.Found(q, page.Count == 0)
	}
	return page, err
}

// Get answers q with all records it asks for, without their largest fields if they exceed the byte budget.
func (c *Call) Get(ctx context.Context, q *query.Find) (*pages.Page, error) {
	return c.page(ctx, q, pages.Whole)
}

// page answers q with a page and the records of the lists of pointers that it asks for. These are read by queries of
// their own, after those of the page.
func (c *Call) page(ctx context.Context, q *query.Find, by func(redact.Rows, int) (*pages.Page, error)) (*pages.Page, error) {
	page, err := answered(ctx, c, q, 0, func(rows redact.Rows) (*pages.Page, error) { return by(rows, c.gateway.options.Budget) })
	if err != nil {
		return nil, err
	}
	records, notes, err := listed.Embed(page, func(q *query.Find) (*pages.Page, error) {
		rows, err := c.gateway.rows(ctx, c.policy, c.who, q, 0)
		if err != nil {
			return nil, err
		}
		return shaped(ctx, func() (*pages.Page, error) { return pages.Rows(rows, c.gateway.options.Budget) })
	})
	if err != nil {
		return nil, err
	}
	c.Note(notes...)
	c.record.Rows += page.Count + records
	return page, nil
}

// Count returns how many records match q.
func (c *Call) Count(ctx context.Context, q *query.Count) (n int64, notes []string, err error) {
	n, err = answered(ctx, c, q, 0, func(rows redact.Rows) (int64, error) {
		notes = rows.Plan().Notes
		return pages.Count(rows)
	})
	c.Found(q, err == nil && n == 0)
	return n, notes, err
}

// Aggregate answers q with a page, cut to the byte budget. The page's Full reports that cut, and its More that the
// automatic limit of q left records out.
func (c *Call) Aggregate(ctx context.Context, q *query.Pipeline) (*pages.Page, error) {
	return c.computed(ctx, q)
}

// SQL answers a SELECT statement with a page, cut to the byte budget, and a cursor if there is more.
func (c *Call) SQL(ctx context.Context, q *query.SQL) (*pages.Page, error) {
	page, err := c.computed(ctx, q)
	if err == nil {
		if page.More = page.More || page.Cut; page.More {
			page.Cursor = c.gateway.cursors.Seal(page.Next, bound(c.policy, c.who, q))
		}
	}
	return page, err
}

// computed runs a query without a next page. More is only what the default limit has left out: of a limit of the caller's own it isn't
// known.
func (c *Call) computed(ctx context.Context, q query.Query) (*pages.Page, error) {
	return answered(ctx, c, q, 0, func(rows redact.Rows) (*pages.Page, error) {
		page, err := pages.Rows(rows, c.gateway.options.Budget)
		if err == nil {
			page.More = page.More && rows.Plan().Auto
			c.Found(q, page.Nothing())
			c.Note(page.Missing...)
			c.record.Rows += page.Count
		}
		return page, err
	})
}

// Export writes the records of q to out, one at a time, within o.Budget bytes: 0 means the gateway's budget, and a
// negative value means none.
func (c *Call) Export(ctx context.Context, q query.Query, out io.Writer, o pages.ExportOptions) (pages.Exported, error) {
	most := 0
	switch {
	case o.Budget < 0:
		o.Budget, most = 0, exportMost
	case o.Budget == 0:
		o.Budget = cmp.Or(c.gateway.options.Budget, pages.DefaultBudget)
	}
	return answered(ctx, c, q, most, func(rows redact.Rows) (pages.Exported, error) {
		done, err := pages.Export(out, rows, o)
		c.Found(q, err == nil && done.Count == 0)
		c.record.Rows += done.Count
		return done, err
	})
}

// bound identifies what a cursor may be used for: one principal, one query and one version of the rules.
func bound(p *policy.Policy, principal identity.Principal, q interface{ Digest() [32]byte }) [32]byte {
	digest := q.Digest()
	doc := value.OfArray([]value.Value{value.OfString(principal.ID), value.OfString(principal.Tenant), value.OfString(p.Version()), value.OfBytes(string(digest[:]))})
	return sha256.Sum256(doc.AppendJSON(nil))
}

// shaped runs shape in a trace span. The span includes reading the source, which happens meanwhile.
func shaped[T any](ctx context.Context, shape func() (T, error)) (T, error) {
	_, step := trace.Start(ctx, "shape")
	out, err := shape()
	trace.End(step, err)
	return out, err
}
