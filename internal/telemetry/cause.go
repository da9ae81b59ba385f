package telemetry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/problem"
)

// Errors is for slog.HandlerOptions.ReplaceAttr. It replaces the text of an error with the error's Cause.
func Errors(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindAny {
		if err, ok := a.Value.Any().(error); ok {
			a.Value = slog.StringValue(Cause(err))
		}
	}
	return a
}

// Cause returns a text about err for the log. It never returns text that could contain a value. An error can provide
// a loggable text with a method LogText() string. For other errors, Cause returns their codes and type.
func Cause(err error) string {
	if err == nil {
		return ""
	}
	switch e := err.(type) {
	case interface{ LogText() string }:
		return e.LogText()
	case *problem.Error:
		return ofProblem(e)
	case interface{ SQLState() string }:
		return "SQLSTATE " + e.SQLState()
	case *net.OpError, *net.DNSError, *fs.PathError, *os.SyscallError, *os.LinkError:
		return err.Error()
	case *url.Error:
		return e.Op + ": " + Cause(e.Err) // its URL may contain a credential
	case interface{ Unwrap() []error }:
		var all []string
		for _, one := range e.Unwrap() {
			all = append(all, Cause(one))
		}
		return strings.Join(all, "; ")
	case interface{ Code() int }:
		return fmt.Sprintf("%T %s", err, strconv.Itoa(e.Code()))
	}
	for _, known := range []error{context.Canceled, context.DeadlineExceeded, io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, os.ErrDeadlineExceeded} {
		if err == known {
			return err.Error()
		}
	}
	if inner := errors.Unwrap(err); inner != nil {
		return Cause(inner)
	}
	return fmt.Sprintf("%T", err)
}

// ofProblem returns the code, the kind and the cause of p for logs. It omits the detail, which may quote a caller.
func ofProblem(p *problem.Error) string {
	text := string(p.Code)
	if p.Kind != "" {
		text += " (" + p.Kind + ")"
	}
	if p.Err != nil {
		text += ": " + Cause(p.Err)
	}
	return text
}
