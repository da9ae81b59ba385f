package parse

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/internal/rules/writes"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// madeOf are the types that fields of a new class may have, and Parse's own.
var madeOf = map[string]string{"string": "String", "integer": "Number", "double": "Number", "boolean": "Boolean", "date": "Date", "json": "Object"}

// plain is the form of names of classes and fields.
var plain = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]{0,62}$`)

// taken are names of fields that Parse Server keeps for itself.
var taken = []string{"id", "objectId", "createdAt", "updatedAt", "ACL", "length", "className"}

// A classChange is a class that is created or deleted.
type classChange struct {
	effect change.Effect
	sends  request
	fields map[string]string // Parse's types of the fields of a new class; nil if it is deleted
}

// classChange reads an item. Only the master makes classes and takes them away.
func (w *Writable) classChange(source string, it *writes.Item) (classChange, error) {
	c := classChange{effect: change.Effect{Op: write.OpSchema, Key: it.Key}, sends: request{path: "/schemas/" + it.Key, as: w.master()}}
	if w.options.As != Master {
		return c, &problem.Error{Code: problem.PermissionDenied, Kind: "clp_denied", Detail: "only the master of a Parse application makes and deletes classes, and this source acts as another"}
	}
	switch asked := it.Write.(type) {
	case *write.DeleteClass:
		var fields []value.Value
		for _, f := range it.View.Fields() {
			fields = append(fields, value.OfObject([]value.Member{{Name: "name", Value: value.OfString(f.Name)}, {Name: "type", Value: value.OfString(f.Type.String())}}))
		}
		c.effect.Class, c.effect.Before = it.View.Class().FullName(), object("fields", value.OfArray(fields))
		c.sends.method, c.sends.path = http.MethodDelete, "/schemas/"+it.View.Class().Table
		return c, nil
	case *write.CreateClass:
		c.effect.Class, c.effect.After, c.effect.Asked = source+"."+asked.Class, object("fields", asked.Fields), []string{"fields"}
		c.sends.method = http.MethodPost
		return c, c.creates(asked)
	}
	return c, problem.New(problem.Internal, "a change of the schema that is none")
}

// creates sets what is sent for a new class. It grants nothing to anybody but the master, until people open it.
func (c *classChange) creates(asked *write.CreateClass) error {
	invalid := func(format string, args ...any) error {
		return &problem.Error{Code: problem.InvalidArgument, Kind: "class", Detail: fmt.Sprintf(format, args...)}
	}
	if !plain.MatchString(asked.Class) {
		return invalid("a class is named with letters, digits and _, a letter first, at most 63; not %q", problem.Cut(asked.Class))
	}
	c.fields = map[string]string{}
	var members, closed []value.Member
	for _, f := range asked.Fields.List() {
		name := text(f, "name")
		native := madeOf[text(f, "type")]
		required, _ := f.Get("required")
		switch {
		case !plain.MatchString(name) || slices.Contains(taken, name):
			return invalid("a field is named with letters, digits and _, a letter first, and not as Parse Server names its own; not %q", problem.Cut(name))
		case native == "":
			return invalid("the type of %s must be one of %s", name, strings.Join(slices.Sorted(maps.Keys(madeOf)), ", "))
		case c.fields[name] != "":
			return invalid("two fields are called %s", name)
		}
		c.fields[name] = native
		members = append(members, value.Member{Name: name, Value: value.OfObject([]value.Member{{Name: "type", Value: value.OfString(native)}, {Name: "required", Value: value.OfBool(required.Bool())}})})
	}
	for _, op := range append(slices.Clone(operations), "addField") {
		closed = append(closed, value.Member{Name: string(op), Value: value.OfObject(nil)})
	}
	c.sends.body = value.OfObject([]value.Member{{Name: "className", Value: value.OfString(asked.Class)}, {Name: "fields", Value: value.OfObject(members)},
		{Name: "classLevelPermissions", Value: value.OfObject(closed)}})
	return nil
}

// obstacle returns why a class can't be created or deleted, or nil.
func (w *Writable) obstacle(ctx context.Context, c *classChange) error {
	there, _, err := w.described(ctx, c.sends.path)
	switch {
	case err != nil:
		return err
	case c.fields != nil && there:
		return &problem.Error{Code: problem.Conflict, Kind: "exists", Detail: fmt.Sprintf("the application has a class %s already", c.effect.Key)}
	case c.fields == nil && !there:
		return problem.New(problem.NotFound, fmt.Sprintf("there is no class %q", c.effect.Key))
	case c.fields != nil:
		return nil
	}
	some, err := w.ask(ctx, request{method: http.MethodGet, path: "/classes/" + c.sends.path[len("/schemas/"):], query: map[string][]string{"limit": {"1"}}, as: w.master()})
	if results, _ := some.Get("results"); err == nil && len(results.List()) > 0 {
		err = &problem.Error{Code: problem.Conflict, Kind: "not_empty", Detail: fmt.Sprintf("%s holds records; a class is deleted when it is empty", c.effect.Key)}
	}
	return err
}

// described reports whether the application has a class, and returns its fields.
func (w *Writable) described(ctx context.Context, path string) (there bool, fields value.Value, err error) {
	now, err := w.ask(ctx, request{method: http.MethodGet, path: path, as: w.master()})
	if no := new(refusal); errors.As(err, &no) && no.code == codeClass {
		return false, fields, nil
	}
	fields, _ = now.Get("fields")
	return err == nil, fields, err
}

// applyClass creates or deletes a class, once.
func (w *Writable) applyClass(ctx context.Context, source, id string, it *writes.Item) (change.Receipt, error) {
	none := change.Receipt{}
	c, err := w.classChange(source, it)
	if err == nil {
		err = w.obstacle(ctx, &c)
	}
	if err != nil {
		return none, err
	}
	c.sends.id = id
	_, err = w.once(ctx, c.sends)
	if errors.Is(err, change.ErrUnknown) && w.stood(ctx, &c) {
		err = nil
	}
	if err != nil {
		return none, err
	}
	w.forget()
	out := change.Receipt{Rows: 1, Keys: []string{it.Key}}
	if c.fields != nil {
		out.After = []value.Value{c.effect.After}
	}
	return out, nil
}

// stood reports whether a class is as a change leaves it to which no answer came.
func (w *Writable) stood(ctx context.Context, c *classChange) bool {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTime)
	defer cancel()
	there, fields, err := w.described(ctx, c.sends.path)
	if err != nil || there != (c.fields != nil) {
		return false
	}
	for name, typ := range c.fields {
		if f, _ := fields.Get(name); text(f, "type") != typ {
			return false
		}
	}
	return true
}
