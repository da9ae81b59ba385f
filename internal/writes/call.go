package writes

import (
	"bytes"
	"context"
	"fmt"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/write"
)

// maxCalls is the maximum number of calls of one change. An executor sends them one after another and waits for each.
const maxCalls = 20

// call applies the rules of an HTTP API to a request. It refuses an approved call if the request that it would send
// now differs from the approved one. A changed API document or parameter rule can cause this.
func (w *writer) call(ctx context.Context, asked *write.Call) (Item, string, error) {
	reach, err := w.policy.APIs().Reach(w.who, asked.Source, w.at+"/source")
	if err != nil {
		return Item{}, "", err
	}
	if len(w.before) >= maxCalls {
		return Item{}, "", &problem.Error{Code: problem.InvalidArgument, Pointer: w.at, Detail: fmt.Sprintf("one change makes at most %d calls", maxCalls), Suggestion: "propose the others as another change. Use after to make it wait"}
	}
	args, err := calls.Arguments(asked.Request)
	if err != nil {
		return Item{}, "", err
	}
	if w.at != "" && w.action != "" && calls.Refers(args) {
		return Item{}, "", &problem.Error{Code: problem.InvalidArgument, Kind: "reference", Pointer: w.at,
			Detail: "the arguments of an action are checked before anything is sent: they can't be taken from an answer", Suggestion: "propose it as a change of its own. Use after to make it wait"}
	}
	request := calls.Request{Operation: asked.Operation, Arguments: args, Writes: true, Chained: w.at != ""}
	for _, item := range w.before {
		request.Earlier = append(request.Earlier, item.Call)
	}
	permit, err := reach.Permit(ctx, w.who, request)
	if err != nil {
		return Item{}, "", w.within(err)
	}
	plan, err := permit.Plan()
	if err != nil {
		return Item{}, "", err
	}
	if plan.Mode == write.Deny {
		return Item{}, "", w.within(&problem.Error{Code: problem.PermissionDenied, Kind: "write_denied", Pointer: "/operationId", Detail: plan.Operation.ID + " can't be called by an agent"})
	}
	exact := calls.Exact(plan.Request)
	if !asked.Sends.IsNull() && !bytes.Equal(write.AppendCanonical(nil, asked.Sends), write.AppendCanonical(nil, exact)) {
		return Item{}, "", &problem.Error{Code: problem.SecurityBlocked, Kind: "sends", Pointer: w.at, Detail: "the request that would be sent is not the approved one"}
	}
	made := &write.Call{Source: reach.Name, Operation: plan.Operation.ID, Request: asked.Request, Sends: exact}
	return Item{Op: write.OpCall, Key: plan.Request.Method + " " + plan.Request.Target(), Write: made, Call: permit, policy: w.policy, who: w.who}, reach.Name, nil
}

// within changes the pointer of an error about a call's arguments so that it starts at the request with all writes.
func (w *writer) within(err error) error {
	if w.at == "" {
		return err
	}
	return problem.Of(err).MapPointers(func(pointer string) string { return w.at + "/call" + pointer })
}
