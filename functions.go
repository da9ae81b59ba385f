package bailiwick

import (
	"context"
	"fmt"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/internal/writes"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// A Function performs an action. An error means that it has done nothing. People and the agent see a *problem.Error in
// it. If the process ends in the middle, the function is called again with the same Change.
type Function func(ctx context.Context, r Run) error

// A Run is one call of a Function.
type Run struct {
	Change string      // the id of the approved change: the same in every call for it
	Action string      // the name of the action
	Class  string      // "source.Class" of the action
	Record string      // the id of the record the action is about, or ""
	Input  value.Value // the action's approved input: an Object
}

// A functionWriter is a source.Writer that runs each function for the action of the same name.
type functionWriter struct {
	source.Writer
	functions map[string]Function
}

// overFunctions returns a functionWriter that runs functions, by action name, and passes other writes to w.
func overFunctions(w source.Writer, functions map[string]Function) *functionWriter {
	return &functionWriter{w, functions}
}

// findFunction returns the action of a plan and the action's function, or nil if no action has one.
func (w *functionWriter) findFunction(plan *writes.Plan) (*write.Action, Function, error) {
	for i := range plan.Items {
		a, ok := plan.Items[i].Write.(*write.Action)
		if !ok || w.functions[a.Name] == nil {
			continue
		}
		if len(plan.Items) > 1 {
			return nil, nil, problem.New(problem.Unsupported, fmt.Sprintf("the action %s runs alone, in a change of its own", a.Name))
		}
		return a, w.functions[a.Name], nil
	}
	return nil, nil, nil
}

// Preview implements source.Writer. The effect of a function is not known before it runs, so the preview only names the
// record.
func (w *functionWriter) Preview(ctx context.Context, d writes.Draft) (change.Preview, error) {
	plan, err := d.Plan()
	if err != nil {
		return change.Preview{}, err
	}
	a, f, err := w.findFunction(&plan)
	if err != nil || f == nil {
		if err == nil {
			return w.Writer.Preview(ctx, d)
		}
		return change.Preview{}, err
	}
	return change.Preview{Kind: change.Computed, Effects: []change.Effect{{Op: write.OpAction, Class: a.Class, Key: plan.Items[0].Key}}}, nil
}

// Apply implements source.Writer.
func (w *functionWriter) Apply(ctx context.Context, p writes.Permit) (change.Receipt, error) {
	plan, err := p.Plan()
	if err != nil {
		return change.Receipt{}, err
	}
	a, f, err := w.findFunction(&plan)
	if err != nil || f == nil {
		if err == nil {
			return w.Writer.Apply(ctx, p)
		}
		return change.Receipt{}, err
	}
	if err := f(ctx, Run{Change: plan.Change, Action: a.Name, Class: a.Class, Record: a.ID, Input: a.Input}); err != nil {
		return change.Receipt{}, fmt.Errorf("the function of the action %s: %w", a.Name, err)
	}
	return change.Receipt{Keys: []string{a.ID}, Rows: 1}, nil
}
