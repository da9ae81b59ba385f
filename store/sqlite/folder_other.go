//go:build !unix

package sqlite

// writableFolder returns nil, because only an attempt would show whether the folder is writable.
func writableFolder(string) error { return nil }
