// Package secretnames recognizes credentials by name and by shape.
//
//	a column, a JSON key, a text → is it a credential: certainly, likely, no
//
// It applies below all configured rules: package policy hides certain credentials, init asks about likely ones, and
// package samples looks at values.
package secretnames
