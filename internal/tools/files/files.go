// Package files names the binary answers of HTTP APIs, so that they can be read as resources.
package files

import (
	"context"
	"crypto/sha256"
	"strings"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/response"
	"github.com/bailiwick-dev/bailiwick/internal/rules/calls"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// prefix is that of all URIs.
const prefix = "bailiwick://files/"

// longest is the most bytes of a URI.
const longest = 4096

// Is reports whether a URI has the form of a file's.
func Is(uri string) bool {
	name, ours := strings.CutPrefix(uri, prefix)
	return ours && !strings.Contains(name, "/")
}

// URI returns a URI of the file that r answers with: the caller's alone, for an hour. It holds the call, sealed; the file
// itself is not kept. It is "" for a call that is too long for a URI.
func URI(c *bailiwick.Call, r bailiwick.APIRead) string {
	held := []value.Value{value.OfString(r.API), value.OfString(r.Operation), value.OfString(string(calls.Kept(r.Arguments).AppendJSON(nil)))}
	uri := prefix + c.Cursors().Seal(policy.Position{After: held}, owner(c))
	if len(uri) > longest {
		return ""
	}
	return uri
}

// Read makes the call of a URI again, under the rules of now, and returns the file. The error is problem.NotFound for every
// other URI.
func Read(ctx context.Context, c *bailiwick.Call, uri string) (*response.Blob, error) {
	absent := &problem.Error{Code: problem.NotFound, Kind: "unknown_file", Detail: "Resource not found"}
	at, err := c.Cursors().Open(strings.TrimPrefix(uri, prefix), owner(c))
	if err != nil || len(at.After) != 3 {
		return nil, absent
	}
	kept, err := value.Read([]byte(at.After[2].Text()), 0)
	if err != nil {
		return nil, absent
	}
	arguments, err := calls.Arguments(kept)
	if err != nil {
		return nil, absent
	}
	got, err := c.CallAPI(ctx, bailiwick.APIRead{API: at.After[0].Text(), Operation: at.After[1].Text(), Arguments: arguments})
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

// owner identifies the URIs of a caller.
func owner(c *bailiwick.Call) [32]byte {
	doc := value.OfArray([]value.Value{value.OfString("file"), value.OfString(c.Who().ID), value.OfString(c.Who().Tenant)})
	return sha256.Sum256(doc.AppendJSON(nil))
}
