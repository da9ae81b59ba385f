package query

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/bailiwick-dev/bailiwick/value"
)

// MaxSort is the maximum number of fields in an order.
const MaxSort = 8

// ParseOrder parses an order such as "-created_at,title" at the JSON pointer at: fields separated by commas, with a
// minus for descending. "created_at desc" is accepted as well. It returns nil for an empty text. Errors are
// problem.InvalidQuery.
func ParseOrder(s, at string) ([]Sort, error) {
	if strings.TrimSpace(s) == "" {
		return nil, nil
	}
	parts := strings.Split(s, ",")
	if len(parts) > MaxSort {
		return nil, invalid(at, fmt.Sprintf("an order has at most %d fields", MaxSort))
	}
	order := make([]Sort, len(parts))
	for i, part := range parts {
		name, desc := strings.CutPrefix(strings.TrimSpace(part), "-")
		if words := strings.Fields(name); len(words) == 2 && !desc {
			switch strings.ToLower(words[1]) {
			case "desc", "descending":
				name, desc = words[0], true
			case "asc", "ascending":
				name = words[0]
			}
		}
		path, err := CheckPath(name, at)
		if err != nil {
			return nil, err
		}
		order[i] = Sort{Path: path, Desc: desc}
	}
	return order, nil
}

// Digest returns a hash of q without its position and limits. It binds a cursor to its query.
func (q *Find) Digest() [32]byte {
	list := func(paths []Path) value.Value {
		out := make([]value.Value, len(paths))
		for i, p := range paths {
			out[i] = value.OfString(p.String())
		}
		return value.OfArray(out)
	}
	order := make([]value.Value, len(q.Order))
	for i, s := range q.Order {
		order[i] = value.OfArray([]value.Value{value.OfString(s.Path.String()), value.OfBool(s.Desc)})
	}
	doc := value.OfArray([]value.Value{value.OfString(q.Class), Print(q.Where), list(q.Keys), list(q.Include),
		value.OfArray(order), value.OfBool(q.Raw), value.OfString(q.Search.String())})
	return sha256.Sum256(doc.AppendJSON(nil))
}
