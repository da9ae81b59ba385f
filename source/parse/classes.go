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

// A classChange is a class that is created or deleted, or gets further fields.
type classChange struct {
	effect change.Effect
	sends  request
	fields map[string]string // Parse's types of the new fields; nil if the class is deleted
}

// visibly describes the fields that a view shows.
func visibly(it *writes.Item) []value.Value {
	var fields []value.Value
	for _, f := range it.View.Fields() {
		fields = append(fields, value.OfObject([]value.Member{{Name: "name", Value: value.OfString(f.Name)}, {Name: "type", Value: value.OfString(f.Type.String())}}))
	}
	return fields
}

// classChange reads an item. Only the master makes classes and takes them away.
func (w *Writable) classChange(source string, it *writes.Item) (classChange, error) {
	c := classChange{effect: change.Effect{Op: write.OpSchema, Key: it.Key}, sends: request{path: "/schemas/" + it.Key, as: w.master()}}
	if w.options.As != Master {
		return c, &problem.Error{Code: problem.PermissionDenied, Kind: "clp_denied", Detail: "only the master of a Parse application makes and deletes classes, and this source acts as another"}
	}
	switch asked := it.Write.(type) {
	case *write.DeleteClass:
		c.effect.Class, c.effect.Before = it.View.Class().FullName(), object("fields", value.OfArray(visibly(it)))
		c.sends.method, c.sends.path = http.MethodDelete, "/schemas/"+it.View.Class().Table
		return c, nil
	case *write.CreateClass:
		c.effect.Class, c.effect.After, c.effect.Asked = source+"."+asked.Class, object("fields", asked.Fields), []string{"fields"}
		c.sends.method = http.MethodPost
		return c, c.creates(asked)
	case *write.AddFields:
		if (&class{Class: it.View.Class()}).pairs() {
			return c, problem.New(problem.Unsupported, it.View.Name()+" is a relation, which has no further fields")
		}
		was := visibly(it)
		c.effect.Class, c.effect.Asked = it.View.Class().FullName(), []string{"fields"}
		c.effect.Before, c.effect.After = object("fields", value.OfArray(was)), object("fields", value.OfArray(append(slices.Clone(was), asked.Fields.List()...)))
		c.sends.method, c.sends.path = http.MethodPut, "/schemas/"+it.View.Class().Table
		for _, f := range asked.Fields.List() {
			if it.View.Field(text(f, "name")) != nil {
				return c, &problem.Error{Code: problem.InvalidArgument, Kind: "class", Detail: fmt.Sprintf("%s has a field %s already", it.View.Name(), text(f, "name"))}
			}
		}
		members, err := c.made(asked.Fields)
		c.sends.body = value.OfObject([]value.Member{{Name: "className", Value: value.OfString(it.View.Class().Table)}, {Name: "fields", Value: value.OfObject(members)}})
		return c, err
	}
	return c, problem.New(problem.Internal, "a change of the schema that is none")
}

// invalid returns the error for a class that Parse Server would not make.
func invalid(format string, args ...any) error {
	return &problem.Error{Code: problem.InvalidArgument, Kind: "class", Detail: fmt.Sprintf(format, args...)}
}

// creates sets what is sent for a new class. It grants nothing to anybody but the master, until people open it.
func (c *classChange) creates(asked *write.CreateClass) error {
	if !plain.MatchString(asked.Class) {
		return invalid("a class is named with letters, digits and _, a letter first, at most 63; not %q", problem.Cut(asked.Class))
	}
	members, err := c.made(asked.Fields)
	var closed []value.Member
	for _, op := range append(slices.Clone(operations), "addField") {
		closed = append(closed, value.Member{Name: string(op), Value: value.OfObject(nil)})
	}
	c.sends.body = value.OfObject([]value.Member{{Name: "className", Value: value.OfString(asked.Class)}, {Name: "fields", Value: value.OfObject(members)},
		{Name: "classLevelPermissions", Value: value.OfObject(closed)}})
	return err
}

// made returns new fields as Parse Server takes them, and keeps their types in c.
func (c *classChange) made(fields value.Value) ([]value.Member, error) {
	c.fields = map[string]string{}
	var members []value.Member
	for _, f := range fields.List() {
		name := text(f, "name")
		native := madeOf[text(f, "type")]
		required, _ := f.Get("required")
		switch {
		case !plain.MatchString(name) || slices.Contains(taken, name):
			return nil, invalid("a field is named with letters, digits and _, a letter first, and not as Parse Server names its own; not %q", problem.Cut(name))
		case native == "":
			return nil, invalid("the type of %s must be one of %s", name, strings.Join(slices.Sorted(maps.Keys(madeOf)), ", "))
		case c.fields[name] != "":
			return nil, invalid("two fields are called %s", name)
		}
		c.fields[name] = native
		members = append(members, value.Member{Name: name, Value: value.OfObject([]value.Member{{Name: "type", Value: value.OfString(native)}, {Name: "required", Value: value.OfBool(required.Bool())}})})
	}
	if members == nil {
		return nil, invalid("no field is named")
	}
	return members, nil
}

// obstacle returns why Parse Server would not carry out a change, for people alone: it may be due to a class, a field or
// records that the agent doesn't see. Its error is about what the agent sees.
func (w *Writable) obstacle(ctx context.Context, c *classChange) (why string, err error) {
	there, fields, err := w.described(ctx, c.sends.path)
	switch {
	case err != nil:
		return "", err
	case c.sends.method == http.MethodPost && there:
		return fmt.Sprintf("the application has a class %s already", c.effect.Key), nil
	case c.sends.method == http.MethodPost:
		return "", nil
	case !there:
		return "", problem.New(problem.NotFound, fmt.Sprintf("there is no class %q", c.effect.Key))
	case c.sends.method == http.MethodPut:
		for name := range c.fields {
			if _, has := fields.Get(name); has {
				why = fmt.Sprintf("%s has a field %s already", c.effect.Key, name)
			}
		}
		return why, nil
	}
	some, err := w.ask(ctx, request{method: http.MethodGet, path: "/classes/" + c.sends.path[len("/schemas/"):], query: map[string][]string{"limit": {"1"}}, as: w.master()})
	if results, _ := some.Get("results"); err == nil && len(results.List()) > 0 {
		why = fmt.Sprintf("%s holds records; a class is deleted when it is empty", c.effect.Key)
	}
	return why, err
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

// applyClass carries out a change of a class, once.
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
