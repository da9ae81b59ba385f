package prompt

import (
	"context"
	"strings"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/value"
)

// classOverview returns the prompt with which an agent describes one class.
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
			g.say("Describe the class %s for somebody who has never seen it.", describeClass(v))
			g.step("%s. It tells the fields, their types and allowed values, and what points where.", invoke("get_schema", name))
			kinds := kindsOf(v)
			switch in.Best("count_objects", "query_sql") {
			case "count_objects":
				g.step("%s. The total of what you can see.", invoke("count_objects", name))
			case "query_sql":
				g.step("%s. The total of what you can see.", ask("SELECT count(*) FROM "+quotedName(v.Name())))
			}
			switch in.Best("get_sample_objects", "query_class", "query_sql") {
			case "get_sample_objects":
				g.step("%s. What values look like.", invoke("get_sample_objects", name, number("limit", 3)))
			case "query_class":
				g.step("%s. What values look like.", invoke("query_class", name, number("limit", 3)))
			case "query_sql":
				g.step("%s. What values look like.", ask("SELECT * FROM "+quotedName(v.Name())+" LIMIT 3"))
			}
			if len(kinds) > 0 {
				also := ""
				if len(kinds) > 1 {
					also = "; do the same for what else matters of " + some(kinds[1:], 8)
				}
				switch k := quotedName(kinds[0]); in.Best("group_by", "query_sql") {
				case "group_by":
					g.step("%s. How the records fall into kinds%s.", invoke("group_by", name, text("field", kinds[0]), number("limit", 20)), also)
				case "query_sql":
					g.step("%s. How the records fall into kinds%s.", ask("SELECT "+k+", count(*) AS n FROM "+quotedName(v.Name())+" GROUP BY "+k+" ORDER BY n DESC LIMIT 20"), also)
				}
			}
			if f := creation(v); f != nil {
				in.months(g, v, f.Name)
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

// months adds a step that counts the records of v by the month of a date field.
func (in Input) months(g *guide, v *policy.View, field string) {
	switch in.Best("group_by_date", "query_sql") {
	case "group_by_date":
		g.step("%s. When they came to be.", invoke("group_by_date", text("class_name", v.Name()), text("field", field), text("interval", "month"), number("limit", 12)))
	case "query_sql":
		g.step("%s. When they came to be.", ask("SELECT date_trunc('month', "+quotedName(field)+") AS month, count(*) AS n FROM "+quotedName(v.Name())+" GROUP BY 1 ORDER BY 1 DESC LIMIT 12"))
	}
}

// ask returns a call of query_sql.
func ask(sql string, params ...value.Value) string {
	arguments := []value.Member{text("sql", sql)}
	if params != nil {
		arguments = append(arguments, member("params", value.OfArray(params)))
	}
	return invoke("query_sql", arguments...)
}

// quotedName quotes the name of a class or a field for a SELECT.
func quotedName(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
