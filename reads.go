package bailiwick

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/redact"
	"github.com/bailiwick-dev/bailiwick/internal/result"
	"github.com/bailiwick-dev/bailiwick/internal/trace"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/value"
)

// answerQuery runs a query and passes its rows to shape, which reads from the source. most is the maximum size of one
// value in bytes. 0 means the budget. If the classes of the source have changed, answered describes the source again
// and repeats the query once. If the last record of the previous page has moved, answered looks for it once.
func answerQuery[T any](ctx context.Context, c *Call, q query.Query, most int, shape func(redact.Rows) (T, error)) (T, error) {
	out, err := answeredOnce(ctx, c, q, most, shape)
	if again, _, wide := paged(q); wide != nil && errors.Is(err, result.ErrMoved) {
		*wide = true
		out, err = answeredOnce(ctx, c, again, most, shape)
	}
	if name, _, ok := strings.Cut(c.from, "."); ok && c.again(ctx, name, err) {
		out, err = answeredOnce(ctx, c, q, most, shape)
	}
	explainClassChange(err)
	return out, err
}

// A pagedQuery is a query whose answer can be followed by a next page.
type pagedQuery interface {
	query.Query
	Digest() [32]byte
}

// paged returns a copy of q with its cursor and whether it looks for the last record of the previous page among its
// neighbours. All are nil for a query without pages.
func paged(q query.Query) (again pagedQuery, cursor *string, wide *bool) {
	switch q := q.(type) {
	case *query.Find:
		again := *q
		return &again, &again.Cursor, &again.Wide
	case *query.SQL:
		again := *q
		return &again, &again.Cursor, &again.Wide
	case *query.Native:
		again := *q
		return &again, &again.Cursor, &again.Wide
	}
	return nil, nil, nil
}

// answeredOnce runs a query and passes its rows to shape.
func answeredOnce[T any](ctx context.Context, c *Call, q query.Query, most int, shape func(redact.Rows) (T, error)) (out T, err error) {
	c.recordClass(q.From())
	if q, err = c.complete(q); err != nil {
		return out, err
	}
	if c.trial {
		_, _, err := c.gateway.prepare(c.policy, c.who, q, most)
		return out, cmp.Or(err, errPermitted)
	}
	rows, err := c.gateway.rows(ctx, c.policy, c.who, q, most)
	if err != nil {
		return out, err
	}
	c.from = rows.Plan().View.Class().FullName()
	out, err = traceShape(ctx, func() (T, error) { return shape(rows) })
	if !errors.Is(err, source.ErrChanged) && !errors.Is(err, result.ErrMoved) {
		c.Note(rows.Plan().Notes...)
		if rows.Plan().Foreign() {
			c.record.Kind = "other_tenant"
		}
	}
	return out, err
}

// Read answers q with a page, cut to the byte budget, and a cursor if there is more.
func (c *Call) Read(ctx context.Context, q *query.Find) (*result.Page, error) {
	page, err := c.page(ctx, q, result.NewPage)
	if err == nil && page.More {
		page.Cursor = c.gateway.cursors.Seal(page.Next, cursorScope(c.policy, c.who, q))
	}
	if err == nil {
		c.NoteEmpty(q, page.Count == 0)
		c.NoteResult(q, page.Count)
	}
	return page, err
}

// Get answers q with all requested records. If they exceed the byte budget, it omits their largest fields.
func (c *Call) Get(ctx context.Context, q *query.Find) (*result.Page, error) {
	return c.page(ctx, q, result.WholePage)
}

// page answers q with a page, and adds the records of the requested lists of pointers. It reads them with separate
// queries after the page.
func (c *Call) page(ctx context.Context, q query.Query, by func(redact.Rows, int) (*result.Page, error)) (*result.Page, error) {
	page, err := answerQuery(ctx, c, q, 0, func(rows redact.Rows) (*result.Page, error) { return by(rows, c.gateway.options.Budget) })
	if err != nil {
		return nil, err
	}
	records, notes, err := result.Embed(page, func(q *query.Find) (*result.Page, error) {
		rows, err := c.gateway.rows(ctx, c.policy, c.who, q, 0)
		if err != nil {
			return nil, err
		}
		return traceShape(ctx, func() (*result.Page, error) { return result.NewPage(rows, c.gateway.options.Budget) })
	})
	if err != nil {
		return nil, err
	}
	c.Note(notes...)
	c.Note(page.Missing...)
	c.record.Rows += page.Count + records
	return page, nil
}

// Count returns how many records match q.
func (c *Call) Count(ctx context.Context, q *query.Count) (n int64, notes []string, err error) {
	n, err = answerQuery(ctx, c, q, 0, func(rows redact.Rows) (int64, error) {
		notes = rows.Plan().Notes
		return result.CountRows(rows)
	})
	c.NoteEmpty(q, err == nil && n == 0)
	if err == nil {
		c.NoteResult(q, 1)
	}
	return n, notes, err
}

// Aggregate answers q with a page, cut to the byte budget. The page's Full reports this cut. Its More reports that the
// automatic limit of q left records out.
func (c *Call) Aggregate(ctx context.Context, q *query.Pipeline) (*result.Page, error) {
	return c.computePage(ctx, q)
}

// SQL answers a SELECT statement with a page, cut to the byte budget, and a cursor if there is more.
func (c *Call) SQL(ctx context.Context, q *query.SQL) (*result.Page, error) {
	q, err := c.inline(q)
	if err != nil {
		return nil, err
	}
	page, err := c.computePage(ctx, q)
	if err == nil {
		if page.More = page.More || page.Cut; page.More {
			page.Cursor = c.gateway.cursors.Seal(page.Next, cursorScope(c.policy, c.who, q))
		}
	}
	return page, err
}

// computePage runs a query that has no next page. More only reports records that the default limit left out. If the caller
// sets a limit, More is false.
func (c *Call) computePage(ctx context.Context, q query.Query) (*result.Page, error) {
	return answerQuery(ctx, c, q, 0, func(rows redact.Rows) (*result.Page, error) {
		page, err := result.NewPage(rows, c.gateway.options.Budget)
		if err == nil {
			page.More = page.More && rows.Plan().Auto
			c.NoteEmpty(q, page.Nothing())
			c.NoteResult(q, page.Count)
			c.Note(page.Missing...)
			c.record.Rows += page.Count
		}
		return page, err
	})
}

// Look returns the records of q as objects, as the caller sees them, for a note about another answer. It adds no notes
// itself.
func (c *Call) Look(ctx context.Context, q query.Query) ([]value.Value, error) {
	q, err := c.complete(q)
	if err != nil {
		return nil, err
	}
	if c.trial {
		_, _, err := c.gateway.prepare(c.policy, c.who, q, 0)
		return nil, cmp.Or(err, errPermitted)
	}
	rows, err := c.gateway.rows(ctx, c.policy, c.who, q, 0)
	if err != nil {
		return nil, err
	}
	page, err := traceShape(ctx, func() (*result.Page, error) { return result.NewPage(rows, c.gateway.options.Budget) })
	if err != nil {
		return nil, err
	}
	list, err := value.Read(page.AppendJSON(nil), 0)
	return list.List(), err
}

// Export writes the records of q to out, one at a time, within o.Budget bytes: 0 means the gateway's budget, and a
// negative value means none.
func (c *Call) Export(ctx context.Context, q query.Query, out io.Writer, o result.ExportOptions) (result.Exported, error) {
	most := 0
	switch {
	case o.Budget < 0:
		o.Budget, most = 0, exportMost
	case o.Budget == 0:
		o.Budget = cmp.Or(c.gateway.options.Budget, result.DefaultBudget)
	}
	return answeredOnce(ctx, c, q, most, func(rows redact.Rows) (result.Exported, error) { // written output can't be taken back
		done, err := result.Export(out, rows, o)
		c.Note(done.Notes...)
		c.NoteEmpty(q, err == nil && done.Count == 0)
		c.record.Rows += done.Count
		return done, err
	})
}

// cursorScope returns the digest that limits a cursor to one principal, one query and one version of the rules.
func cursorScope(p *policy.Policy, principal identity.Principal, q pagedQuery) [32]byte {
	digest := q.Digest()
	parts := []value.Value{value.OfString(principal.ID), value.OfString(principal.Tenant), value.OfString(p.Version()), value.OfBytes(string(digest[:]))}
	schemas := p.Schemas(principal)
	for _, source := range slices.Sorted(maps.Keys(schemas)) {
		parts = append(parts, value.OfString(source), value.OfString(schemas[source]))
	}
	doc := value.OfArray(parts)
	return sha256.Sum256(doc.AppendJSON(nil))
}

// traceShape runs shape in a trace span. The span includes the reads of the source, which happen during shape.
func traceShape[T any](ctx context.Context, shape func() (T, error)) (T, error) {
	_, step := trace.Start(ctx, "shape")
	out, err := shape()
	trace.End(step, err)
	return out, err
}

// A description is the last description of the classes by the sources.
type description struct {
	mu      sync.Mutex // held while a source is described
	found   map[string][]schema.Class
	asked   map[string]time.Time // the time until which calls can't cause another description of a source
	failing map[string]error     // the errors of the last descriptions of sources
}

// describe describes the sources in names, or all for nil, and compiles the rules against the result. The first time,
// every fault is an error. Later, a source that can't be described keeps its classes. A class that its rules no longer
// fit is closed. With quiet, nothing happens if no class has changed.
func (g *Gateway) describe(ctx context.Context, names []string, quiet bool) ([]string, error) {
	if names == nil {
		names = slices.Sorted(maps.Keys(g.options.Sources))
	}
	d := &g.description
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.found == nil {
		d.found, d.asked, d.failing = map[string][]schema.Class{}, map[string]time.Time{}, map[string]error{}
	}
	now := g.force.Load()
	var warnings []string
	var errs []error
	changed := false
	for _, name := range names {
		classes, warned, err := g.options.Sources[name].Describe(ctx)
		if err != nil {
			err = fmt.Errorf("describe source %s: %w", name, err)
			if now == nil {
				return nil, err
			}
			if ctx.Err() == nil {
				d.failing[name] = err
			}
			errs = append(errs, err)
			continue
		}
		delete(d.failing, name)
		changed = changed || !reflect.DeepEqual(classes, d.found[name])
		d.found[name], warnings = copyClasses(classes), append(warnings, warned...)
	}
	if now != nil && quiet && !changed {
		return warnings, errors.Join(errs...)
	}
	var found []schema.Class
	for _, name := range slices.Sorted(maps.Keys(d.found)) {
		found = append(found, d.found[name]...)
	}
	g.changes.Lock()
	defer g.changes.Unlock()
	next, err := g.recompile(found)
	if err == nil {
		next, err = g.withholdCredentials(ctx, next, quiet)
	}
	if err != nil {
		return warnings, errors.Join(append(errs, err)...)
	}
	g.enforce(next, nil)
	g.Announce(CatalogueChanged)
	return append(warnings, next.closed...), errors.Join(errs...)
}

// recompile compiles the rules and declarations in force against found. If none are in force yet, it compiles those of the
// Options.
func (g *Gateway) recompile(found []schema.Class) (*force, error) {
	if now := g.force.Load(); now != nil {
		return now.recompile(found, g.guard.Overlay())
	}
	return compile(g.options.Rules, Declarations{Actions: g.options.Actions, Metrics: g.options.Metrics, Queries: g.options.Queries}, found, g.checkNative)
}

// copyClasses returns a copy of classes whose fields and relations the rules can change.
func copyClasses(classes []schema.Class) []schema.Class {
	out := slices.Clone(classes)
	for i := range out {
		out[i].Fields, out[i].Relations = slices.Clone(out[i].Fields), slices.Clone(out[i].Relations)
	}
	return out
}

// RefreshDrifting describes the sources again whose classes may change at any time. Nothing happens if no class has
// changed. With forCall, it skips sources that were just described, because a description costs the database more than
// a call.
func (g *Gateway) RefreshDrifting(ctx context.Context, names []string, forCall bool) ([]string, error) {
	var again []string
	for _, name := range slices.Sorted(maps.Keys(g.options.Sources)) {
		s, ok := g.options.Sources[name].(source.Drifting)
		if !ok || !s.Drifts() || names != nil && !slices.Contains(names, name) {
			continue
		}
		g.description.mu.Lock()
		until := g.description.asked[name]
		g.description.mu.Unlock()
		if !forCall || time.Now().After(until) {
			again = append(again, name)
		}
	}
	if again == nil {
		return nil, nil
	}
	begun := time.Now()
	warnings, err := g.describe(ctx, again, true)
	if forCall {
		g.description.mu.Lock()
		defer g.description.mu.Unlock()
		for _, name := range again { // descriptions for calls cost the database at most a tenth of its time
			g.description.asked[name] = time.Now().Add(10 * time.Since(begun))
		}
	}
	return warnings, err
}

// ClosureReasons returns, for operators, why classes are closed or can't be described, and which tenant schemas are left out.
func (g *Gateway) ClosureReasons() []string {
	g.description.mu.Lock()
	defer g.description.mu.Unlock()
	out := slices.Clone(g.force.Load().closed)
	for _, name := range slices.Sorted(maps.Keys(g.description.failing)) {
		out = append(out, g.description.failing[name].Error())
	}
	for _, name := range slices.Sorted(maps.Keys(g.options.Sources)) {
		if s, ok := g.options.Sources[name].(source.Partial); ok {
			for _, left := range s.LeftOut() {
				out = append(out, "source "+name+": "+left)
			}
		}
	}
	return out
}

// again handles a read that failed because classes have changed. It describes the source, and reports whether the read
// can be repeated under the same rules.
func (c *Call) again(ctx context.Context, name string, err error) bool {
	if !errors.Is(err, source.ErrChanged) || ctx.Err() != nil {
		return false
	}
	if _, err := c.gateway.RefreshDrifting(ctx, []string{name}, true); err != nil && ctx.Err() != nil {
		return false
	}
	now := c.gateway.force.Load()
	if now.policy.Version() != c.policy.Version() {
		return false
	}
	c.policy, c.actions, c.metrics = c.gateway.rules(ctx, now.policy).Noting(&c.uses), now.actions, now.metrics
	return true
}

// explainClassChange sets what to do next in the error of a call that failed because classes have changed.
func explainClassChange(err error) {
	if p := problem.Of(err); errors.Is(err, source.ErrChanged) && p != nil {
		p.Detail, p.Suggestion = "the class has changed in the source since it was described", "get_schema has its fields as they are now. If the call fails again, tell the operator the correlation id"
	}
}
