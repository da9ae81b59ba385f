package written_test

import (
	"strings"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/written"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

func TestQuery(t *testing.T) {
	for in, want := range map[string]string{
		`{"a": {"$gt": {"$date": "2026-01-31T13:00:00Z"}}}`:                                                `{"a":{"$gt":{"__type":"Date","iso":"2026-01-31T13:00:00Z"}}}`,
		`{"a": {"$date": 1767225600000}}`:                                                                  `{"a":{"__type":"Date","iso":"2026-01-01T00:00:00Z"}}`,
		`{"a": {"$date": {"$numberLong": "1767225600000"}}}`:                                               `{"a":{"__type":"Date","iso":"2026-01-01T00:00:00Z"}}`,
		`{"a": {"$oid": "5f"}, "b": {"$numberLong": "5"}}`:                                                 `{"a":"5f","b":5}`,
		`{"a": {"$in": [{"$numberDecimal": "1.50"}]}}`:                                                     `{"a":{"$in":[1.50]}}`,
		`{"a": {"$lt": "$$NOW"}}`:                                                                          `{"a":{"$lt":{"__type":"Date","iso":"2026-11-22T12:00:00Z"}}}`,
		`{"a": {"$gte": {"$relativeTime": "7 days ago"}}}`:                                                 `{"a":{"$gte":{"__type":"Date","iso":"2026-11-15T12:00:00Z"}}} /a/$gte/$relativeTime: "7 days ago" is 2026-11-15T12:00:00Z`,
		`{"a": {"$relativeTime": "in 2 months"}}`:                                                          `{"a":{"__type":"Date","iso":"2027-01-22T12:00:00Z"}} /a/$relativeTime: "in 2 months" is 2027-01-22T12:00:00Z`,
		`[{"$project": {"x": {"$literal": {"$oid": "5f"}}}}]`:                                              `[{"$project":{"x":{"$literal":{"$oid":"5f"}}}}]`,
		`{"a": {"$numberLong": "five"}, "b": {"$date": "soon"}}`:                                           `{"a":{"$numberLong":"five"},"b":{"$date":"soon"}}`,
		`{"$relatedTo": {"object": {"__type": "Pointer", "className": "P", "objectId": "x"}, "key": "k"}}`: `{"objectId":{"$select":{"query":{"className":"_Join:k:P","where":{"owningId":"x"}},"key":"relatedId"}}}`,
		`{"a": 1, "$relatedTo": {"object": {"__type": "Pointer", "className": "s.P", "objectId": "x"}, "key": "k"}, "b": "$$NOW"}`: `{"$and":[{"objectId":{"$select":{"query":{"className":"s._Join:k:P","where":{"owningId":"x"}},"key":"relatedId"}}},{"a":1},{"b":{"__type":"Date","iso":"2026-11-22T12:00:00Z"}}]}`,
		`{"$relatedTo": {"object": "x", "key": "k"}}`: `invalid_query: $relatedTo takes {"object": {"__type": "Pointer", "className": "Product", "objectId": "x"}, "key": "related"} at /$relatedTo`,
		`{"a": {"$relativeTime": "when it suits"}}`:   `invalid_query: $relativeTime takes a text such as "7 days ago", "in 2 weeks" or "now" at /a/$relativeTime`,
	} {
		v, err := value.Read([]byte(in), 0)
		if err != nil {
			t.Fatal(in, err)
		}
		out, notes, err := written.Query(v, "", noon)
		got := strings.Join(append([]string{out.String()}, notes...), " ")
		if err != nil {
			got = err.Error() + " at " + problem.Of(err).Pointer
		}
		if got != want {
			t.Errorf("%s\n got %s\nwant %s", in, got, want)
		}
	}
}
