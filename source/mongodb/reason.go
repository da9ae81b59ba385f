package mongodb

import (
	"crypto/x509"
	"errors"
	"net"
	"slices"
	"strings"
	"syscall"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/topology"

	"github.com/bailiwick-dev/bailiwick/problem"
)

// selection returns the reasons why the servers of a URL can't be used, if err means that no server can be selected.
// It returns "" for other errors.
func selection(err error) string {
	none, ok := errors.AsType[topology.ServerSelectionError](err)
	if !ok {
		return ""
	}
	var out []string
	for _, s := range none.Desc.Servers {
		out = append(out, s.Addr.String()+" "+reason(s.LastError))
	}
	return problem.Sentences(out...)
}

// reason returns the reason why a connection failed, without the server's messages.
func reason(err error) string {
	if err == nil {
		return "no answer in time"
	}
	if e, ok := errors.AsType[syscall.Errno](err); ok {
		return e.Error()
	}
	if e, ok := errors.AsType[*net.DNSError](err); ok {
		return e.Err
	}
	if e, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return e.Error()
	}
	if e, ok := errors.AsType[x509.CertificateInvalidError](err); ok {
		return e.Error()
	}
	if e, ok := errors.AsType[x509.HostnameError](err); ok {
		return e.Error()
	}
	if strings.Contains(err.Error(), "auth error") {
		return "the server refuses the account"
	}
	if e, ok := errors.AsType[net.Error](err); ok && e.Timeout() {
		return "no answer in time"
	}
	return "the connection failed"
}

// passing are the codes of a server that is starting, stopping or handing over its role.
var passing = []int32{6, 7, 50, 89, 91, 189, 262, 9001, 10107, 11600, 11602, 13388, 13435, 13436}

// lasting reports whether err is an error of one collection that a retry doesn't fix: a missing right, or a view that
// can't be read.
func lasting(err error) bool {
	command, ok := errors.AsType[mongo.CommandError](err)
	return ok && !slices.Contains(passing, command.Code)
}
