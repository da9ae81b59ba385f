package bailiwick

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/response"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/validate"
	"github.com/bailiwick-dev/bailiwick/internal/result"
	"github.com/bailiwick-dev/bailiwick/internal/trace"
	"github.com/bailiwick-dev/bailiwick/limit"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/value"
)

// APIArguments are the arguments of a call of an HTTP API. Path, Query, Headers and Cookies are Objects by parameter
// name, or Null. HasBody distinguishes a null Body from no body. Media is the media type of the body. If it is "", the
// operation's preferred type is used. Later and Texts are only for calls that depend on the answers of other calls.
// Leave them nil.
type APIArguments = validate.Arguments

// An APIRead is a call of an API operation that only reads.
type APIRead struct {
	API       string // "" for the only one
	Operation string // its id in the document, or its method and path: "GET /pets/{id}"
	Arguments APIArguments
	Fields    []string // the wanted parts of the response, as dotted paths, or nil for all

	Where query.Filter // selects items of the response's list. Nil keeps all
	At    string       // the part of the response that is wanted, as its notes name it, or "" for all
	From  int          // the first wanted item of the list, or character of the text. 0 and 1 both mean the first
}

// APIs returns the part of each HTTP API that p sees under the rules in force, ordered by name.
func (g *Gateway) APIs(p identity.Principal) []*calls.Reach {
	return g.force.Load().policy.APIs().All(p)
}

// APIs returns the part of each HTTP API that the caller sees, ordered by name.
func (c *Call) APIs() []*calls.Reach { return c.policy.APIs().All(c.who) }

// API returns the part of the named API that the caller sees. "" means the only one. The JSON pointer in its errors is
// /source.
func (c *Call) API(name string) (*calls.Reach, error) {
	return c.policy.APIs().Reach(c.who, name, "/source")
}

// CallAPI calls an operation that only reads. It returns the part of the response that the caller may see, cut to the
// byte budget.
func (c *Call) CallAPI(ctx context.Context, r APIRead) (*response.Answer, error) {
	c.recordClass(r.API + "." + r.Operation)
	_, deciding := trace.Start(ctx, "policy")
	permit, plan, err := c.permitAPIRead(ctx, r)
	trace.End(deciding, err)
	if err != nil {
		return nil, err
	}
	c.from = plan.API + "." + plan.Operation.ID
	c.recordClass(c.from)
	caller, ok := c.gateway.options.Sources[plan.API].(source.Caller)
	if !ok {
		return nil, problem.New(problem.Internal, fmt.Sprintf("the source %s can't be called", plan.API))
	}
	c.record.Credential = caller.Whose(permit)
	answered, res, err := caller.Call(ctx, permit)
	if err != nil {
		return nil, err
	}
	defer res.Close()
	c.record.Credential = caller.Whose(permit, answered) // a redirected call may have sent other credentials
	to, err := answered.Plan()
	if err != nil {
		return nil, err
	}
	got, err := traceShape(ctx, func() (*response.Answer, error) {
		return response.Make(to.View, to.Operation, res, response.Options{Arguments: to.Arguments, Fields: r.Fields, Budget: c.gateway.options.Budget,
			Context: ctx, Where: r.Where, At: r.At, From: r.From})
	})
	if err == nil {
		c.record.Rows += got.Shown
		if to.Operation != plan.Operation {
			got.Notes = append(got.Notes, fmt.Sprintf("the API redirected the call to %s, whose answer this is", to.Operation.ID))
		}
	}
	return got, err
}

// Cursors returns the sealer of values that the caller sends back later: positions, and names of calls.
func (c *Call) Cursors() *result.Sealer { return c.gateway.cursors }

// permitAPIRead checks a call of an API against the policy, and returns its permit and its plan.
func (c *Call) permitAPIRead(ctx context.Context, r APIRead) (calls.Permit, calls.Plan, error) {
	reach, err := c.API(r.API)
	if err != nil {
		return calls.Permit{}, calls.Plan{}, err
	}
	permit, err := reach.Permit(ctx, c.who, calls.Request{Operation: r.Operation, Arguments: r.Arguments})
	if err != nil {
		return permit, calls.Plan{}, err
	}
	plan, err := permit.Plan()
	return permit, plan, err
}

// Objects finds descriptions in a place and passes them to visit, from index skip on, until visit returns false. It
// visits the requested names once each and in their order, or all objects by name. Objects that the caller may not see
// appear as missing.
func (c *Call) Objects(ctx context.Context, at source.Place, skip int, visit func(Object) bool) (Objects, error) {
	seer := objectSeer{Policy: c.policy, Who: c.who, Sources: c.gateway.options.Sources, Now: c.gateway.options.Now}
	found, err := seer.Find(ctx, at, skip, func(o Object) bool {
		more := visit(o)
		if more && !o.Unknown {
			c.record.Rows++
		}
		return more
	})
	if found.Source == "" {
		return found, err
	}
	c.recordClass(found.Source)
	if names := at.Objects; len(names) > 0 && !slices.ContainsFunc(names, func(n string) bool { return n != names[0] }) {
		c.recordClass(found.Source + "." + names[0])
	}
	if found.Cached {
		c.from = found.Source
	}
	return found, err
}

// Budget returns the maximum bytes of read data in an answer.
func (c *Call) Budget() int { return cmp.Or(c.gateway.options.Budget, result.DefaultBudget) }

// An aside is the state that a Call keeps for the calls that are made inside of it.
type aside struct {
	ask CallSpec

	mu      sync.Mutex
	release func(limit.Use) // gives back the Call's place among the running calls, or nil before it has one
	bytes   int             // size of the answers of calls made inside, which their own records count
}

// yield gives the Call's place to the calls inside of it, because there may be no other free place. The Call itself
// then uses nothing.
func (a *aside) yield() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.release != nil {
		a.release(limit.Use{})
	}
}

// own returns the size of an answer without the answers of calls inside.
func (a *aside) own(bytes int) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return max(bytes-a.bytes, 0)
}

// Alone makes a call of the same tool inside of this one, as if the caller had made it separately. It runs under the
// same version of the rules. It has its own check of scopes and arguments, its own place in limits and budgets, and its
// own record. The function run answers the call with its checked arguments and returns the size of the answer in bytes.
// Several calls may run at the same time.
func (c *Call) Alone(ctx context.Context, args value.Value, run func(context.Context, *Call, value.Value) (int, error)) error {
	if c.inside == nil || c.inside.ask.Take == nil {
		return problem.New(problem.Internal, "the call has no tool that could be called inside of it")
	}
	c.inside.yield()
	ask := c.inside.ask
	ask.Arguments, ask.Progress = args, nil
	return c.gateway.Do(ctx, c.who, ask, func(ctx context.Context, one *Call) (int, error) {
		args, err := ask.Take(one, args)
		if err != nil {
			return 0, err
		}
		n, err := run(ctx, one, args)
		c.inside.mu.Lock()
		c.inside.bytes += n
		c.inside.mu.Unlock()
		return n, err
	})
}
