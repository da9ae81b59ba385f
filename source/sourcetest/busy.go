package sourcetest

import (
	"fmt"
	"strings"

	"github.com/bailiwick-dev/bailiwick/schema"
)

// busy is a table that takes long to search.
func busy() table {
	words := make([]string, 200)
	for i := range words {
		words[i] = fmt.Sprintf(`"%s%d"`, strings.Repeat("ab", 20), i)
	}
	var rows strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&rows, "[%d, [%s]]\n", i+1, strings.Join(words, ","))
	}
	return table{name: "busy", key: []string{"id"}, columns: []column{id, {name: "doc", is: schema.JSON}}, rows: rows.String()}
}

// busyWhere matches nothing, which takes 150 regular expressions over 200,000 texts to find out.
func busyWhere() string {
	parts := make([]string, 150)
	for i := range parts {
		parts[i] = fmt.Sprintf(`{"doc":{"$regex":"a[bc]*[^a]{3}x%d$"}}`, i)
	}
	return `{"$or":[` + strings.Join(parts, ",") + `]}`
}
