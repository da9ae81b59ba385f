package writes

import (
	"context"
	"fmt"
	"slices"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// Revert is the action that undoes an applied change. It restores the fields of a record even if an agent may not set
// them itself.
const Revert = "revert"

// Propose returns the draft for the principal's request r, or an error that refuses it. It checks the gate and the
// scope of each write, because a group may contain writes of several kinds.
func Propose(ctx context.Context, p *policy.Policy, principal identity.Principal, r write.Request) (Draft, error) {
	plan, err := planOf(ctx, p, principal, r.Writes, r.From)
	if err == nil {
		err = plan.apart(r)
	}
	if err != nil {
		return Draft{}, err
	}
	return Draft{plan}, nil
}

// once refuses a group that writes a record twice. The values that the second write finds would depend on whether the
// first write succeeded. This can depend on records that the principal doesn't see.
func (p *Plan) once() error {
	for i := range p.Items {
		if j := slices.IndexFunc(p.Items[:i], p.Items[i].sameRecord); j >= 0 {
			return &problem.Error{Code: problem.InvalidArgument, Pointer: fmt.Sprintf("/writes/%d", i), Detail: fmt.Sprintf("it writes the record of /writes/%d again", j),
				Suggestion: "write all fields of a record at once"}
		}
	}
	return nil
}

// Allow returns the permit to apply an approved change for the current principal under the rules of p. It returns an
// error if the digest doesn't match the content of the change, or if Propose would refuse the writes now.
func Allow(ctx context.Context, p *policy.Policy, principal identity.Principal, a change.Approved) (Permit, error) {
	c, err := a.Change()
	if err != nil {
		return Permit{}, err
	}
	if err := CheckSchema(p, principal, c); err != nil {
		return Permit{}, err
	}
	if c.Sum() != c.Digest {
		return Permit{}, &problem.Error{Code: problem.SecurityBlocked, Kind: "digest", Detail: "the change that would run is not the approved one"}
	}
	list, err := c.ParseWrites()
	if err != nil {
		return Permit{}, err
	}
	plan, err := planOf(ctx, p, principal, list, c.From)
	if err != nil {
		return Permit{}, err
	}
	if plan.Schema() != c.Schema || plan.Source != c.Source || len(c.Effects) != len(plan.Items) {
		return Permit{}, &problem.Error{Code: problem.SecurityBlocked, Kind: "plan", Detail: "the change that would run is not the approved one"}
	}
	plan.Change, plan.Digest, plan.Fence = c.ID, c.Digest, c.Lease.Fence
	for i := range plan.Items {
		plan.Items[i].expect(&c.Effects[i])
	}
	return Permit{plan}, nil
}

// CheckSchema checks a change of a source with one schema per tenant. It returns an error if the change was proposed
// for a schema other than the current schema of principal, its agent. A change is bound to the schema in which it was
// previewed and reviewed.
func CheckSchema(p *policy.Policy, principal identity.Principal, c *change.Change) error {
	now := p.Schema(principal, c.Source)
	if c.Schema == now && (now == "" || p.HasSchema(c.Source, now)) {
		return nil
	}
	why := "the schema that it was proposed for is not that of its agent any more"
	if c.Schema == now {
		why = "the schema that it was proposed for is gone, or is no longer like those of other tenants"
	}
	return &problem.Error{Code: problem.Conflict, Kind: "schema", Detail: why}
}

// expect records the reviewed values and the fields that must not have changed since the review. For an update these
// are the set fields and the version field. For a delete these are all fields.
func (i *Item) expect(e *change.Effect) {
	i.Before, i.Reviewed = e.Before, *e
	switch i.Op {
	case write.OpUpdate:
		for _, s := range i.Sets {
			i.Concerned = append(i.Concerned, s.Field.Name)
		}
		if v := i.View.Rule().Version; v != "" {
			i.Concerned = append(i.Concerned, v)
		}
	case write.OpDelete, write.OpAction, write.OpCall:
		for _, m := range e.Before.Members() {
			i.Concerned = append(i.Concerned, m.Name)
		}
	}
}

// sameRecord reports whether other writes the same record or the same class as i. A new record never matches.
func (i *Item) sameRecord(other Item) bool {
	return i.View != nil && other.View != nil && i.View.Class() == other.View.Class() &&
		(i.Key != "" && i.Key == other.Key || i.ID != nil && slices.EqualFunc(i.ID, other.ID, value.Equal))
}

// planOf applies the rules to each write. The function from returns the origin of the i-th write.
func planOf(ctx context.Context, p *policy.Policy, principal identity.Principal, list []write.Write, from func(i int) write.Origin) (*Plan, error) {
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
		item, source, err := (&writer{p, principal, from(i).Action, at, plan.Items}).item(ctx, w)
		if err != nil {
			return nil, of(i, err)
		}
		if i > 0 && source != plan.Source {
			return nil, &problem.Error{Code: problem.InvalidArgument, Pointer: at, Detail: "one change writes to one source: this is of another than the first",
				Suggestion: "propose a change for each source"}
		}
		item.at = at
		plan.Source, plan.Items = source, append(plan.Items, item)
	}
	return plan, plan.once()
}

// A writer applies the rules to one write.
type writer struct {
	policy *policy.Policy
	who    identity.Principal
	action string // the action that made the write, or ""
	at     string // the pointer of the write in the request, or "" if it is the only write
	before []Item // the earlier writes of the request
}

// item applies the rules to one write. It returns the write with its effect for reviewers, and its source. A kind of
// write without a case is an internal error, so it is never allowed.
func (w *writer) item(ctx context.Context, asked write.Write) (Item, string, error) {
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
		return w.call(ctx, asked)
	case *write.CreateClass:
		if err := w.refuseClassChange(asked.Source); err != nil {
			return Item{}, "", err
		}
		return Item{Op: write.OpSchema, Key: asked.Class, Write: asked, policy: w.policy, who: w.who}, asked.Source, nil
	case *write.AddFields, *write.DeleteClass:
		v, err := w.policy.View(w.who, asked.Target(), w.at+"/class_name", true)
		if err != nil {
			return Item{}, "", err
		}
		if v.Class().Recordless {
			return Item{}, "", w.recordless(v)
		}
		if err := w.refuseClassChange(v.Source()); err != nil {
			return Item{}, "", err
		}
		return Item{Op: write.OpSchema, View: v, Key: v.Name(), Write: asked, policy: w.policy, who: w.who}, v.Source(), nil
	}
	return Item{}, "", problem.New(problem.Internal, fmt.Sprintf("policy can't write %T", asked))
}

// refuseClassChange refuses to change the classes of a source with one schema per tenant. The tenant's schema would
// differ from the template, and the gateway could no longer read it.
func (w *writer) refuseClassChange(source string) error {
	if w.policy.Rules().Schemas[source] == "" {
		return nil
	}
	return &problem.Error{Code: problem.Unsupported, Kind: "schema_per_tenant", Pointer: w.at, Detail: "the classes of " + source + " are the same for all tenants, and no change makes or takes away one of them",
		Suggestion: "ask for a migration of the application"}
}

// Kind returns the kind of write that a gate controls. action is the action that made the write, or "".
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

// scope returns the scope that a write requires. An action has its own scope, which also covers its deletes.
func (w *writer) scope(op write.Op) identity.Scope {
	switch {
	case op == write.OpSchema:
		return identity.Schema
	case op == write.OpDelete && w.action == "":
		return identity.Delete
	}
	return identity.Write
}

// named describes each kind of write in words.
var named = map[write.Op]string{write.OpCreate: "a create", write.OpUpdate: "an update", write.OpDelete: "a delete", write.OpAction: "an action",
	write.OpCall: "a call", write.OpSchema: "a change of the schema"}

// may checks the gate and the scope of a write.
func (w *writer) may(asked write.Write) error {
	if err := w.policy.Rules().Gates.Passes(policy.Use{Tool: "the change", Writes: Kind(asked.Op(), w.action), Proposes: true}); err != nil {
		refused := *problem.Of(err)
		refused.Pointer = w.at
		return &refused
	}
	if asked.Op() == write.OpCall {
		return nil // the operation determines the scope
	}
	if scope := w.scope(asked.Op()); !w.who.Has(scope) {
		return &problem.Error{Code: problem.PermissionDenied, Kind: "scope", Scope: string(scope), Pointer: w.at,
			Detail: fmt.Sprintf("%s needs the scope %s", named[asked.Op()], scope)}
	}
	return nil
}

// view returns the view for writing to the named class.
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

// recordless returns the error of a write to a class without records.
func (w *writer) recordless(v *policy.View) error {
	return &problem.Error{Code: problem.Unsupported, Kind: "recordless_class", Pointer: w.at + "/class_name",
		Detail: v.Name() + " is a description without records: nothing can be written to it"}
}

// create applies the rules to a new record in the view of its class.
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

// update applies the rules to an update. The record asked.ID must be in the view, and at least one field must be set.
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

// act plans an action whose effect is not described by the rules of a class. The owner's configuration decides what
// it may do.
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
