package rewrite_test

import (
	"strings"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/rewrite"
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
		`{"a": {"$between": [1, 5]}, "b": {"$isNull": true}, "c": {"$notNull": true}, "d": {"$is_null": false}}`:                   `{"a":{"$gte":1,"$lte":5},"b":{"$eq":null},"c":{"$ne":null},"d":{"$ne":null}}`,
		`{"a": {"$neq": 1, "$ge": 0}, "b": {"$not_in": [1]}, "c": {"$before": "$$NOW"}}`:                                           `{"a":{"$ne":1,"$gte":0},"b":{"$nin":[1]},"c":{"$lt":{"__type":"Date","iso":"2026-11-22T12:00:00Z"}}}`,
		`{"a": {"$like": "%pen%"}, "b": {"$ilike": "A_b"}}`:                                                                        `{"a":{"$regex":"pen"},"b":{"$regex":"\\AA(?s:.)b\\z","$options":"i"}} /a/$like: "%pen%" was taken as {"$regex":"pen"} /b/$ilike: "A_b" was taken as {"$regex":"\\AA(?s:.)b\\z","$options":"i"}`,
		`{"a": {"$notLike": "a%"}, "b": {"$endsWith": "1.5"}, "c": {"$icontains": "x"}}`:                                           `{"a":{"$not":{"$regex":"\\Aa"}},"b":{"$regex":"1\\.5\\z"},"c":{"$regex":"x","$options":"i"}} /a/$notLike: "a%" was taken as {"$regex":"\\Aa"} /b/$endsWith: "1.5" was taken as {"$regex":"1\\.5\\z"} /c/$icontains: "x" was taken as {"$regex":"x","$options":"i"}`,
		`{"a": {"$like": 5}, "b": {"$between": [1]}, "c": {"$isNull": "$x"}, "d": {"$gte": 1, "$ge": 2}}`:                          `{"a":{"$like":5},"b":{"$between":[1]},"c":{"$isNull":"$x"},"d":{"$gte":1,"$ge":2}}`,
		`[{"$match": {"a": {"$between": [1, 2]}}}, {"$project": {"x": {"$literal": {"$like": "a"}}}}]`:                             `[{"$match":{"a":{"$gte":1,"$lte":2}}},{"$project":{"x":{"$literal":{"$like":"a"}}}}]`,
		`{"a": {"like": "a%"}}`:                       `{"a":{"like":"a%"}}`,
		`{"$relatedTo": {"object": "x", "key": "k"}}`: `invalid_query: $relatedTo takes {"object": {"__type": "Pointer", "className": "Product", "objectId": "x"}, "key": "related"} at /$relatedTo`,
		`{"a": {"$relativeTime": "when it suits"}}`:   `invalid_query: $relativeTime takes a text such as "7 days ago", "in 2 weeks" or "now" at /a/$relativeTime`,
	} {
		v, err := value.Read([]byte(in), 0)
		if err != nil {
			t.Fatal(in, err)
		}
		out, notes, err := rewrite.Query(v, "", noon)
		got := strings.Join(append([]string{out.String()}, notes...), " ")
		if err != nil {
			got = err.Error() + " at " + problem.Of(err).Pointer
		}
		if got != want {
			t.Errorf("%s\n got %s\nwant %s", in, got, want)
		}
	}
}

// TestWhere has a row for each form of a where that is not an object.
func TestWhere(t *testing.T) {
	const refused = `invalid_query: where is an object, as in {"status": "open", "total": {"$gte": 5}}; {"$or": [{…}, {…}]} holds if one of several does at /where`
	for in, want := range map[string]string{
		`{"a": {"$between": [1, 5]}}`:              `{"a":{"$gte":1,"$lte":5}}`,
		`[{"field": "a", "op": ">=", "value": 5}]`: `{"$and":[{"a":{"$gte":5}}]}`,
		`[{"column": "a", "operator": "NOT IN", "values": [1, 2]}, {"field": "b", "op": "is null"}, {"field": "c.d", "op": "greater_than", "value": "$$NOW"}]`: `{"$and":[{"a":{"$nin":[1,2]}},{"b":{"$eq":null}},{"c.d":{"$gt":{"__type":"Date","iso":"2026-11-22T12:00:00Z"}}}]}`,
		`[{"field": "a", "op": "near", "value": 5}]`:          refused,
		`[{"field": "a", "op": "=", "value": 5, "or": true}]`: refused,
		`[{"a": 1}, {"b": 2}]`:                                refused,
		`[]`:                                                  refused,
		`"a = 1"`:                                             refused,
	} {
		v, err := value.Read([]byte(in), 0)
		if err != nil {
			t.Fatal(in, err)
		}
		out, _, err := rewrite.Where(v, "/where", noon)
		got := out.String()
		if err != nil {
			got = err.Error() + " at " + problem.Of(err).Pointer
		}
		if got != want {
			t.Errorf("%s\n got %s\nwant %s", in, got, want)
		}
	}
}
