package console_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/review"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// drawers is the shared state of the tests' reviewers: changes without a viewer, and their events. It implements the
// rules of package change that pages show: four eyes, n of m, a different digest, ended states.
type drawers struct {
	mu     sync.Mutex
	sheets []*review.Sheet // newest first
	events []change.Event
	moved  chan struct{}
	calls  []string // calls of operations that change anything
	err    error    // returned by every call. It may be nil
}

func newDrawers(sheets ...*review.Sheet) *drawers {
	d := &drawers{moved: make(chan struct{})}
	for _, s := range sheets {
		d.put(s)
	}
	return d
}

func (d *drawers) put(s *review.Sheet) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sheets = append([]*review.Sheet{s}, d.sheets...)
	slices.SortStableFunc(d.sheets, func(a, b *review.Sheet) int { return cmp.Compare(b.ID, a.ID) })
	d.happened(s, change.EventCreated, s.Agent)
}

func (d *drawers) happened(s *review.Sheet, kind change.EventKind, by string) {
	d.events = append(d.events, change.Event{Seq: int64(len(d.events)) + 1, Change: s.ID, Kind: kind, State: s.State, By: by, At: time.Now()})
	s.History = append(s.History, change.Step{State: s.State, Event: kind, By: by, At: time.Now()})
	close(d.moved)
	d.moved = make(chan struct{})
}

func (d *drawers) LastEvent(context.Context) (int64, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return int64(len(d.events)), nil
}

// desk is the Reviewer of one person. It works on drawers.
type desk struct {
	*drawers
	who identity.Principal
}

func (d desk) find(id string) (*review.Sheet, error) {
	if d.err != nil {
		return nil, d.err
	}
	for _, s := range d.sheets {
		if s.ID == id {
			return s, nil
		}
	}
	return nil, problem.New(problem.NotFound, "There is no such change")
}

// seen returns s in the form in which the person sees it.
func (d desk) seen(s *review.Sheet) *review.Sheet {
	out := *s
	out.Row.Mine = slices.ContainsFunc(s.Thread, func(one review.Said) bool {
		return one.By == d.who.Owner && !one.Earlier && (one.Approves() || one.Event == change.EventRejected)
	})
	own := s.Owner == d.who.Owner
	if s.State == change.Pending {
		out.Checks = append(slices.Clone(s.Checks), review.Check{Name: "four_eyes", OK: !own,
			Detail: map[bool]string{true: "You own the agent that proposed this; somebody else has to decide.", false: "You aren't the person behind the agent."}[own]})
	}
	fine := !slices.ContainsFunc(out.Checks, func(c review.Check) bool { return !c.OK })
	out.CanApprove = s.State == change.Pending && fine && !out.Row.Mine
	out.CanReject = s.State == change.Pending || s.State == change.Stale
	out.CanAsk, out.CanEdit = out.CanReject, out.CanReject && !own
	out.CanRevert = s.State == change.Applied
	return &out
}

func (d desk) Queue(_ context.Context, f change.Filter) (rows []review.Row, more bool, err error) {
	if f.For != "" {
		f.For = d.who.Owner
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.err != nil {
		return nil, false, d.err
	}
	for _, s := range d.sheets {
		if !fits(s, f) || f.States != nil && !slices.Contains(f.States, s.State) || f.Before != "" && s.ID >= f.Before {
			continue
		}
		if len(rows) == f.Limit {
			return rows, true, nil
		}
		rows = append(rows, d.seen(s).Row)
	}
	return rows, false, nil
}

func fits(s *review.Sheet, f change.Filter) bool {
	text := strings.ToLower(s.Title + s.Reason + s.ID)
	return (f.Risk == "" || s.Risk == f.Risk) && (f.Op == "" || s.Op == f.Op) && (f.Owner == "" || s.Owner == f.Owner) &&
		(f.For == "" || f.Own || s.Owner != f.For) && (f.For == "" || !slices.ContainsFunc(s.Thread, func(one review.Said) bool { return one.By == f.For && one.Approves() })) &&
		(f.Class == "" || slices.Contains(s.Classes, f.Class)) && strings.Contains(text, strings.ToLower(f.Text))
}

func (d desk) Counts(_ context.Context, f change.Filter) (all, mine map[change.State]int, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	all, mine = map[change.State]int{}, map[change.State]int{}
	every := f
	every.For = ""
	f.For = d.who.Owner
	for _, s := range d.sheets {
		if fits(s, every) {
			all[s.State]++
		}
		if fits(s, f) && !s.State.IsFinal() {
			mine[s.State]++
		}
	}
	return all, mine, d.err
}

func (d desk) Sheet(_ context.Context, id string) (*review.Sheet, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s, err := d.find(id)
	if err != nil {
		return nil, err
	}
	return d.seen(s), nil
}

// do runs one operation on a change and records it in calls.
func (d desk) do(id, what string, step func(s *review.Sheet) error) (*review.Sheet, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s, err := d.find(id)
	if err != nil {
		return nil, err
	}
	if err := step(s); err != nil {
		return nil, err
	}
	d.calls = append(d.calls, what+" "+id)
	return d.seen(s), nil
}

func (d desk) decided(s *review.Sheet, yes bool, text, loud string) {
	event := map[bool]change.EventKind{true: change.EventApproved, false: change.EventRejected}[yes]
	s.Thread = append(s.Thread, review.Said{By: d.who.Owner, Event: event, Text: text, Loud: loud, At: time.Now()})
}

func (d desk) Value(_ context.Context, id string, at review.Place) (*review.Whole, error) {
	s, err := d.find(id)
	if err != nil {
		return nil, err
	}
	return s.Whole(at)
}

func (d desk) Approve(_ context.Context, id, digest, comment string) (*review.Sheet, error) {
	return d.do(id, "approve", func(s *review.Sheet) error {
		if digest != s.Digest {
			return problem.New(problem.Conflict, "The change is not what it was when you saw it")
		}
		if seen := d.seen(s); !seen.CanApprove {
			for _, c := range seen.Checks {
				if !c.OK {
					return problem.New(problem.PermissionDenied, c.Detail)
				}
			}
			return problem.New(problem.Conflict, "The change is "+string(s.State))
		}
		d.decided(s, true, comment, "")
		if s.Approvals++; s.Approvals < s.Need {
			d.happened(s, change.EventDecided, d.who.Owner)
			return nil
		}
		s.State, s.Outcome, s.Record, s.RecordHash = change.Applied, plainly(s.Rows)+" written in one transaction.", 4711, strings.Repeat("5eed", 16)
		d.happened(s, change.EventApplied, d.who.Owner)
		return nil
	})
}

func plainly(n int) string { return fmt.Sprintf("%d row(s)", n) }

func (d desk) BreakGlass(_ context.Context, id, _, reason string) (*review.Sheet, error) {
	return d.do(id, "break-glass", func(s *review.Sheet) error {
		if !d.who.Has(identity.Operator) {
			return problem.New(problem.PermissionDenied, "You may not break the glass")
		}
		d.decided(s, true, reason, "break glass")
		s.State = change.Applied
		d.happened(s, change.EventApplied, d.who.Owner)
		return nil
	})
}

func (d desk) Reject(_ context.Context, id, reason string) (*review.Sheet, error) {
	return d.do(id, "reject", func(s *review.Sheet) error {
		if s.State.IsFinal() {
			return problem.New(problem.Conflict, "Somebody was faster: the change is "+string(s.State))
		}
		d.decided(s, false, reason, "")
		s.State, s.Outcome = change.Rejected, "Rejected by "+d.who.Owner+"."
		d.happened(s, change.EventRejected, d.who.Owner)
		return nil
	})
}

func (d desk) Comment(_ context.Context, id, text string) (*review.Sheet, error) {
	return d.do(id, "comment", func(s *review.Sheet) error {
		s.Thread = append(s.Thread, review.Said{By: d.who.Owner, Event: change.EventCommented, Text: text, At: time.Now()})
		d.happened(s, change.EventCommented, d.who.Owner)
		return nil
	})
}

func (d desk) View(_ context.Context, id, digest string, item int) (*review.Sheet, error) {
	return d.do(id, "view", func(s *review.Sheet) error {
		if digest != s.Digest || item < 0 || item >= len(s.Items) {
			return problem.New(problem.Conflict, "The change is not what it was when you saw it")
		}
		s.Items[item].Viewed = true
		return nil
	})
}

func (d desk) Ask(_ context.Context, id, text string) (*review.Sheet, error) {
	return d.do(id, "ask", func(s *review.Sheet) error {
		s.State = change.Returned
		s.Thread = append(s.Thread, review.Said{By: d.who.Owner, Event: change.EventAsked, Text: text, At: time.Now()})
		d.happened(s, change.EventAsked, d.who.Owner)
		return nil
	})
}

func (d desk) Edit(_ context.Context, id string, e review.Revision) (*review.Sheet, error) {
	return d.do(id, "edit "+e.Input().String(), func(*review.Sheet) error { return nil })
}

func (d desk) Renew(_ context.Context, id string) (*review.Sheet, error) {
	return d.do(id, "renew", func(s *review.Sheet) error {
		s.State, s.Digest, s.Approvals, s.Thread = change.Pending, strings.Repeat("f", 64), 0, nil
		for i := range s.Items {
			for k := range s.Items[i].Fields {
				if now := s.Items[i].Fields[k].Now; now != nil {
					s.Items[i].Fields[k].Before, s.Items[i].Fields[k].Now = *now, nil
				}
			}
		}
		d.happened(s, change.EventRenewed, d.who.Owner)
		return nil
	})
}

func (d desk) Revert(_ context.Context, id, reason string) (*review.Sheet, error) {
	return d.do(id, "revert", func(s *review.Sheet) error {
		s.Thread = append(s.Thread, review.Said{By: d.who.Owner, Event: change.EventCommented, Text: "revert: " + reason, At: time.Now()})
		return nil
	})
}

func (d desk) Settle(_ context.Context, id string, applied bool, _ string) (*review.Sheet, error) {
	return d.do(id, "settle", func(s *review.Sheet) error {
		s.State = map[bool]change.State{true: change.Applied, false: change.Failed}[applied]
		d.happened(s, change.EventSettled, d.who.Owner)
		return nil
	})
}

func (d desk) Events(_ context.Context, after int64) ([]change.Event, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.events[min(after, int64(len(d.events))):]), nil
}

func (d desk) Await(ctx context.Context, after int64) error {
	d.mu.Lock()
	moved, there := d.moved, int64(len(d.events)) > after
	d.mu.Unlock()
	if there {
		return nil
	}
	select {
	case <-moved:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
