//go:build !unix

package store

import (
	"errors"
	"os"
)

// JournalSupported reports whether this system has the locks that a Journal needs.
const JournalSupported = false

// Linked implements file.
func (segment) Linked() bool { return true }

func tryLock(*os.File) (bool, error) { return false, errors.ErrUnsupported }

func unlockFile(*os.File) {}
