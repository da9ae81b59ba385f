package app

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// TestAdvice checks what an operator is told to do about a database that can't be reached.
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
		{&net.OpError{Op: "dial", Err: syscall.ENOENT}, "socket"},
		{&pgconn.PgError{Code: "28P01"}, "the user and the password"},
		{errors.New("Error 1045 (28000): Access denied for user 'u'@'h' (using password: YES)"), "the user and the password"},
		{errors.New("Error 1040: Too many connections"), "raise the limit"},
		{errors.New("Error 1226 (42000): User 'u' has exceeded the 'max_user_connections' resource (current value: 4)"), "raise the limit"},
		{&pgconn.PgError{Code: "53300"}, "raise the limit"},
		{&pgconn.PgError{Code: "3D000"}, "the last / of the url"},
	} {
		if got := advice(fmt.Errorf("connect: %w", row.err)); !strings.HasPrefix(got, ". ") || !strings.Contains(got, row.want) {
			t.Errorf("%v: %q", row.err, got)
		}
	}
	if got := advice(errors.New("something else")); got != "" {
		t.Errorf("of an unknown error: %q", got)
	}
}
