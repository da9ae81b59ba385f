package health

import (
	"crypto/x509"
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/bailiwick-dev/bailiwick/internal/connstring"
)

// windowsInUse is the Windows error number for an address in use. On Windows, the system never returns EADDRINUSE.
const windowsInUse = syscall.Errno(10048)

// IsPortInUse reports whether err means that another process listens on the address.
func IsPortInUse(err error) bool {
	return errors.Is(err, syscall.EADDRINUSE) || errors.Is(err, windowsInUse)
}

// FaultReason returns why a connection failed, and what an operator can do. If the driver tried several hosts, it
// gives the reason for each host.
func FaultReason(err error) string {
	hosts := perHost(err)
	if len(hosts) < 2 {
		cause := innermost(err)
		return textOf(cause) + advice(err, cause)
	}
	var reasons, advices []string
	for _, h := range hosts {
		cause := innermost(h.err)
		reasons = append(reasons, h.name+" "+textOf(cause))
		if a := advice(h.err, cause); !slices.Contains(advices, a) {
			advices = append(advices, a)
		}
	}
	return strings.Join(reasons, "; ") + strings.Join(advices, "")
}

// FaultText returns the last line of err, and what an operator can do.
func FaultText(err error) string { return lastLine(err.Error()) + advice(err, innermost(err)) }

// A host is a server that the driver tried, and the error of this attempt.
type host struct {
	name string
	err  error
}

// perHost returns the last error of each host that the PostgreSQL driver tried. The driver tries several encryption
// modes for each host.
func perHost(err error) (out []host) {
	connect, ok := errors.AsType[*pgconn.ConnectError](err)
	if !ok {
		return nil
	}
	joined, ok := errors.AsType[interface {
		error
		Unwrap() []error
	}](connect)
	if !ok {
		return nil
	}
	for _, e := range joined.Unwrap() {
		name := nameOf(e.Error())
		if dns, ok := errors.AsType[*net.DNSError](e); ok {
			name = dns.Name
		}
		if i := slices.IndexFunc(out, func(h host) bool { return h.name == name }); i >= 0 {
			out[i].err = e
			continue
		}
		out = append(out, host{name, e})
	}
	return out
}

// nameOf returns the host and the port from a text of the PostgreSQL driver, such as "192.0.2.1:5432 (db.internal):
// dial error …".
func nameOf(text string) string {
	address, rest, _ := strings.Cut(text, " (")
	host, _, _ := strings.Cut(rest, ")")
	if _, port, err := net.SplitHostPort(address); err == nil {
		return net.JoinHostPort(host, port)
	}
	return host // the directory of a socket
}

// A hint tells an operator what to do about a kind of failure.
type hint struct {
	is   func(err error) bool
	says []string // parts of the texts of errors without a type
	do   string
}

// hints contains the kinds of failures. More specific kinds come first.
var hints = []hint{
	{is: as[x509.UnknownAuthorityError], says: []string{"certificate signed by unknown authority"},
		do: "Give the certificate of the authority that signed the server's, as sslrootcert for PostgreSQL, or as tls.ca for an API"},
	{is: as[x509.HostnameError], do: "Connect to a name that the certificate has"},
	{is: isExpiredCertificate, says: []string{"certificate has expired or is not yet valid"}, do: "Renew the server's certificate, or set the clock of this machine"},
	{says: []string{"server refused TLS connection", "TLS requested but server does not support TLS"},
		do: "Turn TLS on there, or use sslmode=disable (MariaDB: tls=false) on a network that you trust"},
	{says: []string{"startup parameter"}, do: "A pooler stands before the database and refuses an option of the url: remove the options"},
	{is: as[*net.DNSError], says: []string{"no such host"}, do: "Check the host in the url"},
	{is: is(syscall.ENOENT), do: "No server has its socket there: check the host in the url"},
	{is: is(syscall.ECONNREFUSED), says: []string{"connection refused", "actively refused it"}, do: "Check that the server runs, and the port in the url"},
	{is: state("28P01", "28000"), do: "Check the user and the password, and pg_hba.conf of the server"},
	{says: []string{"Access denied for user"}, do: "Check the user and the password, and the host that the account may come from"},
	{is: state("53300"), says: []string{"Too many connections", "max_user_connections"},
		do: "Close other connections to the server, or raise the limit: max_connections of the server, or that of the account"},
	{is: state("3D000"), do: "Check the name after the last / of the url"},
	{is: state("42501"), do: "Grant the right to the user of the url, or name another user"},
	{is: state("57P03"), do: "The server is starting or stopping: try again when it has started"},
	{is: silent, says: []string{"i/o timeout", "timed out"}, do: "No answer came: check the host and the port, and the firewalls on the way"},
	{is: isConnectionClosed, says: []string{"unexpected EOF", "connection reset by peer"},
		do: "The server closed the connection: check that the port belongs to the database, and read the log of the server or pooler there"},
}

// advice returns what an operator can do about err, as a sentence to append to the error text, or "".
func advice(err, cause error) string {
	for _, h := range hints {
		if h.is != nil && h.is(cause) || slices.ContainsFunc(h.says, func(s string) bool { return strings.Contains(err.Error(), s) }) {
			return ". " + h.do
		}
	}
	return ""
}

func as[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

func is(target error) func(error) bool {
	return func(err error) bool { return errors.Is(err, target) }
}

// state returns a function that matches PostgreSQL errors by their SQLSTATE.
func state(codes ...string) func(error) bool {
	return func(err error) bool {
		e, ok := errors.AsType[*pgconn.PgError](err)
		return ok && slices.Contains(codes, e.Code)
	}
}

func isExpiredCertificate(err error) bool {
	e, ok := errors.AsType[x509.CertificateInvalidError](err)
	return ok && e.Reason == x509.Expired
}

// silent reports whether err is a timeout.
func silent(err error) bool {
	e, ok := errors.AsType[net.Error](err)
	return ok && e.Timeout() || errors.Is(err, os.ErrDeadlineExceeded)
}

// isConnectionClosed reports whether err means that the server closed the connection.
func isConnectionClosed(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET)
}

// innermost returns the innermost error that err wraps. If err wraps several errors, it follows the last one.
func innermost(err error) error {
	for {
		switch err.(type) {
		case *pgconn.PgError, *net.DNSError, x509.UnknownAuthorityError, x509.HostnameError, x509.CertificateInvalidError:
			return err
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

// textOf returns the last line of an innermost error. For a DNS error, it leaves out the name of the DNS server.
func textOf(cause error) string {
	if dns, ok := errors.AsType[*net.DNSError](cause); ok {
		return dns.Err
	}
	return lastLine(cause.Error())
}

func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return s[strings.LastIndexByte(s, '\n')+1:]
}

// Unreadable returns an error that explains why the PostgreSQL driver can't use a URL. Of the URL, it contains only
// the paths of files.
func Unreadable(err error) error {
	if p, ok := errors.AsType[*os.PathError](err); ok {
		return errors.New("a file that the database url names can't be read: " + p.Path + ": " + p.Err.Error() + ". Look at sslrootcert, sslcert, sslkey and servicefile")
	}
	switch text := err.Error(); {
	case strings.Contains(text, "unable to add CA to cert pool"):
		return errors.New("the file that the database url names as sslrootcert has no certificate in PEM form")
	case strings.Contains(text, "failed to configure TLS"):
		return errors.New("a certificate or a key that the database url names can't be used: look at sslmode, sslrootcert, sslcert, sslkey and sslpassword")
	}
	return errors.New("the database url can't be read: look at its port, sslmode, target_session_attrs, service and the numbers of its options")
}

// Place returns the hosts and the database of a URL, without the user and the password. It returns "the database" if
// the URL has no host.
func Place(text string) string {
	u, _ := connstring.Split(text)
	if u == nil {
		return "the database"
	}
	if u.Host != "" {
		return u.Host + u.Path
	}
	q := u.Query()
	if q.Get("host") == "" {
		return "the database"
	}
	hosts, ports := strings.Split(q.Get("host"), ","), strings.Split(q.Get("port"), ",")
	for i := range hosts {
		switch {
		case len(ports) == len(hosts) && ports[i] != "":
			hosts[i] += ":" + ports[i]
		case len(ports) == 1 && ports[0] != "":
			hosts[i] += ":" + ports[0]
		}
	}
	return strings.Join(hosts, ",") + u.Path
}
