package tool

import (
	"context"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/internal/result"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// getObject returns the tool that reads one record by its ID.
func getObject() Tool {
	return Tool{
		Name:        "get_object",
		Title:       "Get a record",
		Description: "One record by its id. A key of several fields is written as a JSON list: [\"a\",\"1\"].",
		Input: compact(`{"type": "object", "additionalProperties": false, "required": ["class_name", "object_id"], "properties": {
			"class_name": {"type": "string"},
			"object_id": {"type": "string", "minLength": 1, "maxLength": 1024},
			` + keysSchema + `, ` + partSchema + `}}`),
		Output: compact(`{"type": "object", "required": ["class_name", "object"], "properties": {
			"class_name": {"type": "string"}, "object": {"type": "object"}, "part": {"type": "object"}, "next_call": {"type": "object"},
			"truncated_include_fields": {"type": "object"}, "_truncated": {"type": "object"}}}`),
		Annotations: reads(),
		Category:    Query,
		Timeout:     getTimeout,
		Handle: func(ctx context.Context, c *bailiwick.Call, in value.Value) (Result, error) {
			args := arguments{in}
			id := args.text("object_id")
			q := &query.Find{Class: args.text("class_name"), IDs: []string{id}, Limit: 1}
			if err := args.projection(q); err != nil {
				return Result{}, err
			}
			var err error
			if q.Part, err = args.part(); err != nil {
				return Result{}, err
			}
			page, err := c.Get(ctx, q)
			if err != nil {
				return Result{}, err
			}
			if page.Count == 0 {
				return Result{}, notFoundError(c, q.Class, id)
			}
			if q.Part != nil {
				return partResult(page, q)
			}
			return objectResult(page, q), nil
		},
	}
}

// objectResult returns the record of a page, and the call for a field that is too large for it.
func objectResult(page *result.Page, q *query.Find) Result {
	record := page.Record(0)
	said := page.AppendFields(make([]byte, 0, len(record)+len(q.Class)+64), 0)
	cut, is := truncation(page, "")
	field := readable(page)
	var next value.Value
	if is {
		said = withoutFields(append(said, '\n'), page)
		if field != "" {
			next = partCall(q, field, 0, partLength)
			said = appendCall(append(said, ", "...), next, math.MaxInt)
		}
	}
	text := string(said)
	doc := value.AppendQuote(append(said[:0], `{"class_name":`...), q.Class) // in the same memory
	doc = append(append(doc, `,"object":`...), record...)
	if is {
		doc = cut.AppendJSON(append(doc, `,"_truncated":`...))
		if field != "" {
			doc = next.AppendJSON(append(doc, `,"next_call":`...))
		}
	}
	if len(page.Truncated) > 0 {
		doc = truncatedIncludes(page).AppendJSON(append(doc, `,"truncated_include_fields":`...))
	}
	return Result{Structured: append(doc, '}'), Text: text}
}

// readable returns the first omitted field of a page that part can read. It must be a field of the record itself whose
// size the caller may know. readable returns "" if there is none.
func readable(page *result.Page) string {
	for _, d := range page.Dropped {
		if d.Bytes > 0 && !strings.Contains(d.Field, ".") {
			return d.Field
		}
	}
	return ""
}

// partResult returns a piece of a field, and the call for the next one.
func partResult(page *result.Page, q *query.Find) (Result, error) {
	columns := page.Values(0)
	n := len(columns)
	if len(page.Dropped) > 0 && page.Dropped[0].Bytes == 0 {
		return Result{}, &problem.Error{Code: problem.BudgetExceeded, Pointer: "/part/field", Detail: q.Part.Field + " is masked, and too large to be masked as a whole",
			Suggestion: "no part of it can be read"}
	}
	if page.Dropped != nil || n < 2 {
		return Result{}, &problem.Error{Code: problem.BudgetExceeded, Pointer: "/part/length", Detail: "the part is over the budget of an answer", Suggestion: "ask for a smaller length"}
	}
	piece, size := columns[n-2], columns[n-1]
	if piece.IsNull() && !size.IsNull() {
		return Result{}, &problem.Error{Code: problem.BudgetExceeded, Pointer: "/part/field",
			Detail: fmt.Sprintf("%s has %d bytes, more than this source can read a part of", q.Part.Field, size.Int())}
	}
	units := int64(utf8.RuneCountInString(piece.Text()))
	if piece.Kind() == value.Bytes {
		units = int64(len(piece.Text()))
	}
	part := []value.Member{text("field", q.Part.Field), member("offset", value.OfInt(q.Part.Offset)), member("length", value.OfInt(units)), member("total", size)}
	out := []value.Member{text("class_name", q.Class), member("object", value.OfObject([]value.Member{member(q.Part.Field, piece)})), member("part", value.OfObject(part))}
	end := q.Part.Offset + units
	said := piece.AppendText(nil)
	said = fmt.Appendf(said, "\n%s: %d to %d of %d", q.Part.Field, q.Part.Offset, end, size.Int())
	if units > 0 && end < size.Int() {
		next := partCall(q, q.Part.Field, end, q.Part.Length)
		out = append(out, member("next_call", next))
		said = appendCall(append(said, ", "...), next, math.MaxInt)
	}
	return Result{Structured: value.OfObject(out).AppendJSON(nil), Text: string(said)}, nil
}

// partCall returns the call that reads a piece of a field of the record.
func partCall(q *query.Find, field string, offset, length int64) value.Value {
	part := value.OfObject([]value.Member{text("field", field), member("offset", value.OfInt(offset)), member("length", value.OfInt(length))})
	arguments := value.OfObject([]value.Member{text("class_name", q.Class), text("object_id", q.IDs[0]), member("part", part)})
	return value.OfObject([]value.Member{text("tool", "get_object"), member("arguments", arguments)})
}

// appendCall appends the next call to a line if it has at most room bytes. Otherwise it appends only the differences
// from the previous call.
func appendCall(dst []byte, next value.Value, room int) []byte {
	arguments, _ := next.Get("arguments")
	name, _ := next.Get("tool")
	whole := arguments.AppendJSON(fmt.Appendf(nil, "more: %s ", name.Text()))
	cursor, _ := arguments.Get("cursor")
	if len(whole) <= room || cursor.IsNull() {
		return append(dst, whole...)
	}
	return cursor.AppendJSON(append(dst, `more: the same call with "cursor":`...))
}
