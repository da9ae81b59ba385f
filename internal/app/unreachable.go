package app

import (
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/bailiwick-dev/bailiwick/internal/config"
)

// unreachable returns a one-sentence error for a source that can't be opened, without its password.
func unreachable(s config.Source, err error) error {
	if path, ok := s.SQLite(); ok {
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("source %s can't be opened: there is no file %s", s.Name, path)
		}
		return err
	}
	reason := err
	if connect, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		// It joins the errors of all addresses and encryption modes it tried; the last cause is enough.
		reason = innermost(connect)
	} else if s.MariaDB() {
		reason = innermost(err)
	}
	at := "the database"
	if u, perr := url.Parse(s.URL); perr == nil && u.Host != "" {
		at = u.Host + u.Path
	}
	return fmt.Errorf("source %s can't be reached at %s: %s%s", s.Name, at, strings.TrimPrefix(lastLine(reason.Error()), "source "+s.Name+": "), advice(reason))
}

// advice returns what to do about an error of connecting, to follow the error, or "".
func advice(err error) string {
	var unknown x509.UnknownAuthorityError
	var other x509.HostnameError
	var invalid x509.CertificateInvalidError
	var name *net.DNSError
	var pg *pgconn.PgError
	switch {
	case errors.As(err, &unknown):
		return ". Give the certificate of the authority that signed the server's, as sslrootcert for PostgreSQL"
	case errors.As(err, &other):
		return ". Connect to a name that the certificate has"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return ". Renew the server's certificate"
	case strings.Contains(err.Error(), "server refused TLS connection") || strings.Contains(err.Error(), "TLS requested but server does not support TLS"):
		return ". Turn TLS on there, or use sslmode=disable (MariaDB: tls=false) on a network that you trust"
	case errors.As(err, &name):
		return ". Check the host in the url"
	case errors.Is(err, syscall.ENOENT):
		return ". No server has its socket there: check the host in the url"
	case errors.Is(err, syscall.ECONNREFUSED):
		return ". Check that the database runs, and the port in the url"
	case errors.As(err, &pg) && (pg.Code == "28P01" || pg.Code == "28000"):
		return ". Check the user and the password, and pg_hba.conf of the server"
	case strings.Contains(err.Error(), "Access denied for user"):
		return ". Check the user and the password, and the host that the account may come from"
	case errors.As(err, &pg) && pg.Code == "53300", strings.Contains(err.Error(), "Too many connections"), strings.Contains(err.Error(), "max_user_connections"):
		return ". Close other connections to the server, or raise the limit: max_connections of the server, or that of the account"
	case errors.As(err, &pg) && pg.Code == "3D000":
		return ". Check the name after the last / of the url"
	}
	return ""
}

// innermost returns the innermost error that err wraps.
func innermost(err error) error {
	for {
		if pg, ok := err.(*pgconn.PgError); ok {
			return pg
		}
		next := errors.Unwrap(err)
		if joined, ok := err.(interface{ Unwrap() []error }); ok && len(joined.Unwrap()) > 0 {
			next = joined.Unwrap()[len(joined.Unwrap())-1]
		}
		if next == nil {
			return err
		}
		err = next
	}
}

func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return s[strings.LastIndexByte(s, '\n')+1:]
}
