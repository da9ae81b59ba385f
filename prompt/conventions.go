package prompt

import (
	"context"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// conventions returns the prompt that explains how to work with the tools, for the start of a conversation.
func conventions() Prompt {
	return Prompt{
		Name:        "conventions",
		Title:       "How to work here",
		Description: "How this gateway writes classes, ids, dates, conditions, pages and refusals. Give it to an agent once, at the start.",
		Handle: func(_ context.Context, _ *bailiwick.Call, in Input) (Result, error) {
			g := &guide{}
			g.say("You work inside an application's data through tools. They show what you may see, and nothing else exists for you.")
			var tools, more []string
			for _, name := range in.tools() {
				if in.lists(name) {
					tools = append(tools, name)
				} else {
					more = append(more, name)
				}
			}
			if len(tools) > 0 {
				g.say("Your tools: %s.", strings.Join(tools, ", "))
			}
			if len(more) > 0 {
				g.say("You can also call these by name: %s.", strings.Join(more, ", "))
			}
			if order := steps(tools); order != "" {
				g.say("Begin: %s.", order)
			}
			g.say("Classes and fields: a class is a collection of records. Write names exactly as the schema does; a refusal names the nearest right one.")
			g.say(`Ids are strings, and so are pointers: a pointer field holds the id of a record of another class. A path goes on in that record, wherever a field can stand: "assignee_id.team_id.name".`)
			g.say(`Dates are ISO 8601 in UTC: "2026-01-31" or "2026-01-31T10:00:00Z". null means that there is no value.`)
			if in.May("query_class") || in.May("count_objects") {
				g.say(`Conditions (where): {"status": "open"}, {"age": {"$gte": 18, "$lt": 65}}, {"id": {"$in": ["1", "2"]}}, {"$or": [{…}, {…}]}; ` +
					`also $ne $nin $exists $regex $startsWith $not.` +
					` {"author_id": {"$inQuery": {"className": "users", "where": {"team": "core"}}}} holds where a pointer leads to such a record, and $select compares any field with theirs.` +
					` Order: "-created_at" is newest first.`)
			}
			if in.May("query_class") {
				g.say("Name in keys only the fields you need: it keeps answers small. include replaces a pointer with its record. When has_more is true, " +
					"repeat the call that next_call gives, unchanged.")
			}
			if slices.ContainsFunc([]string{"count_objects", "group_by", "aggregate", "query_sql"}, in.May) {
				g.say("Let the database count and add up: never fetch records to count them yourself.")
			}
			if in.May("query_sql") {
				g.say("query_sql takes one SELECT in PostgreSQL's SQL; the classes are its tables: joins, sub-queries, WITH, GROUP BY, windows, FILTER. Join a pointer with the id it holds: " +
					`SELECT u.name, count(*) AS n FROM issues i JOIN users u ON u.id = i.assignee_id WHERE i.created_at >= now() - interval '30 days' GROUP BY u.id, u.name ORDER BY n DESC LIMIT 10. ` +
					"information_schema.columns lists what there is. Values from elsewhere go into params, as $1, $2.")
			}
			if in.May("aggregate") {
				g.say("aggregate takes MongoDB's stages; $lookup joins what no pointer leads to.")
			}
			g.say("Refusals say what is wrong, where, and often the right name or next call. Change the call as they say; repeat one unchanged only when it is retryable.")
			g.say("Say where an answer comes from: which class, which condition. If you can't find out, say so.")
			g.say(data)
			return Say("", g.text()), nil
		},
	}
}

// steps returns the order in which to call the available tools.
func steps(tools []string) string {
	var out []string
	for _, s := range []struct{ tool, text string }{
		{"get_all_schemas", "get_all_schemas lists the classes"},
		{"get_schema", "get_schema tells the fields of one"},
		{"query_sql", "query_sql runs a SELECT over them"},
		{"query_class", "query_class reads records"},
		{"get_sample_objects", "get_sample_objects shows what values look like"},
		{"count_objects", "count_objects tells how many there are"},
		{"group_by", "group_by counts by value"},
		{"group_by_date", "group_by_date counts by time"},
	} {
		if slices.Contains(tools, s.tool) {
			out = append(out, s.text)
		}
	}
	return problem.Sentences(out...)
}
