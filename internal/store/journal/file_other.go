//go:build !unix

package journal

import (
	"errors"
	"os"
)

// Supported reports whether this system has the locks that a Journal needs.
const Supported = false

// Linked implements file.
func (segment) Linked() bool { return true }

func tryLock(*os.File) (bool, error) { return false, errors.ErrUnsupported }

func unlockFile(*os.File) {}
