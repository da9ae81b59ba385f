package policyops

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// at adds a finding about a principal's own lists or filters.
func (l *look) at(code Code, h Holder, keys []string, message, suggestion string) {
	f := Finding{Code: code, Message: message, Suggestion: suggestion}
	if h.Path != nil {
		f.Path = append(slices.Clone(h.Path), keys...)
	} else {
		f.Holder = h.Name
	}
	l.out = append(l.out, f)
}

// holder checks the lists and filters of a principal.
func (l *look) holder(h Holder) {
	known := l.regime.Names()
	for _, name := range l.regime.Names() {
		known = append(known, l.regime.Class(name).Name)
	}
	callable := slices.Clone(known)
	all := l.regime.Policy().APIs()
	for _, api := range all.Names() {
		rules, _, _ := all.Rules(api)
		callable = append(callable, api)
		for _, op := range operationsOf(rules) {
			callable = append(callable, api+"."+op.ID)
		}
	}
	l.list(h, "classes", h.Who.Classes, callable, "class")
	l.list(h, "tools", h.Who.Tools, l.regime.Tools(), "tool")
	for _, key := range slices.Sorted(maps.Keys(h.Who.Filters)) {
		l.filter(h, key, known)
	}
}

// list adds findings for unknown names in a list of h. It also reports exceptions for names that the list doesn't
// include. The argument key is the key of the list, and what describes its names.
func (l *look) list(h Holder, key string, list identity.List, known []string, what string) {
	for _, part := range []struct {
		key   string
		names []string
	}{{"only", list.Only}, {"except", list.Except}} {
		for i, n := range part.names {
			if !slices.Contains(known, n) {
				l.at(unresolved, h, []string{key, part.key, strconv.Itoa(i)}, fmt.Sprintf("%s of %s names the %s %q, which doesn't exist%s", key, h.Name, what, n, near(n, known)), "correct it, or take it out")
			}
		}
	}
	for i, n := range list.Except {
		api, _, operation := strings.Cut(n, ".")
		if operation && slices.Contains(list.Only, api) {
			continue // excludes one operation of an included API
		}
		if list.Only != nil && slices.Contains(known, n) && !slices.Contains(list.Only, n) {
			l.at(dead, h, []string{key, "except", strconv.Itoa(i)}, fmt.Sprintf("%s of %s takes %s away, which only doesn't keep", key, h.Name, n), "take it out of except")
		}
	}
}

// filter checks a filter of a principal. The class must exist, the principal must see it, and the filter must be
// valid for it.
func (l *look) filter(h Holder, key string, known []string) {
	path := []string{"filters", key}
	if key == "default" {
		return // the default filter applies where it is valid, and hides all other classes
	}
	if !slices.Contains(known, key) {
		l.at(unresolved, h, path, fmt.Sprintf("a filter of %s is for the class %q, which doesn't exist%s", h.Name, key, near(key, known)), "correct it, or take it out")
		return
	}
	v := l.regime.ClassVerdict(h.Who, key)
	switch {
	case v.Allowed:
		Lists(h.Who.Filters[key], l.regime.Class(v.Class), func(_ *schema.Field, message, suggestion string) {
			l.at(dead, h, path, fmt.Sprintf("the filter of %s for %s: %s", h.Name, key, message), suggestion)
		})
	case v.Reason == "principal_filter":
		l.at(unresolved, h, path, fmt.Sprintf("the filter of %s for %s names what the class hasn't got, so the class is refused", h.Name, key), "correct it")
	default:
		l.at(dead, h, path, fmt.Sprintf("%s has a filter for %s, which it doesn't see: %s", h.Name, key, v.Why), "take it out")
	}
}

func operationsOf(r calls.Rules) []*spec.Operation {
	if r.Document == nil {
		return nil
	}
	return r.Document.Operations
}
