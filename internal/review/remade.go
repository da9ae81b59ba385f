package review

import (
	"context"
	"slices"
	"time"

	"github.com/bailiwick-dev/bailiwick/action"
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/writes"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// A Maker calls actions for the agent that proposed a change. All fields are required.
type Maker struct {
	Policy  *policy.Policy
	Who     identity.Principal
	Actions []*action.Action // that Who may call
	Reader  action.Reader
}

// Request returns the writes that the actions of c propose now, if they equal the writes of c. An action may set
// values that depend on the time. In that case, the writes must equal those of the time at which c was proposed.
func (m Maker) Request(ctx context.Context, c *change.Change, now time.Time) (write.Request, error) {
	made, other, err := m.again(ctx, c, now)
	if err == nil && other != "" && !c.Now.IsZero() {
		made, other, err = m.again(ctx, c, c.Now)
	}
	if err == nil && other != "" {
		err = &problem.Error{Code: problem.Conflict, Kind: "action", Detail: "the action " + problem.Cut(other) + " would write something else now"}
	}
	return made, err
}

// again returns the writes that the actions of c propose at the time now. The result other is the first action that
// proposes a different write, or "".
func (m Maker) again(ctx context.Context, c *change.Change, now time.Time) (made write.Request, other string, err error) {
	kept, err := c.ParseWrites()
	if err != nil {
		return made, "", err
	}
	for i := range kept {
		one := write.Request{Writes: kept[i : i+1]}
		if c.From(i).Action != "" {
			a, by, err := m.invocationOf(c, i)
			if err != nil {
				return made, "", err
			}
			one, err = a.Request(ctx, action.Call{Who: m.Who, Record: by.Record, Input: by.Args, At: by.At, Now: now, Reader: m.Reader})
			if err != nil {
				return made, "", err
			}
		}
		made.Join(one)
	}
	draft, err := writes.Propose(ctx, m.Policy, m.Who, made)
	if err != nil {
		return made, "", err
	}
	plan, err := draft.Plan()
	if err != nil {
		return made, "", err
	}
	for i := range plan.Items {
		if !change.Same(m.withFullClassName(write.Print(plan.Items[i].Write)), m.withFullClassName(c.Writes[i])) {
			return made, c.From(i).Action, nil
		}
	}
	return made, "", nil
}

// withFullClassName returns a printed write with the full name of its class. A program that makes the write of an
// action may omit the source.
func (m Maker) withFullClassName(w value.Value) value.Value {
	class, _ := w.Get("class")
	v, err := m.Policy.View(m.Who, class.Text(), "", true)
	if err != nil {
		return w
	}
	members := slices.Clone(w.Members())
	for i := range members {
		if members[i].Name == "class" {
			members[i].Value = value.OfString(v.Class().FullName())
		}
	}
	return value.OfObject(members)
}

// invocationOf returns the action of the i-th write of c and the arguments that it was called with.
func (m Maker) invocationOf(c *change.Change, i int) (*action.Action, action.Invocation, error) {
	name, in, class := c.From(i).Action, c.Input, ""
	if c.Origins != nil { // an item of the list contains the arguments of MethodTool
		list, _ := in.Get("writes")
		in = value.Value{}
		if len(list.List()) == len(c.Writes) {
			in = list.List()[i]
		}
	}
	own := c.Origins == nil && c.Tool != action.MethodTool
	if !own {
		asked, _ := in.Get("class_name")
		if v, err := m.Policy.View(m.Who, asked.Text(), "", true); err == nil {
			class = v.Class().FullName()
		}
	}
	k := slices.IndexFunc(m.Actions, func(a *action.Action) bool {
		return own && a.Tool && a.Name == c.Tool || !own && a.Name == name && a.Class.FullName() == class
	})
	switch {
	case k < 0:
		return nil, action.Invocation{}, &problem.Error{Code: problem.PermissionDenied, Kind: "action", Detail: "the agent has no action " + problem.Cut(name) + " any more"}
	case own:
		return m.Actions[k], m.Actions[k].OfTool(in), nil
	}
	by, err := action.OfMethod(in)
	return m.Actions[k], by, err
}
