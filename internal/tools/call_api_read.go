package tools

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/response"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
)

const readTool = "call_api_read"

// maxImage is the maximum size of an image that is returned to models, in bytes.
const maxImage = 1 << 20

// maxFile is the maximum size of a file in an answer, in bytes. A larger file is only described.
const maxFile = 32 << 10

// callAPIRead returns the tool that calls read operations, one or several at once.
func (r *APITools) callAPIRead() tool.Tool {
	return tool.Tool{
		Name: readTool, Title: "Call an API to read",
		Description: "Call an operation that reads. search_api tells its arguments. fields: which parts of the answer (\"items.name\"). where: filters its list. pages: how many to join. at, from: go on after a cut. calls: up to 50 such calls at once.",
		Input: []byte(`{"type":"object","additionalProperties":false,"properties":{` + callArguments + `,"fields":{"type":"array","items":{"type":"string"}},"where":{"type":"object"},"pages":{"type":"integer","minimum":1,"maximum":20},` +
			`"from":{"type":"integer","minimum":1},"at":{"type":"string"},"calls":{"type":"array","minItems":1,"maxItems":50,"items":{"type":"object"}}}}`),
		Output:      []byte(`{"type":"object","properties":{"status":{"type":"integer"}}}`),
		Annotations: tool.Annotations{ReadOnly: true, Idempotent: true, OpenWorld: true},
		Category:    tool.API,
		Timeout:     60 * time.Second,
		Meant:       meantToRead,
		Offered:     r.offers(func(reach *calls.Reach) bool { return reach.Reads }),
		Handle: func(ctx context.Context, c *bailiwick.Call, in value.Value) (tool.Result, error) {
			if list, ok := in.Get("calls"); ok {
				return batch(ctx, c, in, list.List())
			}
			one, err := read(ctx, c, in)
			if err != nil {
				return tool.Result{}, err
			}
			links, images := one.attachments()
			return tool.Result{Structured: value.OfObject(one.members()).AppendJSON(nil), Text: one.text(), Class: c.From(), Links: links, Images: images}, nil
		},
	}
}

// meantToRead moves the arguments of the operation into path, query, headers or body. An operation may have a
// parameter with the name of a tool argument. If the value has the wrong type for the tool, it belongs to the
// operation.
func meantToRead(c *bailiwick.Call, in value.Value) (value.Value, error) {
	own := []string{"fields", "pages", "calls"}
	for name, kind := range map[string]value.Kind{"where": value.Object, "from": value.Int, "at": value.String} {
		if v, ok := in.Get(name); ok && v.Kind() == kind {
			own = append(own, name)
		}
	}
	return placeArguments(c, in, own...)
}

// A reply is the answer to one call.
type reply struct {
	in    value.Value
	got   *response.Answer
	led   value.Value // changes to the arguments that lead to the last joined page
	uri   string      // the URI of a file's resource, or ""
	hints []string
	out   bool // the body or the bytes of a file are omitted because there was no room
}

// read makes one call.
func read(ctx context.Context, c *bailiwick.Call, in value.Value) (*reply, error) {
	if _, ok := in.Get("operationId"); !ok {
		return nil, &problem.Error{Code: problem.InvalidArgument, Pointer: "/operationId", Detail: "operationId is missing: the operation to call",
			Suggestion: "search_api finds operations"}
	}
	reach, err := findAPI(c, word(in, "source"), word(in, "operationId"))
	if err != nil {
		return nil, err
	}
	ask := bailiwick.APIRead{API: reach.Name, Operation: word(in, "operationId"), Arguments: arguments(in), At: word(in, "at"), From: number(in, "from", 1)}
	fields, _ := in.Get("fields")
	for _, f := range fields.List() {
		ask.Fields = append(ask.Fields, f.Text())
	}
	if where, ok := in.Get("where"); ok {
		if ask.Where, err = query.ParseWhere(where, "/where"); err != nil {
			return nil, err
		}
	}
	out := &reply{in: in}
	if out.got, out.led, err = pages(ctx, c, ask, number(in, "pages", 1)); err != nil {
		return nil, err
	}
	if out.got.Link != nil {
		out.uri = tool.FileURI(c, ask)
	}
	return out, nil
}

// pages calls an operation and joins the lists of at most most pages. It also returns the changed arguments that lead
// to the last of these pages. It stops before a page that fails or exceeds the budget. The next call can then read
// that page.
func pages(ctx context.Context, c *bailiwick.Call, ask bailiwick.APIRead, most int) (*response.Answer, value.Value, error) {
	all, err := c.CallAPI(ctx, ask)
	if err != nil {
		return nil, value.Value{}, err
	}
	led := value.OfObject(nil)
	first := ask.From
	for range most - 1 {
		if all.Next.IsNull() || ask.At != "" || ctx.Err() != nil {
			break
		}
		media := ask.Arguments.Media
		ask.Arguments = arguments(over(calls.EncodeArguments(ask.Arguments), all.Next))
		ask.Arguments.Media, ask.From = media, max(first-all.Of, 1)
		more, err := c.CallAPI(ctx, ask)
		if err != nil {
			all.Notes = append(all.Notes, "the next page could not be read: "+problem.Of(err).Detail)
			break
		}
		joined, ok := response.Join(all, more, c.Budget())
		if !ok {
			break
		}
		led, all = over(led, all.Next), joined
	}
	return all, led, nil
}

// next returns the arguments of the call that continues this answer, or false if the answer is complete.
func (r *reply) next() (value.Value, bool) {
	switch {
	case r.out && r.got.Link == nil:
		return r.in, true
	case r.got.Rest != nil:
		next := without(r.in, "at", "from")
		if r.got.Rest.At != "" {
			next = over(next, value.OfObject([]value.Member{text("at", r.got.Rest.At)}))
		}
		if r.got.Rest.From > 0 {
			next = over(next, value.OfObject([]value.Member{{Name: "from", Value: value.OfInt(int64(r.got.Rest.From))}}))
		}
		return next, true
	case !r.got.Next.IsNull():
		next := over(over(without(r.in, "at", "from"), r.led), r.got.Next)
		if left := number(r.in, "from", 1) - r.got.Of; left > 1 {
			next = over(next, value.OfObject([]value.Member{{Name: "from", Value: value.OfInt(int64(left))}}))
		}
		return next, true
	}
	return value.Value{}, false
}

// without returns an object without the members of these names.
func without(v value.Value, names ...string) value.Value {
	return value.OfObject(slices.DeleteFunc(slices.Clone(v.Members()), func(m value.Member) bool { return slices.Contains(names, m.Name) }))
}

// notes returns the notes on the answer.
func (r *reply) notes() []string {
	got := r.got
	out := slices.Clone(got.Notes)
	if got.Where {
		note := fmt.Sprintf("where: %d of the %d items that the API returned match", got.Of, got.Looked)
		if got.Further {
			note += ". It has more, which were not looked at"
		}
		out = append([]string{note}, out...)
	}
	return append(out, r.hints...)
}

// members returns the answer as the members of an object.
func (r *reply) members() []value.Member {
	got := r.got
	doc := []value.Member{{Name: "status", Value: value.OfInt(int64(got.Status))}}
	switch {
	case got.Link != nil:
		doc = append(doc, value.Member{Name: "file", Value: r.file()})
	case r.out:
	case got.HasBody:
		doc = append(doc, value.Member{Name: "body", Value: got.Body})
	}
	count := func(name string, n int) { doc = append(doc, value.Member{Name: name, Value: value.OfInt(int64(n))}) }
	if got.Where {
		count("matched", got.Of)
		count("looked_at", got.Looked)
	}
	if got.Skipped > 0 {
		count("from", got.Skipped+1)
	}
	if got.Of > got.Shown {
		count("shown", got.Shown)
		count("of", got.Of)
	}
	if got.Total != nil {
		doc = append(doc, value.Member{Name: "total", Value: value.OfInt(*got.Total)})
	}
	if got.ETag != "" {
		doc = append(doc, text("etag", got.ETag))
	}
	if got.Location != "" {
		doc = append(doc, text("location", got.Location))
	}
	if notes := r.notes(); len(notes) > 0 {
		doc = append(doc, value.Member{Name: "notes", Value: value.OfStrings(notes)})
	}
	if next, ok := r.next(); ok {
		doc = append(doc, again(readTool, next, value.OfObject(nil)))
	}
	return doc
}

// text returns the answer as text.
func (r *reply) text() string {
	got := r.got
	var said strings.Builder
	switch {
	case got.Link != nil:
		said.Write(r.file().AppendJSON(nil))
	case r.out:
		fmt.Fprintf(&said, "%d", got.Status)
	case got.HasBody && got.Body.Kind() == value.String:
		said.WriteString(got.Body.Text())
	case got.HasBody:
		said.Write(got.Body.AppendJSON(nil))
	default:
		fmt.Fprintf(&said, "%d, without a body", got.Status)
	}
	said.WriteByte('\n')
	if got.Total != nil && got.Counted {
		fmt.Fprintf(&said, "Total: %d\n", *got.Total)
	}
	if got.ETag != "" {
		fmt.Fprintf(&said, "ETag: %s\n", got.ETag)
	}
	if got.Location != "" {
		fmt.Fprintf(&said, "Location: %s\n", got.Location)
	}
	for _, note := range r.notes() {
		fmt.Fprintf(&said, "Note: %s\n", note)
	}
	if next, ok := r.next(); ok {
		fmt.Fprintf(&said, "Next: %s %s\n", readTool, next.AppendJSON(nil))
	}
	return said.String()
}

// attachments returns the file of an answer as a resource. A file that models can view is also returned as an image.
func (r *reply) attachments() (links []tool.Link, images []tool.Image) {
	file := r.got.Link
	if file == nil {
		return nil, nil
	}
	if r.uri != "" {
		links = append(links, tool.Link{URI: r.uri, Name: cmp.Or(file.Name, "file"), MediaType: file.MediaType, Size: int64(file.Size)})
	}
	if slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"}, file.MediaType) && file.Size <= maxImage && http.DetectContentType(file.Bytes) == file.MediaType {
		images = append(images, tool.Image{MediaType: file.MediaType, Bytes: file.Bytes})
	}
	return links, images
}

// file describes the file of an answer and the URI of its resource. It includes the bytes of a small file.
func (r *reply) file() value.Value {
	b := r.got.Link
	doc := []value.Member{text("media_type", b.MediaType), {Name: "bytes", Value: value.OfInt(int64(b.Size))}, text("sha256", b.SHA256)}
	if b.Name != "" {
		doc = append(doc, text("name", b.Name))
	}
	if r.uri != "" {
		doc = append(doc, text("uri", r.uri))
	}
	if len(b.Bytes) <= maxFile && !r.out {
		doc = append(doc, text("base64", base64.StdEncoding.EncodeToString(b.Bytes)))
	}
	return value.OfObject(doc)
}
