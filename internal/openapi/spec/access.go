package spec

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/problem"
)

// A Class is the access class of an operation. The zero Class is ClassDestructive.
type Class uint8

// The classes.
const (
	ClassDestructive Class = iota // deletes data, or the effect is unknown
	ClassRead                     // changes nothing
	ClassWrite                    // changes data
	ClassExcluded                 // hidden from agents as if it did not exist
	ClassForbidden                // not listed. A direct call gets the reason and where a person can do it
)

var names = [...]string{"destructive", "read", "write", "excluded", "forbidden"}

// String returns the name of c in the configuration and in texts for agents.
func (c Class) String() string { return names[c] }

// ParseClass returns the class with the given name and whether it exists.
func ParseClass(name string) (Class, bool) {
	at := slices.Index(names[:], name)
	return Class(max(at, 0)), at >= 0
}

// A ClassRule assigns a class to the operations that it matches. An operation matches if it matches one of Operations
// and, if Tags is not empty, has one of the tags. At least one of the two lists must be set.
type ClassRule struct {
	Operations []string // operation ids, or method and path ("POST /teams/{id}/*"). * matches any text
	Tags       []string
	Class      Class
	Reason     string // for ClassForbidden: the reason, shown to agents
	Instead    string // for ClassForbidden: where a person can do it, shown to agents
}

// ClassOptions configure the classification of one document.
type ClassOptions struct {
	Rules    []ClassRule // the first matching rule applies
	RPCNames bool        // derive the class of POST operations from their names: Get, List, Search, BatchGet read, and Delete destroys
}

// A Decision is the class of one operation and the reason for it.
type Decision struct {
	Class   Class
	Reason  string
	Instead string
	Rule    int  // index of the rule that matched, or -1 if the method or the name decided the class
	Held    bool // Hold decided the class
}

// Classifier holds the class of every operation of one document. The zero Classifier classifies every operation as
// ClassDestructive.
type Classifier struct {
	of map[*Operation]Decision
}

// NewClassifier classifies the operations of d. It refuses an incomplete rule, or a rule that matches nothing, with
// problem.InvalidArgument and a pointer into o.
func NewClassifier(d *Document, o ClassOptions) (*Classifier, error) {
	r := &Classifier{of: make(map[*Operation]Decision, len(d.Operations))}
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

// Hold replaces the decisions about operations. It replaces the decision about each operation for which held returns
// true.
func (r *Classifier) Hold(held func(*Operation, Decision) (Decision, bool)) {
	for op, d := range r.of {
		if stricter, ok := held(op, d); ok {
			stricter.Held, stricter.Rule = true, d.Rule
			r.of[op] = stricter
		}
	}
}

// NamesOperation reports whether one of patterns names op exactly, without a *. It must be the id of op, or its
// method and path.
func NamesOperation(patterns []string, op *Operation) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool { return !strings.Contains(pattern, "*") && operationMatches(op, pattern) })
}

func (r ClassRule) check(d *Document, at string) error {
	if r.Class == ClassForbidden && (r.Reason == "" || r.Instead == "") {
		return &problem.Error{Code: problem.InvalidArgument, Pointer: at, Detail: "a rule that forbids says why (reason) and where a person does it (instead)"}
	}
	return r.Names(d, at)
}

// Names checks that r names at least one operation or tag, and that each of them occurs in d. The argument at is the
// JSON pointer of r, for the error.
func (r ClassRule) Names(d *Document, at string) error {
	if len(r.Operations)+len(r.Tags) == 0 {
		return &problem.Error{Code: problem.InvalidArgument, Pointer: at, Detail: "a rule names operations or tags"}
	}
	for k, pattern := range r.Operations {
		if slices.ContainsFunc(d.Operations, func(op *Operation) bool { return operationMatches(op, pattern) }) {
			continue
		}
		var all []string
		for _, op := range d.Operations {
			all = append(all, op.ID, op.Name())
		}
		return noOperationError(fmt.Sprintf("%s/operations/%d", at, k), "is", pattern, all)
	}
	for k, tag := range r.Tags {
		var all []string
		for _, op := range d.Operations {
			all = append(all, op.Groups()...)
		}
		if !slices.Contains(all, tag) {
			slices.Sort(all)
			return noOperationError(fmt.Sprintf("%s/tags/%d", at, k), "has the tag", tag, slices.Compact(all))
		}
	}
	return nil
}

func noOperationError(at, says, got string, all []string) error {
	near := problem.Nearest(got, all, 3)
	return &problem.Error{Code: problem.InvalidArgument, Pointer: at, Near: near,
		Detail: fmt.Sprintf("no operation of the document %s %q%s", says, problem.Cut(got), problem.DidYouMean(near))}
}

// Of returns the decision for op, which must be an operation of the document given to NewClassifier. Other operations
// get the zero class.
func (r *Classifier) Of(op *Operation) Decision {
	if r == nil || r.of == nil {
		return Decision{Rule: -1}
	}
	if d, ok := r.of[op]; ok {
		return d
	}
	return Decision{Rule: -1}
}

// decide returns the class of op. The first matching rule decides. Without one, the method decides and, if o.RPCNames
// is set, the name. A word such as delete in the name makes the class stricter, but never less strict.
func decide(op *Operation, o ClassOptions) Decision {
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
	if c, ok := byWord(op); ok && d.Class != ClassDestructive {
		d.Class = c
	}
	return d
}

// Matches reports whether r matches op.
func (r ClassRule) Matches(op *Operation) bool {
	if len(r.Operations) > 0 && !slices.ContainsFunc(r.Operations, func(pattern string) bool { return operationMatches(op, pattern) }) {
		return false
	}
	return len(r.Tags) == 0 || slices.ContainsFunc(op.Groups(), func(g string) bool { return slices.Contains(r.Tags, g) })
}

// operationMatches reports whether pattern matches the id of op, or its method and path. A pattern without *
// allocates no memory, because a configuration may name each of a thousand operations.
func operationMatches(op *Operation, pattern string) bool {
	if strings.IndexByte(pattern, '*') < 0 {
		method, path, _ := strings.Cut(pattern, " ")
		return pattern == op.ID || method == op.Method && path == op.Path
	}
	return MatchPattern(pattern, op.ID) || MatchPattern(pattern, op.Name())
}

// MatchPattern reports whether text matches pattern, in which each * matches any text.
func MatchPattern(pattern, text string) bool {
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
		return ClassRead
	case "POST", "PUT", "PATCH":
		return ClassWrite
	}
	return ClassDestructive
}

// byName derives the class from the verb at the start of the name of a remote procedure.
func byName(op *Operation) (Class, bool) {
	name := op.Path[strings.LastIndexAny(op.Path, "/.")+1:]
	for _, verb := range []string{"BatchGet", "Get", "List", "Search"} {
		if beginsWithVerb(name, verb) {
			return ClassRead, true
		}
	}
	for _, verb := range []string{"BatchDelete", "Delete", "BatchRemove", "Remove", "Purge", "Drop"} {
		if beginsWithVerb(name, verb) {
			return ClassDestructive, true
		}
	}
	return 0, false
}

// beginsWithVerb reports whether verb is the first word of name: "Get" begins "GetTeam" but not "Getaway".
func beginsWithVerb(name, verb string) bool {
	rest, ok := strings.CutPrefix(name, verb)
	return ok && (rest == "" || 'A' <= rest[0] && rest[0] <= 'Z')
}
