// Package fulltext reads from the catalogues of databases which fields of which classes have full-text indexes.
//
// It stands beside the reading of catalogues and adds to classes that this has made. It keeps an index only where it is
// sure which fields the index holds, and that no search in them can fail; whatever else there is it passes over.
package fulltext

import (
	"cmp"
	"slices"

	"github.com/bailiwick-dev/bailiwick/schema"
)

// sorted puts the indexes of each class in the order of their names.
func sorted(classes []schema.Class) {
	for i := range classes {
		slices.SortStableFunc(classes[i].Text, func(a, b schema.TextIndex) int { return cmp.Compare(a.Name, b.Name) })
	}
}
