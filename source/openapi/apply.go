package openapi

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/response"
	"github.com/bailiwick-dev/bailiwick/internal/writes"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// Apply implements source.Writer. It compares the current state with the reviewed state directly before it sends the
// first call. It can't detect a change between the comparison and the call. Only an API with conditional requests
// could detect it. Several calls are sent in order, each at most once, until one fails. The error is then a
// change.Partly.
func (a *API) Apply(ctx context.Context, p writes.Permit) (change.Receipt, error) {
	plan, err := p.Plan()
	if err != nil {
		return change.Receipt{}, err
	}
	list, err := planCalls(&plan)
	if err != nil {
		return change.Receipt{}, err
	}
	if len(list) > 1 && plan.Reached == nil {
		return change.Receipt{}, problem.New(problem.Internal, "several calls are made only where each is recorded before the next one")
	}
	s := sending{api: a, plan: &plan}
	if err := s.look(ctx, list); err != nil {
		return change.Receipt{}, err
	}
	for i := range list {
		if i > 0 || slices.ContainsFunc(s.had, func(n int) bool { return n >= 0 }) && plan.Reached != nil {
			if err := plan.Reached(ctx, s.done, s.had); err != nil {
				return change.Receipt{}, errors.Join(change.ErrFenced, err)
			}
		}
		err := s.call(ctx, i)
		switch {
		case err != nil && len(list) > 1 && (i > 0 || errors.Is(err, change.ErrUnknown)):
			return change.Receipt{}, &change.Partly{Done: s.done, Of: len(list), Err: err}
		case err != nil:
			return change.Receipt{}, err
		}
	}
	return s.done, nil
}

// A sending makes the calls of one change, in order.
type sending struct {
	api     *API
	plan    *writes.Plan
	now     []change.Effect
	masks   []*masks
	had     []int          // for each call, how many records already matched the new record, or -1 without a rule
	done    change.Receipt // the receipt of the calls made so far
	answers []value.Value  // the answers of these calls as the principal sees them, without masked values, or Null
}

// look compares the current state with the reviewed state, for all calls before the first is sent.
func (s *sending) look(ctx context.Context, list []*calls.Plan) error {
	moved := false
	for i, call := range list {
		now, masked, err := s.api.effect(ctx, call)
		if err != nil {
			return err
		}
		was := s.plan.Items[i].Reviewed
		different := was.Difference(now, nil)
		if different != "" {
			if again, _, err := s.api.effect(ctx, call); err == nil {
				different = was.Difference(now, &again)
			}
		}
		moved = moved || different != ""
		s.now, s.masks = append(s.now, now), append(s.masks, masked)
		had := -1
		if found, err := s.api.matchingRecords(ctx, call); err == nil {
			had = len(found)
		}
		s.had = append(s.had, had)
	}
	if moved {
		return &change.Moved{Now: s.now}
	}
	return nil
}

// call makes the i-th call. Its error wraps change.ErrUnknown if the API may have carried out the call. After any
// other error it was not carried out.
func (s *sending) call(ctx context.Context, i int) error {
	permit, err := s.plan.Items[i].Call.WithAnswers(ctx, s.answers)
	if err != nil {
		return err
	}
	call, err := permit.Plan()
	if err != nil {
		return err
	}
	if err := s.masks[i].put(&call); err != nil {
		return err
	}
	// The idempotency key is the id of the change, with a number for later calls. It is the same in each attempt.
	key := s.plan.Change
	if i > 0 {
		key = fmt.Sprintf("%s-%d", key, i+1)
	}
	// If no answer comes, the object that the call changes or creates shows whether the call was carried out.
	r, err := s.api.write(ctx, &call, key)
	if errors.Is(err, change.ErrUnknown) && s.settleCall(ctx, &call, s.now[i], s.had[i]) {
		return nil
	}
	if err != nil {
		return err
	}
	defer r.Close()
	if r.Unread != "" && r.Status < 300 {
		s.unread(r)
		return nil
	}
	got, err := response.Make(call.View, call.Operation, r, response.Options{Budget: maxBefore})
	switch {
	case err != nil && r.Status < 300:
		s.recordResult("", value.Value{}) // it was carried out, even if the response can't be read
		return nil
	case err != nil:
		return err
	case r.Status >= 300:
		return problem.New(problem.Upstream, fmt.Sprintf("the API answered %d: it wants the call elsewhere", r.Status))
	}
	if err := response.CheckRefusal(call.View, call.Operation, r, call.Body); err != nil {
		return err
	}
	answer := value.Value{}
	if got.HasBody {
		answer = object(got.Body)
	}
	s.recordResult(response.Location(r.Header), answer)
	return nil
}

// Settle implements source.Settler. It reads the outcome of the call that was being sent. Later calls were not sent.
func (a *API) Settle(ctx context.Context, p writes.Permit, left change.Lease) (change.Receipt, error) {
	plan, err := p.Plan()
	if err != nil {
		return change.Receipt{}, err
	}
	s := sending{api: a, plan: &plan}
	if left.Done != nil {
		s.done = *left.Done
	}
	for _, answer := range s.done.After {
		s.answers = append(s.answers, withoutMaskedTexts(answer))
	}
	i := int(s.done.Rows)
	if i >= len(plan.Items) || plan.Items[i].Op != write.OpCall {
		return change.Receipt{}, problem.New(problem.Internal, "the change has no such call")
	}
	permit, err := plan.Items[i].Call.WithAnswers(ctx, s.answers)
	if err != nil {
		return change.Receipt{}, err
	}
	call, err := permit.Plan()
	if err != nil {
		return change.Receipt{}, err
	}
	reviewed, had := plan.Items[i].Reviewed, -1
	reviewed.After = expectedAfter(&call, reviewed)
	if i < len(left.Had) {
		had = left.Had[i]
	}
	switch {
	case !s.settleCall(ctx, &call, reviewed, had):
		return change.Receipt{}, unknownOutcomeError("its executor left", nil)
	case i+1 < len(plan.Items):
		return change.Receipt{}, &change.Partly{Done: s.done, Of: len(plan.Items), Left: true, Err: problem.New(problem.Conflict, "its executor left")}
	}
	return s.done, nil
}

// expectedAfter returns the expected state of the reviewed object after a call whose arguments are now known.
func expectedAfter(call *calls.Plan, reviewed change.Effect) value.Value {
	switch body := object(call.Body); {
	case call.Request.Method == "DELETE":
		return value.Value{}
	case patches(call):
		return reviewed.After
	case reviewed.Before.IsNull() || call.Request.Method == "PUT" && !call.Partial:
		return body
	default:
		return merge(keep(reviewed.Before, body), body)
	}
}

// settleCall reports whether a call with an unknown outcome was carried out. If so, it records the result.
func (s *sending) settleCall(ctx context.Context, call *calls.Plan, reviewed change.Effect, had int) bool {
	if s.api.hasHappened(ctx, call, reviewed) {
		s.recordResult("", value.Value{})
		return true
	}
	made, ok := s.api.findNewRecord(ctx, call, had)
	if ok {
		s.recordResult("", made)
	}
	return ok
}

// unread records that a call was carried out, but its answer was not read.
func (s *sending) unread(r *calls.HTTPResponse) {
	s.recordResult(response.Location(r.Header), value.Value{})
	said := fmt.Sprintf("the API answered with status %d. Its answer was not read, because %s", r.Status, r.Unread)
	if len(s.plan.Items) > 1 {
		said = fmt.Sprintf("call %d: %s", s.done.Rows, said)
	}
	if s.done.Note != "" {
		said = s.done.Note + ". " + said
	}
	s.done.Note = said
}

// recordResult records that a call was carried out, with its location and answer.
func (s *sending) recordResult(location string, answer value.Value) {
	s.done.Rows++
	s.done.Keys = append(s.done.Keys, location)
	s.done.After = append(s.done.After, answer)
	s.answers = append(s.answers, withoutMaskedTexts(answer))
}

// withoutMaskedTexts returns v with Null in place of each masked text.
func withoutMaskedTexts(v value.Value) value.Value {
	if v.Kind() == value.String && strings.Contains(v.Text(), response.Masked) {
		return value.Value{}
	}
	return v.Map(withoutMaskedTexts)
}
