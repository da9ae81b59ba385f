//go:build !linux

package app

func untouched([]byte) {}

func unmap() {}
