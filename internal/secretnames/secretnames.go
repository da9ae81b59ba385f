// Package secretnames recognizes credentials by name and by shape.
//
//	a column, a JSON key, a text → is it a credential: certainly, likely, no
//
// It applies in addition to configured rules. Package policy hides certain credentials, init asks about likely ones,
// and package samples inspects values.
package secretnames
