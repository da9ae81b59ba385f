// Package failing has a test that fails without a mutant.
package failing

// Not returns what b isn't.
func Not(b bool) bool {
	if b {
		return false
	}
	return true
}
