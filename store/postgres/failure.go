package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/internal/health"
	"github.com/bailiwick-dev/bailiwick/internal/store"
	"github.com/bailiwick-dev/bailiwick/internal/webhook"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// place returns the addresses and the name of a database, without the password.
func place(c *pgx.ConnConfig) string {
	var hosts []string
	add := func(host string, port uint16) {
		at := fmt.Sprintf("%s:%d", host, port)
		if strings.HasPrefix(host, "/") {
			at = host
		}
		if !slices.Contains(hosts, at) { // the list contains a host once for each mode of encryption
			hosts = append(hosts, at)
		}
	}
	add(c.Host, c.Port)
	for _, other := range c.Fallbacks {
		add(other.Host, other.Port)
	}
	return strings.Join(hosts, ",") + "/" + c.Database
}

// operatorError returns an error for operators: the failed action, the database, and the reason. It returns errors
// with a meaning for callers, and a cancelled context, unchanged.
func (s *Store) operatorError(doing string, err error) error {
	if known := callerError(err); known != nil {
		return known
	}
	if errors.Is(err, context.Canceled) {
		return err
	}
	f := &store.Failure{Doing: doing, At: "PostgreSQL at " + s.at, Err: err}
	if code := state(err); code != "" {
		f.Code = "SQLSTATE " + code
	}
	switch code := state(err); {
	case errors.Is(err, errPooled):
		f.Why = errPooled.Error()
	case refusedParameter(err):
		f.Why = "a pooler stands before the database and refuses a parameter of the connection string: remove the options from the URL"
	case code == "28P01" || code == "28000":
		f.Why = "the database refuses the user or the password"
	case code == "3D000":
		f.Why = "there is no such database"
	case code == "42501":
		f.Why = "the user lacks a right. The schema bailiwick must be its own, or it must be allowed to make it"
	case code == "53100":
		f.Why = "the disk is full"
	case code == "58030":
		f.Why = "the disk fails"
	case code == "55P03":
		f.Why = "another session has locked a table"
	case code == "53300":
		f.Why = "the database has too many connections"
	case code == "25006":
		f.Why = "the database is read-only"
	case strings.HasPrefix(code, "57P0"):
		f.Why = "the database is being stopped or started"
	case code == "" && connecting(err):
		f.Why = "the database can't be reached: " + health.FaultReason(err)
	case code == "57014" || errors.Is(err, context.DeadlineExceeded):
		f.Why = "the database did not answer in time"
	case isConnectionLoss(err):
		f.Why = "the database can't be reached: " + health.FaultReason(err)
	}
	f.Public = public[state(err)]
	return f
}

// public contains the reasons that /readyz shows to anyone, by SQLSTATE. They reveal nothing about the installation.
var public = map[string]string{"53100": "the disk is full", "58030": "the disk fails", "25006": "the database is read-only", "42501": "a right is missing",
	"55P03": "a table is locked"}

// state returns the SQLSTATE of err, or "" if it isn't an error of the database.
func state(err error) string {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Code
	}
	return ""
}

// callerError returns the error in err that has a meaning for callers, or nil.
func callerError(err error) error {
	if p, ok := errors.AsType[*problem.Error](err); ok {
		return p
	}
	for _, is := range []error{audit.ErrMoved, change.ErrNone, change.ErrMoved, change.ErrExpired, change.ErrFull, change.ErrFast, change.ErrUnrecorded, webhook.ErrNone, webhook.ErrMoved} {
		if errors.Is(err, is) {
			return is
		}
	}
	return nil
}

// connecting reports whether err occurred while connecting to the database.
func connecting(err error) bool {
	_, ok := errors.AsType[*pgconn.ConnectError](err)
	return ok
}

// isConnectionLoss reports whether err means a lost connection. In that case it is unknown whether the statement took
// effect.
func isConnectionLoss(err error) bool {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	if code := state(err); code != "" {
		return strings.HasPrefix(code, "57P0") || strings.HasPrefix(code, "08")
	}
	_, network := errors.AsType[net.Error](err)
	return network || connecting(err) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || pgconn.SafeToRetry(err)
}
