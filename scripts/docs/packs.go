package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/internal/pack"
	"github.com/bailiwick-dev/bailiwick/internal/tools"
	"github.com/bailiwick-dev/bailiwick/value"
)

// bundledPacks describes the tools of each bundled pack.
func bundledPacks() ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(generated + "# Bundled packs\n\nTools over single operations of APIs that many have ([how packs are written](packs.md)). Arguments that are needed stand in bold.\n")
	for _, name := range pack.BundledNames() {
		p, err := pack.BundledPack(name)
		if err != nil {
			return nil, err
		}
		d, err := spec.Load(p.Document)
		if err != nil {
			return nil, err
		}
		rules, err := spec.NewClassifier(d, spec.ClassOptions{Rules: p.Access})
		if err != nil {
			return nil, err
		}
		tools, err := p.Compile(d, rules)
		if err != nil {
			return nil, err
		}
		slices.SortFunc(tools, func(a, b *pack.Tool) int { return strings.Compare(a.Name, b.Name) })
		fmt.Fprintf(&b, "\n## %s\n\n| tool | arguments | scope | calls | |\n|---|---|---|---|---|\n", name)
		for _, t := range tools {
			if err := packTool(&b, t); err != nil {
				return nil, err
			}
		}
	}
	return b.Bytes(), nil
}

func packTool(b *bytes.Buffer, t *pack.Tool) error {
	input, err := value.Read(t.Input, 0)
	if err != nil {
		return err
	}
	required, _ := input.Get("required")
	properties, _ := input.Get("properties")
	var arguments, calls []string
	for _, p := range properties.Members() {
		name := p.Name
		if slices.ContainsFunc(required.List(), func(r value.Value) bool { return r.Text() == name }) {
			name = "**" + name + "**"
		}
		arguments = append(arguments, name)
	}
	for _, op := range t.Operations {
		calls = append(calls, "`"+op.Name()+"`")
	}
	fmt.Fprintf(b, "| %s | %s | %s | %s | %s |\n", t.Name, strings.Join(arguments, ", "), tools.PackNeeds(t.Annotations), strings.Join(calls, " "), cell(t.Description))
	return nil
}
