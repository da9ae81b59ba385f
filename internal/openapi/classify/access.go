// Package classify says how much an operation of an HTTP API can do: its access class.
//
// It stands beside package document: a word of the operator, checked at load against the document it is about. A class
// comes from the operator's rules first, then from the method, then, where the operator wants it, from the names of
// operations that are all POST. What nothing classes is destructive. A rule that matches no operation is refused with
// the nearest name: a rule that holds for nothing is a rule that somebody relies on.
package classify

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// A Class is how much an operation can do. The zero Class is Destructive.
type Class uint8

// The classes.
const (
	Destructive Class = iota // it may destroy, or nobody knows
	Read                     // it changes nothing
	Write                    // it changes
	Excluded                 // it is not for agents: absent
	Forbidden                // never for agents: not listed, and a direct call is told why and where a person does it
)

var names = [...]string{"destructive", "read", "write", "excluded", "forbidden"}

// String names c as operators write it and agents read it.
func (c Class) String() string { return names[c] }

// Parse returns the class of that name, and whether there is one.
func Parse(name string) (Class, bool) {
	at := slices.Index(names[:], name)
	return Class(max(at, 0)), at >= 0
}

// A Rule gives a class to the operations that it matches: those that one of Operations matches and, where there are
// Tags, that have one of them. One of both lists must be given.
type Rule struct {
	Operations []string // operation ids, or method and path ("POST /teams/{id}/*"); * stands for any text
	Tags       []string
	Class      Class
	Reason     string // for Forbidden: why, safe to show
	Instead    string // for Forbidden: where a person does it, safe to show
}

// Options are an operator's words about one document.
type Options struct {
	Rules    []Rule // the first that matches counts
	RPCNames bool   // the names of POST operations say what they do: Get, List, Search, BatchGet read; Delete destroys
}

// A Decision is the class of one operation, and why.
type Decision struct {
	Class   Class
	Reason  string
	Instead string
	Rule    int // the rule that decided; -1 where it was the method or the name
}

// Rules know the class of every operation of one document. The zero Rules know none: all is destructive.
type Rules struct {
	of map[*spec.Operation]Decision
}

// New classes the operations of d. It refuses a rule that matches nothing or says nothing with problem.InvalidArgument
// and the pointer of the place in o.
func New(d *spec.Document, o Options) (*Rules, error) {
	r := &Rules{of: make(map[*spec.Operation]Decision, len(d.Operations))}
	for i, rule := range o.Rules {
		if err := rule.check(d, fmt.Sprintf("/rules/%d", i)); err != nil {
			return nil, err
		}
	}
	for _, op := range d.Operations {
		r.of[op] = decide(op, o)
	}
	return r, nil
}

func (r Rule) check(d *spec.Document, at string) error {
	if r.Class == Forbidden && (r.Reason == "" || r.Instead == "") {
		return &problem.Error{Code: problem.InvalidArgument, Pointer: at, Detail: "a rule that forbids says why (reason) and where a person does it (instead)"}
	}
	return r.Names(d, at)
}

// Names reports, by nil, whether r names something and all that it names is in d; at is the pointer of r.
func (r Rule) Names(d *spec.Document, at string) error {
	if len(r.Operations)+len(r.Tags) == 0 {
		return &problem.Error{Code: problem.InvalidArgument, Pointer: at, Detail: "a rule names operations or tags"}
	}
	for k, pattern := range r.Operations {
		if slices.ContainsFunc(d.Operations, func(op *spec.Operation) bool { return named(op, pattern) }) {
			continue
		}
		var all []string
		for _, op := range d.Operations {
			all = append(all, op.ID, op.Name())
		}
		return unknown(fmt.Sprintf("%s/operations/%d", at, k), "is", pattern, all)
	}
	for k, tag := range r.Tags {
		var all []string
		for _, op := range d.Operations {
			all = append(all, op.Groups()...)
		}
		if !slices.Contains(all, tag) {
			slices.Sort(all)
			return unknown(fmt.Sprintf("%s/tags/%d", at, k), "has the tag", tag, slices.Compact(all))
		}
	}
	return nil
}

func unknown(at, says, got string, all []string) error {
	near := problem.Nearest(got, all, 3)
	return &problem.Error{Code: problem.InvalidArgument, Pointer: at, Near: near,
		Detail: fmt.Sprintf("no operation of the document %s %q%s", says, problem.Cut(got), problem.DidYouMean(near))}
}

// Of returns the class of an operation of the document that r was made for.
func (r *Rules) Of(op *spec.Operation) Decision {
	if r == nil || r.of == nil {
		return Decision{Rule: -1}
	}
	if d, ok := r.of[op]; ok {
		return d
	}
	return Decision{Rule: -1}
}

func decide(op *spec.Operation, o Options) Decision {
	for i, rule := range o.Rules {
		if rule.Matches(op) {
			return Decision{Class: rule.Class, Reason: rule.Reason, Instead: rule.Instead, Rule: i}
		}
	}
	d := Decision{Class: byMethod(op.Method), Rule: -1}
	if o.RPCNames && op.Method == "POST" {
		if c, ok := byName(op); ok {
			d.Class = c
		}
	}
	if c, ok := byWord(op); ok && d.Class != Destructive {
		d.Class = c
	}
	return d
}

// Matches reports whether r is about op.
func (r Rule) Matches(op *spec.Operation) bool {
	if len(r.Operations) > 0 && !slices.ContainsFunc(r.Operations, func(pattern string) bool { return named(op, pattern) }) {
		return false
	}
	return len(r.Tags) == 0 || slices.ContainsFunc(op.Groups(), func(g string) bool { return slices.Contains(r.Tags, g) })
}

func named(op *spec.Operation, pattern string) bool {
	return Match(pattern, op.ID) || Match(pattern, op.Name())
}

// Match reports whether text is pattern, in which each * stands for any text.
func Match(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == text
	}
	rest, ok := strings.CutPrefix(text, parts[0])
	if !ok {
		return false
	}
	for _, part := range parts[1 : len(parts)-1] {
		at := strings.Index(rest, part)
		if at < 0 {
			return false
		}
		rest = rest[at+len(part):]
	}
	return strings.HasSuffix(rest, parts[len(parts)-1])
}

func byMethod(method string) Class {
	switch method {
	case "GET", "HEAD":
		return Read
	case "POST", "PUT", "PATCH":
		return Write
	}
	return Destructive
}

// byName tells from the verb that begins the name of a remote procedure.
func byName(op *spec.Operation) (Class, bool) {
	name := op.Path[strings.LastIndexAny(op.Path, "/.")+1:]
	for _, verb := range []string{"BatchGet", "Get", "List", "Search"} {
		if begins(name, verb) {
			return Read, true
		}
	}
	for _, verb := range []string{"BatchDelete", "Delete", "BatchRemove", "Remove", "Purge", "Drop"} {
		if begins(name, verb) {
			return Destructive, true
		}
	}
	return 0, false
}

// begins reports whether verb is the first word of name: GetTeam begins with Get, Getaway does not.
func begins(name, verb string) bool {
	rest, ok := strings.CutPrefix(name, verb)
	return ok && (rest == "" || 'A' <= rest[0] && rest[0] <= 'Z')
}
