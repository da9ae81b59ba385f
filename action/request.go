package action

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/argcheck"
	"github.com/bailiwick-dev/bailiwick/internal/expression"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// A Call is a call of an action.
type Call struct {
	Who    identity.Principal
	Record string      // the id given by the caller, or ""
	Input  value.Value // an Object
	At     string      // the JSON pointer of Input in the tool's arguments. "" means all arguments
	Now    time.Time
	Reader Reader
}

// A noting is a Reader that records which records were read.
type noting struct {
	Reader
	records []write.Record
}

// Record implements Reader.
func (n *noting) Record(ctx context.Context, class, id string) (value.Value, error) {
	n.records = append(n.records, write.Record{Class: class, ID: id})
	return n.Reader.Record(ctx, class, id)
}

// Request checks a call and returns the request to propose. A refusal contains the argument, the rule and a message
// for each fault. Request reads records and writes nothing.
func (a *Action) Request(ctx context.Context, c Call) (write.Request, error) {
	if err := a.arguments.Check(c.Input); err != nil {
		return write.Request{}, prefixPointers(err, c.At)
	}
	s := a.arguments.Scene(c.Who, c.Input, c.Now)
	in := s.Variables[expression.InputName]
	read := &noting{Reader: c.Reader}
	c.Reader = read
	// Check the arguments against the class that describes them. Then read the record and the lookups as the caller
	// sees them, because expressions use them.
	doubts, err := a.fits(ctx, c, in)
	if err != nil {
		return write.Request{}, err
	}
	id, err := a.findRecord(ctx, c, s)
	if err != nil {
		return write.Request{}, err
	}
	if err := a.look(ctx, c, s); err != nil {
		return write.Request{}, err
	}
	if err := expression.RefuseArguments(expression.UnmetRequirements(a.require, s, c.At)); err != nil {
		return write.Request{}, err
	}
	// The values to write come from set, and from arguments that may be set directly.
	sets, err := expression.EvalTemplates(a.set, s)
	if err != nil {
		return write.Request{}, err
	}
	for _, name := range a.permitted {
		if v, ok := in.Get(name); ok {
			sets = append(sets, value.Member{Name: name, Value: v})
		}
	}
	if err := a.follows(c, s, sets); err != nil {
		return write.Request{}, err
	}
	w, err := a.write(id, sets)
	if err != nil {
		return write.Request{}, err
	}
	r := write.Request{Writes: []write.Write{w}, Origin: write.Origin{Action: a.Name, Mode: a.Review, Reads: read.records}, Now: c.Now, Doubts: doubts}
	r.Says = a.summary.Says(s)
	return r, nil
}

// fits checks the arguments against the class that describes them. It returns nil if there is no such class.
func (a *Action) fits(ctx context.Context, c Call, in value.Value) ([]write.Doubt, error) {
	if a.check == nil {
		return nil, nil
	}
	class, err := c.Reader.DescribeClass(ctx, a.check.Class)
	if err != nil {
		return nil, err
	}
	return a.check.Arguments(class, in, c.At)
}

// findRecord reads the record of the call. It returns the id, or "" if the call has no record.
func (a *Action) findRecord(ctx context.Context, c Call, s *expression.Scene) (string, error) {
	id, at := c.Record, "/"+RecordArgument
	switch {
	case a.record != nil && c.Record != "":
		return "", &problem.Error{Code: problem.InvalidArgument, Pointer: at, Detail: a.Name + " finds its record by its own arguments. Leave object_id out"}
	case a.record != nil:
		v, ok, err := a.record.Given(s)
		if err != nil {
			return "", err
		}
		id, at = v.String(), c.At+"/"+a.record.Member(expression.InputName)
		if !ok || v.IsNull() {
			id = ""
		}
	}
	switch {
	case id == "" && (a.Do == Update || a.Do == Delete):
		return "", &problem.Error{Code: problem.InvalidArgument, Pointer: at, Detail: a.Name + " needs the id of a record"}
	case id == "":
		s.Variables[recordName] = value.Value{}
		return "", nil
	case a.Do == Create:
		return "", &problem.Error{Code: problem.InvalidArgument, Pointer: at, Detail: a.Name + " makes a new record. Leave object_id out"}
	}
	record, err := c.Reader.Record(ctx, a.Class.FullName(), id)
	if err != nil {
		return "", err
	}
	if record.IsNull() {
		return "", absent(a.Class.Name, id, at)
	}
	s.Variables[recordName] = record
	return id, nil
}

// absent returns the error for a record that doesn't exist or is outside the view. Both cases have the same error.
func absent(class, id, at string) error {
	return &problem.Error{Code: problem.NotFound, Pointer: strings.TrimSuffix(at, "/"), Detail: fmt.Sprintf("%s has no record %q", class, problem.Cut(id))}
}

// look reads the records of the lookups into the scene.
func (a *Action) look(ctx context.Context, c Call, s *expression.Scene) error {
	for _, l := range a.lookups {
		v, ok, err := l.id.Given(s)
		if err != nil {
			return err
		}
		if !ok || v.IsNull() {
			s.Variables[l.name] = value.Value{}
			continue
		}
		record, err := c.Reader.Record(ctx, l.class, v.String())
		if err != nil {
			return err
		}
		if record.IsNull() {
			_, bare, _ := strings.Cut(l.class, ".")
			return absent(bare, v.String(), c.At+"/"+l.id.Member(expression.InputName))
		}
		s.Variables[l.name] = record
	}
	return nil
}

// follows refuses values that may not follow the record's current values.
func (a *Action) follows(c Call, s *expression.Scene, sets []value.Member) error {
	var faults []argcheck.Fault
	for _, t := range a.transitions {
		to, ok := value.OfObject(sets).Get(t.field)
		if !ok {
			continue
		}
		from, _ := s.Variables[recordName].Get(t.field)
		next := t.next[from.String()]
		if slices.Contains(next, to.String()) && !to.IsNull() {
			continue
		}
		name := t.argument
		if name == "" {
			name = t.field
		}
		message := fmt.Sprintf("%s can't go from %s to %s", name, problem.Cut(from.String()), problem.Cut(to.String()))
		if value.Equal(from, to) {
			message = fmt.Sprintf("%s is %s already", name, problem.Cut(to.String()))
		}
		if allowed := strings.Join(next, ", "); allowed != "" {
			message += fmt.Sprintf("; from %s it can go to %s", problem.Cut(from.String()), allowed)
		} else {
			message += fmt.Sprintf("; nothing may follow %s", problem.Cut(from.String()))
		}
		faults = append(faults, argcheck.Fault{Fault: problem.Fault{Pointer: strings.TrimSuffix(c.At+"/"+t.argument, "/"), Rule: "transitions", Message: message}})
	}
	return expression.RefuseArguments(faults)
}

// write returns the write of the call.
func (a *Action) write(id string, sets []value.Member) (write.Write, error) {
	class, data := a.Class.FullName(), value.OfObject(sets)
	switch a.Do {
	case Create:
		return &write.Create{Class: class, Data: data}, nil
	case Update:
		if len(sets) == 0 {
			return nil, problem.New(problem.InvalidArgument, "there is nothing to change: no argument sets a field")
		}
		return &write.Update{Class: class, ID: id, Data: data}, nil
	case Delete:
		return &write.Delete{Class: class, ID: id}, nil
	case HTTP:
		return &write.Call{Source: a.API, Operation: a.Operation, Request: data}, nil
	case SQL:
		for _, n := range a.set { // every parameter requires a value
			if _, ok := data.Get(n.Name); !ok {
				sets = append(sets, value.Member{Name: n.Name})
			}
		}
		data = value.OfObject(sets)
		// The approved change contains the digest of the statement. If the text of the statement changes, it no
		// longer matches the reviewed change.
		data = value.OfObject([]value.Member{{Name: "statement", Value: value.OfString(a.statement)}, {Name: "parameters", Value: data}})
	}
	if a.Do == Cloud {
		data = value.OfObject([]value.Member{{Name: "function", Value: value.OfString(a.Function)}, {Name: "parameters", Value: data}})
	}
	return &write.Action{Class: class, Name: a.Name, ID: id, Input: data, Source: a.Class.Source}, nil
}

// Place converts the pointers of an error from fields of the write to the arguments that set them. The parameter at
// is the pointer of the arguments.
func (a *Action) Place(err error, at string) error {
	p, ok := errors.AsType[*problem.Error](err)
	if !ok {
		return err
	}
	return p.MapPointers(func(pointer string) string { return a.ArgumentPointer(pointer, at) })
}

// ArgumentPointer returns the pointer of the argument for a pointer into the write. The parameter at is the pointer
// of the arguments.
func (a *Action) ArgumentPointer(pointer, at string) string {
	field, of := strings.CutPrefix(pointer, "/data/")
	switch {
	case of:
		if slices.Contains(a.permitted, field) {
			return at + "/" + field
		}
		for _, n := range a.set {
			if n.Name == field && n.Of.Member(expression.InputName) != "" {
				return at + "/" + n.Of.Member(expression.InputName)
			}
		}
		return at
	case pointer == "/object_id" && a.record != nil:
		return strings.TrimSuffix(at+"/"+a.record.Member(expression.InputName), "/")
	case pointer == "/class_name" || pointer == "/data":
		return at
	}
	return pointer
}

// prefixPointers adds a prefix to the pointers of an error.
func prefixPointers(err error, at string) error {
	p, ok := errors.AsType[*problem.Error](err)
	if !ok || at == "" {
		return err
	}
	return p.MapPointers(func(pointer string) string { return at + pointer })
}
