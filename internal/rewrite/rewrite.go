// Package rewrite turns forms that models write, but that the query language lacks, into forms of the query language.
//
//	{"$between": [1, 5]} → {"$gte": 1, "$lte": 5}
//
// The tools call it before they parse a query. It adds a note for each change that a reader may not expect. Package
// hint contains the help for forms that can't be rewritten.
package rewrite
