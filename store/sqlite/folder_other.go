//go:build !unix

package sqlite

// writableFolder returns nil: whether files can be made isn't known without making one.
func writableFolder(string) error { return nil }
