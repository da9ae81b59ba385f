//go:build !linux && !darwin

package operate

// freeBytes returns false: it isn't known.
func freeBytes(string) (uint64, bool) { return 0, false }

// sameDisk returns true, so that a folder is named once.
func sameDisk(string, string) bool { return true }
