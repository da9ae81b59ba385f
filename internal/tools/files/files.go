// Package files names the binary answers of HTTP APIs, so that they can be read as resources.
package files

import (
	"context"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/response"
	"github.com/bailiwick-dev/bailiwick/internal/tools/held"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// kind is that of all URIs.
const kind = "files"

// Is reports whether a URI has the form of a file's.
func Is(uri string) bool { return held.Is(kind, uri) }

// URI returns a URI of the file that r answers with. It is "" for a call that is too long for a URI.
func URI(c *bailiwick.Call, r bailiwick.APIRead) string {
	return held.URI(c, kind, r.API, r.Operation, string(calls.Kept(r.Arguments).AppendJSON(nil)))
}

// Read makes the call of a URI again, under the rules of now, and returns the file. The error is problem.NotFound for every
// other URI.
func Read(ctx context.Context, c *bailiwick.Call, uri string) (*response.Blob, error) {
	absent := &problem.Error{Code: problem.NotFound, Kind: "unknown_file", Detail: "Resource not found"}
	texts, ok := held.Open(c, kind, uri, 3)
	if !ok {
		return nil, absent
	}
	kept, err := value.Read([]byte(texts[2]), 0)
	if err != nil {
		return nil, absent
	}
	arguments, err := calls.Arguments(kept)
	if err != nil {
		return nil, absent
	}
	got, err := c.CallAPI(ctx, bailiwick.APIRead{API: texts[0], Operation: texts[1], Arguments: arguments})
	if p := problem.Of(err); err != nil && p.Code == problem.NotFound {
		return nil, &problem.Error{Code: problem.NotFound, Kind: p.Kind, Detail: absent.Detail}
	}
	if err != nil {
		return nil, err
	}
	if got.Link == nil {
		return nil, absent
	}
	return got.Link, nil
}
