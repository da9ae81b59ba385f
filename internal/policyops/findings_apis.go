package policyops

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/write"
)

// An overlook checks the rules of one API.
type overlook struct {
	*look
	name    string
	rules   calls.Rules
	classes *spec.Classifier
	seen    []*spec.Operation // operations that some principal can see
}

// apis checks the rules of all HTTP APIs.
func (l *look) apis() {
	all := l.regime.Policy().APIs()
	for _, name := range all.Names() {
		rules, classes, ok := all.Rules(name)
		if !ok {
			continue
		}
		o := &overlook{look: l, name: name, rules: rules, classes: classes}
		shown := spec.ClassRule{Operations: rules.Shown}
		for _, op := range rules.Document.Operations {
			class := classes.Of(op).Class
			if class != spec.ClassExcluded && class != spec.ClassForbidden && (len(rules.Shown) == 0 || shown.Matches(op)) && !o.isHidden(op) {
				o.seen = append(o.seen, op)
			}
		}
		o.deadRules()
		o.open()
		o.reportUnboundIDs()
		o.uncallable()
		o.reportMissingSummaries()
	}
}

// about adds a finding about an API.
func (o *overlook) about(code Code, keys []string, message, suggestion string) {
	o.out = append(o.out, Finding{Code: code, Class: o.name, Path: append([]string{"apis", o.name}, keys...), Message: message, Suggestion: suggestion})
}

// isHidden reports whether a rule hides op from all principals.
func (o *overlook) isHidden(op *spec.Operation) bool {
	return slices.ContainsFunc(o.rules.Hidden, func(h calls.Hidden) bool {
		return h.When == "" && len(h.Operations)+len(h.Tags) > 0 && (spec.ClassRule{Operations: h.Operations, Tags: h.Tags}).Matches(op)
	})
}

// deadRules reports access rules without effect. Earlier rules classify all operations of such a rule.
func (o *overlook) deadRules() {
	decides := map[int]bool{}
	for _, op := range o.rules.Document.Operations {
		decides[o.classes.Of(op).Rule] = true
	}
	for i, r := range o.rules.Access.Rules {
		if !decides[i] && !(r.Class == spec.ClassExcluded && slices.Contains(r.Operations, "*")) { // a rule for all excluded operations is meant for future operations
			o.about(dead, []string{"access", strconv.Itoa(i)}, "the rule classes nothing: those before it class all that it names", "take it out, or move it up")
		}
	}
}

// open reports operations that look unsuitable for agents.
func (o *overlook) open() {
	by := map[spec.Suspicion][]string{}
	for _, op := range o.seen {
		if kind := spec.SuspicionOf(o.rules.Document, op, o.classes.Of(op).Class); kind != "" {
			by[kind] = append(by[kind], op.ID)
		}
	}
	for _, kind := range spec.Suspicions() {
		if by[kind] != nil {
			o.about(openClasses, []string{"access"}, fmt.Sprintf("agents may call %s of %s that may not be for them (%s): %s", count(len(by[kind]), "operation"), o.name, kind.Reason(), some(by[kind])),
				"class them forbidden, or excluded. If they are right as they are, leave them")
		}
	}
}

// reportUnboundIDs reports operations that have an id parameter but no parameter that a rule binds. Such an id may
// belong to any tenant.
func (o *overlook) reportUnboundIDs() {
	all := o.regime.Policy().APIs()
	for i, p := range o.rules.Parameters {
		if p.Operations != nil {
			continue
		}
		var free []string
		for _, op := range o.seen {
			if len(spec.Variables(op.Path)) > 0 && len(all.Binds(o.name, op)) == 0 {
				free = append(free, op.ID)
			}
		}
		if free != nil {
			o.about(unscoped, []string{"parameters", strconv.Itoa(i)}, fmt.Sprintf("%s is bound, and %s of %s that take the id of something have no such parameter: %s", p.Name, count(len(free), "operation"), o.name, some(free)),
				"hide them, or let each principal have a credential of its own, so that the API keeps them apart")
			return // the next rule would produce the same finding
		}
	}
}

// uncallable reports operations that are visible but can't be called.
func (o *overlook) uncallable() {
	for _, c := range []struct {
		class spec.Class
		key   string
	}{{spec.ClassWrite, "write"}, {spec.ClassDestructive, "destructive"}} {
		n := 0
		for _, op := range o.seen {
			if o.classes.Of(op).Class == c.class {
				n++
			}
		}
		off := o.regime.Policy().Rules().Gates.WithDefaults().Writes == policy.Off
		if n > 0 && (off || o.rules.Write[c.class] == write.Deny) {
			why := "write denies them"
			if off {
				why = "gates.writes is off"
			}
			o.about(uncallable, []string{"write"}, fmt.Sprintf("agents find %s of %s that none of them can call: %s", count(n, c.key+" operation"), o.name, why), "class them excluded, and searches find less that leads nowhere")
		}
	}
}

// reportMissingSummaries reports operations without a description in the document.
func (o *overlook) reportMissingSummaries() {
	var bare []string
	for _, op := range o.seen {
		if strings.TrimSpace(op.Summary+op.Description) == "" {
			bare = append(bare, op.ID)
		}
	}
	if bare != nil {
		o.about(MissingDescription, nil, fmt.Sprintf("%s of %s without a summary and a description: %s", count(len(bare), "operation"), o.name, some(bare)), "say in the document what they do: searches find them by it")
	}
}
