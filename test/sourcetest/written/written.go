// Package written converts values from the rows of the suite's tables.
package written

import (
	"encoding/base64"
	"fmt"
	"math"
	"strings"

	"github.com/bailiwick-dev/bailiwick/value"
)

// Largest returns the largest finite double with the sign of an infinity, for a source without infinities.
func Largest(v value.Value) value.Value {
	if strings.HasPrefix(v.Text(), "-") {
		return value.OfFloat(-math.MaxFloat64)
	}
	return value.OfFloat(math.MaxFloat64)
}

// Date parses a date as written in the rows. It is ISO 8601, or a number of seconds or milliseconds as in some SQLite
// columns.
func Date(v value.Value) value.Value {
	if v.Kind() == value.Int {
		if n := v.Int(); math.Abs(float64(n)) < 1e11 {
			return value.OfDate(n * 1e6)
		}
		return value.OfDate(v.Int() * 1000)
	}
	if d, ok := value.OfDateText(v.Text()); ok {
		return d
	}
	return v
}

// Null reports whether v stands for SQL's null in a JSON column. A plain null stands for JSON's null there.
func Null(v value.Value) bool {
	_, ok := v.Get("$sql")
	return ok
}

// Bytes decodes a base64 text.
func Bytes(v value.Value) string {
	raw, err := base64.StdEncoding.DecodeString(v.Text())
	if err != nil {
		panic(fmt.Sprintf("%s is not base64", v))
	}
	return string(raw)
}

// Array returns a list as a PostgreSQL array, such as {"a",NULL}.
func Array(v value.Value) string {
	parts := make([]string, len(v.List()))
	for i, e := range v.List() {
		parts[i] = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(e.String()) + `"`
		if e.IsNull() {
			parts[i] = "NULL"
		}
	}
	return "{" + strings.Join(parts, ",") + "}"
}
