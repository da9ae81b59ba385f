package parse

import (
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/internal/writes"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// madeOf maps the types that fields of a new class may have to Parse's types.
var madeOf = map[string]string{"string": "String", "integer": "Number", "double": "Number", "boolean": "Boolean", "date": "Date", "json": "Object"}

// plain matches valid names of classes and fields.
var plain = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]{0,62}$`)

// taken are names of fields that Parse Server reserves.
var taken = []string{"id", "objectId", "createdAt", "updatedAt", "ACL", "length", "className"}

// A classChange creates or deletes a class, or adds fields. It contains the request for that.
type classChange struct {
	Effect change.Effect
	Method string            // POST, PUT or DELETE
	Class  string            // Parse's name of the class
	Body   value.Value       // null if the class is deleted
	Fields map[string]string // Parse's types of the new fields, or nil if the class is deleted
}

// fieldsOf returns {"fields": list}.
func fieldsOf(list []value.Value) value.Value {
	return value.OfObject([]value.Member{{Name: "fields", Value: value.OfArray(list)}})
}

// reshapeText returns the member of an object called name if it is a text, and "" otherwise.
func reshapeText(v value.Value, name string) string {
	member, _ := v.Get(name)
	if member.Kind() != value.String {
		return ""
	}
	return member.Text()
}

// visibly describes the visible fields of an item's view.
func visibly(it *writes.Item) []value.Value {
	var fields []value.Value
	for _, f := range it.View.Fields() {
		fields = append(fields, value.OfObject([]value.Member{{Name: "name", Value: value.OfString(f.Name)}, {Name: "type", Value: value.OfString(f.Type.String())}}))
	}
	return fields
}

// newReshape returns the class change of an item. name is the name of the source. Errors contain only facts that the
// agent can see or has sent.
func newReshape(name string, it *writes.Item) (classChange, error) {
	c := classChange{Effect: change.Effect{Op: write.OpSchema, Key: it.Key}, Class: it.Key}
	if it.View != nil {
		c.Effect.Class, c.Class = it.View.Class().FullName(), it.View.Class().Table
	}
	switch asked := it.Write.(type) {
	case *write.DeleteClass:
		c.Method, c.Effect.Before = http.MethodDelete, fieldsOf(visibly(it))
		return c, nil
	case *write.CreateClass:
		c.Method, c.Effect.Class, c.Effect.After, c.Effect.Asked = http.MethodPost, name+"."+asked.Class, fieldsOf(asked.Fields.List()), []string{"fields"}
		return c, c.creates(asked)
	case *write.AddFields:
		c.Method, c.Effect.Asked = http.MethodPut, []string{"fields"}
		return c, c.adds(it, asked)
	}
	return c, problem.New(problem.Internal, "a change of the schema that is none")
}

// adds sets the body of the request that adds fields.
func (c *classChange) adds(it *writes.Item, asked *write.AddFields) error {
	if strings.HasPrefix(c.Class, "_Join:") {
		return problem.New(problem.Unsupported, it.View.Name()+" is a relation, which has no further fields")
	}
	for _, f := range asked.Fields.List() {
		if name := reshapeText(f, "name"); it.View.Field(name) != nil {
			return invalid("%s has a field %s already", it.View.Name(), name)
		}
	}
	was := visibly(it)
	c.Effect.Before, c.Effect.After = fieldsOf(was), fieldsOf(append(slices.Clone(was), asked.Fields.List()...))
	members, err := c.newFields(asked.Fields)
	c.Body = value.OfObject([]value.Member{{Name: "className", Value: value.OfString(c.Class)}, {Name: "fields", Value: value.OfObject(members)}})
	return err
}

// invalid returns the error for a class that Parse Server would not create.
func invalid(format string, args ...any) error {
	return &problem.Error{Code: problem.InvalidArgument, Kind: "class", Detail: fmt.Sprintf(format, args...)}
}

// creates sets the body of the request that creates a class. Only the master has permissions on the new class until
// people add others.
func (c *classChange) creates(asked *write.CreateClass) error {
	if !plain.MatchString(asked.Class) {
		return invalid("a class is named with letters, digits and _, a letter first, at most 63, not %q", problem.Cut(asked.Class))
	}
	members, err := c.newFields(asked.Fields)
	var closed []value.Member
	for _, op := range []string{"find", "get", "count", "create", "update", "delete", "addField"} {
		closed = append(closed, value.Member{Name: op, Value: value.OfObject(nil)})
	}
	c.Body = value.OfObject([]value.Member{{Name: "className", Value: value.OfString(asked.Class)}, {Name: "fields", Value: value.OfObject(members)},
		{Name: "classLevelPermissions", Value: value.OfObject(closed)}})
	return err
}

// newFields returns new fields in Parse Server's form, and stores their types in c.
func (c *classChange) newFields(fields value.Value) ([]value.Member, error) {
	c.Fields = map[string]string{}
	var members []value.Member
	for _, f := range fields.List() {
		name := reshapeText(f, "name")
		native := madeOf[reshapeText(f, "type")]
		required, _ := f.Get("required")
		switch {
		case !plain.MatchString(name) || slices.Contains(taken, name):
			return nil, invalid("a field is named with letters, digits and _, a letter first, and not as Parse Server names its own, not %q", problem.Cut(name))
		case native == "":
			return nil, invalid("the type of %s must be one of %s", name, strings.Join(slices.Sorted(maps.Keys(madeOf)), ", "))
		case c.Fields[name] != "":
			return nil, invalid("two fields are called %s", name)
		}
		c.Fields[name] = native
		members = append(members, value.Member{Name: name, Value: value.OfObject([]value.Member{{Name: "type", Value: value.OfString(native)}, {Name: "required", Value: value.OfBool(required.Bool())}})})
	}
	if members == nil {
		return nil, invalid("no field is named")
	}
	return members, nil
}
