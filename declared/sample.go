package declared

import (
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/value"
)

// samples returns arguments that fit a JSON Schema: all of them, and only the required ones. The values of example come
// first.
func samples(schema, example value.Value) (all, required value.Value) {
	properties, _ := schema.Get("properties")
	must, _ := schema.Get("required")
	var every, some []value.Member
	for _, p := range properties.Members() {
		v, ok := example.Get(p.Name)
		if !ok {
			v = sample(p.Value)
		}
		every = append(every, value.Member{Name: p.Name, Value: v})
		if slices.ContainsFunc(must.List(), func(r value.Value) bool { return r.Text() == p.Name }) {
			some = append(some, every[len(every)-1])
		}
	}
	return value.OfObject(every), value.OfObject(some)
}

// formats are sample texts by their format.
var formats = map[string]string{"date": "2000-01-01", "date-time": "2000-01-01T00:00:00Z", "time": "00:00:00Z",
	"uuid": "00000000-0000-4000-8000-000000000000", "email": "a@example.org", "uri": "https://example.org/"}

// sample returns a value that fits the schema of one argument.
func sample(schema value.Value) value.Value {
	for _, key := range []string{"default", "const"} {
		if v, ok := schema.Get(key); ok {
			return v
		}
	}
	for _, key := range []string{"enum", "examples"} {
		if list, _ := schema.Get(key); len(list.List()) > 0 {
			return list.List()[0]
		}
	}
	kind, _ := schema.Get("type")
	switch kind.Text() {
	case "integer", "number":
		if least, ok := schema.Get("minimum"); ok {
			return least
		}
		return value.OfInt(1)
	case "boolean":
		return value.OfBool(true)
	case "array":
		items, _ := schema.Get("items")
		return value.OfArray([]value.Value{sample(items)})
	case "object":
		return value.OfObject(nil)
	}
	format, _ := schema.Get("format")
	if s, ok := formats[format.Text()]; ok {
		return value.OfString(s)
	}
	least, _ := schema.Get("minLength")
	return value.OfString(strings.Repeat("x", max(1, int(least.Int()))))
}
