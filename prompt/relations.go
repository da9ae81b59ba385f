package prompt

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/policy"
)

// These limit a readable diagram.
const (
	maxListed  = 50  // maximum classes in the argument
	maxDrawn   = 150 // maximum classes in the diagram
	maxPointed = 400 // maximum pointers
)

// relations returns the prompt that draws the pointers between classes.
func relations() Prompt {
	return Prompt{
		Name:        "relations",
		Title:       "How classes hang together",
		Description: "A diagram (Mermaid) of the classes and the pointers between them.",
		Arguments: []Argument{{Name: "classes", Description: "only these classes and what they point to: names with commas between; all when left out",
			Complete: classList}},
		Uses: []string{"get_schema"},
		Handle: func(_ context.Context, c *bailiwick.Call, in Input) (Result, error) {
			views, err := in.classViews(c)
			if err != nil {
				return Result{}, err
			}
			g := &guide{}
			g.say("These are the classes that you can see and the pointers between them. A line from A to B, named f, says that the field f of a record of A " +
				"holds the id of a record of B.")
			draw(g, views, in.Text("classes") != "")
			g.say("Use it to find the way from one class to another: a pointer can be followed with include, and turned round with a condition on it. "+
				`get_schema {"class_name": "…"} tells the fields of a class. %s`, data)
			return Say("", g.text()), nil
		},
	}
}

// classViews returns the views of the classes in the argument, or all views if the argument is empty.
func (in Input) classViews(c *bailiwick.Call) ([]*policy.View, error) {
	names := splitList(in.Text("classes"))
	if in.Text("classes") == "" {
		return c.Views(), nil
	}
	if len(names) == 0 || len(names) > maxListed {
		return nil, invalid("classes", fmt.Sprintf("classes has 1 to %d names with commas between", maxListed))
	}
	var out []*policy.View
	for _, name := range names {
		v, err := c.View(name)
		if err != nil {
			return nil, at(err, "classes")
		}
		out = append(out, v)
	}
	return out, nil
}

// draw writes an entity relationship diagram. Classes without a pointer are drawn only if they were requested.
func draw(g *guide, views []*policy.View, asked bool) {
	var edges, alone []string
	var drawn []string
	note := func(name string) {
		if !slices.Contains(drawn, name) {
			drawn = append(drawn, name)
		}
	}
	left := 0
	for _, v := range views {
		for _, r := range v.Relations() {
			if len(edges) == maxPointed || len(drawn) >= maxDrawn {
				left++
				continue
			}
			note(v.Name())
			note(r.Target)
			one := "||" // the target record is required
			if r.List {
				one = "o{"
			} else if !v.Field(r.Field).NotNull {
				one = "o|"
			}
			edges = append(edges, fmt.Sprintf("    %s }o--%s %s : %s", entity(v.Name()), one, entity(r.Target), label(r.Field)))
		}
	}
	for _, v := range views {
		if !slices.Contains(drawn, v.Name()) {
			alone = append(alone, v.Name())
		}
	}
	g.say("```mermaid\nerDiagram")
	for _, e := range edges {
		g.say("%s", e)
	}
	if asked {
		for _, name := range alone {
			g.say("    %s", entity(name))
		}
	}
	g.say("```")
	if left > 0 {
		g.say("%s more are not drawn: ask for fewer classes.", many(left, "pointer", "pointers"))
	}
	if len(alone) > 0 && !asked {
		g.say("Without pointers: %s.", some(alone, namedClasses))
	}
}

// entity quotes a name for Mermaid. No character in the name can end the quotes or the line.
func entity(name string) string {
	plain := func(r rune) bool {
		return r == '_' || '0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z'
	}
	if name != "" && (name[0] < '0' || name[0] > '9') && strings.IndexFunc(name, func(r rune) bool { return !plain(r) }) < 0 {
		return name
	}
	return label(name)
}

func label(name string) string {
	return `"` + strings.NewReplacer(`"`, "#quot;", "#", "#35;", "\n", " ", "\r", " ", "`", "'").Replace(name) + `"`
}
