package sourcetest

import (
	"fmt"
	"strings"
)

// manyQuestions use as many values and conditions as the language allows. Databases limit the depth of an expression
// and the number of values. Callers must not notice these limits.
func manyQuestions() []question {
	in := func(format, last string) string {
		values := make([]string, 999)
		for i := range values {
			values[i] = fmt.Sprintf(format, i+1000)
		}
		return `{"$in":[` + strings.Join(values, ",") + "," + last + "]}"
	}
	or := func(condition, last string) string {
		return `{"$or":[` + strings.Repeat(condition+",", 190) + last + "]}"
	}
	among := func(where string) string { return `{"boss":{"$inQuery":{"className":"users","where":` + where + `}}}` }
	return []question{
		{"texts", `{"s":` + in(`"x%d"`, `"apple"`) + `}`, "1", ""},
		{"texts", `{"s":` + in(`"x%d"`, "null") + `}`, "4", ""},
		{"numbers", `{"n":` + in("%d", "9007199254740993") + `}`, "6", ""},
		{"numbers", `{"n":` + in("%d.5", "42.0") + `}`, "9", ""},
		{"numbers", `{"x":` + in("%d.25", "1.5") + `}`, "7", ""},
		{"numbers", `{"d":` + in("%d.25", "-3.25") + `}`, "3", ""},
		{"times", `{"at":` + in(`"%d-03-03T00:00:00Z"`, `"2026-01-31T08:00:00Z"`) + `}`, "1 2", ""},
		{"docs", `{"doc.a":` + in(`"x%d"`, `"İ"`) + `}`, "26", ""},
		{"docs", `{"doc.a":` + in("%d.5", "9007199254740993") + `}`, "14", ""},
		{"docs", `{"doc.a":` + in(`{"b":%d}`, `{"b":2}`) + `}`, "4", ""},
		{"docs", or(`{"doc.a":"nothing"}`, `{"doc.a":true}`), "17 28", ""},
		{"texts", or(`{"s":"nothing"}`, `{"s":"apple"}`), "1", ""},
		{"users", among(`{"boss.name":"Ann"}`), "3", ""},
		{"users", among(`{"boss.name":{"$ne":"Ann"}}`), "2 4 9007199254740993", ""}, // a missing boss isn't Ann
		{"users", among(`{"boss.name":null}`), "2 4", ""},
		{"users", among(`{"boss.name":{"$in":[null,"Bob"]}}`), "2 4", ""},
		{"users", among(`{"boss.name":{"$nin":[null,"Ann"]}}`), "9007199254740993", ""},
		{"users", among(`{"boss.name":{"$exists":true},"boss.org.name":{"$regex":"^A"}}`), "3", ""},
		{"users", among(`{"$not":{"boss.org.name":{"$startsWith":"A"}}}`), "2 4 9007199254740993", ""},
	}
}
