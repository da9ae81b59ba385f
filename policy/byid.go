package policy

import (
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/literals"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// idsFilter returns the filter for the records with one of ids. key is the key of their class. An id is the text of the
// key, or a JSON list of texts for a key of several fields. An id that is impossible in the class matches no record.
func idsFilter(key, ids []string) query.Filter {
	if len(key) == 1 {
		values := make([]value.Value, len(ids))
		for i, id := range ids {
			values[i] = plain(id)
		}
		return query.In{Path: query.Path{key[0]}, Values: values}
	}
	var any query.Or
	for _, id := range ids {
		list, err := value.Read([]byte(id), 2)
		if err != nil || len(list.List()) != len(key) {
			continue
		}
		all := make(query.And, len(key))
		for i, k := range key {
			all[i] = query.Compare{Path: query.Path{k}, Op: query.Eq, Value: list.List()[i]}
		}
		any = append(any, all)
	}
	if len(any) == 0 {
		return query.In{Path: query.Path{key[0]}}
	}
	return any
}

// plain returns an id in the form of answers. It also accepts the forms of MongoDB's shell and of extended JSON, such
// as ObjectId("…").
func plain(id string) value.Value {
	v := value.OfString(id)
	if strings.HasPrefix(id, "{") {
		if read, err := value.Read([]byte(id), 3); err == nil {
			v = read
		}
	}
	if out, ok := literals.ParseMongoLiteral(v); ok {
		return value.OfString(out.String())
	}
	return value.OfString(id)
}
