package parse

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/rules/filterfields"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source/parse/internal/answer"
	"github.com/bailiwick-dev/bailiwick/source/parse/internal/rest"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A walk reads records of a view page by page, in the order that Parse Server has them by a field and the objectId.
type walk struct {
	*reading
	view  *policy.View
	class *class
	where value.Value // null for all
	keys  string      // the fields that are asked for, joined by commas
	by    string      // the field; "" for the objectId alone
	desc  bool

	most  int         // how many records there are at most; 0 if that isn't known
	seen  int         // records so far
	after value.Value // a condition that continues after the last page
	ended bool
	size  int // of a page; 0 before the first

	taken map[[2]string]bool // the pairs of a relation so far
}

// pageSize is the number of records that are asked for at once. A Parse Server may return fewer, so only an empty page
// is the last one.
const pageSize = 1000

// walk returns a walk over the records of v for which where holds, as far as the server can decide it; what it can't is decided here.
// It asks for the visible fields and for those that the conditions of the view read.
func (r *reading) walk(v *policy.View, where query.Filter) (*walk, error) {
	c, viewed, err := r.viewed(v)
	if err != nil {
		return nil, err
	}
	keys := []string{"ACL"}
	for _, f := range v.Fields() {
		keys = append(keys, f.Name)
	}
	for _, l := range v.Layers() {
		if l.Through != nil {
			keys = append(keys, l.Through.Field)
		} else {
			filterfields.Fields(l.Filter, func(name string) { keys = append(keys, name) })
		}
	}
	if g := v.Class().Guard; g != nil {
		keys = slices.AppendSeq(keys, maps.Keys(g.Named)) // without these, Parse Server can't tell what to leave out
	}
	slices.Sort(keys)
	keys = slices.DeleteFunc(slices.Compact(keys), func(k string) bool { return k == rest.Readers })
	return &walk{reading: r, view: v, class: c, keys: strings.Join(keys, ","),
		where: conjunction(viewed.where, c.condition(where, r.trusted()).where)}, nil
}

// conjunction returns the condition that all the given ones hold; null ones hold.
func conjunction(conditions ...value.Value) value.Value {
	return joined("$and", slices.DeleteFunc(conditions, value.Value.IsNull))
}

// next returns the records of the next page that are in the view.
func (w *walk) next(ctx context.Context) ([]value.Row, error) {
	page, err := w.page(ctx)
	if err != nil {
		return nil, err
	}
	return w.visible(ctx, page)
}

// page returns the next page as Parse Server has it.
func (w *walk) page(ctx context.Context) ([]value.Row, error) {
	if w.class.pairs() {
		return w.pairs(ctx)
	}
	query := url.Values{"order": {"objectId"}, "keys": {w.keys}}
	if w.by != "" {
		query.Set("order", map[bool]string{true: "-"}[w.desc]+w.by+",objectId")
	}
	if where := conjunction(w.where, w.after); !where.IsNull() {
		query.Set("where", string(where.AppendJSON(nil)))
	}
	answer, err := w.some(ctx, query)
	if err != nil {
		return nil, err
	}
	rows, err := w.rows(answer)
	if err != nil {
		return nil, err
	}
	w.seen += len(rows)
	if w.ended = len(rows) == 0 || w.seen == w.most; !w.ended {
		results, _ := answer.Get("results")
		w.goOn(rows[len(rows)-1], text(results.List()[len(rows)-1], "objectId"))
	}
	return rows, w.sound(ctx)
}

// some returns the answer to a query for a page: for fewer records from then on, if as many are too large.
func (w *walk) some(ctx context.Context, query url.Values) (value.Value, error) {
	if w.size == 0 {
		w.size = w.source.page
	}
	for {
		query.Set("limit", strconv.Itoa(w.size))
		page, err := w.source.ask(ctx, request{method: http.MethodGet, path: "/classes/" + w.class.Table, query: query, as: w.who.as})
		if w.size == 1 || !errors.Is(err, answer.ErrLarge) {
			return page, err
		}
		w.size = max(1, w.size/8)
	}
}

// rows returns the records of an answer.
func (w *walk) rows(answer value.Value) ([]value.Row, error) {
	results, ok := answer.Get("results")
	if !ok || results.Kind() != value.Array {
		return nil, broken(&refusal{status: http.StatusOK}, "an answer without results")
	}
	rows := make([]value.Row, len(results.List()))
	for i, record := range results.List() {
		rows[i] = rest.Row(w.class.Class, record)
		if id := text(record, "objectId"); id == "" && !w.class.pairs() {
			return nil, broken(&refusal{status: http.StatusOK}, "a record without an objectId")
		}
	}
	return rows, nil
}

// sound returns an error if there are no records at all because Parse Server doesn't have the class as it was described.
func (w *walk) sound(ctx context.Context) error {
	if w.seen > 0 || !w.ended || w.checked[w.class.Name] {
		return nil
	}
	if w.checked == nil {
		w.checked = map[string]bool{}
	}
	w.checked[w.class.Name] = true
	return w.source.unchanged(ctx, w.class)
}

// goOn continues after a record with an objectId.
func (w *walk) goOn(last value.Row, at string) {
	id := rest.Object("objectId", rest.Object("$gt", value.OfString(at)))
	if w.by == "" {
		w.after = id
		return
	}
	by, _ := w.class.operand(w.class.Field(w.by), w.value(last, w.by))
	same := rest.Object(w.by, value.OfObject([]value.Member{{Name: "$gte", Value: by}, {Name: "$lte", Value: by}}))
	beyond := rest.Object(w.by, rest.Object(map[bool]string{true: "$lt", false: "$gt"}[w.desc], by))
	w.after = joined("$or", []value.Value{beyond, conjunction(same, id)})
}

func (w *walk) value(row value.Row, field string) value.Value {
	return row[slices.IndexFunc(w.class.Fields, func(f schema.Field) bool { return f.Name == field })]
}
