package bailiwick

import (
	"context"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/rules/derivation"
)

// A Sub is a sub-principal of a call's principal, for calls inside that call. It is valid as long as the call is.
type Sub struct {
	call *Call
	who  identity.Principal
}

// Derive makes a sub-principal of the caller, which sees and does at most what the caller does; see identity.Derive.
// Names in d must exist: a class that the caller doesn't see, or a field of a filter, is refused as if it did not
// exist.
func (c *Call) Derive(d identity.Derivation) (*Sub, error) {
	d.Depth = c.gateway.options.Depth
	p, err := identity.Derive(c.who, d)
	if err != nil {
		return nil, err
	}
	var tools []string
	if c.tools != nil {
		tools = c.tools()
	}
	if err := derivation.Check(derivation.Parent{Policy: c.policy, Who: c.who, Tools: tools}, d); err != nil {
		return nil, err
	}
	return &Sub{c, p}, nil
}

// Who returns the sub-principal, to pass to tool.Set.Call and the like.
func (s *Sub) Who() identity.Principal { return s.who }

// Do is Gateway.Do for the sub-principal, with the call's correlation ID.
func (s *Sub) Do(ctx context.Context, ask CallSpec, run func(context.Context, *Call) (int, error)) error {
	ask.Correlation = s.call.record.Correlation
	return s.call.gateway.Do(ctx, s.who, ask, run)
}

// Correlation returns the ID that ties the record of this call to those of the calls inside it.
func (c *Call) Correlation() string { return c.record.Correlation }
