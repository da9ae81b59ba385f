// Package openapi is the source for HTTP APIs. It sends only requests that policy permits.
//
//	call ─validate, calls→ Permit ─API→ calls.HTTPRequest ─client→ response ─response→ answer
//
// An API has no classes. A write is sent at most once, because an API stores no marker for a change. If the outcome
// of a write is unknown, the error reports this, and the write is never sent again.
//
// The parts of the adapter are the packages in internal/openapi. Packages spec and search present an API. Package
// validate checks arguments, package calls decides about a call and builds its request, package client sends it, and
// package response filters the answer.
package openapi

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/client"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/response"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source"
)

// An API is one configured HTTP API.
type API struct {
	name    string
	sender  *client.Sender
	servers map[string]*client.Sender // by the addresses in calls.Rules.Servers
}

// New returns the API called name. It sends its requests with s.
func New(name string, s *client.Sender) *API { return &API{name: name, sender: s} }

// NewOver returns the API called name. It sends requests to its own address with s, and to other addresses of the
// rules with servers.
func NewOver(name string, s *client.Sender, servers map[string]*client.Sender) *API {
	return &API{name, s, servers}
}

// Use sets the credentials of all further calls: own for the API's address, and servers for other addresses. The
// former credentials remain masked in answers.
func (a *API) Use(own Credential, servers map[string]Credential) {
	a.sender.Use(own)
	for at, s := range a.servers {
		s.Use(servers[at])
	}
}

// Mask adds secrets to be masked in answers.
func (a *API) Mask(secrets ...string) { a.sender.Mask(secrets...) }

// send sends a message to the address of its request.
func (a *API) send(ctx context.Context, m client.Message) (*calls.HTTPResponse, error) {
	s := a.to(m.Request)
	if s == nil {
		return nil, problem.New(problem.Unsupported, "the server of this call isn't configured")
	}
	return s.Send(ctx, m)
}

// to returns the sender for a request, or nil if its server isn't configured.
func (a *API) to(r *calls.HTTPRequest) *client.Sender {
	if r == nil || r.Server == "" {
		return a.sender
	}
	return a.servers[r.Server]
}

// Describe implements source.Source: an API has no classes.
func (a *API) Describe(context.Context) ([]schema.Class, []string, error) { return nil, nil, nil }

// Read implements source.Source. It always fails, because an API has no classes.
func (a *API) Read(context.Context, policy.Permit) (source.Rows, error) {
	return nil, problem.New(problem.Unsupported, a.name+" is an API: it has no classes")
}

// Close implements io.Closer.
func (a *API) Close() error {
	a.sender.Close()
	for _, s := range a.servers {
		s.Close()
	}
	return nil
}

// Whose implements source.Caller. It names each owner once, in the order of the calls.
func (a *API) Whose(permits ...calls.Permit) string {
	var all []string
	for _, p := range permits {
		plan, err := p.Plan()
		if err != nil {
			continue
		}
		s := a.to(plan.Request)
		if s == nil {
			continue
		}
		for _, whose := range s.Whose(plan.Who, plan.Request) {
			if !slices.Contains(all, whose) {
				all = append(all, whose)
			}
		}
	}
	return strings.Join(all, " and ")
}

// Call implements source.Caller. It rejects operations that are not reads.
func (a *API) Call(ctx context.Context, p calls.Permit) (calls.Permit, *calls.HTTPResponse, error) {
	plan, err := p.Plan()
	if err != nil {
		return p, nil, err
	}
	if plan.Class != spec.ClassRead {
		return p, nil, problem.New(problem.PermissionDenied, plan.Operation.ID+" isn't called as a read")
	}
	permits := map[*calls.HTTPRequest]calls.Permit{plan.Request: p}
	redirected := func(path, query string) (*calls.HTTPRequest, error) {
		next, err := p.PermitRedirect(ctx, path, query)
		if err != nil {
			return nil, err
		}
		to, err := next.Plan()
		permits[to.Request] = next
		return to.Request, err
	}
	r, err := a.send(ctx, client.Message{Request: plan.Request, Repeat: true, Who: plan.Who, Redirected: redirected})
	if err != nil {
		return p, nil, err
	}
	return permits[r.Request], r, nil
}

// write sends a call that is not a read, once. Its error wraps change.ErrUnknown if the API may have carried out the
// call. A response without a readable body is still a response, because its status is the outcome of the call.
func (a *API) write(ctx context.Context, plan *calls.Plan, key string) (*calls.HTTPResponse, error) {
	r, err := a.send(ctx, client.Message{Request: plan.Request, Key: key, Who: plan.Who})
	switch {
	case errors.Is(err, client.ErrUnsure):
		return nil, unknownOutcomeError(problem.Of(err).Detail, err)
	case err != nil:
		return nil, err
	}
	if r.Unsure() {
		defer r.Close()
		said := ""
		if _, err := response.Make(plan.View, plan.Operation, r, response.Options{}); problem.Of(err).Reply != nil && problem.Of(err).Reply.Message != "" {
			said = fmt.Sprintf(" (%d: %s)", r.Status, problem.Of(err).Reply.Message)
		}
		return nil, unknownOutcomeError("the API failed after it had the request"+said, nil)
	}
	if r.Status < 300 && response.IsWebPage(plan.Operation, r) {
		r.Close()
		return nil, unknownOutcomeError("the service answered with a web page and not as its document says, and probably wants a sign-in", nil)
	}
	return r, nil
}
