package sqlbind

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/sqlparse"
	"github.com/bailiwick-dev/bailiwick/internal/typecheck"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// Tables opens the classes to which a statement refers.
type Tables interface {
	typecheck.Relations
	// All returns the views of the source that the statement reads, ordered by name. It may leave out those for whose name
	// keep returns false. It may also leave out those with a name that isn't among the given ones, regardless of case, if
	// there are any. The views aren't opened, so their Number has no meaning.
	All(keep func(name string) bool, among []string) []*typecheck.Relation
}

// openTables opens the class for a name. The name may be exact or qualified with a schema. Without quotes, its case may
// differ.
func openTables(tables Tables, name []sqlparse.Ident) (*typecheck.Relation, error) {
	parts := make([]string, len(name))
	for i, p := range name {
		parts[i] = p.Text
	}
	whole, last := strings.Join(parts, "."), name[len(name)-1]
	place := At(name[0].At)
	from, err := tables.Open(whole, place)
	if err == nil || problem.CodeOf(err) == problem.InvalidArgument { // several sources have this class
		return from, err
	}
	candidates := []string{}
	if len(name) > 1 && slices.Contains([]string{"public", "main", "dbo"}, strings.ToLower(parts[len(parts)-2])) {
		candidates = append(candidates, last.Text)
		whole = last.Text
	}
	var alike []string
	same := func(name string) bool { return strings.EqualFold(name, whole) }
	for _, r := range tables.All(same, []string{whole}) {
		_, bare, _ := strings.Cut(r.Name, ".")
		if r.Name != whole && (same(r.Name) || same(bare)) {
			alike = append(alike, r.Name)
		}
	}
	if low := strings.ToLower(whole); len(alike) > 1 && slices.Contains(alike, low) {
		alike = []string{low} // PostgreSQL reads a name without quotes as lower case
	}
	if len(alike) > 1 && len(candidates) == 0 {
		return nil, &problem.Error{Code: problem.InvalidQuery, Kind: "ambiguous_class", Pointer: place, Near: alike,
			Detail: fmt.Sprintf("several classes are called %q except for case", problem.Cut(whole)), Suggestion: "write one of them exactly, in double quotes"}
	}
	candidates = append(candidates, alike...)
	for _, c := range candidates {
		if from, other := tables.Open(c, place); other == nil {
			return from, nil
		}
	}
	return nil, err
}
