package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/yamlconf"
)

// These are the limits of prompts.
const (
	maxTemplate  = 32 << 10 // bytes
	maxArguments = 20
)

// A Prompt is a prompt template that the owner provides for agents.
type Prompt struct {
	Name        string
	Title       string
	Description string
	Arguments   []PromptArgument
	Template    string // the template, in the syntax of text/template. .name is an argument
}

// A PromptArgument is a value that a person enters for a Prompt.
type PromptArgument struct {
	Name        string
	Description string
	Required    bool
}

// prompts returns the shape of the owner's prompts, by name, appended to c.Prompts in the order of the file.
func (c *Config) prompts() yamlconf.Shape {
	return yamlconf.Each(yamlconf.Table{Names: "prompt", Check: promptName, Of: func(name string) (yamlconf.Shape, func()) {
		p := Prompt{Name: name}
		return yamlconf.Object([]yamlconf.Key{
			{Name: "title", Doc: "For people", Shape: yamlconf.Words(&p.Title)},
			{Name: "description", Doc: "What it is for", Shape: yamlconf.Words(&p.Description)},
			{Name: "arguments", Doc: "What a person fills in, in this order", Shape: p.arguments()},
			{Name: "template", Doc: "The text: {{.name}} is an argument, {{json .name}} the same in quotes, {{if .name}}…{{else}}…{{end}} tests one", Must: true,
				Shape: yamlconf.Text("a text", func(s string) string {
					if p.Template = s; len(s) > maxTemplate {
						return fmt.Sprintf("has at most %d bytes", maxTemplate)
					}
					return ""
				})},
		}, nil), func() { c.Prompts = append(c.Prompts, p) }
	}})
}

// arguments returns the shape of the arguments of a prompt: at most maxArguments, each with a unique name that a
// template can use.
func (p *Prompt) arguments() yamlconf.Shape {
	return yamlconf.Items("arguments", func(i int) (yamlconf.Shape, func()) {
		var a PromptArgument
		return yamlconf.Object([]yamlconf.Key{
			{Name: "name", Doc: "A word that the template can name: letters, digits and _", Must: true, Shape: yamlconf.Text("a name", func(s string) string {
				a.Name = s
				switch {
				case !word(s):
					return "must be letters, digits and _, a letter first"
				case slices.ContainsFunc(p.Arguments, func(b PromptArgument) bool { return b.Name == s }):
					return "appears twice"
				case i >= maxArguments:
					return fmt.Sprintf("is one too many: a prompt has at most %d arguments", maxArguments)
				}
				return ""
			})},
			{Name: "description", Doc: "For people", Shape: yamlconf.Words(&a.Description)},
			{Name: "required", Doc: "true: the prompt isn't given without it", Shape: yamlconf.Flag(&a.Required)},
		}, nil), func() { p.Arguments = append(p.Arguments, a) }
	})
}

// promptName checks that the name of a prompt is valid in an HTTP header.
func promptName(r *yamlconf.Reader, e yamlconf.Entry) bool {
	if word(strings.NewReplacer("-", "_", ".", "_").Replace(e.Name)) {
		return true
	}
	r.Wrong(e.Key, e.At, "a prompt is named with letters, digits, _, - and ., a letter first, at most 63")
	return false
}

// word reports whether s consists of ASCII letters, digits and _, starts with a letter and has at most 63 characters.
func word(s string) bool {
	for i, ch := range s {
		if letter := ch|0x20 >= 'a' && ch|0x20 <= 'z' && ch < 0x80; !letter && (i == 0 || ch != '_' && (ch < '0' || ch > '9')) {
			return false
		}
	}
	return s != "" && len(s) <= 63
}
