package writes

import (
	"bytes"

	"github.com/bailiwick-dev/bailiwick/internal/rules/calls"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/write"
)

// call applies the rules of an HTTP API to a request for it. It refuses an approved call if the request it would send
// now is not the one approved, as after a change of the document or of a parameter rule.
func (w *writer) call(asked *write.Call) (Item, string, error) {
	reach, err := w.policy.APIs().Reach(w.who, asked.Source, w.at+"/source")
	if err != nil {
		return Item{}, "", err
	}
	args, err := calls.Arguments(asked.Request)
	if err != nil {
		return Item{}, "", err
	}
	permit, err := reach.Permit(w.who, calls.Request{Operation: asked.Operation, Arguments: args, Writes: true})
	if err != nil {
		return Item{}, "", err
	}
	plan, err := permit.Plan()
	if err != nil {
		return Item{}, "", err
	}
	if plan.Mode == write.Deny {
		return Item{}, "", &problem.Error{Code: problem.PermissionDenied, Kind: "write_denied", Pointer: w.at + "/operationId", Detail: plan.Operation.ID + " can't be called by an agent"}
	}
	exact := calls.Exact(plan.Request)
	if !asked.Sends.IsNull() && !bytes.Equal(write.AppendCanonical(nil, asked.Sends), write.AppendCanonical(nil, exact)) {
		return Item{}, "", &problem.Error{Code: problem.SecurityBlocked, Kind: "sends", Pointer: w.at, Detail: "what would be sent is not what was approved"}
	}
	made := &write.Call{Source: reach.Name, Operation: plan.Operation.ID, Request: asked.Request, Sends: exact}
	return Item{Op: write.OpCall, Key: plan.Request.Method + " " + plan.Request.Target(), Write: made, Call: permit, policy: w.policy, who: w.who}, reach.Name, nil
}
