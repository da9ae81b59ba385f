//go:build !unix

package testservices

import (
	"errors"
	"os"
	"syscall"
)

func lock(*os.File, bool) error { return errors.ErrUnsupported }

func ownSession() *syscall.SysProcAttr { return nil }
