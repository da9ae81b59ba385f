package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// everyKey is a configuration with every key, which the tests of package config load.
const everyKey = "docs/every-key.yaml"

// examples finds a value for each key in a configuration that uses all of them.
type examples struct{ root *yaml.Node }

func readExamples() (examples, error) {
	text, err := os.ReadFile(everyKey)
	if err != nil {
		return examples{}, err
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return examples{}, fmt.Errorf("%s: %w", everyKey, err)
	}
	return examples{doc.Content[0]}, nil
}

// alike are paths whose keys have the same form, so that an example of one is an example of the other.
var alike = [][2]string{
	{"actions.<name>", "classes.<name>.actions.<name>"},
	{"classes.<name>.actions.<name>", "actions.<name>"},
	{"auth.anonymous", "stdio"},
	{"auth.oidc.sign_in.claims", "auth.oidc.claims"},
	{"notifications.mail.to.<name>", "notifications.webhooks.<name>"},
	{"sources.<name>.openapi.credential", "sources.<name>.openapi.credential.per_principal.secrets.<name>"},
}

// of returns the shortest value of the key at a path such as "classes.<name>.mask", with the key itself, or "".
func (e examples) of(path string) string {
	if path == "include" { // of a file among several, which everyKey is not
		return "include: [rules/*.yaml]"
	}
	for range 3 {
		var found []string
		collect(e.root, strings.Split(path, "."), &found)
		if len(found) > 0 {
			return slices.MinFunc(found, func(a, b string) int { return len(a) - len(b) })
		}
		for _, a := range alike {
			if rest, ok := strings.CutPrefix(path, a[0]); ok {
				path = a[1] + rest
				break
			}
		}
	}
	return ""
}

// collect appends the values at a path below n, each as "key: value".
func collect(n *yaml.Node, path []string, into *[]string) {
	if n.Kind == yaml.SequenceNode {
		for _, item := range n.Content {
			collect(item, path, into)
		}
	}
	if n.Kind != yaml.MappingNode {
		return
	}
	for i := 0; i < len(n.Content); i += 2 {
		key, v := n.Content[i], n.Content[i+1]
		switch {
		case path[0] != "<name>" && path[0] != key.Value:
		case len(path) > 1:
			collect(v, path[1:], into)
		default:
			*into = append(*into, flow(key)+": "+flow(v))
		}
	}
}

// flow writes a value on one line.
func flow(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		parts := make([]string, 0, len(n.Content)/2)
		for i := 0; i < len(n.Content); i += 2 {
			parts = append(parts, flow(n.Content[i])+": "+flow(n.Content[i+1]))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case yaml.SequenceNode:
		parts := make([]string, len(n.Content))
		for i, item := range n.Content {
			parts[i] = flow(item)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	if n.Style&(yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		return fmt.Sprintf("%q", n.Value)
	}
	if n.Style&yaml.SingleQuotedStyle != 0 || strings.ContainsAny(n.Value, "{}[],") {
		return "'" + strings.ReplaceAll(n.Value, "'", "''") + "'"
	}
	return n.Value
}
