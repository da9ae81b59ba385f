package calls

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// A Signing selects the credentials in calls to one address.
type Signing struct {
	// Schemes are the document's security schemes that the configuration satisfies. Each has the names of its
	// credentials, as in HTTPRequest.Credentials. A scheme that every request satisfies, for example with a fixed
	// header, has no names. With nil Schemes all calls have all credentials, regardless of the document.
	Schemes map[string][]string
	Unsaid  []string // the credentials of operations whose requirements the document doesn't name, or nil for all
}

// signing returns the Signing for the address to which op is sent.
func (r Rules) signing(op *spec.Operation) Signing {
	if at := r.server(op); at != "" {
		return r.Servers[at]
	}
	return r.Signing
}

// Signs returns the credentials in calls of op. If none of the document's alternatives for op is completely configured,
// lacking has the missing schemes of the nearest one.
func (r Rules) Signs(op *spec.Operation) (credentials []string, lacking []spec.Scheme) {
	s := r.signing(op)
	switch {
	case s.Schemes == nil:
		return nil, nil
	case op.Security == nil:
		return s.Unsaid, nil
	}
	free := len(op.Security) == 0
	for _, alternative := range op.Security {
		if len(alternative) == 0 { // the last choice, because a call with a credential may see more
			free = true
			continue
		}
		var without []spec.Scheme
		names := []string{}
		for _, name := range alternative {
			own, ok := s.Schemes[name]
			if !ok {
				without = append(without, r.Document.Scheme(name))
			}
			for _, n := range own {
				if !slices.Contains(names, n) {
					names = append(names, n)
				}
			}
		}
		if without == nil {
			return names, nil
		}
		if lacking == nil || len(without) < len(lacking) {
			lacking = without
		}
	}
	if free {
		return []string{}, nil
	}
	return nil, lacking
}

// SchemesText names security schemes, for agents and operators.
func SchemesText(all []spec.Scheme) string {
	var out []string
	for _, s := range all {
		out = append(out, problem.Cut(s.String()))
	}
	return strings.Join(out, " and ")
}

// server returns the address in Servers at which op is called, or "" for Base.
func (r Rules) server(op *spec.Operation) string {
	if len(r.Servers) == 0 || r.atBase(op) {
		return ""
	}
	for _, server := range op.Servers {
		for at := range r.Servers {
			if address(r.Base, server) == address(r.Base, at) {
				return at
			}
		}
	}
	return ""
}

// atBase reports whether op is called at Base: the document serves it there or names no server for it.
func (r Rules) atBase(op *spec.Operation) bool {
	if r.Base == "" || len(op.Servers) == 0 {
		return true
	}
	same := func(a string) func(string) bool {
		return func(b string) bool { return address(r.Base, a) == address(r.Base, b) }
	}
	return slices.ContainsFunc(op.Servers, func(server string) bool {
		return same(server)(r.Base) || slices.ContainsFunc(r.Document.Servers, same(server))
	})
}

// Elsewhere returns the address at which the document serves op: a server of its path or of the operation. It returns
// "" if that address is the API's or one of Servers. Then op can be called.
func (r Rules) Elsewhere(op *spec.Operation) string {
	if r.atBase(op) || r.server(op) != "" {
		return ""
	}
	return op.Servers[0]
}

// address returns a server's URL in a comparable form. A URL with only a path has the host of base.
func address(base, server string) string {
	to, err := url.Parse(server)
	if err != nil {
		return server
	}
	if from, err := url.Parse(base); err == nil {
		to = from.ResolveReference(to)
	}
	return strings.ToLower(to.Scheme+"://"+to.Host) + strings.TrimSuffix(to.Path, "/")
}

// refusal returns nil if calls of op can be sent. Otherwise it returns the error for agents.
func (r Rules) refusal(op *spec.Operation) error {
	if at := r.Elsewhere(op); at != "" {
		return &problem.Error{Code: problem.Unsupported, Kind: "other_server", Pointer: "/operationId",
			Detail:     fmt.Sprintf("%s is served at %s, which is not where this API is called", op.ID, problem.Cut(at)),
			Suggestion: "use another operation, or ask whoever runs this gateway to list that server with its credential"}
	}
	if _, lacking := r.Signs(op); lacking != nil {
		return &problem.Error{Code: problem.PermissionDenied, Kind: "no_scheme", Pointer: "/operationId",
			Detail:     fmt.Sprintf("%s requires %s, for which this gateway has no credential", op.ID, SchemesText(lacking)),
			Suggestion: "use another operation, or ask whoever runs this gateway to configure that credential"}
	}
	return nil
}

// uncallable returns the reason why calls of op can't be sent, for lists and details, or "" if they can.
func (r Rules) uncallable(op *spec.Operation) string {
	if err := r.refusal(op); err != nil {
		return problem.Of(err).Detail
	}
	return ""
}

// sign sets the address and the credentials of a request.
func (r Rules) sign(op *spec.Operation, to *HTTPRequest) error {
	if err := r.refusal(op); err != nil {
		return err
	}
	to.Server = r.server(op)
	to.Credentials, _ = r.Signs(op)
	return nil
}
