package hint

import (
	"slices"
	"strings"
)

// search is the help for searching words.
const search = "x ILIKE '%a%' finds a part of a text, x ~ '…' what an expression matches"

// SQLOperator returns how to replace an operator that isn't supported. It returns "" if there is no replacement.
func SQLOperator(op string) string {
	keys := "json->'a' IS NOT NULL tells whether an object has a member that isn't null. Join such tests with OR or AND"
	return map[string]string{
		"@>": "list @> ARRAY['a'] and json @> '{\"a\": \"b\"}' are there for a column and constants. Otherwise 'a' = ANY(list), json->>'a' = 'b'",
		"&&": "list && ARRAY['a', 'b'] is there for a column and constants. Otherwise 'a' = ANY(list) OR 'b' = ANY(list)", "<@": "turn it around: list @> ARRAY['a']",
		"?":  "'a' = ANY(list) tells whether a list has an element, and json->'a' IS NOT NULL whether an object has a member that isn't null",
		"?|": keys, "?&": keys, "@?": "json #> '{a,b}' IS NOT NULL tells whether a path leads to a value", "@@": search, "<->": search,
	}[op]
}

// SQLWord returns how to replace a word of another SQL dialect that the parser finds where it expects something else.
// It returns "" for other words.
func SQLWord(word string) string {
	return map[string]string{
		"pivot": "sum(x) FILTER (WHERE status = 'paid') AS paid, and one such item for each other column", "unpivot": "UNION ALL of one SELECT for each column",
		"connect": "WITH RECURSIVE goes from records to their children", "against": search, "match": search, "sounds": search,
		"sample": "LIMIT without ORDER BY shows some records, in the order of their keys", "index": "leave hints about indexes out: the database chooses", "straight_join": "leave it out: the database chooses the order of joins",
		"ignore": "nulls are counted: take the records with x IS NOT NULL in a query in FROM, and number or shift those", "nulls": "nulls are counted: take the records with x IS NOT NULL in a query in FROM, and number or shift those",
		"respect": "leave RESPECT NULLS out: nulls are counted", "exclude": "subtract the record's own value: sum(x) OVER (…) - x", "overlaps": "a < d AND c < b tells whether the times from a to b and from c to d overlap",
	}[word]
}

// SQLFunction returns how to replace a function that models write and that doesn't exist. It returns "" for other
// functions.
func SQLFunction(name string) string {
	for _, f := range functions {
		if slices.Contains(strings.Fields(f.names), name) {
			return f.instead
		}
	}
	return ""
}
