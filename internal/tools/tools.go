// Package tools holds the tools of the gateway that package tool does not: those for HTTP APIs, for changes, for packs,
// and for descriptions without records.
//
//	search_api, call_api_read, call_api_write          any operation that rules allow
//	propose_changes, get_change, list_changes …        writes, as changes that wait for review
//	the tools of a pack                                one operation each, as its file declares
//	the tools over descriptions                        the fields of an organisation's objects, from files
//
// A tool gets a bailiwick.Call, which holds the gateway and the principal, and never a source. Package tool has the tools
// over records.
package tools
