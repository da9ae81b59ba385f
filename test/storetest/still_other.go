//go:build !unix

package storetest

import (
	"errors"
	"os"
)

func standStill(*os.Process) error { return errors.ErrUnsupported }
