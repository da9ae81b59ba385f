package parse

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/writes"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A walk reads records of a view page by page. Parse Server orders them by a field and the objectId.
type walk struct {
	*reading
	uses
	view  *policy.View
	class *class
	where value.Value // null for all records
	by    string      // the field of the order, or "" for only the objectId
	desc  bool

	most    int         // the maximum number of records, or 0 if unknown
	passing bool        // whether the reader counts the records that it keeps
	seen    int         // the number of records so far
	bytes   int         // the size of their answers in bytes
	after   value.Value // a condition that continues after the last page
	ended   bool
	size    int // the number of records per page, or 0 before the first page

	memory []byte                  // the memory of the last answer, which the next page reuses. Kept values are copied
	unread map[*value.Value]unread // the unparsed records of the last page, by the first value of their row
	taken  map[[2]string]bool      // the pairs of a relation so far
}

// uses reports which fields of a class are read, and which of them are needed completely. Of the others only the
// returned parts are needed.
type uses struct{ read, whole func(name string) bool }

var everything = uses{read: func(string) bool { return true }, whole: func(string) bool { return true }}

// An unread is a record whose deciding fields have been parsed, but no other fields.
type unread struct {
	restRecord
	large  bool // the record is larger than an answer may be
	unseen bool // the deciding fields are too large, so the record is in no view
}

// mostDeciding is the maximum memory in bytes for the deciding fields of a record.
const mostDeciding = 32 << 20

// pageSize is the number of records per request. A Parse Server may return fewer, so only an empty page is the last
// one.
const pageSize = 1000

// walk returns a walk over the records of v that match where, as far as the server can evaluate where. The gateway
// evaluates the rest.
func (r *reading) walk(v *policy.View, where query.Filter, u uses) (*walk, error) {
	c, viewed, err := r.viewCondition(v)
	if err != nil {
		return nil, err
	}
	return &walk{reading: r, uses: u, view: v, class: c, where: conjunction(viewed.where, c.condition(where, r.bypassesPermissions()).where)}, nil
}

// deciding returns the fields that decide whether a record is in the view, and its position.
func (w *walk) deciding() []string {
	keys := append([]string{"objectId", w.by}, w.class.Key...)
	if g := w.class.Guard; g != nil {
		keys = slices.AppendSeq(keys, maps.Keys(g.Named))
	}
	for _, l := range w.view.Layers() {
		if l.Through != nil {
			keys = append(keys, l.Through.Field)
		} else {
			policy.FilterFields(l.Filter, func(name string) { keys = append(keys, name) })
		}
	}
	return keys
}

// keys returns the names of the fields to request, separated by commas: the deciding fields, and the fields of the
// view that are read.
func (w *walk) keys() string {
	names := w.deciding()
	for _, f := range w.view.Fields() {
		if w.read(f.Name) {
			names = append(names, f.Name)
		}
	}
	return keysParameter(names)
}

// keysParameter returns the parameter keys of a request for these fields.
func keysParameter(names []string) string {
	names = append(names, "ACL")
	slices.Sort(names)
	return strings.Join(slices.DeleteFunc(slices.Compact(names), func(k string) bool { return k == readers || k == "" }), ",")
}

// conjunction returns the condition that all conditions hold. A null condition always holds.
func conjunction(conditions ...value.Value) value.Value {
	return joinConditions("$and", slices.DeleteFunc(conditions, value.Value.IsNull))
}

// next returns the visible records of the next page. Only these count against the budget.
func (w *walk) next(ctx context.Context) ([]value.Row, error) {
	page, err := w.page(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := w.visible(ctx, page)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		if err := w.fill(ctx, row); err != nil {
			return nil, err
		}
		if w.passing {
			continue
		}
		if err := w.budget.Take(w.view.Name(), row); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// fill parses the rest of a record of the last page, if there is room for it.
func (w *walk) fill(ctx context.Context, row value.Row) error {
	record := w.unread[&row[0]]
	if record.large && w.plan == nil {
		return writes.TooLarge(w.view)
	} else if record.large {
		return missingAnswer(ctx, largeAnswer(0))
	}
	size, weight := int64(0), int64(0)
	for _, f := range w.view.Fields() {
		if w.read(f.Name) && w.whole(f.Name) {
			bytes, heavy := record.Size(f)
			size, weight = size+bytes, weight+heavy
		}
	}
	if err := w.room(w.view, size, weight); err != nil {
		return err
	}
	for i := range w.class.Fields {
		f := &w.class.Fields[i]
		if !row[i].IsNull() || !w.read(f.Name) {
			continue
		}
		most := 0
		if !w.whole(f.Name) {
			most = cmp.Or(w.plan.Most, policy.MostValue)
		}
		v, err := record.Field(f, most)
		if err != nil {
			return illegible(err)
		}
		row[i] = v
	}
	return nil
}

// page returns the next page of Parse Server, with only the deciding fields parsed.
func (w *walk) page(ctx context.Context) ([]value.Row, error) {
	if w.class.pairs() {
		return w.pairs(ctx)
	}
	query := url.Values{"order": {"objectId"}}
	if w.by != "" {
		query.Set("order", map[bool]string{true: "-"}[w.desc]+w.by+",objectId")
	}
	if where := conjunction(w.where, w.after); !where.IsNull() {
		query.Set("where", string(where.AppendJSON(nil)))
	}
	records, lack, err := w.some(ctx, query)
	if err != nil {
		return nil, err
	}
	rows, err := w.rows(records, lack)
	if err != nil {
		return nil, err
	}
	w.seen += len(rows)
	if w.ended = len(rows) == 0 || w.seen == w.most; !w.ended {
		w.goOn(rows[len(rows)-1], records[len(rows)-1].ID())
	}
	rows = slices.DeleteFunc(rows, func(row value.Row) bool { return w.unread[&row[0]].unseen })
	return rows, w.sound(ctx)
}

// The parts that an answer omits from its only record, because the record would be too large.
const (
	lacksNothing = iota
	lacksRest    // it has the deciding fields
	lacksAll     // it has only the position, because the deciding fields are too large
)

// some returns the records of a page. If the answer is too large, it requests fewer records from then on. If a single
// record is too large, it requests fewer fields of it.
func (w *walk) some(ctx context.Context, query url.Values) (records []restRecord, lack int, err error) {
	if w.size == 0 {
		w.size = cmp.Or(w.sizes[w.class.Name], w.source.page)
	}
	keys := []string{w.keys(), keysParameter(w.deciding()), keysParameter([]string{"objectId", w.by})}
	for {
		query.Set("limit", strconv.Itoa(w.size))
		query.Set("keys", keys[lack])
		most := severalAnswers
		if w.size == 1 {
			most = oneAnswer
		}
		body, err := w.source.sendRequest(ctx, request{method: http.MethodGet, path: "/classes/" + w.class.Table, query: query, as: w.who.as, into: w.memory}, most)
		large := largeAnswer(0)
		switch {
		case err == nil:
			if len(body) < severalAnswers.Bytes/4 {
				w.size = min(2*w.size, w.source.page) // for the next page
			}
			w.sizes[w.class.Name], w.memory, w.bytes = w.size, body, w.bytes+len(body)
			records, err = restRecords(body)
			return records, lack, illegible(err)
		case !errors.As(err, &large), w.size == 1 && lack == lacksAll:
			return nil, lack, err
		case w.size == 1:
			lack++
		default:
			fit := int64(w.size / 8)
			if large > 0 {
				fit = int64(w.size) * int64(most.Bytes) * 3 / 4 / int64(large)
			}
			w.size = int(max(1, min(fit, int64(w.size/2))))
		}
	}
}

// rows returns the records of an answer, with the values of the deciding fields.
func (w *walk) rows(records []restRecord, lack int) ([]value.Row, error) {
	deciding := w.deciding()
	rows := make([]value.Row, len(records))
	w.unread = make(map[*value.Value]unread, len(records))
	for i, record := range records {
		rows[i] = make(value.Row, len(w.class.Fields))
		left, weight := int64(mostDeciding), int64(0)
		for at := range w.class.Fields {
			f := &w.class.Fields[at]
			if !slices.Contains(deciding, f.Name) {
				continue
			}
			if _, weight = record.Size(f); weight > left {
				left = -1
				continue
			}
			left -= weight
			v, err := record.Field(f, 0)
			if err != nil {
				return nil, illegible(err)
			}
			rows[i][at] = v
		}
		if !w.class.pairs() && record.ID() == "" {
			return nil, unexpectedAnswerError(&refusal{status: http.StatusOK}, "a record without an objectId")
		}
		w.unread[&rows[i][0]] = unread{restRecord: record, large: lack != lacksNothing, unseen: lack == lacksAll || left < 0}
	}
	return rows, nil
}

// illegible returns the error for an answer that could not be parsed because of err. It returns nil if err is nil.
func illegible(err error) error {
	switch {
	case errors.Is(err, errNoRecords):
		return unexpectedAnswerError(&refusal{status: http.StatusOK}, err.Error())
	case err != nil:
		return stranger(http.StatusOK)
	}
	return nil
}

// sound returns an error if no records were found because the class in Parse Server no longer matches its
// description.
func (w *walk) sound(ctx context.Context) error {
	if w.seen > 0 || !w.ended || w.checked[w.class.Name] {
		return nil
	}
	if w.checked == nil {
		w.checked = map[string]bool{}
	}
	w.checked[w.class.Name] = true
	return w.source.checkClass(ctx, w.class)
}

// goOn lets the next page continue after the record last with the objectId at.
func (w *walk) goOn(last value.Row, at string) {
	id := restObject("objectId", restObject("$gt", value.OfString(at)))
	if w.by == "" {
		w.after = id
		return
	}
	by, _ := w.class.operand(w.class.Field(w.by), w.value(last, w.by))
	same := restObject(w.by, value.OfObject([]value.Member{{Name: "$gte", Value: by}, {Name: "$lte", Value: by}}))
	beyond := restObject(w.by, restObject(map[bool]string{true: "$lt", false: "$gt"}[w.desc], by))
	w.after = joinConditions("$or", []value.Value{beyond, conjunction(same, id)})
}

func (w *walk) value(row value.Row, field string) value.Value {
	return row[slices.IndexFunc(w.class.Fields, func(f schema.Field) bool { return f.Name == field })]
}
