// Package result turns rows that may be returned into the answer of a read.
//
//	redact.Rows ─NewPage: JSON, text or CSV, byte budget→ Page
//
// A page is limited to a byte budget. Its cursor is sealed, so that an agent can keep it and bring it back, but neither
// read nor change it. Labels are what records are called. Embed puts records in the place of their keys. Masks and hidden
// columns are the matter of package redact, which this package cannot go around.
package result
