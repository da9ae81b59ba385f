package sqlite

import (
	"slices"
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/schema"
)

// types contains the substrings of a declared type that determine the field's type. The first match counts.
var types = []struct {
	words []string
	is    schema.Type
}{
	{[]string{"BOOL"}, schema.Boolean},
	{[]string{"DATE", "TIMESTAMP"}, schema.Date},
	{[]string{"JSON"}, schema.JSON},
	{[]string{"UUID"}, schema.UUID},
	{[]string{"ENUM"}, schema.String},           // before NUM
	{[]string{"INTERVAL", "POINT"}, schema.Any}, // before INT
	{[]string{"DECIMAL", "NUM", "MONEY", "CURRENCY"}, schema.Double},
	{[]string{"INT"}, schema.Integer},
	{[]string{"CHAR", "CLOB", "TEXT"}, schema.String},
	{[]string{"BLOB"}, schema.Bytes},
	{[]string{"REAL", "FLOA", "DOUB"}, schema.Double},
}

// typeOf returns the type of a column with the declared type native, and its declared length. A column whose declared
// type matches no entry may hold any value.
func typeOf(native string) (schema.Type, int) {
	upper := strings.ToUpper(strings.TrimSpace(native))
	word, _, _ := strings.Cut(upper, "(")
	switch word = strings.TrimSpace(word); {
	case upper == "DATE":
		return schema.Day, 0
	case upper == "BIT", upper == "BIT(1)":
		return schema.Boolean, 0
	case word == "BIT", word == "YEAR":
		return schema.Integer, 0
	case word == "TIME", word == "SET":
		return schema.String, 0
	}
	for _, t := range types {
		if !slices.ContainsFunc(t.words, func(w string) bool { return strings.Contains(upper, w) }) {
			continue
		}
		length := 0
		if _, size, ok := strings.Cut(upper, "("); ok && t.is == schema.String {
			length, _ = strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(size, ")")))
		}
		return t.is, max(length, 0)
	}
	return schema.Any, 0
}
