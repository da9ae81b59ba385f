//go:build !unix

package services

import (
	"errors"
	"os"
	"syscall"
)

func lock(*os.File, bool) error { return errors.ErrUnsupported }

func ownSession() *syscall.SysProcAttr { return nil }
