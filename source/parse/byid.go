package parse

import (
	"context"
	"strings"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/value"
)

// alphabet contains the characters of ids, in the order of their bytes.
const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// byID yields a page in the order of the ids. Databases behind Parse Server may order texts by a collation. So byID
// reads the ids prefix by prefix in the order of their bytes, until the page is full.
func (r *reading) byID(ctx context.Context) source.Rows {
	return r.parts(func(out *parts) error {
		p := &prefixes{parts: out}
		if r.plan.After != nil {
			p.after = r.plan.After[0].Text()
		}
		return p.below(ctx, "")
	})
}

// prefixes reads records prefix by prefix.
type prefixes struct {
	*parts
	after string // the last id of the previous page, or ""
}

// below yields the records whose ids begin with prefix.
func (p *prefixes) below(ctx context.Context, prefix string) error {
	if prefix < p.after && !strings.HasPrefix(p.after, prefix) {
		return nil
	}
	before := p.budget
	rows, more, err := p.some(ctx, "^"+prefix)
	if err != nil {
		return err
	}
	if more {
		p.budget = before
		return p.split(ctx, prefix)
	}
	return p.give(ctx, rows)
}

// mostPart is the maximum size in bytes of the answers for one prefix. Beyond it, more pages are read instead of
// longer prefixes.
const mostPart = 8 << 20

// some returns the records whose ids match a pattern, up to a page or mostPart. It also reports whether there are
// more.
func (p *prefixes) some(ctx context.Context, pattern string) (rows []value.Row, more bool, err error) {
	w, err := p.walk(p.plan.View, p.plan.Where, p.reads(p.plan.View))
	if err != nil {
		return nil, false, err
	}
	if pattern != "^" {
		w.where = conjunction(w.where, restObject("objectId", restObject("$regex", value.OfString(pattern))))
	}
	for w.seen < w.source.page && w.bytes <= mostPart {
		page, err := w.next(ctx)
		if rows = append(rows, page...); err != nil || w.ended {
			return rows, false, err
		}
	}
	w.size, w.uses = 1, uses{read: func(name string) bool { return name == "objectId" }, whole: everything.whole} // only to check whether there is another record
	_, err = w.page(ctx)
	return rows, !w.ended, err
}

// split calls below for each longer prefix.
func (p *prefixes) split(ctx context.Context, prefix string) error {
	before := p.budget
	others, _, err := p.some(ctx, "^"+prefix+"([^0-9A-Za-z]|$)")
	if err != nil {
		return err
	}
	if p.budget = before; len(others) > 0 {
		return &problem.Error{Code: problem.Unsupported, Detail: "the source can't order these records by their ids, some of which were not made by Parse Server",
			Suggestion: `order by createdAt: {"order": "-createdAt"}`}
	}
	for _, c := range alphabet {
		if err := p.below(ctx, prefix+string(c)); err != nil {
			return err
		}
	}
	return nil
}
