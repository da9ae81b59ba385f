package writes

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/bailiwick-dev/bailiwick/write"
)

// Mode returns how the writes of a plan may run under the rules of their classes. The mode of an action decides about
// its own writes.
func (p *Plan) Mode(r write.Request) write.Mode {
	said := map[write.Mode]bool{}
	var last write.Mode
	for i := range p.Items {
		last = write.Review
		if made := r.From(i); made.Action != "" {
			last = made.Mode
		} else if v := p.Items[i].View; v != nil {
			last = v.Rule().Write[p.Items[i].Op]
		} else if call, err := p.Items[i].Call.Plan(); err == nil {
			last = call.Mode
		}
		said[last] = true
	}
	if len(said) > 1 {
		return write.Review // a permission for one write of a group doesn't cover the other writes
	}
	return last
}

// Schema returns the schema that a plan writes to if its source has one schema per tenant, or "" for other sources.
// All items use views of one principal in one source, so they share one schema.
func (p *Plan) Schema() string {
	for i := range p.Items {
		if v := p.Items[i].View; v != nil {
			return v.Schema()
		}
	}
	return ""
}

// sentence returns the first sentence of a summary without its full stop. Some API documents have whole paragraphs as
// summaries.
func sentence(summary string) string {
	first, _, _ := strings.Cut(strings.Join(strings.Fields(summary), " "), ". ")
	return strings.TrimRight(first, ".")
}

// Title describes a plan in one line, without values of records.
func (p *Plan) Title() string {
	one := &p.Items[0]
	if one.Op == write.OpCall && len(p.Items) > 1 {
		return fmt.Sprintf("%d calls of %s", len(p.Items), p.Source)
	}
	if call, err := one.Call.Plan(); err == nil {
		return cmp.Or(sentence(call.Operation.Summary), call.Operation.ID) + ": " + one.Key
	}
	if len(p.Items) > 1 {
		return fmt.Sprintf("%d writes to %s", len(p.Items), p.Source)
	}
	switch asked := one.Write.(type) {
	case *write.CreateClass:
		return "create the class " + asked.Class
	case *write.AddFields:
		return "add fields to " + one.Key
	case *write.DeleteClass:
		return "delete the class " + one.Key
	}
	title := fmt.Sprintf("%s %s %s", one.Op, one.View.Name(), one.Key)
	if one.Op == write.OpUpdate {
		var fields []string
		for _, s := range one.Sets {
			fields = append(fields, s.Field.Name)
		}
		title += ": " + strings.Join(fields, ", ")
	}
	return strings.TrimSpace(title)
}
