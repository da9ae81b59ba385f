// Package visibility is what somebody sees of the classes and operations that a change writes, by the rules in force.
//
// It stands between policy and review, which shows changes and knows no rules. What a rule hides is nothing in it, as if it
// were not there; a value whose mask can't be made is none.
package visibility

import (
	"strings"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/result/mask"
	"github.com/bailiwick-dev/bailiwick/internal/review"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// Of returns what who sees of each class, by "source.Class", worked out once a class. Values are masked under key. It
// looks at fields alone: which records who sees is another question.
func Of(p *policy.Policy, principal identity.Principal, key mask.Key) func(class string) review.Sight {
	known := map[string]review.Sight{}
	return func(class string) review.Sight {
		s, ok := known[class]
		if !ok {
			s = sees(p, principal, key, class)
			known[class] = s
		}
		return s
	}
}

func sees(p *policy.Policy, principal identity.Principal, key mask.Key, class string) review.Sight {
	if api, operation, _ := strings.Cut(class, "."); p.APIs().Has(api) {
		return called(p, principal, api, operation)
	}
	v, err := p.View(principal, class, "", true)
	if err != nil {
		return review.Sight{}
	}
	s := review.Sight{Class: v.Name(), Key: v.Key(), Fields: map[string]schema.Type{}, Masks: map[string]review.Masked{}}
	for _, f := range v.Fields() {
		s.Fields[f.Name] = f.Type
		m := v.Mask(f.Name)
		if m == nil {
			continue
		}
		masked, err := m.Under(key)
		if err != nil {
			masked = func(value.Value) value.Value { return value.Value{} }
		}
		s.Masks[f.Name] = masked
	}
	return s
}

// called is what who sees of the calls of an operation. A name that a rule hides from who in any schema is hidden wherever
// it stands: what is sent doesn't say which schema its parts are of.
func called(p *policy.Policy, principal identity.Principal, api, operation string) review.Sight {
	reach, err := p.APIs().Reach(principal, api, "")
	if err != nil {
		return review.Sight{}
	}
	op, err := reach.View.Operation(operation)
	if err != nil {
		return review.Sight{}
	}
	return review.Sight{Class: api + "." + op.ID, Call: reach.Shows}
}
