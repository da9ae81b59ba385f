package ending

import (
	"fmt"
	"strings"

	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest"
)

// busy returns a table that is slow to search.
func busy() sourcetest.Table {
	words := make([]string, 200)
	for i := range words {
		words[i] = fmt.Sprintf(`"%s%d"`, strings.Repeat("ab", 20), i)
	}
	var rows strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&rows, "[%d, [%s]]\n", i+1, strings.Join(words, ","))
	}
	return sourcetest.Table{Name: "busy", Key: []string{"id"}, Columns: []sourcetest.Column{{Name: "id", Is: schema.Integer, Required: true}, {Name: "doc", Is: schema.JSON}}, Rows: rows.String()}
}

// busyWhere matches nothing. To find that out, a source must try 150 regular expressions on 200,000 texts.
func busyWhere() query.Filter {
	parts := make(query.Or, 150)
	for i := range parts {
		parts[i] = query.Regex{Path: query.Path{"doc"}, Pattern: fmt.Sprintf("a[bc]*[^a]{3}x%d$", i)}
	}
	return parts
}
