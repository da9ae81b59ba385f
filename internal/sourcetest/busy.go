package sourcetest

import (
	"fmt"
	"strings"

	"github.com/bailiwick-dev/bailiwick/schema"
)

// busy is a table that takes long to search.
func busy() Table {
	words := make([]string, 200)
	for i := range words {
		words[i] = fmt.Sprintf(`"%s%d"`, strings.Repeat("ab", 20), i)
	}
	var rows strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&rows, "[%d, [%s]]\n", i+1, strings.Join(words, ","))
	}
	return Table{Name: "busy", Key: []string{"id"}, Columns: []Column{id, {Name: "doc", Is: schema.JSON}}, Rows: rows.String()}
}

// busyWhere matches nothing, which takes 150 regular expressions over 200,000 texts to establish.
func busyWhere() string {
	parts := make([]string, 150)
	for i := range parts {
		parts[i] = fmt.Sprintf(`{"doc":{"$regex":"a[bc]*[^a]{3}x%d$"}}`, i)
	}
	return `{"$or":[` + strings.Join(parts, ",") + `]}`
}
