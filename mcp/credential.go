package mcp

import (
	"cmp"
	"fmt"
	"math"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/authserver"
	"github.com/bailiwick-dev/bailiwick/internal/edge"
	"github.com/bailiwick-dev/bailiwick/internal/wire"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// identify authenticates a request. It uses only the credential in the request and no state of earlier requests.
func (s *Server) identify(r *http.Request) (identity.Principal, *wire.RPCFault) {
	credential, f := credentialOf(r.Header)
	if f != nil {
		return identity.Principal{}, f
	}
	remote := remoteOf(r)
	var principal identity.Principal
	var err error
	switch {
	case s.options.Authenticate != nil:
		principal, err = s.options.Authenticate(r)
	case credential == "" && s.options.Anonymous != nil && remote.IsLoopback() && !forwarded(r.Header):
		principal = *s.options.Anonymous
	case credential == "" || s.options.Tokens == nil:
		err = problem.New(problem.Unauthorized, "no valid credential")
	default:
		principal, err = s.options.Tokens.Authenticate(r.Context(), credential, remote)
	}
	switch {
	case err == nil && principal.ID != "":
		edge.RefusedBy(r.Context(), principal.ID)
		return principal, nil
	case err == nil || problem.CodeOf(err) == problem.Unauthorized:
		if p := problem.Of(err); p != nil { // the reason is for operators and is never sent to the client
			edge.RefusedBecause(r.Context(), cmp.Or(p.Kind, "no_credential"), "")
			s.log.DebugContext(r.Context(), "credential refused", "kind", p.Kind, "remote", remote, "error", p.Err)
		}
		return identity.Principal{}, s.unauthorizedFault(r)
	}
	s.log.ErrorContext(r.Context(), "authentication failed", "error", cause(err))
	if p := problem.Of(err); p.Store {
		return identity.Principal{}, storeFault(p)
	}
	return identity.Principal{}, wire.Internal()
}

// storeFault returns the fault for a request that can't be answered because the gateway's store failed with p.
func storeFault(p *problem.Error) *wire.RPCFault {
	seconds := int(math.Ceil(p.RetryAfter.Seconds()))
	return &wire.RPCFault{
		Status: http.StatusServiceUnavailable, Code: wire.CodeBusy, Message: fmt.Sprintf("The gateway can't reach its records now. Try again in %d seconds", seconds),
		Data:   fmt.Appendf(nil, `{"error_code":"upstream_error","retryable":true,"retry_after":%d}`, seconds),
		Header: [2]string{"Retry-After", strconv.Itoa(seconds)},
	}
}

// Identify authenticates a request to another endpoint of the same program. It accepts the same hosts, origins and
// credentials as /mcp. Errors are problem.Errors: SecurityBlocked for a host or origin, InvalidArgument for two
// credentials, Unauthorized, the error of a failed store, or Internal. It logs internal errors and failures of the
// store.
func (s *Server) Identify(r *http.Request) (identity.Principal, error) {
	f := s.fromElsewhere(r)
	if f == nil {
		var p identity.Principal
		if p, f = s.identify(r); f == nil {
			return p, nil
		}
	}
	switch f.Status {
	case http.StatusForbidden:
		return identity.Principal{}, problem.New(problem.SecurityBlocked, f.Message)
	case http.StatusUnauthorized:
		return identity.Principal{}, problem.New(problem.Unauthorized, f.Message)
	case http.StatusServiceUnavailable:
		return identity.Principal{}, problem.StoreError("token_store", nil)
	case http.StatusInternalServerError:
		return identity.Principal{}, problem.New(problem.Internal, f.Message)
	}
	return identity.Principal{}, problem.New(problem.InvalidArgument, f.Message)
}

// Allow refuses a request to another endpoint of the same program if /mcp would refuse its Host header. If the
// endpoint's pages send no Origin, the endpoint itself must protect against requests from other sites.
func (s *Server) Allow(r *http.Request) error {
	if !s.allowsHost(r) {
		s.strange(r, strangeHost, "host", r.Host)
		return problem.New(problem.SecurityBlocked, "Forbidden: Host")
	}
	return nil
}

// Challenge returns the WWW-Authenticate header of a 401.
func (s *Server) Challenge() string { return s.challengeWith(s.options.ResourceMetadata) }

// challengeWith returns the challenge of the options, or else one of Bearer with the address of the metadata.
func (s *Server) challengeWith(metadata string) string {
	return cmp.Or(s.options.Challenge, authserver.Challenge(metadata))
}

// unauthorizedFault returns the fault for an invalid credential. It is the same for every reason, so that it reveals
// nothing about tokens.
func (s *Server) unauthorizedFault(r *http.Request) *wire.RPCFault {
	return &wire.RPCFault{
		Status: http.StatusUnauthorized, Code: wire.CodeUnauthorized, Message: "Unauthorized",
		Header: [2]string{"WWW-Authenticate", s.challengeWith(s.metadata(r))},
	}
}

// metadata returns the URL of the RFC 9728 metadata under which the client reaches the server, or "".
func (s *Server) metadata(r *http.Request) string {
	if s.options.ResourceMetadata == "" && s.options.Resource != nil {
		return s.options.Resource.For(r).Address()
	}
	return s.options.ResourceMetadata
}

// credentialOf returns the credential in h, or "". It refuses two credentials, because two programs might use
// different ones.
func credentialOf(h http.Header) (string, *wire.RPCFault) {
	authorization, keys := h.Values("Authorization"), h.Values("X-Mcp-Api-Key")
	if len(authorization)+len(keys) > 1 {
		return "", wire.Invalid("Invalid Request: more than one credential")
	}
	if len(keys) == 1 {
		return keys[0], nil
	}
	if len(authorization) == 0 {
		return "", nil
	}
	scheme, token, _ := strings.Cut(authorization[0], " ")
	if token = strings.TrimSpace(token); !strings.EqualFold(scheme, "Bearer") || token == "" {
		// Treat another scheme as a credential that matches no token.
		return authorization[0], nil
	}
	return token, nil
}

// forwarded reports whether h has a header with which a proxy passes on a request. The peer of such a request is the proxy,
// so its address doesn't say that the caller is on this machine. The values are not trusted, so they don't matter.
func forwarded(h http.Header) bool {
	for name := range h {
		if strings.HasPrefix(name, "X-Forwarded") || slices.Contains([]string{"Forwarded", "Via", "X-Real-Ip", "X-Client-Ip", "True-Client-Ip", "Cf-Connecting-Ip"}, name) {
			return true
		}
	}
	return false
}

// remoteOf returns the peer address of the connection. Forwarding headers are not trusted.
func remoteOf(r *http.Request) netip.Addr {
	if a, err := netip.ParseAddrPort(r.RemoteAddr); err == nil {
		return a.Addr().Unmap()
	}
	return netip.Addr{}
}

// fromElsewhere refuses requests from browser pages of other sites. Such a page can reach a server on this machine.
// By DNS rebinding it can even do so under its own name. A request without Origin does not come from a browser.
func (s *Server) fromElsewhere(r *http.Request) *wire.RPCFault {
	if !s.allowsHost(r) {
		s.strange(r, strangeHost, "host", r.Host)
		return forbidden("Forbidden: Host")
	}
	return s.foreignOrigin(r)
}

// foreignOrigin refuses requests whose Origin names another site. Unlike fromElsewhere it accepts any Host, because
// probes use addresses.
func (s *Server) foreignOrigin(r *http.Request) *wire.RPCFault {
	origins := r.Header.Values("Origin")
	if len(origins) == 0 {
		return nil
	}
	origin := origins[0]
	if len(origins) == 1 && origin != "null" {
		_, host, ok := strings.Cut(origin, "://")
		if ok && strings.EqualFold(host, r.Host) || slices.Contains(s.options.AllowedOrigins, origin) {
			return nil
		}
	}
	s.strange(r, "a request is refused because it comes from a page of another site. Sites that may call are listed in server.origins", "origin", origin)
	return forbidden("Forbidden: Origin")
}

const strangeHost = "a request is refused because its Host header names another server. Names of this one are listed in server.hosts"

// strange logs a refused Host or Origin header at most once a minute. A server behind an unconfigured proxy refuses
// everything, and its operator needs to know the reason.
func (s *Server) strange(r *http.Request, message, header, value string) {
	now, last := time.Now().Unix(), s.strangeAt.Load()
	if now-last >= 60 && s.strangeAt.CompareAndSwap(last, now) {
		s.log.WarnContext(r.Context(), message, header, problem.Cut(value))
	}
}

func forbidden(message string) *wire.RPCFault {
	f := wire.Invalid(message)
	f.Status = http.StatusForbidden
	return f
}

// allowsHost reports whether the Host header is allowed for the local address of the request.
func (s *Server) allowsHost(r *http.Request) bool {
	host := strings.ToLower(r.Host)
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	if s.options.AllowedHosts != nil {
		return slices.Contains(s.options.AllowedHosts, name) || slices.Contains(s.options.AllowedHosts, host)
	}
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return true // there is no network connection, so the client is not a browser
	}
	at, err := netip.ParseAddrPort(local.String())
	if err != nil || !at.Addr().Unmap().IsLoopback() {
		return true
	}
	name = strings.Trim(name, "[]")
	ip, err := netip.ParseAddr(name)
	return name == "localhost" || err == nil && ip.IsLoopback()
}
