package change

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/rules/expression"
	"github.com/bailiwick-dev/bailiwick/write"
)

// A Rule says how changes are reviewed that When holds for. All rules that hold count: the most approvals, the highest
// risk and the strictest mode of them.
type Rule struct {
	Name      string                // its place in the configuration: "review[1]"
	When      *expression.Condition // nil holds for all
	Approvals int                   // people who must approve; 0 says nothing
	Risk      Risk                  // "" says nothing
	Mode      write.Mode            // "" says nothing
}

// Judge works out the facts of c that rules decide by, and what they decide: Op, Classes, Fields, Rows, Mode, Need, Risk and
// Rule. asked is what the rules of the classes and of an action say about the mode; "" where they say nothing.
//
// A rule that can't be evaluated holds: care is the side to err on. A mode of allow, of a class or of a rule, holds where
// no other rule says review or asks for approvals; deny holds always.
func Judge(c *Change, rules []Rule, p identity.Principal, asked write.Mode) {
	c.Op, c.Classes, c.Fields, c.Rows = facts(c)
	c.Risk = assess(c)
	seen := expression.Facts{Op: string(c.Op), Classes: c.Classes, Fields: c.Fields, Rows: c.Rows, Action: c.Action, Tool: c.Tool, Source: c.Source, Risk: string(c.Risk)}
	if len(c.Classes) > 0 {
		seen.Class = c.Classes[0]
	}
	c.Need = 1
	c.Mode = asked
	var by []string
	for i := range rules {
		r := &rules[i]
		if r.When != nil {
			if holds, err := r.When.Holds(seen, p); err == nil && !holds {
				continue
			}
		}
		by = append(by, r.Name)
		c.Need = max(c.Need, r.Approvals)
		c.Risk = higher(c.Risk, r.Risk)
		mode := r.Mode
		if mode == "" && r.Approvals > 0 {
			mode = write.Review
		}
		c.Mode = Stricter(c.Mode, mode)
	}
	c.Rule = strings.Join(by, ", ")
	c.Mode = cmp.Or(c.Mode, write.Review)
	if c.Mode == write.Allow {
		c.Need = 0
	}
}

// Reviewed has c wait for people though a rule would let it through: a gate stands before it, or something speaks against it.
func (c *Change) Reviewed() {
	if c.Mode == write.Allow {
		c.Mode, c.Need = write.Review, max(c.Need, 1)
	}
}

// facts are what c writes, all together.
func facts(c *Change) (op write.Op, classes, fields []string, rows int) {
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

// Group is the Op of a change whose writes are of several kinds.
const Group write.Op = "group"

// assess is the risk of c without any rule: what goes for good or changes the schema is high, many records are medium.
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

// Stricter returns the mode that holds of two; "" says nothing.
func Stricter(a, b write.Mode) write.Mode {
	order := []write.Mode{"", write.Allow, write.Review, write.Deny}
	if slices.Index(order, b) > slices.Index(order, a) {
		return b
	}
	return a
}

// ParseRisk reads a risk.
func ParseRisk(s string) (Risk, error) {
	for _, r := range []Risk{Low, Medium, High} {
		if s == string(r) {
			return r, nil
		}
	}
	return "", fmt.Errorf("must be low, medium or high, not %q", s)
}
