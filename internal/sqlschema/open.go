package sqlschema

import (
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/sqlexpr"
	"github.com/bailiwick-dev/bailiwick/internal/sqlparse"
	"github.com/bailiwick-dev/bailiwick/internal/typecheck"
)

// Tables opens the classes that a statement names.
type Tables interface {
	typecheck.Relations
	// All returns the views of the source that the statement reads, ordered by name. They aren't opened: their Number
	// is meaningless.
	All() []*typecheck.Relation
}

// Open opens the class that a name means: as it is written, without the name of a schema before it, or, without quotes,
// in other case.
func Open(tables Tables, name []sqlparse.Ident) (*typecheck.Relation, error) {
	parts := make([]string, len(name))
	for i, p := range name {
		parts[i] = p.Text
	}
	whole, last := strings.Join(parts, "."), name[len(name)-1]
	place := sqlexpr.At(name[0].At)
	from, err := tables.Open(whole, place)
	if err == nil {
		return from, nil
	}
	candidates := []string{}
	if len(name) > 1 && slices.Contains([]string{"public", "main", "dbo"}, strings.ToLower(parts[len(parts)-2])) {
		candidates = append(candidates, last.Text)
		whole = last.Text
	}
	for _, r := range tables.All() {
		if strings.EqualFold(r.Name, whole) && r.Name != whole {
			candidates = append(candidates, r.Name)
		}
	}
	for _, c := range candidates {
		if from, other := tables.Open(c, place); other == nil {
			return from, nil
		}
	}
	return nil, err
}
