package prompt

import (
	"context"
	"strings"

	"github.com/bailiwick-dev/bailiwick"
)

// classOverview returns the prompt that has an agent describe one class.
func classOverview() Prompt {
	return Prompt{
		Name:        "class_overview",
		Title:       "Overview of a class",
		Description: "Describe one class: its fields and what they mean, how many records there are, what they look like.",
		Arguments:   []Argument{class("class_name", "the class to describe")},
		Uses:        []string{"get_schema"},
		Handle: func(_ context.Context, _ *bailiwick.Call, in Input) (Result, error) {
			v, err := in.View("class_name")
			if err != nil {
				return Result{}, err
			}
			name := text("class_name", v.Name())
			g := &guide{}
			g.say("Describe the class %s for somebody who has never seen it.", named(v))
			g.step("%s. It tells the fields, their types and allowed values, and what points where.", invoke("get_schema", name))
			if in.May("count_objects") {
				g.step("%s. The total of what you can see.", invoke("count_objects", name))
			}
			if in.May("get_sample_objects") {
				g.step("%s. What values look like.", invoke("get_sample_objects", name, number("limit", 3)))
			}
			kinds := kindsOf(v)
			if !in.May("count_objects") && in.May("query_sql") {
				g.step("%s. The total of what you can see; then SELECT * with LIMIT 3 for what values look like.", invoke("query_sql", text("sql", "SELECT count(*) FROM "+quotedName(v.Name()))))
				if len(kinds) > 0 {
					k := quotedName(kinds[0])
					g.step("%s. How the records fall into kinds.", invoke("query_sql", text("sql", "SELECT "+k+", count(*) AS n FROM "+quotedName(v.Name())+" GROUP BY "+k+" ORDER BY n DESC LIMIT 20")))
				}
			}
			if len(kinds) > 0 && in.May("group_by") {
				also := ""
				if len(kinds) > 1 {
					also = "; do the same for what else matters of " + some(kinds[1:], 8)
				}
				g.step("%s. How the records fall into kinds%s.", invoke("group_by", name, text("field", kinds[0]), number("limit", 20)), also)
			}
			if f := creation(v); f != nil && in.May("group_by_date") {
				g.step("%s. When they came to be.", invoke("group_by_date", name, text("field", f.Name), text("interval", "month"), number("limit", 12)))
			}
			if to := pointers(v, ""); len(to) > 0 {
				var lead []string
				for _, r := range v.Relations() {
					lead = append(lead, r.Field+" to "+r.Target)
				}
				g.say("Its pointers: %s.", some(lead, 12))
			}
			g.say("Then answer in at most fifteen lines: what a record is; the fields that matter, with their meaning; how many there are and of what kinds; " +
				"what is striking (empty fields, one value everywhere, old data). " + data)
			return Say("Overview of "+v.Name(), g.text()), nil
		},
	}
}

// quotedName writes the name of a class or a field in a SELECT.
func quotedName(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
