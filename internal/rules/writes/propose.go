package writes

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/write"
)

// Revert is the action that takes back what was applied. It sets again what a record had, whether or not an agent may set
// that by itself.
const Revert = "revert"

// Propose lets who propose r, or refuses it. It looks at the gates and scopes of each write, not only at those of the
// tool that was called: a group may hold writes of several kinds.
func Propose(p *policy.Policy, principal identity.Principal, r write.Request) (Draft, error) {
	plan, err := planOf(p, principal, r.Writes, r.Action)
	if err != nil {
		return Draft{}, err
	}
	return Draft{plan}, nil
}

// Allow lets an approved change be written for who, as who is now, under the rules of p; or refuses it. It refuses a
// change whose digest isn't that of its content, and whatever Propose would refuse today.
func Allow(p *policy.Policy, principal identity.Principal, a change.Approved) (Permit, error) {
	c, err := a.Change()
	if err != nil {
		return Permit{}, err
	}
	if c.Sum() != c.Digest {
		return Permit{}, &problem.Error{Code: problem.SecurityBlocked, Kind: "digest", Detail: "what would run is not what was approved"}
	}
	list, err := c.Asked()
	if err != nil {
		return Permit{}, err
	}
	plan, err := planOf(p, principal, list, c.Action)
	if err != nil {
		return Permit{}, err
	}
	if plan.Source != c.Source || len(c.Effects) != len(plan.Items) {
		return Permit{}, &problem.Error{Code: problem.SecurityBlocked, Kind: "plan", Detail: "what would run is not what was approved"}
	}
	plan.Change, plan.Digest, plan.Fence = c.ID, c.Digest, c.Lease.Fence
	for i := range plan.Items {
		plan.Items[i].expect(&c.Effects[i])
		// What an earlier write of the change did to the record has moved its version, each time it runs.
		if v := plan.Items[i].version(); v != "" && !slices.ContainsFunc(plan.Items[:i], plan.Items[i].same) {
			plan.Items[i].Concerned = append(plan.Items[i].Concerned, v)
		}
	}
	return Permit{plan}, nil
}

// expect notes what was reviewed, and which of it must still hold: what is set, all of what goes.
func (i *Item) expect(e *change.Effect) {
	i.Before = e.Before
	switch i.Op {
	case write.OpUpdate:
		for _, s := range i.Sets {
			i.Concerned = append(i.Concerned, s.Field.Name)
		}
	case write.OpDelete, write.OpAction, write.OpCall:
		for _, m := range e.Before.Members() {
			i.Concerned = append(i.Concerned, m.Name)
		}
	}
}

// version is the field that tells whether the record of an update has moved; "" where the rules name none.
func (i *Item) version() string {
	if i.Op != write.OpUpdate {
		return ""
	}
	return i.View.Rule().Version
}

// same reports whether other is about the record of i.
func (i *Item) same(other Item) bool {
	return i.Key == other.Key && other.View != nil && i.View.Class().FullName() == other.View.Class().FullName()
}

// planOf takes writes through the rules, one by one.
func planOf(p *policy.Policy, principal identity.Principal, list []write.Write, action string) (*Plan, error) {
	switch n := len(list); {
	case n == 0:
		return nil, problem.New(problem.InvalidArgument, "there is nothing to write")
	case n > write.MaxWrites:
		return nil, problem.New(problem.InvalidArgument, fmt.Sprintf("%d writes: one change holds at most %d", n, write.MaxWrites))
	}
	plan := &Plan{Version: p.Version()}
	for i, w := range list {
		at := ""
		if len(list) > 1 {
			at = fmt.Sprintf("/writes/%d", i)
		}
		item, source, err := (&writer{p, principal, action, at}).item(w)
		if err != nil {
			return nil, err
		}
		if i > 0 && source != plan.Source {
			return nil, &problem.Error{Code: problem.InvalidArgument, Pointer: at, Detail: "one change writes to one source: this is of another than the first",
				Suggestion: "propose a change for each source"}
		}
		if len(list) > 1 && item.Op == write.OpCall {
			return nil, &problem.Error{Code: problem.InvalidArgument, Pointer: at, Detail: "an API takes one call at a time, not all or none of several",
				Suggestion: "propose a change for each call; after makes one wait for another"}
		}
		plan.Source, plan.Items = source, append(plan.Items, item)
	}
	return plan, nil
}

// A writer takes one write through the rules.
type writer struct {
	policy *policy.Policy
	who    identity.Principal
	action string // that made the write; "" for none
	at     string // where the write stands in the request
}

func (w *writer) item(asked write.Write) (Item, string, error) {
	if err := w.may(asked); err != nil {
		return Item{}, "", err
	}
	switch asked := asked.(type) {
	case *write.Create:
		return w.create(asked)
	case *write.Update:
		return w.update(asked)
	case *write.Delete:
		return w.remove(asked)
	case *write.Action:
		return w.act(asked)
	case *write.Call:
		return w.call(asked)
	case *write.CreateClass:
		return Item{Op: write.OpSchema, Key: asked.Class, Write: asked, policy: w.policy, who: w.who}, asked.Source, nil
	case *write.DeleteClass:
		v, err := w.policy.View(w.who, asked.Class, w.at+"/class_name", true)
		if err != nil {
			return Item{}, "", err
		}
		if v.Class().Recordless {
			return Item{}, "", w.recordless(v)
		}
		return Item{Op: write.OpSchema, View: v, Key: v.Name(), Write: asked, policy: w.policy, who: w.who}, v.Source(), nil
	}
	return Item{}, "", problem.New(problem.Internal, fmt.Sprintf("policy can't write %T", asked))
}

// Kind returns the kind of gate that a write of op stands behind; action is what made it, "" for none.
func Kind(op write.Op, action string) policy.Write {
	switch op {
	case write.OpSchema:
		return policy.WriteSchema
	case write.OpCreate, write.OpUpdate, write.OpDelete:
		if action == "" {
			return policy.WriteRaw
		}
	}
	return policy.WriteAction
}

// scope is what a write asks for. An action answers for its scope itself: what it deletes is what it is for.
func (w *writer) scope(op write.Op) identity.Scope {
	switch {
	case op == write.OpSchema:
		return identity.Schema
	case op == write.OpDelete && w.action == "":
		return identity.Delete
	}
	return identity.Write
}

// named is what writes are called in a sentence.
var named = map[write.Op]string{write.OpCreate: "a create", write.OpUpdate: "an update", write.OpDelete: "a delete", write.OpAction: "an action",
	write.OpCall: "a call", write.OpSchema: "a change of the schema"}

// may looks at the gate and the scope of a write.
func (w *writer) may(asked write.Write) error {
	gate, key := w.policy.Gate(Kind(asked.Op(), w.action))
	if gate == policy.Off {
		what := strings.ReplaceAll(strings.TrimPrefix(key, "gates."), "_", " ")
		return &problem.Error{Code: problem.PermissionDenied, Kind: "gate", Pointer: w.at, Detail: fmt.Sprintf("%s are switched off (%s)", what, key)}
	}
	if asked.Op() == write.OpCall {
		return nil // what an operation asks for depends on what it can do
	}
	if scope := w.scope(asked.Op()); !w.who.Has(scope) {
		return &problem.Error{Code: problem.PermissionDenied, Kind: "scope", Scope: string(scope), Pointer: w.at,
			Detail: fmt.Sprintf("%s needs the scope %s", named[asked.Op()], scope)}
	}
	return nil
}

// view opens the class that a write names, for writing.
func (w *writer) view(name string, op write.Op) (*policy.View, error) {
	v, err := w.policy.View(w.who, name, w.at+"/class_name", true)
	if err != nil {
		return nil, err
	}
	refuse := func(code problem.Code, kind, format string, args ...any) error {
		return &problem.Error{Code: code, Kind: kind, Pointer: w.at + "/class_name", Detail: fmt.Sprintf(format, args...)}
	}
	switch {
	case v.Class().Recordless:
		return nil, w.recordless(v)
	case v.Rule().Write[op] == write.Deny:
		return nil, refuse(problem.PermissionDenied, "write_denied", "records of %s can't be %sd by an agent", v.Name(), op)
	case v.Class().View:
		return nil, refuse(problem.Unsupported, "view", "%s is a view of the database: its records can't be written", v.Name())
	case v.Key() == nil:
		return nil, refuse(problem.Unsupported, "no_key", "records of %s have no id: they can't be written one by one", v.Name())
	}
	return v, nil
}

// recordless refuses to write to a class that is a description alone.
func (w *writer) recordless(v *policy.View) error {
	return &problem.Error{Code: problem.Unsupported, Kind: "recordless_class", Pointer: w.at + "/class_name",
		Detail: v.Name() + " is a description without records: nothing can be written to it"}
}

func (w *writer) create(asked *write.Create) (Item, string, error) {
	v, err := w.view(asked.Class, write.OpCreate)
	if err != nil {
		return Item{}, "", err
	}
	sets, err := w.sets(v, asked.Data, write.OpCreate)
	if err != nil {
		return Item{}, "", err
	}
	return Item{Op: write.OpCreate, View: v, Sets: sets, Write: asked, policy: w.policy, who: w.who}, v.Source(), nil
}

func (w *writer) update(asked *write.Update) (Item, string, error) {
	v, err := w.view(asked.Class, write.OpUpdate)
	if err != nil {
		return Item{}, "", err
	}
	if len(asked.Data.Members()) == 0 {
		return Item{}, "", &problem.Error{Code: problem.InvalidArgument, Pointer: w.at + "/data", Detail: "there is nothing to set"}
	}
	sets, err := w.sets(v, asked.Data, write.OpUpdate)
	if err != nil {
		return Item{}, "", err
	}
	item := Item{Op: write.OpUpdate, View: v, Sets: sets, Key: asked.ID, Write: asked, policy: w.policy, who: w.who}
	return item, v.Source(), item.find(w.at)
}

func (w *writer) remove(asked *write.Delete) (Item, string, error) {
	v, err := w.view(asked.Class, write.OpDelete)
	if err != nil {
		return Item{}, "", err
	}
	item := Item{Op: write.OpDelete, View: v, Key: asked.ID, Write: asked, policy: w.policy, who: w.who}
	return item, v.Source(), item.find(w.at)
}

// act is an action whose effect no rule of a class describes: what it may do its owner has said in the configuration.
func (w *writer) act(asked *write.Action) (Item, string, error) {
	v, err := w.policy.View(w.who, asked.Class, w.at+"/class_name", true)
	if err != nil {
		return Item{}, "", err
	}
	item := Item{Op: write.OpAction, View: v, Key: asked.ID, Write: asked, policy: w.policy, who: w.who}
	if asked.ID != "" {
		err = item.find(w.at)
	}
	return item, v.Source(), err
}
