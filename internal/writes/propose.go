package writes

import (
	"context"
	"fmt"
	"slices"
	"strings"

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

// Propose returns the draft for the principal's request r, or refuses it. It checks the gates and scopes of each write,
// not only those of the tool called: a group may hold writes of several kinds.
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
// first one succeeded. That depends on records that the principal doesn't see.
func (p *Plan) once() error {
	for i := range p.Items {
		if j := slices.IndexFunc(p.Items[:i], p.Items[i].sameRecord); j >= 0 {
			return &problem.Error{Code: problem.InvalidArgument, Pointer: fmt.Sprintf("/writes/%d", i), Detail: fmt.Sprintf("it writes the record of /writes/%d again", j),
				Suggestion: "write all fields of a record at once"}
		}
	}
	return nil
}

// Allow returns the permit to write an approved change for the principal in its current state, under the rules of p, or
// refuses it. It refuses a change whose digest doesn't match its content, and whatever Propose would refuse now.
func Allow(ctx context.Context, p *policy.Policy, principal identity.Principal, a change.Approved) (Permit, error) {
	c, err := a.Change()
	if err != nil {
		return Permit{}, err
	}
	if err := CheckSchema(p, principal, c); err != nil {
		return Permit{}, err
	}
	if c.Sum() != c.Digest {
		return Permit{}, &problem.Error{Code: problem.SecurityBlocked, Kind: "digest", Detail: "what would run is not what was approved"}
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
		return Permit{}, &problem.Error{Code: problem.SecurityBlocked, Kind: "plan", Detail: "what would run is not what was approved"}
	}
	plan.Change, plan.Digest, plan.Fence = c.ID, c.Digest, c.Lease.Fence
	for i := range plan.Items {
		plan.Items[i].expect(&c.Effects[i])
	}
	return Permit{plan}, nil
}

// CheckSchema refuses a change of a source with one schema per tenant if it was proposed for another schema. The schema must
// be that of its agent, the principal. A change is bound to the schema in which it was previewed and reviewed.
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

// expect records the reviewed values, and which fields must not have changed: those set and the version of the record,
// or all for a delete.
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

// sameRecord reports whether other writes the same record as i, or the same class. A new record is none of them.
func (i *Item) sameRecord(other Item) bool {
	return i.View != nil && other.View != nil && i.View.Class() == other.View.Class() &&
		(i.Key != "" && i.Key == other.Key || i.ID != nil && slices.EqualFunc(i.ID, other.ID, value.Equal))
}

// planOf applies the rules to each write. from returns the origin of the i-th.
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
	at     string // the JSON pointer of the write in the request, or "" if it is the only one
	before []Item // the writes before it
}

// item applies the rules to one write and returns it with its effect for reviewers, and its source. A new kind of write
// without a case is an internal error, never allowed.
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

// refuseClassChange refuses to change the classes of a source with one schema per tenant. The schema of the tenant would differ
// from the template, and could no longer be read.
func (w *writer) refuseClassChange(source string) error {
	if w.policy.Rules().Schemas[source] == "" {
		return nil
	}
	return &problem.Error{Code: problem.Unsupported, Kind: "schema_per_tenant", Pointer: w.at, Detail: "the classes of " + source + " are the same for all tenants, and no change makes or takes away one of them",
		Suggestion: "ask for a migration of the application"}
}

// Kind returns the kind of write, for gates, of op. action is the action that made it, or "".
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

// scope returns the scope that a write needs. An action has its own scope, which covers its deletes.
func (w *writer) scope(op write.Op) identity.Scope {
	switch {
	case op == write.OpSchema:
		return identity.Schema
	case op == write.OpDelete && w.action == "":
		return identity.Delete
	}
	return identity.Write
}

// named describes the kinds of write in sentences.
var named = map[write.Op]string{write.OpCreate: "a create", write.OpUpdate: "an update", write.OpDelete: "a delete", write.OpAction: "an action",
	write.OpCall: "a call", write.OpSchema: "a change of the schema"}

// may checks the gate and the scope of a write.
func (w *writer) may(asked write.Write) error {
	gate, key := w.policy.Gate(Kind(asked.Op(), w.action))
	if gate == policy.Off {
		what := strings.ReplaceAll(strings.TrimPrefix(key, "gates."), "_", " ")
		return &problem.Error{Code: problem.PermissionDenied, Kind: "gate", Pointer: w.at, Detail: fmt.Sprintf("%s are switched off (%s)", what, key)}
	}
	if asked.Op() == write.OpCall {
		return nil // the scope depends on the class of the operation
	}
	if scope := w.scope(asked.Op()); !w.who.Has(scope) {
		return &problem.Error{Code: problem.PermissionDenied, Kind: "scope", Scope: string(scope), Pointer: w.at,
			Detail: fmt.Sprintf("%s needs the scope %s", named[asked.Op()], scope)}
	}
	return nil
}

// view returns the view of the class that a write names, for writing.
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

// recordless refuses a write to a class without records.
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

// update applies the rules to an update of the record asked.ID, which must be in the view, of at least one field.
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

// act plans an action whose effect no rule of a class describes. The owner's configuration determines what it may do.
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
