package tool

import (
	"context"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/response"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// fileKind is the kind of the URIs of files.
const fileKind = "files"

// IsFile reports whether uri has the form of a FileURI.
func IsFile(uri string) bool { return holdsCall(fileKind, uri) }

// FileURI returns a URI for the file in the answer to r. It returns "" if the call is too long for a URI.
func FileURI(c *bailiwick.Call, r bailiwick.APIRead) string {
	return callURI(c, fileKind, r.API, r.Operation, string(calls.EncodeArguments(r.Arguments).AppendJSON(nil)))
}

// ReadFile makes the call in a FileURI again, under the current rules, and returns the file. It fails with
// problem.NotFound for every other URI.
func ReadFile(ctx context.Context, c *bailiwick.Call, uri string) (*response.Blob, error) {
	absent := &problem.Error{Code: problem.NotFound, Kind: "unknown_file", Detail: "Resource not found"}
	texts, ok := openURI(c, fileKind, uri, 3)
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
