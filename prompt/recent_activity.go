package prompt

import (
	"context"
	"fmt"
	"strconv"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// recentActivity returns the prompt with which an agent reports on the newest records of a class.
func recentActivity() Prompt {
	return Prompt{
		Name:        "recent_activity",
		Title:       "Recent activity",
		Description: "Report on the newest records of a class.",
		Arguments: []Argument{class("class_name", "the class whose records to look at"),
			{Name: "limit", Description: "how many records, 1 to 100; 10 when left out"}},
		Uses: []string{"query_class"},
		Handle: func(_ context.Context, _ *bailiwick.Call, in Input) (Result, error) {
			v, err := in.View("class_name")
			if err != nil {
				return Result{}, err
			}
			limit := 10
			if s := in.Text("limit"); s != "" {
				if limit, err = strconv.Atoi(s); err != nil || limit < 1 || limit > 100 {
					return Result{}, invalid("limit", "limit is a whole number from 1 to 100")
				}
			}
			order, why := newest(v)
			if order == "" {
				return Result{}, invalid("class_name", fmt.Sprintf("%s has no date and no number in its key that you can see, so nothing tells which records are new", v.Name()))
			}
			name := text("class_name", v.Name())
			g := &guide{}
			g.say("Report on the newest records of %s.", describeClass(v))
			g.step("%s. %s.", invoke("query_class", name, text("order", order), number("limit", limit)), why)
			if to := pointers(v, ""); len(to) > 0 {
				g.say(`Where an id says too little, repeat the call with "include": one or two of %s.`, some(to, 8))
			}
			if limit > 20 {
				g.say(`If records are large, name the few fields that you need in "keys".`)
			}
			g.say("Then answer: one line on the time that these records span; a short list, newest first, with what happened and to whom; what changed or repeats. " +
				"Tell only what the records say. " + data)
			return Say("Newest records of "+v.Name(), g.text()), nil
		},
	}
}

// newest returns the sort order with the newest records first, and the reason for it. It returns "" if no field
// indicates how new a record is.
func newest(v *policy.View) (order, why string) {
	if f := creation(v); f != nil {
		return "-" + f.Name, "Newest first, by " + f.Name
	}
	if key := v.Key(); len(key) == 1 && v.Field(key[0]).Type == schema.Integer && v.Mask(key[0]) == nil {
		return "-" + key[0], "There is no date to go by, so the highest " + key[0] + " comes first: it is given in turn in most databases. Say so"
	}
	return "", ""
}
