package parse

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/internal/writes"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// classChange returns the class change of an item. Only the master may create and delete classes.
func (w *Writable) classChange(source string, it *writes.Item) (classChange, error) {
	if w.options.As != Master {
		return classChange{}, &problem.Error{Code: problem.PermissionDenied, Kind: "clp_denied", Detail: "only the master of a Parse application makes and deletes classes, and this source acts as another"}
	}
	return newReshape(source, it)
}

// obstacle returns the reason why Parse Server would not apply a change, or "". Only people may read it, because the
// reason may be a class, a field or records that the agent can't see. The error contains only facts that the agent
// can see.
func (w *Writable) obstacle(ctx context.Context, c *classChange) (why string, err error) {
	there, fields, err := w.findClassFields(ctx, c.Class)
	switch {
	case err != nil:
		return "", err
	case c.Method == http.MethodPost && there:
		return fmt.Sprintf("the application has a class %s already", c.Effect.Key), nil
	case c.Method == http.MethodPost:
		return "", nil
	case !there:
		return "", problem.New(problem.NotFound, fmt.Sprintf("there is no class %q", c.Effect.Key))
	case c.Method == http.MethodPut:
		for name := range c.Fields {
			if _, has := fields.Get(name); has {
				why = fmt.Sprintf("%s has a field %s already", c.Effect.Key, name)
			}
		}
		return why, nil
	}
	some, err := w.ask(ctx, request{method: http.MethodGet, path: "/classes/" + c.Class, query: map[string][]string{"limit": {"1"}}, as: w.master()})
	if results, _ := some.Get("results"); err == nil && len(results.List()) > 0 {
		why = fmt.Sprintf("%s holds records. A class is deleted when it is empty", c.Effect.Key)
	}
	return why, err
}

// findClassFields reports whether the application has a class, and returns the fields of the class.
func (w *Writable) findClassFields(ctx context.Context, class string) (there bool, fields value.Value, err error) {
	now, err := w.ask(ctx, request{method: http.MethodGet, path: "/schemas/" + class, as: w.master()})
	if no := new(refusal); errors.As(err, &no) && no.code == codeClass {
		return false, fields, nil
	}
	fields, _ = now.Get("fields")
	return err == nil, fields, err
}

// applyClass applies a change of a class once.
func (w *Writable) applyClass(ctx context.Context, source, id string, it *writes.Item) (change.Receipt, error) {
	none := change.Receipt{}
	c, err := w.classChange(source, it)
	if err != nil {
		return none, err
	}
	why, err := w.obstacle(ctx, &c)
	if err == nil && why != "" {
		err = &problem.Error{Code: problem.Conflict, Kind: "schema", Detail: why}
	}
	if err != nil {
		return none, err
	}
	_, err = w.once(ctx, request{method: c.Method, path: "/schemas/" + c.Class, body: c.Body, as: w.master(), id: id})
	if errors.Is(err, change.ErrUnknown) && w.stood(ctx, &c) {
		err = nil
	}
	if err != nil {
		return none, err
	}
	w.forget()
	out := change.Receipt{Rows: 1, Keys: []string{it.Key}}
	if c.Fields != nil {
		out.After = []value.Value{c.Effect.After}
	}
	return out, nil
}

// stood reports whether a class is in the state after a change that got no answer.
func (w *Writable) stood(ctx context.Context, c *classChange) bool {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTime)
	defer cancel()
	there, fields, err := w.findClassFields(ctx, c.Class)
	if err != nil || there != (c.Fields != nil) {
		return false
	}
	for name, typ := range c.Fields {
		if f, _ := fields.Get(name); text(f, "type") != typ {
			return false
		}
	}
	return true
}
