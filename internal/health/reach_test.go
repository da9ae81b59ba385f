package health

import (
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// TestAdvice checks the advice to an operator whose database can't be reached.
func TestAdvice(t *testing.T) {
	for _, row := range []struct {
		err  error
		want string
	}{
		{x509.UnknownAuthorityError{}, "sslrootcert"},
		{x509.HostnameError{Certificate: &x509.Certificate{}, Host: "h"}, "a name that the certificate has"},
		{x509.CertificateInvalidError{Reason: x509.Expired}, "Renew"},
		{errors.New("server refused TLS connection"), "sslmode=disable"},
		{&net.DNSError{Err: "no such host", Name: "h"}, "the host in the url"},
		{&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, "the port in the url"},
		{&net.OpError{Op: "dial", Err: errors.New("connectex: No connection could be made because the target machine actively refused it.")}, "the port in the url"},
		{&net.OpError{Op: "dial", Err: syscall.ENOENT}, "socket"},
		{&pgconn.PgError{Code: "28P01"}, "the user and the password"},
		{errors.New("Error 1045 (28000): Access denied for user 'u'@'h' (using password: YES)"), "the user and the password"},
		{errors.New("Error 1040: Too many connections"), "raise the limit"},
		{errors.New("Error 1226 (42000): User 'u' has exceeded the 'max_user_connections' resource (current value: 4)"), "raise the limit"},
		{&pgconn.PgError{Code: "53300"}, "raise the limit"},
		{&pgconn.PgError{Code: "3D000"}, "the last / of the url"},
		{&pgconn.PgError{Code: "42501"}, "Grant the right"},
		{&pgconn.PgError{Code: "57P03"}, "try again"},
		{&pgconn.PgError{Code: "08P01", Message: "unsupported startup parameter: search_path"}, "A pooler"},
		{&net.OpError{Op: "dial", Err: os.ErrDeadlineExceeded}, "firewalls"},
		{io.ErrUnexpectedEOF, "the port belongs to the database"},
		{errors.New("server selection error: … Last error: dial tcp 127.0.0.1:1: connect: connection refused"), "the port in the url"},
	} {
		err := fmt.Errorf("connect: %w", row.err)
		if got := advice(err, innermost(err)); !strings.HasPrefix(got, ". ") || !strings.Contains(got, row.want) {
			t.Errorf("%v: %q", row.err, got)
		}
	}
	if got := FaultReason(errors.New("something else")); got != "something else" {
		t.Errorf("of an unknown error: %q", got)
	}
}

// TestHosts checks that the message for a URL with several hosts contains each host once, with its own reason.
func TestHosts(t *testing.T) {
	config, err := pgconn.ParseConfig("postgres://u:sesame@/db?host=127.0.0.1,nowhere.invalid,127.0.0.1&port=1,2,3&sslmode=prefer")
	if err != nil {
		t.Fatal(err)
	}
	_, err = pgconn.ConnectConfig(t.Context(), config)
	got := FaultReason(err)
	for _, want := range []string{"127.0.0.1:1 connection refused", "127.0.0.1:3 connection refused", "nowhere.invalid ", "Check the host in the url", "the port in the url"} {
		if strings.Count(got, want) != 1 {
			t.Errorf("%s\nhas not once: %s", got, want)
		}
	}
	if strings.Contains(got, "sesame") {
		t.Error(got)
	}
}

// TestPlace checks that messages contain all hosts of a URL and no password.
func TestPlace(t *testing.T) {
	for url, want := range map[string]string{
		"postgres://u:sesame@db.internal:5433/app?sslmode=require": "db.internal:5433/app",
		"postgres://u:sesame@/app?host=a,b&port=1,2":               "a:1,b:2/app",
		"postgres://u:sesame@/app?host=a,b&port=7":                 "a:7,b:7/app",
		"postgres://u:sesame@/app?host=%2Fvar%2Frun":               "/var/run/app",
		"postgres:///app":                 "the database",
		"postgres://u:sesame@a:1,b:x/app": "the database",
		"mariadb://u:sesame@db/app":       "db/app",
	} {
		if got := Place(url); got != want || strings.Contains(got, "sesame") {
			t.Errorf("%s: %s, want %s", url, got, want)
		}
	}
}

// TestUnreadable checks that the error for a URL contains the name of its file, and not its password.
func TestUnreadable(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for options, want := range map[string]string{
		"sslmode=verify-full&sslrootcert=/nowhere/ca.pem":       "/nowhere/ca.pem: no such file or directory",
		"sslmode=verify-full&sslrootcert=" + empty:              "sslrootcert has no certificate in PEM form",
		"sslmode=require&sslcert=" + empty + "&sslkey=" + empty: "a certificate or a key",
		"sslmode=perhaps":      "look at sslmode, sslrootcert",
		"connect_timeout=soon": "look at its port",
	} {
		_, err := pgconn.ParseConfig("postgres://u:sesame@db/app?" + options)
		if err == nil {
			t.Errorf("%s: no error", options)
			continue
		}
		if got := Unreadable(err).Error(); !strings.Contains(got, want) || strings.Contains(got, "sesame") {
			t.Errorf("%s: %s, want %s", options, got, want)
		}
	}
}

// TestPortTaken checks the error numbers of both systems.
func TestPortTaken(t *testing.T) {
	for err, want := range map[error]bool{syscall.EADDRINUSE: true, syscall.Errno(10048): true, syscall.EACCES: false, syscall.ECONNREFUSED: false} {
		if got := IsPortInUse(&net.OpError{Op: "listen", Err: os.NewSyscallError("bind", err)}); got != want {
			t.Errorf("%v: %t", err, got)
		}
	}
}
