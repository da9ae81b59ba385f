package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/bailiwick-dev/bailiwick/prompt"
)

const aboutPrompts = `# Prompts and resources

A prompt is a text that a person starts an agent with; a resource is a document that a client can put into a
conversation. Both are served beside the tools, over HTTP and stdio, and show each principal what it sees and nothing
else. Each request is limited and recorded as a call is: as ` + "`prompt:NAME`" + `, ` + "`resource:KIND`" + `, ` + "`resources`" + ` (the list),
` + "`resource:subscribe`" + ` and ` + "`completion`" + `.

## Built-in prompts

Each leads an agent through the tools, with the calls written out. Who may not call a tool that a prompt needs doesn't
see it. Arguments are checked as those of tools are; class names and fields are completed while they are typed.
`

const afterPrompts = `
## Prompts of your own

    prompts:
      triage:
        title: Triage
        description: What to look at first
        arguments:
          - {name: team, description: the team's name, required: true}
          - {name: since, description: a date}
        template: |
          Look at the open issues of {{json .team}}{{if .since}} since {{.since}}{{end}}, the oldest first.
          Call query_class {"class_name": "issues", "where": {"status": "open"}, "order": "created_at", "limit": 20}.

A template is one of Go's ` + "`text/template`" + `: ` + "`{{.team}}`" + ` is an argument, ` + "`{{json .team}}`" + ` the same in quotes as JSON has it;
` + "`if`" + `, ` + "`else`" + `, ` + "`with`" + `, ` + "`and`" + `, ` + "`or`" + `, ` + "`not`" + `, ` + "`eq`" + `, ` + "`ne`" + ` and ` + "`len`" + ` test them. There is nothing else: no loops, no variables, no function that
reads anything. It is checked when the configuration is read. Arguments are data: they are never read as a template. A
prompt is at most 64 KiB, an argument 4 KiB.

An embedding program passes ` + "`prompt.Prompt`" + ` values to ` + "`prompt.NewSet`" + `.

## Resources

| URI | holds | who may read it |
|---|---|---|
| bailiwick://{source}/{class}/schema | the answer of get_schema | who may call get_schema |
| bailiwick://{source}/{class}/count | the answer of count_objects | who may call count_objects |
| bailiwick://{source}/{class}/samples | the answer of get_sample_objects | who may call get_sample_objects |
| bailiwick://exports/… | an export that is larger than an answer, made again | who made it, for an hour |

All are JSON but exports. A class that is hidden and one that doesn't exist give the same error.

## Subscriptions

Clients that listen are notified when rules, sources, tools or prompts are read or changed: that the lists of tools, prompts
and resources, and the schemas that they subscribed to, may be other ones. All are notified, whatever changed, so that the
message itself says nothing about the rules. Counts and samples change with the data, which isn't watched; they can't be subscribed to.
`

// prompts describes the built-in prompts, configured prompts and resources.
func prompts() []byte {
	b := bytes.NewBufferString(generated + aboutPrompts)
	for _, p := range prompt.Builtin() {
		fmt.Fprintf(b, "\n### %s\n\n%s", p.Name, p.Description)
		if len(p.Uses) > 0 {
			fmt.Fprintf(b, " It needs %s.", strings.Join(p.Uses, " and "))
		}
		b.WriteString("\n")
		if len(p.Arguments) == 0 {
			continue
		}
		b.WriteString("\n| argument | |\n|---|---|\n")
		for _, a := range p.Arguments {
			name := a.Name
			if a.Required {
				name = "**" + name + "**"
			}
			fmt.Fprintf(b, "| %s | %s |\n", name, cell(a.Description))
		}
	}
	b.WriteString(afterPrompts)
	return b.Bytes()
}
