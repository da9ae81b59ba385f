package tool

import (
	"crypto/sha256"
	"strings"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/value"
)

// longest is the maximum size of a call's URI, in bytes.
const longest = 4096

// holdsCall reports whether uri has the form of a call's URI of a kind, such as files.
func holdsCall(kind, uri string) bool {
	name, ours := strings.CutPrefix(uri, prefix(kind))
	return ours && !strings.Contains(name, "/")
}

// callURI returns a URI of a kind that contains texts, sealed. It returns "" if the texts are too long for a URI.
func callURI(c *bailiwick.Call, kind string, texts ...string) string {
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

// openURI returns the n texts in a call's URI of a kind. ok is false if the URI belongs to another caller, has expired,
// or was never made.
func openURI(c *bailiwick.Call, kind, uri string, n int) (texts []string, ok bool) {
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
