package review

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// A Viewer is the reader of a change.
type Viewer struct {
	Human string // the person, as in change.Party.Owner

	// Reviewer is set for a person who may be asked to decide. Any other viewer is the agent that proposed the
	// change. An agent doesn't see defaults, results of triggers, cascades or the current state. They may depend on
	// records that the agent doesn't see.
	Reviewer bool

	// Now contains the current records that updates and deletes write, in the order of the effects, as the viewer
	// sees them. Each record has the fields that were reviewed. An entry is Null for a removed or hidden record, and
	// nil if the record is not known. A nil slice means that no record is known.
	Now []*value.Value
}

// New returns the sheet that viewer may see of c, using the visibility of each class ("source.Class"). The caller
// sets Checks, the Can fields, Trail and the audit record's number and hash.
func New(c *change.Change, visibility func(class string) Visibility, viewer Viewer) *Sheet {
	sheet := &Sheet{
		Row:  NewRow(c, visibility, viewer),
		Tool: c.Tool, Action: c.Action, Preview: c.Preview, Rule: c.Rule, Policy: c.Policy,
		Correlation: c.Correlation, After: c.After, Reverts: c.Reverts, Input: c.Input,
		Replaces: c.Replaces, ReplacedBy: c.ReplacedBy, Version: len(c.Earlier) + 1, Thread: thread(c), Outcome: outcome(c, viewer.Reviewer),
	}
	if viewer.Reviewer {
		sheet.Refused = line(c.Refusal)
	}
	d := differ{change: c, viewer: viewer, titles: titler{c, visibility, viewer}, cells: maxCells, room: maxRoom}
	for i, e := range c.Effects {
		sheet.Items = append(sheet.Items, d.item(i, e, through(e, visibility)))
	}
	if viewer.Reviewer {
		for _, cascade := range c.Cascades {
			if s := visibility(cascade.Class); s.Class != "" {
				cascade.Class = s.Class
				sheet.Cascades = append(sheet.Cascades, cascade)
			}
		}
	}
	if viewer.Reviewer && !c.State.IsFinal() {
		sheet.Lasting = sheet.lasting(c.Effects)
	}
	for _, step := range c.History {
		if step.By == "" && !viewer.Reviewer {
			step.Comment = "" // agents don't see source errors or the executor's name
		}
		step.Comment, step.By, step.Actor = words(step.Comment), line(step.By), nil
		sheet.History = append(sheet.History, step)
	}
	if c.Outcome != nil {
		sheet.Answer, sheet.Refusal = visibleAnswer(c, visibility), c.Outcome.Reply
		sheet.Locations = locations(c, visibility)
	}
	return sheet
}

// groupTool is the tool whose sentence about a change comes from the agent. For other tools, the sentence comes from
// the template of an action.
const groupTool = "propose_changes"

// NewRow returns c as a row of the queue.
func NewRow(c *change.Change, visibility func(class string) Visibility, viewer Viewer) Row {
	row := Row{
		ID: c.ID, State: c.State, Title: titler{c, visibility, viewer}.title(), Says: line(c.Says), Op: string(c.Op), Source: c.Source, Rows: c.Rows, Risk: c.Risk, Need: c.Need,
		Agent: name(c.Agent), Owner: line(c.Agent.Owner), Reason: words(c.Reason), Digest: c.Digest,
		Created: c.Created, Updated: c.Updated, Expires: c.Expires,
		Classes: []string{}, Fields: []string{},
	}
	if c.Asker != nil {
		row.Asker = person(*c.Asker)
	}
	switch {
	case row.Says == "":
	case c.Tool == groupTool:
		row.SaidBy = name(c.Agent)
	case c.Action != "":
		row.SaidBy = "the action " + line(c.Action)
	default:
		row.SaidBy = "the tool " + line(c.Tool)
	}
	row.count(c, visibility, viewer)
	// List only the classes and fields that the viewer sees.
	seen := map[string]bool{}
	for _, class := range c.Classes {
		s := visibility(class)
		if s.Class != "" {
			row.Classes = append(row.Classes, s.Class)
		}
		for _, field := range c.Fields {
			_, sees := s.field(field)
			seen[field] = seen[field] || sees
		}
	}
	for _, field := range c.Fields {
		if seen[field] {
			row.Fields = append(row.Fields, field)
		}
	}
	// Count only decisions about the current digest, one for each person.
	people := map[string]bool{}
	for _, d := range c.Decisions {
		if d.Digest != c.Digest {
			continue
		}
		row.Broken = row.Broken || d.Broken
		human := cmp.Or(d.By.Human(), d.By.Principal)
		row.Mine = row.Mine || viewer.Human != "" && human == change.Party{Owner: viewer.Human}.Human()
		people[human] = people[human] || d.Approve
	}
	for _, approves := range people {
		if approves {
			row.Approvals++
		}
	}
	row.addReviewers(c, viewer)
	return row
}

// addReviewers sets the reviewers whose approval c still needs. Agents don't see them.
func (r *Row) addReviewers(c *change.Change, viewer Viewer) {
	if len(c.Panels) == 0 || !slices.Contains([]change.State{change.Pending, change.Stale, change.Returned}, c.State) {
		return
	}
	missing := c.Missing()
	if len(missing) > 0 {
		r.Need = max(r.Need, r.Approvals+1) // several panels can require more people than the highest number of approvals
	}
	if viewer.Reviewer {
		r.Reviewers = missing
	}
}

// ReviewerText returns the reviewers whose approval is missing, for people, or "".
func (r Row) ReviewerText() string {
	var out []string
	for _, panel := range r.Reviewers {
		names := make([]string, len(panel.Names))
		for i, name := range panel.Names {
			names[i] = line(name)
		}
		one := strings.Join(names, " or ")
		if panel.Need > 1 {
			one = fmt.Sprintf("%d of %s", panel.Need, one)
		}
		if !slices.Contains(out, one) {
			out = append(out, one)
		}
	}
	return strings.Join(out, ", and ")
}

// count counts the records that c writes by operation. For reviewers it adds the records that the database writes along
// with them, as far as the viewer sees their classes.
func (row *Row) count(c *change.Change, visibility func(class string) Visibility, viewer Viewer) {
	for _, e := range c.Effects {
		switch e.Op {
		case write.OpCreate:
			row.Creates++
		case write.OpUpdate:
			row.Updates++
		case write.OpDelete:
			row.Deletes++
		}
	}
	for _, cascade := range c.Cascades {
		switch {
		case !viewer.Reviewer || visibility(cascade.Class).Class == "":
		case cascade.Effect == "delete":
			row.Deletes += cascade.Records
		default:
			row.Updates += cascade.Records
		}
	}
}

// through returns the visibility of the effect e. A new class is described only by the request, so every viewer of
// the change sees it. A removed class is visible only to viewers who see the class.
func through(e change.Effect, visibility func(class string) Visibility) Visibility {
	s := visibility(e.Class)
	if e.Op != write.OpSchema {
		return s
	}
	if s.Class == "" && e.Before.IsNull() {
		_, s.Class, _ = strings.Cut(e.Class, ".")
	}
	return fieldsOf(s.Class)
}

// HiddenCount returns how many parts of c a reviewer with this visibility doesn't see completely. It counts written
// fields that are hidden or masked, and hidden classes of cascades. A reviewer may approve only if hidden is 0. The
// result denied is the number of deleted fields that the rules show to no principal.
func HiddenCount(c *change.Change, visibility func(class string) Visibility) (hidden, denied int) {
	for _, e := range c.Effects {
		s := through(e, visibility)
		if s.Class == "" {
			hidden++
			continue
		}
		if e.Op == write.OpDelete {
			denied += s.Denied
		}
		_, unseen := takes(e, s)
		hidden += unseen
		for _, field := range changedFields(e, true) {
			before, _ := e.Before.Get(field)
			after, _ := e.After.Get(field)
			if _, seen := s.field(field, before, after); !seen || s.Masks[field] != nil {
				hidden++
			}
		}
	}
	for _, cascade := range c.Cascades {
		if visibility(cascade.Class).Class == "" {
			hidden++
		}
	}
	return hidden, denied
}

// key returns the key of the i-th record as text. It returns "" if the record doesn't exist yet, or if a key field is
// hidden or masked.
func key(c *change.Change, i int, s Visibility) string {
	id := c.Effects[i].Key
	if id == "" && c.Outcome != nil && c.Outcome.Receipt != nil && i < len(c.Outcome.Receipt.Keys) {
		id = c.Outcome.Receipt.Keys[i]
	}
	return keyOf(id, s)
}

// keyOf returns the key of a record as text, or "" if a key field is hidden or masked.
func keyOf(id string, s Visibility) string {
	if s.Call != nil {
		return identifier(id)
	}
	for _, field := range s.Key {
		if _, seen := s.Fields[field]; !seen || s.Masks[field] != nil {
			return ""
		}
	}
	if len(s.Key) == 0 {
		return ""
	}
	return identifier(id)
}

func name(p change.Party) string { return line(cmp.Or(p.Name, p.Owner, p.Principal)) }

// person returns the name of the person behind p. One person may have several credentials.
func person(p change.Party) string { return line(cmp.Or(p.Owner, p.Name, p.Principal)) }

// outcome describes in one sentence how c ended, or why it is blocked. Only reviewers see why a source refused a
// write, because the reason may depend on records that the agent doesn't see.
func outcome(c *change.Change, reviewer bool) string {
	if c.Outcome != nil && c.Outcome.Code == string(problem.Conflict) && c.Outcome.Kind != "dependence" && !reviewer && c.Op != write.OpCall {
		return "The source refused it. Nothing was written. People see why: ask one of them, or propose something else."
	}
	if c.Outcome != nil && c.Outcome.Detail != "" {
		return words(c.Outcome.Detail)
	}
	switch c.State {
	case change.Applied:
		return "It was applied."
	case change.Rejected:
		return "A person rejected it."
	case change.Expired:
		return "Nobody decided in time. It can be proposed anew."
	case change.Cancelled:
		return "Its agent took it back."
	case change.Replaced:
		return "Another version of it is reviewed in its place: " + c.ReplacedBy + "."
	case change.Returned:
		return "A person asked for changes. Its agent answers, or proposes another version."
	case change.Failed:
		return "Nothing was written."
	case change.Stale:
		return "What it would change has changed since it was looked at. Nothing was written."
	case change.Unknown:
		return "The target did not answer: it may have happened or not."
	}
	return ""
}

// changedFields returns the fields of e that change. Requested fields come first. If source is true, fields set by
// the source follow.
func changedFields(e change.Effect, source bool) []string {
	fields := slices.Clone(e.Asked)
	if !source {
		return fields
	}
	add := func(name string) {
		if !slices.Contains(e.Asked, name) {
			fields = append(fields, name)
		}
	}
	if e.After.IsNull() { // the record is deleted
		for _, m := range e.Before.Members() {
			add(m.Name)
		}
		return fields
	}
	for _, m := range e.After.Members() {
		before, _ := e.Before.Get(m.Name)
		if !same(before, m.Value) { // an unrequested null in a new record doesn't count
			add(m.Name)
		}
	}
	return fields
}

// verb returns an everyday verb for op.
func verb(op write.Op) string {
	switch op {
	case write.OpAction:
		return "run"
	case write.OpSchema:
		return "change"
	case "group":
		return "write"
	}
	return string(op)
}
