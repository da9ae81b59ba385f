// Package held makes URIs that hold a call, so that what it answers can be read as a resource.
//
// The answer is not stored. Reading the resource makes the call again, under the rules of that time. Only its caller can use a URI, for an
// hour. Package files makes URIs of the binary answers of HTTP APIs, and the tool export_data those of large exports.
package held

import (
	"crypto/sha256"
	"strings"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/value"
)

// longest is the most bytes of a URI.
const longest = 4096

// Is reports whether a URI has the form of those of a kind, such as files.
func Is(kind, uri string) bool {
	name, ours := strings.CutPrefix(uri, prefix(kind))
	return ours && !strings.Contains(name, "/")
}

// URI returns a URI of a kind that holds texts, sealed. It is "" for texts that are too long for a URI.
func URI(c *bailiwick.Call, kind string, texts ...string) string {
	held := make([]value.Value, len(texts))
	for i, t := range texts {
		held[i] = value.OfString(t)
	}
	uri := prefix(kind) + c.Cursors().Seal(policy.Position{After: held}, owner(c, kind))
	if len(uri) > longest {
		return ""
	}
	return uri
}

// Open returns the n texts that a URI of a kind holds. ok is false for a URI that is another caller's, has expired, or was never made.
func Open(c *bailiwick.Call, kind, uri string, n int) (texts []string, ok bool) {
	at, err := c.Cursors().Open(strings.TrimPrefix(uri, prefix(kind)), owner(c, kind))
	if err != nil || len(at.After) != n {
		return nil, false
	}
	for _, v := range at.After {
		texts = append(texts, v.Text())
	}
	return texts, true
}

func prefix(kind string) string { return "bailiwick://" + kind + "/" }

// owner identifies the URIs of a caller.
func owner(c *bailiwick.Call, kind string) [32]byte {
	doc := value.OfArray([]value.Value{value.OfString(kind), value.OfString(c.Who().ID), value.OfString(c.Who().Tenant)})
	return sha256.Sum256(doc.AppendJSON(nil))
}
