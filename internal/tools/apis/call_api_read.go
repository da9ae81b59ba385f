package apis

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/response"
	"github.com/bailiwick-dev/bailiwick/internal/rules/calls"
	"github.com/bailiwick-dev/bailiwick/internal/tools/files"
	"github.com/bailiwick-dev/bailiwick/internal/tools/flat"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
)

const readTool = "call_api_read"

// maxImage is the maximum size of a picture that models are shown, in bytes.
const maxImage = 1 << 20

// maxFile is the maximum size of a file in an answer, in bytes; a larger one is only described.
const maxFile = 32 << 10

// callAPIRead returns the tool that calls an operation that only reads.
func (r *Toolset) callAPIRead() tool.Tool {
	return tool.Tool{
		Name: readTool, Title: "Call an API to read",
		Description: "Call an operation that reads; search_api tells its arguments. fields: which parts of the answer (\"items.name\"). pages: how many to join.",
		Input:       []byte(`{"type":"object","additionalProperties":false,"required":["operationId"],"properties":{` + callArguments + `,"fields":{"type":"array","items":{"type":"string"}},"pages":{"type":"integer","minimum":1,"maximum":20}}}`),
		Output:      []byte(`{"type":"object","required":["status"],"properties":{"status":{"type":"integer"}}}`),
		Annotations: tool.Annotations{ReadOnly: true, Idempotent: true, OpenWorld: true},
		Category:    tool.API,
		Timeout:     60 * time.Second,
		Meant: func(c *bailiwick.Call, in value.Value) (value.Value, error) {
			return flat.Placed(c, in, "fields", "pages")
		},
		Offered: r.offers(func(reach *calls.Reach) bool { return reach.Reads }),
		Handle: func(ctx context.Context, c *bailiwick.Call, in value.Value) (tool.Result, error) {
			reach, err := named(c, word(in, "source"), word(in, "operationId"))
			if err != nil {
				return tool.Result{}, err
			}
			ask := bailiwick.APIRead{API: reach.Name, Operation: word(in, "operationId"), Arguments: arguments(in)}
			fields, _ := in.Get("fields")
			for _, f := range fields.List() {
				ask.Fields = append(ask.Fields, f.Text())
			}
			got, next, err := pages(ctx, c, ask, number(in, "pages", 1))
			if err != nil {
				return tool.Result{}, err
			}
			uri := ""
			if got.Link != nil {
				uri = files.URI(c, ask)
			}
			return told(c, in, got, next, uri), nil
		},
	}
}

// pages calls an operation and joins the lists of up to most pages. It also returns the arguments of the last call, which
// those of the next page change. A page that fails, or that doesn't fit into the budget, is left to the next call.
func pages(ctx context.Context, c *bailiwick.Call, ask bailiwick.APIRead, most int) (*response.Answer, value.Value, error) {
	all, err := c.CallAPI(ctx, ask)
	if err != nil {
		return nil, value.Value{}, err
	}
	next := all.Next
	for range most - 1 {
		if all.Next.IsNull() || ctx.Err() != nil {
			break
		}
		media := ask.Arguments.Media
		ask.Arguments = arguments(over(calls.Kept(ask.Arguments), all.Next))
		ask.Arguments.Media = media
		more, err := c.CallAPI(ctx, ask)
		if err != nil {
			all.Notes = append(all.Notes, "the next page could not be read: "+problem.Of(err).Detail)
			break
		}
		joined, ok := response.Join(all, more, c.Budget())
		if !ok {
			break
		}
		all = joined
		if !all.Next.IsNull() {
			next = over(next, all.Next)
		}
	}
	return all, next, nil
}

// told returns a response as shown to agents; changes are those to the arguments in that get what follows, and uri is the
// resource of a file, "" for none.
func told(c *bailiwick.Call, in value.Value, got *response.Answer, changes value.Value, uri string) tool.Result {
	var links []tool.Link
	var images []tool.Image
	doc := []value.Member{{Name: "status", Value: value.OfInt(int64(got.Status))}}
	var said strings.Builder
	switch {
	case got.Link != nil:
		file := blob(got.Link, uri)
		if uri != "" {
			links = append(links, tool.Link{URI: uri, Name: cmp.Or(got.Link.Name, "file"), MediaType: got.Link.MediaType, Size: int64(got.Link.Size)})
		}
		if slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"}, got.Link.MediaType) && got.Link.Size <= maxImage {
			images = append(images, tool.Image{MediaType: got.Link.MediaType, Bytes: got.Link.Bytes})
		}
		doc = append(doc, value.Member{Name: "file", Value: file})
		said.Write(file.AppendJSON(nil))
	case got.HasBody:
		doc = append(doc, value.Member{Name: "body", Value: got.Body})
		if got.Body.Kind() == value.String {
			said.WriteString(got.Body.Text())
		} else {
			said.Write(got.Body.AppendJSON(nil))
		}
	default:
		fmt.Fprintf(&said, "%d, without a body", got.Status)
	}
	said.WriteByte('\n')
	if got.Of > got.Shown {
		doc = append(doc, value.Member{Name: "shown", Value: value.OfInt(int64(got.Shown))}, value.Member{Name: "of", Value: value.OfInt(int64(got.Of))})
	}
	if got.Total != nil {
		doc = append(doc, value.Member{Name: "total", Value: value.OfInt(*got.Total)})
	}
	for _, note := range got.Notes {
		fmt.Fprintf(&said, "Note: %s\n", note)
	}
	if len(got.Notes) > 0 {
		doc = append(doc, value.Member{Name: "notes", Value: value.OfStrings(got.Notes)})
	}
	if !got.Next.IsNull() {
		next := again(readTool, in, changes)
		doc = append(doc, next)
		arguments, _ := next.Value.Get("arguments")
		fmt.Fprintf(&said, "Next: %s %s\n", readTool, arguments.AppendJSON(nil))
	}
	return tool.Result{Structured: value.OfObject(doc).AppendJSON(nil), Text: said.String(), Class: c.From(), Links: links, Images: images}
}

// blob describes a file, with the URI of its resource, and its bytes if it is small.
func blob(b *response.Blob, uri string) value.Value {
	doc := []value.Member{text("media_type", b.MediaType), {Name: "bytes", Value: value.OfInt(int64(b.Size))}, text("sha256", b.SHA256)}
	if b.Name != "" {
		doc = append(doc, text("name", b.Name))
	}
	if uri != "" {
		doc = append(doc, text("uri", uri))
	}
	if len(b.Bytes) <= maxFile {
		doc = append(doc, text("base64", base64.StdEncoding.EncodeToString(b.Bytes)))
	}
	return value.OfObject(doc)
}
