package openapi

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/classify"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/response"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/internal/rules/calls"
	"github.com/bailiwick-dev/bailiwick/internal/rules/writes"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// maxBefore is the maximum size in bytes of the state before a change that is kept.
const maxBefore = 1 << 20

// unknown returns the error for a call whose outcome is unknown.
func unknown(detail string, why error) error {
	return &problem.Error{Code: problem.Upstream, Kind: "unknown_outcome", Detail: detail + ": it may have happened or not", Err: errors.Join(change.ErrUnknown, why)}
}

// Preview implements source.Writer. It reads the current state with the read operation of the same path, if there is
// one, and does not try the calls.
func (a *API) Preview(ctx context.Context, d writes.Draft) (change.Preview, error) {
	plan, err := d.Plan()
	if err != nil {
		return change.Preview{}, err
	}
	list, err := called(&plan)
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
			if about, err := a.read(ctx, call.About); err == nil { // without it people see the path alone
				effect.About = gist(about.whole)
			}
		}
		out.Effects = append(out.Effects, effect)
	}
	return out, nil
}

// called returns the calls of a plan.
func called(plan *writes.Plan) ([]*calls.Plan, error) {
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

// target returns path and query of a call as people read them: what is taken from an earlier answer is written as in the arguments ($1.id).
func target(call *calls.Plan) string {
	out := call.Request.Target()
	for _, r := range call.References {
		out = strings.ReplaceAll(out, url.QueryEscape(r.String()), r.String())
	}
	return out
}

// effect returns the expected effect of a call, without making it, and the masks to restore in its body.
func (a *API) effect(ctx context.Context, call *calls.Plan) (change.Effect, *masks, error) {
	e := change.Effect{Op: write.OpCall, Class: call.API + "." + call.Operation.ID, Key: call.Request.Method + " " + target(call),
		Destroys: call.Class == classify.Destructive, Asked: []string{}}
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
	e.Before, e.After = differs(call, was.whole)
	e.About = gist(was.whole)
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

// gist returns the first short members of an object: enough for people to recognise it by.
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

// differs returns the fields that a call changes, before and after.
func differs(call *calls.Plan, was value.Value) (before, after value.Value) {
	switch body := object(call.Body); {
	case call.Request.Method == "DELETE":
		return was, value.Value{}
	case body.IsNull():
		return value.Value{}, value.Value{}
	case was.IsNull():
		return value.Value{}, body
	case call.Request.Method == "PUT" && !call.Partial:
		return replaced(call, was, body), body
	default:
		return keep(was, body), merge(keep(was, body), body)
	}
}

// A state is the current state of what a call would change: as the caller sees it, as a fully permitted reviewer sees
// it, and raw. Reviewers need to see that a PUT drops fields that the caller doesn't see.
type state struct{ seen, whole, raw value.Value }

// before reads the current state of what a call would change. It is empty if the API has no such read, or if nothing is
// there yet and the call is a PUT that makes it. Else a missing resource is the API's error.
func (a *API) before(ctx context.Context, call *calls.Plan) (state, error) {
	if call.Before == nil {
		return state{}, nil
	}
	is, err := a.read(ctx, call.Before)
	if problem.CodeOf(err) == problem.NotFound && makes(call.Operation) {
		return state{}, nil
	}
	return is, err
}

// makes reports whether op is a PUT that may make what it names, as far as its document tells: it answers with 201, or is called so.
func makes(op *spec.Operation) bool {
	if op.Method != "PUT" {
		return false
	}
	called := strings.ToLower(op.ID + " " + op.Summary)
	return strings.Contains(called, "create") || strings.Contains(called, "upsert") ||
		slices.ContainsFunc(op.Responses, func(r spec.Response) bool { return r.Status == "201" })
}

// read makes a call that reads, and returns the resource that it answers with.
func (a *API) read(ctx context.Context, permit *calls.Permit) (state, error) {
	answered, r, err := a.Call(ctx, *permit)
	if err != nil {
		return state{}, err
	}
	plan, err := answered.Plan()
	if err != nil {
		return state{}, err
	}
	seen, err := response.Make(plan.View, plan.Operation, r, response.Options{Budget: maxBefore})
	if err != nil {
		return state{}, err
	}
	whole, err := response.Make(plan.Whole, plan.Operation, r, response.Options{Budget: maxBefore})
	if err != nil {
		return state{}, err
	}
	raw, err := value.Read(r.Body, 0)
	if err != nil {
		raw = value.Value{} // no masked value can be restored
	}
	return state{object(seen.Body), object(whole.Body), object(raw)}, nil
}

// object returns v as an object; any other value becomes the field "body".
func object(v value.Value) value.Value {
	if v.IsNull() || v.Kind() == value.Object {
		return v
	}
	return value.OfObject([]value.Member{{Name: "body", Value: v}})
}

// replaced returns the fields that a PUT would replace: those that its body can contain. The API maintains the others
// itself.
func replaced(call *calls.Plan, was, body value.Value) value.Value {
	declared := map[string]bool{}
	if content := call.Operation.Body.Preferred(); content != nil {
		for _, f := range call.Whole.Object(call.Whole.Schema(content.Schema)).Fields {
			declared[f.Name] = !call.Whole.Schema(f.Schema).ReadOnly
		}
	}
	var members []value.Member
	for _, m := range was.Members() {
		if _, sent := body.Get(m.Name); sent || declared[m.Name] {
			members = append(members, m)
		}
	}
	return value.OfObject(members)
}

// keep returns the fields of was that are in body.
func keep(was, body value.Value) value.Value {
	var members []value.Member
	for _, m := range was.Members() {
		if _, named := body.Get(m.Name); named {
			members = append(members, m)
		}
	}
	return value.OfObject(members)
}

// merge returns was with patch applied: objects are merged as in RFC 7396, which most APIs follow, except that a null
// is kept.
func merge(was, patch value.Value) value.Value {
	if patch.Kind() != value.Object {
		return patch
	}
	var members []value.Member
	for _, m := range was.Members() {
		if _, named := patch.Get(m.Name); !named {
			members = append(members, m)
		}
	}
	for _, m := range patch.Members() {
		old, _ := was.Get(m.Name)
		members = append(members, value.Member{Name: m.Name, Value: merge(old, m.Value)})
	}
	return value.OfObject(members)
}

// lookTime is the timeout for reading back what became of a call.
const lookTime = 10 * time.Second

// looks is how often it is looked for what a call made, and lookPause the time between the first two looks, which doubles.
const (
	looks     = 5
	lookPause = 250 * time.Millisecond
)

// happened reports whether a call whose outcome is unknown was carried out: whether what it deletes is gone, or has the
// values that it sets and didn't have before. The read operation of the same path says so. Otherwise the outcome stays
// unknown, since the API may still carry the call out.
func (a *API) happened(ctx context.Context, call *calls.Plan, reviewed change.Effect) bool {
	if call.Before == nil || reviewed.Before.IsNull() && !makes(call.Operation) || call.Request.Method == "POST" {
		return false
	}
	looking, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookTime)
	defer cancel()
	is, err := a.before(looking, call)
	if call.Request.Method == "DELETE" {
		return problem.CodeOf(err) == problem.NotFound
	}
	want := reviewed.After.Members()
	return err == nil && !change.Same(keep(reviewed.Before, reviewed.After), reviewed.After) && len(want) > 0 && change.Same(keep(is.whole, reviewed.After), reviewed.After)
}

// errNoLook means that no rule says how to find what a call makes.
var errNoLook = problem.Said("no rule says how to look")

// found returns the records that match what a call makes, as its principal sees them.
func (a *API) found(ctx context.Context, call *calls.Plan) ([]value.Value, error) {
	if call.Back == nil {
		return nil, errNoLook
	}
	answered, r, err := a.Call(ctx, *call.Back)
	if err != nil {
		return nil, err
	}
	plan, err := answered.Plan()
	if err != nil || r.Status == http.StatusNotFound {
		return nil, err
	}
	got, err := response.Make(plan.View, plan.Operation, r, response.Options{Budget: maxBefore})
	if err != nil {
		return nil, err
	}
	return call.Look.Found(got.Body), nil
}

// made returns what a call made whose outcome is unknown: the record that matches it now, where had records matched before
// it was sent, one less. The API may still be at it, so it is asked more than once.
func (a *API) made(ctx context.Context, call *calls.Plan, had int) (value.Value, bool) {
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
		found, err := a.found(looking, call)
		switch {
		case err == nil && len(found) == had+1 && had == 0:
			return unmasked(object(found[0])), true
		case err == nil && len(found) == had+1:
			return value.Value{}, true // which of them isn't known
		}
	}
	return value.Value{}, false
}

// Bar implements source.Writer. An API stores no marker that could bar a change; a pending send is instead prevented by
// the state of the change, which it has to advance first.
func (a *API) Bar(context.Context, string, int64) (change.Receipt, bool, error) {
	return change.Receipt{}, false, nil
}
