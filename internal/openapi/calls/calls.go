// Package calls decides about calls of HTTP APIs.
//
//	APIs ─principal→ Reach ─operation, arguments→ Plan or Permit ─BuildRequest→ HTTPRequest ─openapi/client→ the API
//
// It decides which operations, schemas and fields of an API a principal sees, and which calls it may make. Package spec
// supplies the document and the classes of operations, and package validate the checked arguments. The zero Permit
// refuses.
//
// BuildRequest writes the HTTP request of a checked call. A ReadBack is for a call that creates something and whose
// answer was lost. It reads the existing things before and after the call, to find out whether the API has processed
// the call.
package calls
