//go:build !linux

package garbage

func releasePages([]byte) {}

func unmap() {}
