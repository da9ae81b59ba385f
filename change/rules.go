package change

import (
	"cmp"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/rules/expression"
	"github.com/bailiwick-dev/bailiwick/write"
)

// A Rule says how the changes that match When are reviewed. All matching rules count: the highest number of
// approvals, the highest risk and the strictest mode apply.
type Rule struct {
	Name      string                // its place in the configuration: "review[1]"
	When      *expression.Condition // nil matches every change
	Approvals int                   // people who must approve; 0 sets nothing
	Risk      Risk                  // "" sets nothing
	Mode      write.Mode            // "" sets nothing
}

// Judge sets the facts of c that rules decide by, and the result: Op, Classes, Fields, Rows, Mode, Need, Risk and
// Rule. asked is the mode set by the rules of the classes or of an action; "" if they set none.
//
// A rule that can't be evaluated counts as matching, to be safe. Mode allow, of a class or of a rule, applies unless
// another rule says review or requires approvals; deny always applies.
func Judge(c *Change, rules []Rule, p identity.Principal, asked write.Mode) {
	c.Op, c.Classes, c.Fields, c.Rows = facts(c)
	c.Risk = assess(c)
	seen := c.Facts()
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

// Facts returns what conditions see of c.
func (c *Change) Facts() expression.Facts {
	f := expression.Facts{Op: string(c.Op), Classes: c.Classes, Fields: c.Fields, Rows: c.Rows, Action: c.Action, Tool: c.Tool, Source: c.Source, Risk: string(c.Risk)}
	if len(c.Classes) > 0 {
		f.Class = c.Classes[0]
	}
	return f
}

// Reviewed requires a review of c even if a rule would let it through, because of a gate or an objection.
func (c *Change) Reviewed() {
	if c.Mode == write.Allow {
		c.Mode, c.Need = write.Review, max(c.Need, 1)
	}
}

// facts returns what the effects of c have in common: the operation, the classes, the fields and the number of
// records.
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

// Group is the Op of a change whose writes have different operations.
const Group write.Op = "group"

// assess returns the risk of c before any rule: high for deletions, destructive calls and changes of the schema,
// medium for more than 10 records.
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

// Stricter returns the stricter of two modes; "" is the least strict.
func Stricter(a, b write.Mode) write.Mode {
	order := []write.Mode{"", write.Allow, write.Review, write.Deny}
	if slices.Index(order, b) > slices.Index(order, a) {
		return b
	}
	return a
}
