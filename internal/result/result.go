// Package result turns rows that may be returned into the answer of a read.
//
//	redact.Rows ─NewPage: JSON, text or CSV, byte budget→ Page
//
// A page has a maximum size in bytes. Its cursor is sealed: an agent can store it and send it back, but can't read or
// change it. Labels are names of records. Embed replaces keys by their records. Package redact handles masks and hidden
// columns, and this package can't bypass it.
package result
