package tools

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/search"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
)

const searchTool = "search_api"

// searchAPI returns the tool that searches APIs. It lists APIs, finds operations for a task, and describes operations
// and schemas.
func (r *APITools) searchAPI() tool.Tool {
	return tool.Tool{
		Name: searchTool, Title: "Search the APIs",
		Description: "Find and explain operations of HTTP APIs. query: a verb and an object in the API's words, best 2 to 4 phrasings (\"create instance; add server\"). service: its operations. operationId: how to call it; at: one part (body.items). schema: its fields or values. Nothing: the services.",
		Input: []byte(`{"type":"object","additionalProperties":false,"properties":{"query":{"type":"string","maxLength":400},"service":{"type":"string"},"operationId":{"type":"string"},"schema":{"type":"string"},"at":{"type":"string"},` +
			`"source":{"type":"string"},"limit":{"type":"integer","minimum":1,"maximum":50},"offset":{"type":"integer","minimum":0}}}`),
		Output:      []byte(`{"type":"object","required":["found"],"properties":{"found":{"type":"string"}}}`),
		Annotations: tool.Annotations{ReadOnly: true, Idempotent: true},
		Category:    tool.API,
		Timeout:     10 * time.Second,
		Offered:     r.offers(func(*calls.Reach) bool { return true }),
		Meant:       joinPhrasings,
		Handle: func(_ context.Context, c *bailiwick.Call, in value.Value) (tool.Result, error) {
			found, err := searchAPI(c, in)
			if err != nil {
				return tool.Result{}, err
			}
			doc := []value.Member{text("found", found.text)}
			said := found.text
			if found.more > 0 {
				next := again(searchTool, in, value.OfObject([]value.Member{{Name: "offset", Value: value.OfInt(int64(found.more))}}))
				doc = append(doc, next)
				said = strings.TrimSuffix(said, "\n") + fmt.Sprintf("\nMore: offset %d\n", found.more)
			}
			return tool.Result{Structured: value.OfObject(doc).AppendJSON(nil), Text: said, Class: found.source}, nil
		},
	}
}

// joinPhrasings accepts a query that is a list of phrasings and joins them into one text.
func joinPhrasings(_ *bailiwick.Call, in value.Value) (value.Value, error) {
	asked, _ := in.Get("query")
	if asked.Kind() != value.Array || slices.ContainsFunc(asked.List(), func(v value.Value) bool { return v.Kind() != value.String }) {
		return in, nil
	}
	var all []string
	for _, phrasing := range asked.List() {
		all = append(all, phrasing.Text())
	}
	members := slices.Clone(in.Members())
	for i := range members {
		if members[i].Name == "query" {
			members[i].Value = value.OfString(strings.Join(all, "; "))
		}
	}
	return value.OfObject(members), nil
}

// A finding is the result of a search.
type finding struct {
	text   string
	source string // the name of the API, or "" for several
	more   int    // the offset of the next page, or 0 on the last page
}

// searchAPI runs search_api in one of its three forms: describe one operation, describe one schema, or search one API
// or all that the caller sees. The argument at selects a part of an operation or a schema.
func searchAPI(c *bailiwick.Call, in value.Value) (finding, error) {
	if err := together(in); err != nil {
		return finding{}, err
	}
	in, called, err := apiConcrete(c, in)
	if err != nil {
		return finding{}, err
	}
	source, part := word(in, "source"), word(in, "at")
	if id := word(in, "operationId"); id != "" {
		reach, err := findAPI(c, source, id)
		if err != nil {
			return finding{}, err
		}
		op, err := reach.View.Operation(id)
		if err != nil {
			return finding{}, at("/operationId", err)
		}
		if part != "" {
			text, err := search.DescribePart(reach.View, op, part)
			if err != nil {
				return finding{}, at("/at", err)
			}
			return finding{text: text, source: reach.Name}, nil
		}
		return finding{text: called + search.DescribeOperation(reach.View, op), source: reach.Name}, nil
	}
	if name := word(in, "schema"); name != "" {
		found, err := schemaDoc(c, source, name)
		if err != nil || part == "" {
			return found, err
		}
		reach, err := c.API(found.source)
		if err != nil {
			return finding{}, err
		}
		if found.text, err = search.DescribeSchemaPart(reach.View, name, part); err != nil {
			return finding{}, at("/at", err)
		}
		return found, nil
	}
	all := c.APIs()
	if source != "" || len(all) < 2 {
		reach, err := c.API(source)
		if err != nil {
			return finding{}, err
		}
		return within(reach, in)
	}
	return across(all, in)
}

// apiConcrete accepts a concrete call in operationId or query, such as GET /teams/7?limit=5 or a URL. It replaces the
// concrete call by the id of the operation. It also returns a line that shows how to make this call. It returns other
// arguments unchanged.
func apiConcrete(c *bailiwick.Call, in value.Value) (value.Value, string, error) {
	name := "operationId"
	if word(in, name) == "" {
		if name = "query"; word(in, "service") != "" || word(in, "schema") != "" {
			return in, "", nil
		}
	}
	asked := value.OfObject([]value.Member{text("operationId", word(in, name)), text("source", word(in, "source"))})
	call, err := concrete(c, asked)
	id := word(call, "operationId")
	if err != nil || id == word(in, name) {
		return in, "", at("/"+name, err)
	}
	members := []value.Member{text("operationId", id)}
	if source := word(call, "source"); source != "" {
		members = append(members, text("source", source))
	}
	if part := word(in, "at"); part != "" {
		members = append(members, text("at", part))
	}
	out := value.OfObject(members)
	for _, in := range []string{"path", "query"} {
		if given, ok := call.Get(in); ok {
			members = append(members, value.Member{Name: in, Value: given})
		}
	}
	return out, fmt.Sprintf("Called with %s\n", value.OfObject(members).AppendJSON(nil)), nil
}

// together refuses arguments that exclude each other. It also refuses too many phrasings, because some of them would
// be ignored.
func together(in value.Value) error {
	given := func(name string) bool { return word(in, name) != "" }
	switch {
	case given("operationId") && given("schema"):
		return &problem.Error{Code: problem.InvalidArgument, Pointer: "/schema", Detail: "operationId and schema are two questions: give one of them", Suggestion: "at shows a part of an operation: at=\"body\""}
	case len(search.Phrasings(word(in, "query"))) > search.MaxPhrasings:
		return &problem.Error{Code: problem.InvalidArgument, Pointer: "/query", Detail: fmt.Sprintf("a query has at most %d phrasings, separated by semicolons", search.MaxPhrasings)}
	case given("at") && !given("operationId") && !given("schema"):
		return &problem.Error{Code: problem.InvalidArgument, Pointer: "/at", Detail: "at is a part of an operation or a schema: give operationId or schema as well"}
	}
	return nil
}

// at returns err with its pointer set to pointer, or nil if err is nil.
func at(pointer string, err error) error {
	if err == nil {
		return nil
	}
	p := *problem.Of(err)
	p.Pointer = pointer
	return &p
}

// schemaDoc finds a schema in the named API, or in all APIs if source is "".
func schemaDoc(c *bailiwick.Call, source, name string) (finding, error) {
	all := c.APIs()
	if source != "" || len(all) < 2 {
		reach, err := c.API(source)
		if err != nil {
			return finding{}, err
		}
		all = []*calls.Reach{reach}
	}
	var found []*calls.Reach
	told := ""
	for _, reach := range all {
		if s, err := search.DescribeSchema(reach.View, name); err == nil {
			found, told = append(found, reach), s
		} else if len(all) == 1 {
			return finding{}, at("/schema", err)
		}
	}
	switch len(found) {
	case 1:
		return finding{text: told, source: found[0].Name}, nil
	case 0:
		near, err := nearest(all, name, func(reach *calls.Reach) error { _, err := search.DescribeSchema(reach.View, name); return err })
		return finding{}, &problem.Error{Code: problem.NotFound, Pointer: "/schema", Near: near, Suggestion: problem.Of(err).Suggestion,
			Detail: fmt.Sprintf("no API has a schema %q%s", problem.Cut(name), problem.DidYouMean(near))}
	}
	return finding{}, several("/schema", name, found)
}

// within searches one API by words or by service, or lists its services.
func within(reach *calls.Reach, in value.Value) (finding, error) {
	q := search.Query{Text: word(in, "query"), Service: word(in, "service"), Offset: number(in, "offset", 0), Limit: number(in, "limit", 0)}
	if q.Text == "" && q.Service == "" {
		return finding{text: heading(reach) + search.DescribeServices(reach.View, reach.Index().Services()), source: reach.Name}, nil
	}
	if q.Limit == 0 && q.Text == "" {
		q.Limit = search.MaxLimit // a request for a service lists all its operations
	}
	result, err := reach.Index().Search(q)
	if err != nil {
		return finding{}, at("/service", err)
	}
	f := finding{text: search.DescribeResult(reach.View, result), source: reach.Name}
	if next := result.Offset + len(result.Operations); len(result.Operations) > 0 && next < result.Total && q.Text == "" {
		f.more = next
	}
	return f, nil
}

// A hit is the result of a search in one API.
type hit struct {
	reach  *calls.Reach
	result search.Result
}

// apiBeside is the minimum score of another API, relative to the best, for its operations to be shown as well.
const apiBeside = 0.6

// across searches all APIs and shows the results by API, the best first. It only names APIs whose score is much
// lower.
func across(all []*calls.Reach, in value.Value) (finding, error) {
	var out strings.Builder
	if word(in, "query") == "" && word(in, "service") == "" {
		for _, reach := range all {
			fmt.Fprintf(&out, "%s%d operations in %d services\n", heading(reach), len(reach.View.Operations()), len(reach.Index().Services()))
		}
		return finding{text: out.String()}, nil
	}
	var hits []hit
	var last error
	for _, reach := range all {
		result, err := reach.Index().Search(search.Query{Text: word(in, "query"), Service: word(in, "service"), Limit: number(in, "limit", 0)})
		if err != nil {
			last = err
			continue
		}
		hits = append(hits, hit{reach, result})
	}
	if len(hits) == 0 {
		return finding{}, at("/service", last)
	}
	slices.SortStableFunc(hits, func(a, b hit) int {
		if a.result.Weak != b.result.Weak {
			return map[bool]int{false: -1, true: 1}[a.result.Weak]
		}
		return cmp.Compare(b.result.Match, a.result.Match)
	})
	var worse []string
	for i, h := range hits {
		if i > 0 && (h.result.Weak || h.result.Match < apiBeside*hits[0].result.Match) {
			worse = append(worse, h.reach.Name)
			continue
		}
		if i > 0 {
			h.result.Also = nil // only the best API lists further matches
		}
		fmt.Fprintf(&out, "source %s\n%s", h.reach.Name, search.DescribeResult(h.reach.View, h.result))
	}
	if len(worse) > 0 {
		fmt.Fprintf(&out, "Worse matches, shown with source: %s\n", strings.Join(worse, ", "))
	}
	return finding{text: out.String()}, nil
}

// heading returns the line with the name of an API and its description.
func heading(reach *calls.Reach) string {
	if reach.Description == "" {
		return "source " + reach.Name + "\n"
	}
	return "source " + reach.Name + ": " + reach.Description + "\n"
}
