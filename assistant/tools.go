package assistant

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/client"
	"github.com/bailiwick-dev/bailiwick/internal/llm"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// maxDeclared is the maximum number of tools declared to a model, because providers refuse more than 128. If there
// are more, the last two declared tools find and call the others.
const maxDeclared = 128

// These tools find and call the tools beyond maxDeclared.
const (
	findTools = "find_tools"
	useTool   = "use_tool"
)

// A catalogue contains the tools of one question, as declared to the model.
type catalogue struct {
	tools    map[string]client.Tool // by the name that is declared to the model
	declared []llm.Declaration
	rest     []client.Tool // the tools beyond maxDeclared
	unlisted []client.Tool // tools that the gateway doesn't list. A model that knows a name can call them
}

// newCatalogue declares the tools to the model. If there are more than maxDeclared, the last two declarations find
// and call the rest.
func newCatalogue(all []client.Tool) *catalogue {
	c := &catalogue{tools: map[string]client.Tool{}}
	shown := all
	if n := slices.IndexFunc(all, client.Tool.IsUnlisted); n >= 0 { // unlisted tools come last
		all, c.unlisted = all[:n], all[n:]
		shown = all
	}
	if len(all) > maxDeclared {
		shown, c.rest = all[:maxDeclared-2], all[maxDeclared-2:]
	}
	for _, t := range shown {
		name := c.name(t.Name)
		c.tools[name] = t
		c.declared = append(c.declared, llm.Declaration{Name: name, Description: t.Description, Schema: t.InputSchema})
	}
	if c.rest != nil {
		c.declared = append(c.declared,
			llm.Declaration{Name: findTools, Description: fmt.Sprintf("Find more tools: there are %d beside those you see. Returns names, descriptions and input schemas. Call them with %s.", len(c.rest), useTool),
				Schema: json.RawMessage(`{"type":"object","required":["query"],"properties":{"query":{"type":"string","description":"words that the tool's name or description has"}}}`)},
			llm.Declaration{Name: useTool, Description: "Call a tool that " + findTools + " found.",
				Schema: json.RawMessage(`{"type":"object","required":["name","arguments"],"properties":{"name":{"type":"string"},"arguments":{"type":"object"}}}`)})
	}
	return c
}

// maxName is the maximum length of a tool name that all providers accept.
const maxName = 64

// name returns a unique name for a tool that all providers accept.
func (c *catalogue) name(of string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, of)
	if name == "" || name[0] == '-' || name[0] >= '0' && name[0] <= '9' {
		name = "_" + name
	}
	name = name[:min(len(name), maxName)]
	taken := func(name string) bool {
		_, ok := c.tools[name]
		return ok || c.rest != nil && (name == findTools || name == useTool)
	}
	for n := 2; taken(name); n++ {
		end := fmt.Sprintf("_%d", n)
		name = name[:min(len(name), maxName-len(end))] + end
	}
	return name
}

// find returns the tools beyond maxDeclared that contain all words of query, as text for the model.
func (c *catalogue) find(query string) string {
	const most = 10
	words := strings.Fields(strings.ToLower(query))
	type found struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		InputSchema json.RawMessage `json:"input_schema"`
	}
	var all []found
	for _, t := range c.rest {
		text := strings.ToLower(t.Name + " " + t.Title + " " + t.Description)
		if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) }) {
			all = append(all, found{t.Name, t.Description, t.InputSchema})
		}
	}
	if len(all) == 0 {
		return "No tool has all of these words. Try fewer, or other ones."
	}
	more := ""
	if len(all) > most {
		more = fmt.Sprintf("\n%d more. Add a word.", len(all)-most)
		all = all[:most]
	}
	b, err := json.Marshal(all)
	if err != nil {
		return "The tools found can't be shown."
	}
	return string(b) + more
}

// resolve returns the tool and the arguments of a call, or a refusal for the model. For find_tools, it returns the
// result in found.
func (c *catalogue) resolve(call llm.Call) (tool client.Tool, arguments json.RawMessage, found, refusal string) {
	arguments = argumentsJSON(call.Arguments)
	var object map[string]json.RawMessage
	if err := json.Unmarshal(arguments, &object); err != nil || object == nil {
		var syntax error
		if err := json.Unmarshal([]byte(call.Arguments), &object); err != nil {
			syntax = err
		}
		return tool, nil, "", refuse("the arguments of "+call.Name+" are not a JSON object"+because(syntax), "write the arguments again, as one JSON object")
	}
	if t, ok := c.tools[call.Name]; ok {
		return t, arguments, "", ""
	}
	if c.rest != nil && call.Name == findTools {
		var query string
		_ = json.Unmarshal(object["query"], &query) // an empty query finds all
		return tool, nil, c.find(query), ""
	}
	name := call.Name
	if c.rest != nil && call.Name == useTool {
		_ = json.Unmarshal(object["name"], &name) // an empty name is not a tool
		for _, t := range c.rest {
			if t.Name == name {
				return t, object["arguments"], "", ""
			}
		}
	}
	for _, t := range c.unlisted {
		if t.Name == name {
			if call.Name != name {
				arguments = object["arguments"]
			}
			return t, arguments, "", ""
		}
	}
	return tool, nil, "", refuse(fmt.Sprintf("there is no tool %q%s", name, problem.DidYouMean(problem.Nearest(name, c.names(), 3))), "call only the tools that you were given")
}

func because(err error) string {
	if err == nil {
		return ""
	}
	return ": " + err.Error()
}

// names returns the names of all tools, including undeclared ones, sorted.
func (c *catalogue) names() []string {
	var all []string
	for name := range c.tools {
		all = append(all, name)
	}
	for _, t := range slices.Concat(c.rest, c.unlisted) {
		all = append(all, t.Name)
	}
	slices.Sort(all)
	return all
}

// refuse returns a refusal in the same format as the gateway.
func refuse(what, next string) string {
	b, _ := json.Marshal(map[string]string{"error": what, "suggestion": next}) // strings always encode
	return string(b)
}

// Tools lists the names of the callable tools, sorted.
func (a *Assistant) Tools(ctx context.Context) ([]string, error) {
	all, err := a.options.Client.Tools(ctx)
	names := make([]string, len(all))
	for i, t := range all {
		names[i] = t.Name
	}
	slices.Sort(names)
	return names, err
}
