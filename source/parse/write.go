package parse

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/internal/interpret"
	"github.com/bailiwick-dev/bailiwick/internal/writes"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// A Writable is a Source that can be written to, over REST and with the principal's identity.
//
// Parse Server has no transactions over REST and stores no marker. So a change writes only one record. The record is
// compared directly before the write, and the write is sent at most once. If no answer comes, the record is read
// back. If the record doesn't show the write, the outcome is unknown.
type Writable struct{ *Source }

// Writable returns the source for writing as well. A role has no session, so a source that acts as a role can't be
// written to.
func (s *Source) Writable() (*Writable, error) {
	if s.options.As == Role {
		return nil, fmt.Errorf("source %s acts as a role, for which Parse Server has no session. Act as a user or a session", s.options.Name)
	}
	return &Writable{s}, nil
}

// Unmarked implements source.Unmarked.
func (*Writable) Unmarked() {}

// single returns the only item of a plan.
func single(plan *writes.Plan) (*writes.Item, error) {
	if len(plan.Items) != 1 {
		return nil, problem.New(problem.Unsupported, "Parse Server has no transactions over REST: propose one write at a time")
	}
	it := &plan.Items[0]
	switch it.Op {
	case write.OpSchema:
		return it, nil
	case write.OpCreate, write.OpUpdate, write.OpDelete, write.OpAction:
	default:
		return nil, problem.New(problem.Unsupported, fmt.Sprintf("Parse Server has no write of the kind %s here", it.Op))
	}
	if it.View == nil {
		return nil, problem.New(problem.Internal, "a write without a view")
	}
	c := class{Class: it.View.Class()}
	of := c.Table
	if c.pairs() {
		_, of = c.relation()
	}
	switch {
	case it.Op == write.OpUpdate && c.pairs():
		return nil, problem.New(problem.Unsupported, "a pair of a relation has nothing to change: create and delete pairs of "+it.View.Name())
	case it.Op != write.OpAction && of[0] == '_':
		return nil, problem.New(problem.Unsupported, it.View.Name()+" is a class of Parse itself. Its records aren't written here. Cloud functions can write them")
	}
	return it, nil
}

// Preview implements source.Writer. It writes nothing, because Parse Server can't roll back.
func (w *Writable) Preview(ctx context.Context, d writes.Draft) (change.Preview, error) {
	plan, err := d.Plan()
	if err != nil {
		return change.Preview{}, err
	}
	it, err := single(&plan)
	if err != nil {
		return change.Preview{}, err
	}
	if it.Op == write.OpSchema {
		c, err := w.classChange(plan.Source, it)
		if err != nil {
			return change.Preview{}, err
		}
		why, err := w.obstacle(ctx, &c)
		return change.Preview{Kind: change.Computed, Effects: []change.Effect{c.Effect}, Refusal: why}, err
	}
	e, _, err := w.effect(ctx, it)
	if err != nil {
		return change.Preview{}, err
	}
	return change.Preview{Kind: change.Computed, Effects: []change.Effect{e}}, nil
}

// effect returns the effect of an item, and the record that it concerns, or nil.
func (w *Writable) effect(ctx context.Context, it *writes.Item) (change.Effect, value.Row, error) {
	e := change.Effect{Op: it.Op, Class: it.View.Class().FullName(), Key: it.Key, Version: it.View.Rule().Version}
	r, err := w.writing(ctx, it)
	if err != nil {
		return e, nil, err
	}
	access, may := policy.GuardAccess(it.View.Class(), r.who.groups, operationOf[it.Op])
	if !may {
		return e, nil, permissionError(it)
	}
	// A named record must exist, and a pair to be created must not.
	now, err := r.record(ctx, it, (&class{Class: it.View.Class()}).id(it))
	switch {
	case err != nil:
		return e, nil, err
	case it.ID != nil && now == nil:
		return e, nil, it.NotFoundError()
	case it.ID != nil:
		e.Before = shownOf(it, now)
	case now != nil:
		return e, nil, &problem.Error{Code: problem.Conflict, Kind: "exists", Detail: "the pair is already in " + it.View.Name()}
	default:
		now = make(value.Row, len(it.View.Class().Fields))
	}
	switch it.Op {
	case write.OpAction: // the effect of a cloud function is unknown, and Parse Server checks nothing before it
		for _, f := range access.Filters {
			if holds, err := interpret.Holds(ctx, f, it.View.Class(), now); it.ID != nil && (err != nil || !holds) {
				return e, nil, cmp.Or(err, permissionError(it))
			}
		}
		e.Before = value.Value{}
		return e, now, nil
	case write.OpDelete:
		return e, now, nil
	}
	if err := r.refuseHiddenFields(it, now); err != nil {
		return e, nil, err
	}
	// The new record must be in the view as well, so that no write moves a record out of the caller's view.
	after := slices.Clone(now)
	for _, s := range it.Sets {
		if _, err := restValue(s.Field, "", "", s.Value); err != nil {
			return e, nil, err
		}
		after[fieldAt(it, s.Field.Name)] = s.Value
		if !s.Forced {
			e.Asked = append(e.Asked, s.Field.Name)
		}
	}
	stays, err := r.stays(ctx, it, after)
	if err == nil && !stays {
		err = it.NotFoundError()
	}
	e.After = shownOf(it, after)
	return e, now, err
}

// refuseHiddenFields returns an error if an item sets a field that Parse Server doesn't show on this record. Such a
// field is shown only on records that name the user. Nobody could review the overwritten value.
func (r *reading) refuseHiddenFields(it *writes.Item, now value.Row) error {
	access, _ := policy.GuardAccess(it.View.Class(), r.who.groups, schema.Find)
	for _, s := range it.Sets {
		if it.Op != write.OpUpdate || !slices.Contains(access.Partly, s.Field.Name) {
			continue
		}
		shown := false
		for field, stay := range it.View.Class().Guard.Named {
			at := fieldAt(it, field)
			shown = shown || at >= 0 && names(now[at], r.who.groups.User) && !slices.Contains(stay, s.Field.Name)
		}
		if !shown {
			return &problem.Error{Code: problem.PermissionDenied, Kind: "partly_hidden", Detail: fmt.Sprintf("%s of this record isn't shown to this user, so what it would replace can't be reviewed", s.Field.Name)}
		}
	}
	return nil
}

// names reports whether a pointer to a user, or a list of such pointers, contains the user with this id.
func names(v value.Value, id string) bool {
	if v.Kind() == value.String {
		return v.Text() == id
	}
	return slices.ContainsFunc(v.List(), func(e value.Value) bool { return text(e, "objectId") == id })
}

// operationOf contains the operations of class-level permissions that writes require. A cloud function may change the
// records of its class.
var operationOf = map[write.Op]schema.Operation{write.OpCreate: schema.Create, write.OpUpdate: schema.Update, write.OpDelete: schema.Delete, write.OpAction: schema.Update}

// permissionError returns the error for a write that the class-level permissions don't grant.
func permissionError(it *writes.Item) error {
	return &problem.Error{Code: problem.PermissionDenied, Kind: "clp_denied",
		Detail: fmt.Sprintf("the class-level permissions of %s don't grant %s", it.View.Name(), operationOf[it.Op])}
}

// writing returns a reading for the views of an item.
func (w *Writable) writing(ctx context.Context, it *writes.Item) (*reading, error) {
	who, err := w.person(ctx, it.View.Principal())
	if err != nil {
		return nil, err
	}
	return &reading{source: w.Source, who: who, sizes: map[string]int{}}, nil
}

// record returns the record of an item's view with this key over REST, as the values of the class. It returns nil if
// id is nil or the view has no such record.
func (r *reading) record(ctx context.Context, it *writes.Item, id []value.Value) (value.Row, error) {
	if id == nil {
		return nil, nil
	}
	where := query.Filter(query.In{Path: query.Path{it.View.Class().Key[0]}, Values: id[:1]})
	if len(id) > 1 {
		where = query.And{where, query.In{Path: query.Path{it.View.Class().Key[1]}, Values: id[1:]}}
	}
	select {
	case r.source.looks <- struct{}{}:
		defer func() { <-r.source.looks }()
	case <-ctx.Done():
		return nil, interpret.ContextError(ctx)
	}
	rows, err := r.fetch(ctx, it.View, where, everything)
	if err != nil || len(rows) != 1 {
		return nil, err
	}
	return rows[0], nil
}

// stays reports whether the record after the write is in the item's view.
func (r *reading) stays(ctx context.Context, it *writes.Item, after value.Row) (bool, error) {
	w, err := r.walk(it.View, nil, everything)
	if err != nil {
		return false, err
	}
	rows, err := w.visible(ctx, []value.Row{after})
	return len(rows) == 1, err
}

func fieldAt(it *writes.Item, name string) int {
	return slices.IndexFunc(it.View.Class().Fields, func(f schema.Field) bool { return f.Name == name })
}

// shownOf returns the visible fields of a record as an Object.
func shownOf(it *writes.Item, row value.Row) value.Value {
	fields := it.View.Fields()
	members := make([]value.Member, len(fields))
	for i, f := range fields {
		members[i] = value.Member{Name: f.Name, Value: row[fieldAt(it, f.Name)]}
	}
	return value.OfObject(members)
}

// Apply implements source.Writer. It doesn't notice if somebody else changes the record between the comparison and
// the write, because Parse Server has no conditional writes.
func (w *Writable) Apply(ctx context.Context, p writes.Permit) (change.Receipt, error) {
	none := change.Receipt{}
	plan, err := p.Plan()
	if err != nil {
		return none, err
	}
	if plan.Change == "" || plan.Fence < 1 {
		return none, problem.New(problem.Internal, "a permit without a change or a lease")
	}
	it, err := single(&plan)
	if err != nil {
		return none, err
	}
	if it.Op == write.OpSchema {
		return w.applyClass(ctx, plan.Source, plan.Change, it)
	}
	// The record is read again and compared with the reviewed one, because Parse Server can't compare within the
	// write.
	now, _, err := w.effect(ctx, it)
	gone := it.ID != nil && now.Before.IsNull() && problem.CodeOf(err) == problem.NotFound
	if err != nil && !gone {
		return none, err
	}
	if it.ID != nil && it.Op != write.OpAction && (gone || hasMoved(it, now.Before)) {
		return none, &change.Moved{Now: []change.Effect{{Op: it.Op, Class: now.Class, Key: it.Key, Before: now.Before, Version: now.Version}}}
	}
	if err != nil { // an action about a record that no longer exists
		return none, err
	}
	r, err := w.writing(ctx, it)
	if err != nil {
		return none, err
	}
	sends, err := r.sends(it)
	if err != nil {
		return none, err
	}
	// The request has the change's id. If configured, Parse Server rejects a second request with this id.
	sends.id = plan.Change
	answer, err := w.once(ctx, sends)
	if errors.Is(err, change.ErrUnknown) {
		return r.settle(ctx, it, err)
	}
	if err != nil {
		return none, err
	}
	return r.receipt(ctx, it, answer)
}

// hasMoved reports whether a record has changed since the review.
func hasMoved(it *writes.Item, now value.Value) bool {
	return slices.ContainsFunc(it.Concerned, func(field string) bool {
		was, had := it.Before.Get(field)
		is, has := now.Get(field)
		return had != has || !change.Same(was, is)
	})
}

// sends returns the request of an item.
func (r *reading) sends(it *writes.Item) (request, error) {
	c, err := r.class(it.View)
	if err != nil {
		return request{}, err
	}
	if c.pairs() {
		return c.relates(it, r.who.as)
	}
	path := "/classes/" + c.Table
	if it.ID != nil {
		path += "/" + url.PathEscape(it.ID[0].Text())
	}
	var members []value.Member
	for _, s := range it.Sets {
		if it.Op == write.OpCreate && s.Value.IsNull() {
			continue
		}
		v, err := restValue(s.Field, c.types[s.Field.Name], c.target(s.Field.Name), s.Value)
		if err != nil {
			return request{}, err
		}
		members = append(members, value.Member{Name: s.Field.Name, Value: v})
	}
	out := request{path: path, body: value.OfObject(members), as: r.who.as}
	switch it.Op {
	case write.OpCreate:
		out.method = http.MethodPost
	case write.OpUpdate:
		out.method = http.MethodPut
	case write.OpDelete:
		out.method, out.body = http.MethodDelete, value.Value{}
	case write.OpAction:
		action, ok := it.Write.(*write.Action)
		if !ok {
			return out, problem.New(problem.Internal, "an action that is none")
		}
		function := text(action.Input, "function")
		if function == "" {
			return out, problem.New(problem.Unsupported, "on Parse Server an action runs a cloud function (do: cloud), or writes a record")
		}
		out.method, out.path = http.MethodPost, "/functions/"+url.PathEscape(function)
		out.body, _ = action.Input.Get("parameters")
	}
	return out, nil
}

// once sends a request that writes. Its error wraps change.ErrUnknown if Parse Server may have applied it.
func (w *Writable) once(ctx context.Context, r request) (value.Value, error) {
	answer, err := w.ask(ctx, r)
	if err == nil {
		return answer, nil
	}
	if no := new(refusal); errors.As(err, &no) && no.status >= 400 && no.status < 500 && no.code != codeRepeated && no.code != codeTimeout {
		return answer, err
	}
	if dial := new(net.OpError); errors.As(err, &dial) && dial.Op == "dial" {
		return answer, err // nothing was sent
	}
	return answer, &problem.Error{Code: problem.Upstream, Kind: "unknown_outcome", Detail: "no answer came to the write: it may have happened or not", Err: errors.Join(change.ErrUnknown, err)}
}

// Bar implements source.Writer. It does nothing, because a change that may have been sent is never sent again.
func (*Writable) Bar(context.Context, string, int64) (change.Receipt, bool, error) {
	return change.Receipt{}, false, nil
}
