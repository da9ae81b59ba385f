// Package fulltext reads from database catalogues which fields of which classes have full-text indexes.
//
// It adds indexes to classes that package catalogue has read. It keeps an index only if it is certain which fields the
// index covers and that no search in them can fail; it ignores all others.
package fulltext

import (
	"cmp"
	"slices"

	"github.com/bailiwick-dev/bailiwick/schema"
)

// sorted sorts the indexes of each class by name.
func sorted(classes []schema.Class) {
	for i := range classes {
		slices.SortStableFunc(classes[i].Text, func(a, b schema.TextIndex) int { return cmp.Compare(a.Name, b.Name) })
	}
}
