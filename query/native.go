package query

import (
	"crypto/sha256"
	"maps"
	"slices"

	"github.com/bailiwick-dev/bailiwick/value"
)

// A Native requests the records of a statement in a database's own SQL. It has only the name of the statement. The text
// is in the rules of the owner (policy.NativeRule), so that no caller can bring one.
type Native struct {
	Name   string
	Text   [32]byte               // a hash of the text: a cursor belongs to it
	Params map[string]value.Value // the values of :name in the statement
	Limit  int                    // the maximum number of records, 1 or more
	Cursor string                 // of an earlier page of the same query, or "" for the first one
	Wide   bool                   // look for the last record of the earlier page among its neighbours
}

// From implements Query. It returns "", because the statement reads no class of the rules.
func (q *Native) From() string { return "" }

func (*Native) isQuery() {}

// Digest returns a hash of q without its position and limit. It binds a cursor to its query.
func (q *Native) Digest() [32]byte {
	doc := []value.Value{value.OfString("native"), value.OfString(q.Name), value.OfBytes(string(q.Text[:]))}
	for _, name := range slices.Sorted(maps.Keys(q.Params)) {
		doc = append(doc, value.OfString(name), q.Params[name])
	}
	return sha256.Sum256(value.OfArray(doc).AppendJSON(nil))
}
