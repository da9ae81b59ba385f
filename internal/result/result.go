// Package result turns rows that may be returned into the answer of a read.
//
//	redact.Rows ─NewPage: JSON, text or CSV, byte budget→ Page
//
// A page is limited to a byte budget. Its cursor is sealed. An agent can keep it and send it back, but can neither read
// nor change it. Labels are names of records. Embed replaces keys by their records. Package redact handles masks and
// hidden columns, and this package cannot bypass it.
package result
