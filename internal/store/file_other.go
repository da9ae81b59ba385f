//go:build !unix

package store

import (
	"errors"
	"os"
)

// JournalSupported reports whether this system has the locks that a Journal needs.
const JournalSupported = false

// HasName implements file.
func (segment) HasName() bool { return true }

func tryLock(*os.File) (bool, error) { return false, errors.ErrUnsupported }

func unlockFile(*os.File) {}
