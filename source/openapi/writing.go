package openapi

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/response"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/internal/writes"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// maxBefore is the maximum size in bytes of the stored state before a change.
const maxBefore = 1 << 20

// unknownOutcomeError returns the error for a call whose outcome is unknown.
func unknownOutcomeError(detail string, why error) error {
	return &problem.Error{Code: problem.Upstream, Kind: "unknown_outcome", Detail: detail + ": it may have happened or not", Err: errors.Join(change.ErrUnknown, why)}
}

// Preview implements source.Writer. It reads the current state with the read operation of the same path, if there is
// one. It doesn't send the calls.
func (a *API) Preview(ctx context.Context, d writes.Draft) (change.Preview, error) {
	plan, err := d.Plan()
	if err != nil {
		return change.Preview{}, err
	}
	list, err := planCalls(&plan)
	if err != nil {
		return change.Preview{}, err
	}
	out := change.Preview{Kind: change.Computed}
	for _, call := range list {
		effect, _, err := a.effect(ctx, call)
		if err != nil {
			return change.Preview{}, err
		}
		if call.About != nil {
			if about, _, err := a.read(ctx, call.About, false); err == nil { // without it, people see only the path
				effect.About = gist(object(about.whole))
			}
		}
		out.Effects = append(out.Effects, effect)
	}
	return out, nil
}

// planCalls returns the calls of a plan.
func planCalls(plan *writes.Plan) ([]*calls.Plan, error) {
	var list []*calls.Plan
	for _, item := range plan.Items {
		if item.Op != write.OpCall {
			return nil, problem.New(problem.Unsupported, "an API takes calls, and nothing else")
		}
		call, err := item.Call.Plan()
		if err != nil {
			return nil, err
		}
		list = append(list, &call)
	}
	if len(list) == 0 {
		return nil, problem.New(problem.Internal, "an API was asked for no call")
	}
	return list, nil
}

// target returns the path and query of a call as people read them. Values from an earlier answer have the form of the
// arguments ($1.id). If the call is sent to another server than the API's default server, the result begins with the
// address of that server.
func target(call *calls.Plan) string {
	out := call.Request.Server + call.Request.Target()
	for _, r := range call.References {
		out = strings.ReplaceAll(out, url.QueryEscape(r.String()), r.String())
	}
	return out
}

// effect returns the expected effect of a call without making it, and the masks to restore in the call's body.
func (a *API) effect(ctx context.Context, call *calls.Plan) (change.Effect, *masks, error) {
	e := change.Effect{Op: write.OpCall, Class: call.API + "." + call.Operation.ID, Key: call.Request.Method + " " + target(call),
		Destroys: call.Class == spec.ClassDestructive, Asked: []string{}}
	for _, r := range call.References {
		e.Takes = append(e.Takes, change.Taken{At: r.At, Call: r.Call, Path: strings.Join(r.Path, ".")})
	}
	was, err := a.before(ctx, call)
	if err != nil {
		return e, nil, err
	}
	m := &masks{was: was.seen, is: was.raw}
	if m.restore(call.Body); m.err != nil {
		return e, nil, m.err
	}
	e.Before, e.After, e.Read, e.Present = was.before, was.after, was.read, was.present
	e.NotKnown, e.Listed = was.gaps, was.listed
	e.About = gist(was.record)
	for _, m := range e.After.Members() {
		e.Asked = append(e.Asked, m.Name)
	}
	for _, m := range e.Before.Members() {
		if _, stays := e.After.Get(m.Name); !stays && !e.After.IsNull() {
			e.Asked = append(e.Asked, m.Name) // removed fields are part of the request too
		}
	}
	return e, m, nil
}

// gist returns the first short members of an object, so that people can recognise the object.
func gist(v value.Value) value.Value {
	const most, longest = 20, 200
	var members []value.Member
	for _, m := range v.Members() {
		if k := m.Value.Kind(); k != value.Object && k != value.Array && k != value.Null && len(m.Value.String()) <= longest && len(members) < most {
			members = append(members, m)
		}
	}
	if members == nil {
		return value.Value{}
	}
	return value.OfObject(members)
}

// lookTime is the time limit for reading back the outcome of a call.
const lookTime = 10 * time.Second

// looks is how often a created object is searched for. lookPause is the pause after the first search, and doubles
// each time.
const (
	looks     = 5
	lookPause = 250 * time.Millisecond
)

// hasHappened reports whether a call with an unknown outcome was carried out, using the read operation of the same
// path. It was carried out if the deleted record no longer exists. It was also carried out if the record now has the
// values that the call sets, and didn't have them before. Otherwise the outcome stays unknown, since the API may
// still carry out the call.
func (a *API) hasHappened(ctx context.Context, call *calls.Plan, reviewed change.Effect) bool {
	if call.Before == nil || reviewed.Present != "" || reviewed.Before.IsNull() && !makes(call.Operation) || call.Request.Method == "POST" {
		return false
	}
	looking, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookTime)
	defer cancel()
	is, err := a.before(looking, call)
	if call.Request.Method == "DELETE" {
		return problem.CodeOf(err) == problem.NotFound
	}
	want := reviewed.After.Members()
	return err == nil && is.present == "" && !change.Same(keep(reviewed.Before, reviewed.After), reviewed.After) && len(want) > 0 && change.Same(keep(is.whole, reviewed.After), reviewed.After)
}

// errNoLook means that no rule describes how to find the object that a call creates.
var errNoLook = problem.LoggableError("no rule says how to look")

// matchingRecords returns the records that match the object that a call creates, as its principal sees them.
func (a *API) matchingRecords(ctx context.Context, call *calls.Plan) ([]value.Value, error) {
	if call.Back == nil {
		return nil, errNoLook
	}
	answered, r, err := a.Call(ctx, *call.Back)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	plan, err := answered.Plan()
	if err != nil || r.Status == http.StatusNotFound {
		return nil, err
	}
	got, err := response.Make(plan.View, plan.Operation, r, response.Options{Budget: maxBefore})
	if err != nil {
		return nil, err
	}
	return call.Look.MatchingRecords(got.Body), nil
}

// findNewRecord finds the record that a call with an unknown outcome has created. had is the number of records that
// matched before the call. If one more matches now, the call has created it. The API may still be running the call,
// so it searches several times.
func (a *API) findNewRecord(ctx context.Context, call *calls.Plan, had int) (value.Value, bool) {
	if had < 0 || call.Back == nil {
		return value.Value{}, false
	}
	looking, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookTime)
	defer cancel()
	for n := range looks {
		if n > 0 {
			select {
			case <-time.After(lookPause << (n - 1)):
			case <-looking.Done():
				return value.Value{}, false
			}
		}
		found, err := a.matchingRecords(looking, call)
		switch {
		case err == nil && len(found) == had+1 && had == 0:
			return withoutMaskedTexts(object(found[0])), true
		case err == nil && len(found) == had+1:
			return value.Value{}, true // it is unknown which of them is new
		}
	}
	return value.Value{}, false
}

// Bar implements source.Writer. It does nothing, because an API stores no marker that could bar a change. Before each
// send, the state of the change must advance, which prevents a pending send.
func (a *API) Bar(context.Context, string, int64) (change.Receipt, bool, error) {
	return change.Receipt{}, false, nil
}
