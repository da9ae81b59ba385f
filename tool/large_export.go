package tool

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/internal/result"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

const (
	// exportKind is the kind of the URIs of exports.
	exportKind = "exports"
	// exportBytes is the maximum size of an export that is read as a resource, in bytes.
	exportBytes = 16 << 20
	// exportLook is the number of rows of a large export in its answer.
	exportLook = 20
)

// ExportTool is the tool whose large answers are resources.
const ExportTool = "export_data"

// mediaTypes has the media types of the formats.
var mediaTypes = map[result.Format]string{result.CSV: "text/csv", result.Markdown: "text/markdown", result.Table: "text/plain", result.JSONLines: "application/jsonl"}

// large returns the result of an export that is too large for an answer: its first rows, and a link to a resource with
// all rows. If the arguments are too long for a URI, it returns err, the refusal of the export.
func (x *export) large(ctx context.Context, c *bailiwick.Call, in value.Value, err error) (Result, error) {
	uri := callURI(c, exportKind, string(in.AppendJSON(nil)))
	if uri == "" {
		return Result{}, err
	}
	look := *x
	if x.declared != nil {
		look.asked = limitedTo(x.asked, min(exportLook, x.cap))
	} else if x.pipeline != nil {
		q := *x.pipeline
		q.Stages = append(slices.Clone(q.Stages), query.Limit{N: min(exportLook, int64(x.cap))})
		look.pipeline = &q
	} else {
		q := *x.find
		q.Limit = min(q.Limit, exportLook)
		look.find = &q
	}
	var out bytes.Buffer
	narrow := problem.Of(err).Suggestion
	done, err := c.Export(ctx, look.query(), &out, x.options)
	if problem.CodeOf(err) == problem.BudgetExceeded { // even a few rows are too large
		out.Reset()
		done.Count = 0
	} else if err != nil {
		return Result{}, x.correctPointer(err)
	}
	shown := "the first " + many(done.Count, "row", "rows")
	if done.Count == 0 {
		shown = "no row is shown"
	}
	hint := fmt.Sprintf("larger than an answer: %s. The linked resource is all of it, at most %d rows, for you alone and for an hour. Or %s", shown, x.cap, narrow)
	doc := []value.Member{x.subject(), text("format", string(x.options.Format)), member("headers", list(done.Headers)),
		member("row_count", value.OfInt(int64(done.Count))), member("row_cap", value.OfInt(int64(x.cap))), text("output", out.String()),
		member("truncated", value.OfBool(true)), text("uri", uri), text("hint", hint)}
	return Result{Structured: value.OfObject(doc).AppendJSON(nil), Text: out.String() + hint,
		Links: []Link{{URI: uri, Name: x.subject().Value.Text() + "." + string(x.options.Format), MediaType: mediaTypes[x.options.Format]}}}, nil
}

// IsExport reports whether uri has the form of an export's URI.
func IsExport(uri string) bool { return holdsCall(exportKind, uri) }

// ReadExport makes the large export with this URI again, under the current rules. It fails with problem.NotFound for
// any other URI.
func ReadExport(ctx context.Context, c *bailiwick.Call, uri string) (text []byte, mediaType string, err error) {
	absent := &problem.Error{Code: problem.NotFound, Kind: "unknown_export", Detail: "Resource not found"}
	texts, ok := openURI(c, exportKind, uri, 1)
	if !ok {
		return nil, "", absent
	}
	in, err := value.Read([]byte(texts[0]), 0)
	if err != nil {
		return nil, "", absent
	}
	x, err := newExport(ctx, c, in)
	if err != nil {
		return nil, "", err
	}
	var out bytes.Buffer
	x.options.Budget = exportBytes
	if _, err := c.Export(ctx, x.query(), &out, x.options); err != nil {
		return nil, "", x.correctPointer(err)
	}
	return out.Bytes(), mediaTypes[x.options.Format], nil
}
