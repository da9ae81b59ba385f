// Package rewrite turns forms that models write, but the query language does not have, into forms that it has.
//
//	{"$between": [1, 5]} → {"$gte": 1, "$lte": 5}
//
// The tools call it before they parse a query. Each rewriting that could surprise has a note. Package hint has the words
// for what cannot be rewritten.
package rewrite
