package change_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/write"
)

// TestFactsAreSet checks that a change has each fact that rules can ask for, and that a group has those of each of its writes. A rule
// that asks for a fact which isn't set holds for no change.
func TestFactsAreSet(t *testing.T) {
	c := change.Change{Op: change.Group, Classes: []string{"s.a", "s.b"}, Fields: []string{"x", "y"}, Rows: 2, Action: "triage", Tool: "propose_changes",
		Source: "s", Risk: change.High, Origins: []write.Origin{{Action: "triage"}, {Action: "tidy"}}, Effects: []change.Effect{
			{Op: write.OpUpdate, Class: "s.a", Asked: []string{"x"}}, {Op: write.OpDelete, Class: "s.b", Asked: []string{"y"}}}}
	kinds := c.Kinds()
	if len(kinds) != 3 {
		t.Fatalf("%d kinds of two writes and their group", len(kinds))
	}
	ofWhole := []string{"Rows", "Tool", "Source", "Risk"} // the same for each write of a group
	whole := reflect.ValueOf(kinds[0])
	for i := range whole.NumField() {
		name := whole.Type().Field(i).Name
		if whole.Field(i).IsZero() {
			t.Errorf("the facts of a change lack %s", name)
		}
		one, other := reflect.ValueOf(kinds[1]).Field(i).Interface(), reflect.ValueOf(kinds[2]).Field(i).Interface()
		if same := reflect.DeepEqual(one, other); same != slices.Contains(ofWhole, name) {
			t.Errorf("%s is %v for one write of a group and %v for the other: Kinds sets what each has of its own, and this test lists what is of the whole", name, one, other)
		}
	}
}
