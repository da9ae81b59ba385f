//go:build !linux

package garbage

func untouched([]byte) {}

func unmap() {}
