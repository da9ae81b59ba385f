package prompt

import (
	"context"
	"fmt"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// findRelationship returns the prompt with which an agent finds the records that point to a record.
func findRelationship() Prompt {
	return Prompt{
		Name:        "find_relationship",
		Title:       "What belongs to a record",
		Description: "Find the records of one class that point to a record of another.",
		Arguments: []Argument{class("parent_class", "the class of the record that is pointed to"),
			{Name: "parent_id", Description: "the id of that record", Required: true},
			class("child_class", "the class of the records that point to it"),
			{Name: "pointer_field", Description: "the field of child_class that points", Required: true, Complete: pointersOf("child_class", "parent_class")}},
		Uses: []string{"query_class"},
		Handle: func(_ context.Context, _ *bailiwick.Call, in Input) (Result, error) {
			parent, err := in.View("parent_class")
			if err != nil {
				return Result{}, err
			}
			child, err := in.View("child_class")
			if err != nil {
				return Result{}, err
			}
			field, id := in.Text("pointer_field"), in.Text("parent_id")
			if to, ok := child.Pointer(field); !ok || to.Target != parent.Name() {
				known := pointers(child, parent.Name())
				p := invalid("pointer_field", fmt.Sprintf("%s of %s is no pointer to %s", quoteJSON(problem.Cut(field)), child.Name(), parent.Name()))
				p.Near = problem.Nearest(field, known, 3)
				if len(known) > 0 {
					p.Suggestion = "these are: " + some(known, 12)
				}
				return Result{}, p
			}
			where := member("where", object1(field, value.OfString(id)))
			g := &guide{}
			g.say("Find the records of %s whose %s points to one record of %s.", describeClass(child), field, describeClass(parent))
			to, _ := child.Pointer(field)
			switch in.Best("get_object", "query_class") {
			case "get_object":
				g.step("%s. If it is not found, say so and stop: you can't see such a record.",
					invoke("get_object", text("class_name", parent.Name()), text("object_id", id)))
			case "query_class":
				g.step("%s. If there is none, say so and stop: you can't see such a record.",
					invoke("query_class", text("class_name", parent.Name()), member("where", object1(to.TargetKey, value.OfString(id)))))
			}
			switch in.Best("count_objects", "query_sql") {
			case "count_objects":
				g.step("%s. How many there are.", invoke("count_objects", text("class_name", child.Name()), where))
			case "query_sql":
				g.step("%s. How many there are.", ask("SELECT count(*) FROM "+quotedName(child.Name())+" WHERE "+quotedName(field)+" = $1", value.OfString(id)))
			}
			order := []value.Member{text("class_name", child.Name()), where, number("limit", 20)}
			if f := creation(child); f != nil {
				order = append(order, text("order", "-"+f.Name))
			}
			g.step("%s. The records themselves.", invoke("query_class", order...))
			g.say("Then answer: what the record of %s is, in one line; how many records of %s belong to it; the ones that matter, in a short list. "+data, parent.Name(), child.Name())
			return Say(fmt.Sprintf("Records of %s that point to a record of %s", child.Name(), parent.Name()), g.text()), nil
		},
	}
}
