package writes

import (
	"fmt"
	"slices"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/write"
)

// apart refuses a group if an action was checked with a record that an earlier write of the group changes. All
// actions are checked before the first write runs, so such a check would use outdated values. Statements, functions
// and calls have no described effect. They may change any record that an action was checked with.
func (p *Plan) apart(r write.Request) error {
	var changed [][]Item // by the earlier writes
	for i := range p.Items {
		it := &p.Items[i]
		var read []Item
		for _, record := range r.From(i).Reads {
			if found, ok := it.record(record); ok {
				read = append(read, found)
			}
		}
		for j := range changed {
			if slices.ContainsFunc(read, func(one Item) bool { return slices.ContainsFunc(changed[j], one.sameRecord) }) {
				return &problem.Error{Code: problem.InvalidArgument, Kind: "apart", Pointer: fmt.Sprintf("/writes/%d", i),
					Detail:     fmt.Sprintf("%s is checked with a record that /writes/%d changes before it", r.From(i).Action, j),
					Suggestion: "put it before that write, or propose it as a change of its own. Use after to make it wait"}
			}
		}
		writes := []Item{*it}
		if it.Op == write.OpAction || it.Op == write.OpCall {
			writes = append(writes, read...)
		}
		changed = append(changed, writes)
	}
	return nil
}

// record returns an Item for a record that the action of i was checked with. It reports false if the principal can't
// see the record.
func (i *Item) record(r write.Record) (Item, bool) {
	v, err := i.policy.View(i.who, r.Class, "", true)
	if err != nil {
		return Item{}, false // the action can't have read an invisible record
	}
	out := Item{View: v, Key: r.ID, policy: i.policy, who: i.who}
	return out, out.find("") == nil
}
