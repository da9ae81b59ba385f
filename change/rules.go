package change

import (
	"cmp"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/expression"
	"github.com/bailiwick-dev/bailiwick/write"
)

// A Rule defines the review of the changes that match When. All matching rules count: the highest number of approvals,
// the highest risk and the strictest mode apply, and the reviewers of each rule must approve.
type Rule struct {
	Name      string                // its place in the configuration: "review[1]"
	When      *expression.Condition // nil matches every change
	Approvals int                   // number of people who must approve. 0 has no effect
	Risk      Risk                  // "" sets nothing
	Mode      write.Mode            // "" sets nothing
	Reviewers []Reviewer            `json:",omitempty"` // who can approve. Nil means everybody who may decide
}

// Judge applies rules to c. It sets the facts on which rules depend (Op, Classes, Fields, Rows) and the result (Mode,
// Need, Panels, Risk, Rule). asked is the mode in the rules of the classes or of an action, or "" if they have none.
//
// For safety, a rule that can't be evaluated counts as matching, but doesn't allow anything. Mode allow of a class or
// of a rule applies unless another rule has mode review or requires approvals. Deny always applies. If writes are of
// several kinds, a rule matches if it matches the whole or one kind. It only allows the change if it matches each kind.
// So a write in a group isn't judged more mildly than by itself.
func Judge(c *Change, rules []Rule, p identity.Principal, asked write.Mode) {
	c.Op, c.Classes, c.Fields, c.Rows = common(c)
	c.Risk = assess(c)
	kinds := c.Kinds()
	c.Need, c.Panels = 1, nil
	c.Mode = asked
	var by []string
	for i := range rules {
		r := &rules[i]
		some, all := r.matches(kinds, p)
		mode := r.Mode
		if mode == write.Allow && !all {
			mode = ""
		}
		panel, panelled := r.panel()
		if !some || mode == "" && r.Approvals == 0 && r.Risk == "" && !panelled {
			continue
		}
		by = append(by, r.Name)
		c.Need = max(c.Need, r.Approvals)
		c.Risk = higher(c.Risk, r.Risk)
		if panelled {
			c.Panels = append(c.Panels, panel)
		}
		if panelled || mode == "" && r.Approvals > 0 {
			mode = stricter(mode, write.Review)
		}
		c.Mode = stricter(c.Mode, mode)
	}
	c.Rule = strings.Join(by, ", ")
	c.Mode = cmp.Or(c.Mode, write.Review)
	if c.Mode == write.Allow {
		c.Need = 0
	}
}

// matches reports whether r matches or fails for some of kinds, and whether it matches all of them.
func (r *Rule) matches(kinds []expression.Facts, p identity.Principal) (some, all bool) {
	all = true
	for _, f := range kinds {
		holds, err := true, error(nil)
		if r.When != nil {
			holds, err = r.When.Holds(f, p)
		}
		some, all = some || holds || err != nil, all && holds && err == nil
	}
	return some, all
}

// Kinds returns the facts of c. If its writes differ in their operation, class or action, it also returns the facts of
// each kind. These are the fields that the writes of the kind set, and the number of all records.
func (c *Change) Kinds() []expression.Facts {
	out := []expression.Facts{c.facts()}
	for i := range c.Effects {
		e := &c.Effects[i]
		f := out[0]
		f.Op, f.Class, f.Classes, f.Fields, f.Action = string(e.Op), e.Class, []string{e.Class}, slices.Clone(e.Asked), c.From(i).Action
		k := 1 + slices.IndexFunc(out[1:], func(g expression.Facts) bool { return g.Op == f.Op && g.Class == f.Class && g.Action == f.Action })
		if k == 0 {
			out = append(out, f)
			continue
		}
		out[k].Fields = append(out[k].Fields, f.Fields...)
	}
	if len(out) == 2 {
		return out[:1] // all writes are of one kind, so the whole is enough
	}
	for k := range out[1:] {
		fields := out[k+1].Fields
		slices.Sort(fields)
		out[k+1].Fields = slices.Compact(fields)
	}
	return out
}

// facts returns the facts of c as a whole, for conditions.
func (c *Change) facts() expression.Facts {
	f := expression.Facts{Op: string(c.Op), Classes: c.Classes, Fields: c.Fields, Rows: c.Rows, Action: c.Action, Tool: c.Tool, Source: c.Source, Risk: string(c.Risk)}
	if len(c.Classes) > 0 {
		f.Class = c.Classes[0]
	}
	return f
}

// RequireReview makes c require a review, because of a gate or an objection, even if a rule would allow it without review.
func (c *Change) RequireReview() {
	if c.Mode == write.Allow {
		c.Mode, c.Need = write.Review, max(c.Need, 1)
	}
}

// HasUnknownEffects reports whether the current state of the object that c changes isn't known, or only in part.
func (c *Change) HasUnknownEffects() bool {
	return slices.ContainsFunc(c.Effects, func(e Effect) bool { return e.Present == PresentUnknown || len(e.NotKnown) > 0 || e.Listed != nil })
}

// common returns the combined facts of the effects of c: the operation, the classes, the fields and the number of
// records.
func common(c *Change) (op write.Op, classes, fields []string, rows int) {
	classes, fields = []string{}, []string{}
	for i := range c.Effects {
		e := &c.Effects[i]
		switch {
		case i == 0:
			op = e.Op
		case op != e.Op:
			op = Group
		}
		if e.Class != "" {
			classes = append(classes, e.Class)
		}
		fields = append(fields, e.Asked...)
	}
	for _, list := range []*[]string{&classes, &fields} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return op, classes, fields, len(c.Effects)
}

// Group is the Op of a change whose writes have different operations.
const Group write.Op = "group"

// assess returns the risk of c without rules: high for deletions, destructive calls and changes of the schema, medium
// for more than 10 records.
func assess(c *Change) Risk {
	const many = 10
	risk := Low
	if c.Rows > many {
		risk = Medium
	}
	for _, e := range c.Effects {
		if e.Op == write.OpDelete || e.Op == write.OpSchema || e.Destroys {
			return High
		}
	}
	return risk
}

func higher(a, b Risk) Risk {
	order := []Risk{"", Low, Medium, High}
	if slices.Index(order, b) > slices.Index(order, a) {
		return b
	}
	return a
}

// stricter returns the stricter of two modes. "" is the least strict.
func stricter(a, b write.Mode) write.Mode {
	order := []write.Mode{"", write.Allow, write.Review, write.Deny}
	if slices.Index(order, b) > slices.Index(order, a) {
		return b
	}
	return a
}
