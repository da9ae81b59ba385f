package prompt

import (
	"context"

	"github.com/bailiwick-dev/bailiwick"
)

// namedClasses is the maximum number of classes that a text names. A tool lists the others.
const namedClasses = 30

// exploreDatabase returns the prompt with which an agent explores the available data.
func exploreDatabase() Prompt {
	return Prompt{
		Name:        "explore_database",
		Title:       "Explore the data",
		Description: "Survey the classes: what each holds, how much of it, and how they hang together.",
		Uses:        []string{"get_all_schemas", "get_schema"},
		Handle: func(_ context.Context, c *bailiwick.Call, in Input) (Result, error) {
			views := c.Views()
			names := make([]string, len(views))
			for i, v := range views {
				names[i] = v.Name()
			}
			g := &guide{}
			g.say("Find out what this application's data is about, and tell me.")
			if len(names) == 0 {
				g.say("There is no class that you can see. Tell me so, and that the owner of this gateway decides what you see.")
				return Say("", g.text()), nil
			}
			g.say("You can see %s: %s.", many(len(names), "class", "classes"), some(names, namedClasses))
			if len(names) > namedClasses {
				g.step("Call get_all_schemas {}. It answers with groups of names: ask again with the prefixes that promise most.")
			} else {
				g.step("Call get_all_schemas {} for what each class is said to hold.")
			}
			g.step("Call get_schema for the classes that matter most, at most ten: those that others point to come first. Its relations tell what points where.")
			if in.Best("count_objects", "query_sql") == "count_objects" {
				g.step(`Count these with count_objects {"class_name": "…"}. If a count is refused or slow, leave it out and say so.`)
			} else if in.May("query_sql") {
				g.step(`Count these with query_sql {"sql": "SELECT count(*) FROM …"}. Where names don't explain what a class holds, look: SELECT * FROM … LIMIT 2.`)
			}
			if in.Best("get_sample_objects", "query_sql") == "get_sample_objects" {
				g.step(`Where names don't tell what a class holds, look: get_sample_objects {"class_name": "…", "limit": 2}.`)
			}
			g.say("Then answer, in at most twenty lines: one line on what the application does; a table of class, what it holds, records; the pointers that matter; " +
				"three questions that this data could answer.")
			g.say(data)
			return Say("", g.text()), nil
		},
	}
}
