// Package hint contains the help for forms of queries that the language doesn't support.
//
//	an unknown operator, function or word → what to write instead
//
// Packages query and sqlparse use it when they reject a name. Package typecheck and the tools use Rewrite, which turns
// forms of other query languages into forms of this language.
package hint
