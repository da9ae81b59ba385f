package tool

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/internal/result"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// queryClass returns the tool that finds records. rows is the default limit.
func queryClass(rows int) Tool {
	return Tool{
		Name:  "query_class",
		Title: "Query a class",
		Description: "Find records of a class. " +
			`where is MongoDB style: {"status": "open", "estimate": {"$gt": 5}}. ` +
			"Dates are ISO 8601, pointers are ids. For the next page make next_call as it stands.",
		Input: compact(`{"type": "object", "additionalProperties": false, "required": ["class_name"], "properties": {
			"class_name": {"type": "string"},
			"where": {"type": "object", "description": "also $in $nin $exists $regex $startsWith $all $elemMatch $inQuery $select $and $or $not"},
			"keys": {"type": "array", "maxItems": 64, "items": {"type": "string"}, "description": "pointer.field reads another record"},
			"include": {"type": "array", "maxItems": 20, "items": {"type": "string"}, "description": "pointers to show as their records"},
			"order": {"type": "string", "description": "-created_at,title: - is descending"},
			"limit": {"type": "integer", "minimum": 1, "maximum": 1000, "description": "default ` + strconv.Itoa(rows) + `"},
			"skip": {"type": "integer", "minimum": 0, "maximum": 1000000000},
			"cursor": {"type": "string"},
			"format": {"type": "string", "enum": ["json", "csv", "markdown", "table"]},
			"apply_canonical_filter": {"type": "boolean", "description": "false: also deleted and other inactive records"}}}`),
		Output: compact(`{"type": "object", "required": ["class_name", "result_count", "has_more"], "properties": {
			"class_name": {"type": "string"},
			"results": {"type": "array", "items": {"type": "object"}},
			"output": {"type": "string"},
			"result_count": {"type": "integer"},
			"has_more": {"type": "boolean"},
			"next_call": {"type": "object"},
			"truncated_include_fields": {"type": "object"},
			"_truncated": {"type": "object"},
			"hints": {"type": "array", "items": {"type": "string"}}}}`),
		Annotations: reads(),
		Category:    Query,
		Timeout:     queryTimeout,
		Handle: func(ctx context.Context, c *bailiwick.Call, in value.Value) (Result, error) {
			args := arguments{in}
			q, err := find(args, rows)
			if err != nil {
				return Result{}, err
			}
			page, err := c.Read(ctx, q)
			if err != nil {
				return Result{}, err
			}
			return pageResult(page, args, q).in(args), nil
		},
	}
}

// find parses the arguments of query_class as a query.
func find(args arguments, rows int) (*query.Find, error) {
	q := &query.Find{Class: args.text("class_name"), Lean: true, Limit: args.number("limit", rows), Skip: args.number("skip", 0),
		Cursor: args.text("cursor"), Raw: args.raw()}
	var err error
	if q.Where, err = args.where(); err != nil {
		return nil, err
	}
	if q.Order, err = query.ParseOrder(args.text("order"), "/order"); err != nil {
		return nil, err
	}
	if q.Cursor != "" && q.Skip > 0 {
		return nil, invalid("/skip", "skip and cursor exclude each other: the cursor knows where to go on")
	}
	return q, args.projection(q)
}

// pageResult returns a page, with the call for the next one.
func pageResult(page *result.Page, args arguments, q *query.Find) Result {
	var next value.Value
	if page.More {
		next = nextCall("query_class", args, page.Cursor)
	}
	body, output := lines(page, args)
	body = closing(body, page, next, "no more")
	text := string(body)
	doc := value.AppendQuote(append(body[:0], `{"class_name":`...), q.Class) // in the same memory
	doc = members(page, args, output, append(doc, ','), next)
	if len(page.Truncated) > 0 {
		doc = truncatedIncludes(page).AppendJSON(append(doc, `,"truncated_include_fields":`...))
	}
	cut, said := truncation(page, "next_call goes on at the first record not shown. Fewer keys fit more records on a page")
	if said {
		doc = cut.AppendJSON(append(doc, `,"_truncated":`...))
	}
	return Result{Structured: append(doc, '}'), Text: text}
}

// lines returns the records of a page as the text of a result. If the arguments name a format other than JSON, it also
// returns them as the output in the structured content.
func lines(page *result.Page, args arguments) (body []byte, output string) {
	if asJSON(args) {
		return page.AppendLines(nil), ""
	}
	output = page.Text(result.Format(args.text("format")))
	return []byte(output), output
}

// asJSON reports whether the arguments request records as JSON, which is the default.
func asJSON(args arguments) bool {
	format := result.Format(args.text("format"))
	return format == "" || format == result.JSON
}

// in returns r. If the arguments name the format JSON, the text is the structured content.
func (r Result) in(args arguments) Result {
	r.json = result.Format(args.text("format")) == result.JSON
	return r
}

// members appends the members of the structured content that all kinds of pages have. These are the records or their
// output in another format, their number, and the call for the next page.
func members(page *result.Page, args arguments, output string, doc []byte, next value.Value) []byte {
	if asJSON(args) {
		doc = page.AppendJSON(append(doc, `"results":`...))
	} else {
		doc = value.AppendQuote(append(doc, `"output":`...), output)
	}
	doc = fmt.Appendf(doc, `,"result_count":%d,"has_more":%t`, page.Count, page.More)
	if page.More && !next.IsNull() {
		doc = next.AppendJSON(append(doc, `,"next_call":`...))
	}
	return doc
}

// nextCall returns the same call with a cursor.
func nextCall(tool string, args arguments, cursor string) value.Value {
	var again []value.Member
	for _, m := range args.Members() {
		if m.Name != "skip" && m.Name != "cursor" {
			again = append(again, m)
		}
	}
	again = append(again, text("cursor", cursor))
	return value.OfObject([]value.Member{text("tool", tool), member("arguments", value.OfObject(again))})
}

func truncatedIncludes(page *result.Page) value.Value {
	var out []value.Member
	for _, pointer := range slices.Sorted(maps.Keys(page.Truncated)) {
		out = append(out, member(pointer, list(page.Truncated[pointer])))
	}
	return value.OfObject(out)
}

// truncation describes the data that the byte budget cut, and reports whether it cut anything. hint is the advice for
// missing records.
func truncation(page *result.Page, hint string) (value.Value, bool) {
	if !page.Cut && page.Dropped == nil {
		return value.Value{}, false
	}
	var names []string
	var sizes []value.Member
	for _, d := range page.Dropped {
		names = append(names, d.Field)
		if d.Bytes > 0 {
			sizes = append(sizes, member(d.Field, value.OfInt(d.Bytes)))
		}
	}
	if names != nil {
		hint = "ask for fewer fields of the records that the pointers lead to"
	}
	if field := readable(page); field != "" {
		hint = `get_object with part {"field": ` + strconv.Quote(field) + `} reads a dropped field of one record`
	}
	out := []value.Member{text("reason", "response_exceeded_budget"), member("dropped_fields", list(names))}
	if sizes != nil {
		out = append(out, member("largest_bytes", value.OfObject(sizes)))
	}
	out = append(out, member("kept_count", value.OfInt(int64(page.Count))))
	if page.Full > 0 || !page.Cut {
		out = append(out, member("original_count", value.OfInt(int64(max(page.Full, page.Count)))))
	}
	return value.OfObject(append(out, text("hint", hint))), true
}

// closing appends the last line of the text: the count, whether there is more, and the next call or its cursor. If
// there is no more, the line ends with last.
func closing(body []byte, page *result.Page, next value.Value, last string) []byte {
	room := len(body)
	if len(body) > 0 && body[len(body)-1] != '\n' {
		body = append(body, '\n')
	}
	body = append(body, many(page.Count, "record", "records")...)
	if page.Dropped != nil {
		body = withoutFields(append(body, ", "...), page)
	}
	if page.More {
		body = appendCall(append(body, ", "...), next, room)
	} else {
		body = append(append(body, ", "...), last...)
	}
	if len(page.Truncated) > 0 {
		body = truncatedIncludes(page).AppendJSON(append(body, "\ntruncated_include_fields: "...))
	}
	return body
}

// withoutFields appends the names of the fields that a page omits because of their size.
func withoutFields(dst []byte, page *result.Page) []byte {
	for i, d := range page.Dropped {
		dst = append(append(dst, []string{"without ", ", "}[min(i, 1)]...), d.Field...)
		if d.Bytes > 0 {
			dst = fmt.Appendf(dst, " (too large: up to %d bytes)", d.Bytes)
		} else {
			dst = append(dst, " (too large)"...)
		}
	}
	return dst
}

// many formats a count with its noun.
func many(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + more
}
