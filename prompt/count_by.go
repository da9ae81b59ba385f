package prompt

import (
	"context"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// countBy returns the prompt with which an agent counts the records of a class by the values of a field.
func countBy() Prompt {
	return Prompt{
		Name:        "count_by",
		Title:       "Count by a field",
		Description: "Count the records of a class for each value of a field.",
		Arguments: []Argument{class("class_name", "the class whose records to count"),
			{Name: "group_by", Description: "the field by whose values to count", Required: true, Complete: fieldsOf("class_name")}},
		Uses: []string{"group_by"},
		Handle: func(_ context.Context, c *bailiwick.Call, in Input) (Result, error) {
			v, err := in.View("class_name")
			if err != nil {
				return Result{}, err
			}
			path, err := query.CheckPath(in.Text("group_by"), "/group_by")
			if err != nil {
				return Result{}, err
			}
			// If the call would be refused, the prompt is refused with the same error.
			q := &query.Pipeline{Class: v.Name(), Limit: 1, Stages: []query.Stage{query.Group{Key: query.FieldRef{Path: path, At: "/group_by"}, At: "/group_by"}}}
			a, err := c.Access(q)
			if err != nil {
				return Result{}, at(err, "group_by")
			}
			name, field := text("class_name", v.Name()), in.Text("group_by")
			g := &guide{}
			g.say("Count the records of %s by %s.", describeClass(v), field)
			f := v.Field(path[0])
			dated := f != nil && len(path) == 1 && (f.Type == schema.Date || f.Type == schema.Day)
			switch way := in.Best("group_by", "aggregate"); {
			case dated && in.Best("group_by_date", "query_sql") == "group_by_date":
				g.step("%s. A date has too many values of its own; take the interval that gives 5 to 30 rows.",
					invoke("group_by_date", name, text("field", field), text("interval", "month")))
			case dated && in.May("query_sql"):
				g.step("%s. A date has too many values of its own; take the interval that gives 5 to 30 rows.",
					ask("SELECT date_trunc('month', "+quotedName(field)+") AS month, count(*) AS n FROM "+quotedName(v.Name())+" GROUP BY 1 ORDER BY 1"))
			case way == "aggregate":
				g.step("%s. Largest first; null is the group of those without a value.",
					`aggregate {"class_name": `+quoteJSON(v.Name())+`, "pipeline": [{"$group": {"_id": `+quoteJSON("$"+field)+`, "n": {"$sum": 1}}}, {"$sort": {"n": -1}}, {"$limit": 50}]}`)
			default:
				g.step("%s. Largest first; null is the group of those without a value.", invoke("group_by", name, text("field", field), number("limit", 50)))
			}
			if to, ok := v.Pointer(field); ok {
				in.names(g, to)
			}
			if a.Refused {
				g.say("The owner refuses to have all of %s read: narrow it by where, on one of %s.", v.Name(), some(a.Leading, 12))
			}
			g.say("Then answer with a table of value, records and share in percent, the largest first, at most twenty rows and one for the rest; " +
				"then one line on what stands out. When truncated is true, say that there are more values. " + data)
			return Say("Records of "+v.Name()+" by "+problem.Cut(field), g.text()), nil
		},
	}
}

// names adds a step that finds the names of records whose ids are the keys of groups.
func (in Input) names(g *guide, to policy.Relation) {
	switch in.Best("get_objects", "query_class") {
	case "get_objects":
		g.step("The keys are ids of %s: get their names with %s and the ids of the largest groups, at most 50.", to.Target, `get_objects {"class_name": `+quoteJSON(to.Target)+`, "ids": […]}`)
	case "query_class":
		g.step("The keys are ids of %s: get their names with %s and the ids of the largest groups, at most 50.", to.Target,
			`query_class {"class_name": `+quoteJSON(to.Target)+`, "where": {`+quoteJSON(to.TargetKey)+`: {"$in": […]}}}`)
	default:
		g.say("The keys are ids of %s.", to.Target)
	}
}
