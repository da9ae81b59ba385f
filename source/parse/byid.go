package parse

import (
	"context"
	"strings"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/source/parse/internal/rest"
	"github.com/bailiwick-dev/bailiwick/value"
)

// alphabet holds the characters of ids, in the order of their bytes.
const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// byID returns a page in the order of the ids. Databases behind Parse Server may order texts by a collation, so the ids are
// read prefix by prefix in the order of their bytes, until the page is decided.
func (r *reading) byID(ctx context.Context) (source.Rows, error) {
	p := &prefixes{reading: r}
	if r.plan.After != nil {
		p.after = r.plan.After[0].Text()
	}
	done, err := p.below(ctx, "")
	if err != nil || done != nil {
		return done, err
	}
	rows, _, err := r.page(ctx, p.have)
	return rows, err
}

// prefixes are the ids of a reading, prefix by prefix.
type prefixes struct {
	*reading
	after string      // the last id of the page before; "" for none
	have  []value.Row // the records up to the current prefix
}

// below adds the records whose ids begin with prefix. It returns the page once it is decided.
func (p *prefixes) below(ctx context.Context, prefix string) (source.Rows, error) {
	if prefix < p.after && !strings.HasPrefix(p.after, prefix) {
		return nil, nil
	}
	before := p.budget
	rows, more, err := p.some(ctx, "^"+prefix)
	if err != nil {
		return nil, err
	}
	if more {
		p.budget = before
		return p.split(ctx, prefix)
	}
	if p.have = append(p.have, rows...); len(rows) == 0 || prefix == "" {
		return nil, nil // there is nothing new, or there is no more
	}
	done, enough, err := p.reading.page(ctx, p.have)
	if err != nil || !enough {
		return nil, err
	}
	return done, nil
}

// some returns the records of one page whose ids match a pattern, and whether there are more.
func (p *prefixes) some(ctx context.Context, pattern string) ([]value.Row, bool, error) {
	w, err := p.walk(p.plan.View, p.plan.Where)
	if err != nil {
		return nil, false, err
	}
	if pattern != "^" {
		w.where = conjunction(w.where, rest.Object("objectId", rest.Object("$regex", value.OfString(pattern))))
	}
	rows, err := w.next(ctx)
	if err != nil || w.ended {
		return rows, false, err
	}
	_, err = w.page(ctx)
	return rows, !w.ended, err
}

// split is below for each longer prefix.
func (p *prefixes) split(ctx context.Context, prefix string) (source.Rows, error) {
	before := p.budget
	others, _, err := p.some(ctx, "^"+prefix+"([^0-9A-Za-z]|$)")
	if err != nil {
		return nil, err
	}
	if p.budget = before; len(others) > 0 {
		return nil, &problem.Error{Code: problem.Unsupported, Detail: "the source can't order these records by their ids, some of which were not made by Parse Server",
			Suggestion: `order by createdAt: {"order": "-createdAt"}`}
	}
	for _, c := range alphabet {
		if done, err := p.below(ctx, prefix+string(c)); err != nil || done != nil {
			return done, err
		}
	}
	return nil, nil
}
