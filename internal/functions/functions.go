// Package functions makes functions of an embedding program the targets of actions (do: go).
//
// It stands before a source's Writer: what isn't an action of a function's name goes on to it. A function runs once a
// change is approved, with the input that was approved, and not in the source's transaction: it is handed the id of the
// change and has to do its work once for it, however often it is called. It refuses a function together with other
// writes, for they couldn't be all or nothing.
package functions

import (
	"context"
	"fmt"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/internal/rules/writes"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// A Function does what an action says. An error says that nothing was done; what of it is a *problem.Error is shown to people
// and to the agent. When the process ends in the middle, the function is called again with the same Change.
type Function func(ctx context.Context, r Run) error

// A Run is one call of a Function.
type Run struct {
	Change string      // the id of the change that was approved: the same whenever it is called for it
	Action string      // the name
	Class  string      // "source.Class", that the action is on
	Record string      // the id of the record that it is about; "" for none
	Input  value.Value // what the action sets, as it was approved: an Object
}

// A Writer is a source.Writer in whose place functions stand for actions of their names.
type Writer struct {
	source.Writer
	functions map[string]Function
}

// Over puts functions, by the names of their actions, before w.
func Over(w source.Writer, functions map[string]Function) *Writer { return &Writer{w, functions} }

// called returns the action that a plan is and its function; nil where it is none of a function.
func (w *Writer) called(plan *writes.Plan) (*write.Action, Function, error) {
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

// Preview implements source.Writer. What a function would do is not known before it runs: the record is what it is about.
func (w *Writer) Preview(ctx context.Context, d writes.Draft) (change.Preview, error) {
	plan, err := d.Plan()
	if err != nil {
		return change.Preview{}, err
	}
	a, f, err := w.called(&plan)
	if err != nil || f == nil {
		if err == nil {
			return w.Writer.Preview(ctx, d)
		}
		return change.Preview{}, err
	}
	return change.Preview{Kind: change.Computed, Effects: []change.Effect{{Op: write.OpAction, Class: a.Class, Key: plan.Items[0].Key}}}, nil
}

// Apply implements source.Writer.
func (w *Writer) Apply(ctx context.Context, p writes.Permit) (change.Receipt, error) {
	plan, err := p.Plan()
	if err != nil {
		return change.Receipt{}, err
	}
	a, f, err := w.called(&plan)
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
