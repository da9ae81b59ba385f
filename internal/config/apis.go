package config

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/client"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/internal/pack"
	"github.com/bailiwick-dev/bailiwick/internal/yamlconf"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/write"
)

// apis returns the shape of the rules of each API, by the name of its source.
func (c *Config) apis() yamlconf.Shape {
	return yamlconf.Each(yamlconf.Table{Names: "API", Of: func(name string) (yamlconf.Shape, func()) {
		var rules calls.Rules
		return apiRules(&rules, c.expression), func() {
			if c.rules == nil {
				c.rules = map[string]calls.Rules{}
			}
			c.rules[name] = rules
		}
	}})
}

// checkAPIs combines the section apis with the documents. It reports rules for sources that are not APIs.
func (c *Config) checkAPIs(r *yamlconf.Reader) {
	var known []string
	for _, s := range c.Sources {
		if s.OpenAPI != nil {
			known = append(known, s.Name)
		}
	}
	for _, name := range sortedKeys(c.rules) {
		if slices.Contains(known, name) {
			continue
		}
		message := "there is no source " + strconv.Quote(problem.Cut(name)) + " with openapi" + problem.DidYouMean(problem.Nearest(name, known, 2))
		if slices.ContainsFunc(c.Sources, func(s Source) bool { return s.Name == name }) {
			message = "the source is no HTTP API. Write classes"
		}
		r.WrongAt(yamlconf.Join("apis", name), message)
	}
	for _, s := range c.Sources {
		if s.OpenAPI == nil {
			continue
		}
		if _, named := c.rules[s.Name]; !named && !c.Rules.Unlisted {
			c.Notes = append(c.Notes, fmt.Sprintf("agents see nothing of %s: no rule names it. Write it into apis: even without a rule, operations are classed by their methods", s.Name))
			continue
		}
		if err := c.adopt(s, *c.contents[s.Name]); err != nil {
			r.WrongAt(yamlconf.Join("sources", s.Name, "openapi", "packs"), err.Error())
		}
		for _, f := range s.OpenAPI.CheckSchemes(c.contents[s.Name].Document) {
			r.WrongAt(yamlconf.Join(append([]string{"sources", s.Name, "openapi"}, f.Keys...)...), f.Message)
		}
	}
}

// adopt sets the rules of an API with its document, and adds the API's packs to the rules and the document. Its
// errors are about packs.
func (c *Config) adopt(s Source, of Document) error {
	rules := c.rules[s.Name]
	rules.Document, rules.Digest = of.Document, of.Digest
	rules.Sends, rules.Signed = s.OpenAPI.Sends(), s.OpenAPI.HasCredential()
	rules.Base = s.OpenAPI.BaseURL
	packed := c.addPacks(&rules, s.Name, of)
	rules.Signing, rules.Servers = s.OpenAPI.Signing(of.Document), s.OpenAPI.Signings(of.Document)
	if rules.Description == "" {
		rules.Description = s.Description
	}
	if s.ReadOnly {
		rules.Write = map[spec.Class]write.Mode{spec.ClassWrite: write.Deny, spec.ClassDestructive: write.Deny}
	}
	if c.Rules.APIs == nil {
		c.Rules.APIs = map[string]calls.Rules{}
	}
	c.Rules.APIs[s.Name] = rules
	if of.Document == nil || packed != nil {
		return packed
	}
	for _, w := range of.Odd() {
		c.Notes = append(c.Notes, fmt.Sprintf("sources.%s: the document%s", s.Name, w))
	}
	return nil
}

// addPacks adds the packs of an API to its rules: operations that the document lacks, and classes of operations. The
// owner's rules come first. The tools are compiled against the combined document.
func (c *Config) addPacks(rules *calls.Rules, name string, of Document) error {
	if of.Document == nil || len(of.Packs) == 0 {
		return nil
	}
	rules.Access.Rules = slices.Clone(rules.Access.Rules)
	for _, p := range of.Packs {
		if p.Document != nil {
			own, err := spec.Load(p.Document)
			if err == nil {
				err = of.Document.Supplement(own)
			}
			if err != nil {
				return fmt.Errorf("the document of the pack %s is not right: %s", p.Name, problem.Of(err).Detail)
			}
		}
		rules.Access.Rules, rules.Digest = append(rules.Access.Rules, p.Access...), rules.Digest+" "+p.Digest
		rules.Partial = append(rules.Partial[:len(rules.Partial):len(rules.Partial)], p.Partial...)
		rules.ReadBack = append(rules.ReadBack[:len(rules.ReadBack):len(rules.ReadBack)], p.ReadBack...)
	}
	// The tools can be compiled only when the document and the classes of all packs are combined.
	classes, err := rules.Classes()
	if err != nil {
		return nil // reported with its position when the rules are compiled
	}
	for _, p := range of.Packs {
		tools, err := p.Compile(of.Document, classes)
		if err != nil {
			return fmt.Errorf("the pack %s is not right: %w", p.Name, err)
		}
		if c.Packs == nil {
			c.Packs = map[string][]*pack.Tool{}
		}
		for _, t := range tools {
			if other := c.packedBy(t.Name); other != "" {
				return fmt.Errorf("the tool %s of the pack %s is one of %s already", t.Name, p.Name, other)
			}
		}
		c.Packs[name] = append(c.Packs[name], tools...)
	}
	return nil
}

// packedBy returns the API whose packs contain a tool with the given name, or "".
func (c *Config) packedBy(tool string) string {
	for _, name := range sortedKeys(c.Packs) {
		if slices.ContainsFunc(c.Packs[name], func(t *pack.Tool) bool { return t.Name == tool }) {
			return name
		}
	}
	return ""
}

// Fetch reads the documents of sources at URLs with read, and adds them to the rules. Invalid documents are reported
// in an *Error. Before Fetch, those APIs have no document.
func (c *Config) Fetch(read func(of Source) (Document, error)) error {
	var faults []Fault
	fetched := false
	for _, s := range c.Sources {
		if _, ruled := c.Rules.APIs[s.Name]; !ruled || !s.OpenAPI.Remote() {
			continue
		}
		of, err := read(s)
		if err != nil {
			faults = append(faults, c.Wrong(err.Error(), "sources", s.Name, "openapi", "document"))
			continue
		}
		of.Packs = c.contents[s.Name].Packs
		if err := c.adopt(s, of); err != nil {
			faults = append(faults, c.Wrong(err.Error(), "sources", s.Name, "openapi", "packs"))
		}
		for _, f := range s.OpenAPI.CheckSchemes(of.Document) {
			faults = append(faults, c.Wrong(f.Message, append([]string{"sources", s.Name, "openapi"}, f.Keys...)...))
		}
		fetched = true
	}
	if faults != nil {
		return &Error{Faults: faults, Document: c.document}
	}
	if fetched {
		c.Rules.Version = c.version()
	}
	return nil
}

// SignWith sets Credential. If own returns a credential for an API, all calls of the API carry it, regardless of the
// document.
func (c *Config) SignWith(own func(source string) client.Credential) {
	if c.Credential = own; own == nil {
		return
	}
	for name, rules := range c.Rules.APIs {
		if own(name) != nil {
			rules.Signed, rules.Signing = true, calls.Signing{}
			c.Rules.APIs[name] = rules
		}
	}
}

// Remote reports whether the document of any API is at a URL.
func (c *Config) Remote() bool {
	return slices.ContainsFunc(c.Sources, func(s Source) bool { return s.OpenAPI != nil && s.OpenAPI.Remote() })
}

// Forget removes the rules of an API. This hides the API.
func (c *Config) Forget(api string) {
	delete(c.Rules.APIs, api)
	c.Rules.Version = c.version()
}

// WrongAPI returns a fault in the rules of an API.
func (c *Config) WrongAPI(f *calls.RuleFault) Fault {
	if keys := pointerPlace(f.Pointer); keys != nil {
		return c.Wrong(f.Message, append([]string{"apis", f.API}, keys...)...)
	}
	return c.Wrong(f.Message, "sources", f.API, "openapi", "document")
}

// PlaceOfAPI returns the position of a rule of an API. pointer is the pointer in a calls.RuleFault. If the file lacks
// the key, the position is that of the deepest existing key above it.
func (c *Config) PlaceOfAPI(api, pointer string) (file string, line int) {
	p, _ := c.document.Place(append([]string{"apis", api}, pointerPlace(pointer)...)...)
	return p.File(), p.Line
}

// APINames returns the names of HTTP APIs that lists of principals can contain: sources, and operations as source.id.
func (c *Config) APINames() []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(c.Rules.APIs)) {
		out = append(out, name)
		for _, op := range operationsOf(c.Rules.APIs[name].Document) {
			out = append(out, name+"."+op.ID)
		}
	}
	return out
}

func operationsOf(d *spec.Document) []*spec.Operation {
	if d == nil {
		return nil
	}
	return d.Operations
}

// isAPI reports whether name is the source of an API.
func (c *Config) isAPI(name string) bool {
	return slices.ContainsFunc(c.Sources, func(s Source) bool { return s.Name == name && s.OpenAPI != nil })
}
