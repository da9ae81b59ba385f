//go:build !linux && !darwin

package operate

// freeBytes returns false, because the free space can't be determined on this system.
func freeBytes(string) (uint64, bool) { return 0, false }

// sameDisk returns true, so that each folder is reported once.
func sameDisk(string, string) bool { return true }
