package policyops

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/yamlconf"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A TestFile is a parsed test file.
type TestFile struct {
	Name  string
	Given map[string]identity.Principal
	Tests []Test
}

// A Test checks one expectation.
type Test struct {
	Name string
	As   string // a name in Given, or a principal of the configuration
	When When
	Want Want
	Line int // the line of the test in the file, from 1
}

// A When is a request.
type When struct {
	Tool, Class          string
	Keys, Include, Using []string // Using lists fields that the tool uses, for example for group_by or distinct
	Order                string
	Where                query.Filter
	Pipeline             []query.Stage
	ByID                 bool
}

// asks reports whether the request contains more than a tool and a class.
func (w *When) asks() bool {
	return w.Keys != nil || w.Include != nil || w.Using != nil || w.Order != "" || w.Where != nil || w.Pipeline != nil || w.ByID
}

// A Want is the expected outcome. Empty fields are not checked.
type Want struct {
	Refused bool
	Kind    string // the kind of the refusal
	Visible []string
	Hidden  []string
	Only    []string // the complete list of visible fields
	Masked  map[string]string
	Layers  []string                // the names of the layers, in order
	Sees    map[string]query.Filter // the expected filter of each layer
	Tools   []string                // the complete list of tools that may be called
	Has     []string                // declared queries and metrics that it has, as queries.<name> and metrics.<name>
	Lacks   []string                // likewise, that it doesn't have
}

// ParseTests parses a test file. It returns errors of the file as a *yamlconf.Error.
func ParseTests(name string, data []byte) (*TestFile, error) {
	f := &TestFile{Name: name, Given: map[string]identity.Principal{}}
	d, err := yamlconf.Read(name, data, f.shape(), yamlconf.Options{})
	if err != nil {
		return nil, err
	}
	for i := range f.Tests {
		if p, ok := d.Place("tests", fmt.Sprint(i)); ok {
			f.Tests[i].Line = p.Line
		}
	}
	return f, nil
}

// shape returns the shape of a test file: named principals and at least one test.
func (f *TestFile) shape() yamlconf.Shape {
	given := yamlconf.Each(yamlconf.Table{Names: "principal", Of: func(name string) (yamlconf.Shape, func()) {
		p := identity.Principal{ID: "test:" + name, Name: name, Kind: identity.Agent, Scopes: []identity.Scope{identity.Read}}
		return principal(&p), func() { f.Given[name] = p }
	}})
	tests := yamlconf.Items("tests", func(int) (yamlconf.Shape, func()) {
		var t Test
		return t.shape(), func() { f.Tests = append(f.Tests, t) }
	})
	return yamlconf.Object([]yamlconf.Key{
		{Name: "given", Doc: "Who asks, by name", Shape: given},
		{Name: "tests", Doc: "What they ask, and what they should get", Must: true, Shape: tests},
	}, func(r *yamlconf.Reader, n yamlconf.Node, at string) {
		if f.Tests == nil && r.HasAt("/tests") {
			r.WrongAt("/tests", "names no test")
		}
	})
}

// principal returns the shape of a requesting principal. By default it is an agent with the scope read.
func principal(p *identity.Principal) yamlconf.Shape {
	var scopes []string
	list := func(l *identity.List) yamlconf.Shape {
		return yamlconf.Object([]yamlconf.Key{
			{Name: "only", Doc: "These alone", Shape: yamlconf.List(&l.Only, "names", nil)},
			{Name: "except", Doc: "Not these", Shape: yamlconf.List(&l.Except, "names", nil)},
		}, yamlconf.NotEmpty)
	}
	filters := yamlconf.Each(yamlconf.Table{Names: "class", Of: func(name string) (yamlconf.Shape, func()) {
		var w query.Filter
		return yamlconf.Where(&w), func() {
			if p.Filters == nil {
				p.Filters = map[string]query.Filter{}
			}
			p.Filters[name] = w
		}
	}})
	return yamlconf.Object([]yamlconf.Key{
		{Name: "tenant", Doc: "Its tenant", Shape: yamlconf.Words(&p.Tenant)},
		{Name: "owner", Doc: "The human on whose behalf it acts", Shape: yamlconf.Words(&p.Owner)},
		{Name: "kind", Doc: "agent (the default), human or service", Shape: yamlconf.OneOf(&p.Kind, identity.Agent, identity.Human, identity.Service)},
		{Name: "scopes", Doc: "What it may do. Default read", Shape: yamlconf.List(&scopes, "scopes", func(s string) string {
			if _, err := identity.ParseScopes(s); err != nil {
				return "there is no such scope"
			}
			return ""
		})},
		{Name: "claims", Doc: "What rules can ask for as principal.claims.<name>", Shape: yamlconf.Data(&p.Claims)},
		{Name: "tools", Doc: "Narrows the tools", Shape: list(&p.Tools)},
		{Name: "classes", Doc: "Narrows the classes", Shape: list(&p.Classes)},
		{Name: "filters", Doc: "The rows it sees, by class or default: where objects", Shape: filters},
	}, func(*yamlconf.Reader, yamlconf.Node, string) {
		if scopes == nil {
			return
		}
		p.Scopes = nil
		for _, s := range scopes {
			p.Scopes = append(p.Scopes, identity.Scope(s))
		}
	})
}

func (t *Test) shape() yamlconf.Shape {
	return yamlconf.Object([]yamlconf.Key{
		{Name: "name", Doc: "What is expected, for people", Must: true, Shape: yamlconf.Words(&t.Name)},
		{Name: "as", Doc: "Who asks: a name of given, stdio or anonymous", Must: true, Shape: yamlconf.Words(&t.As)},
		{Name: "when", Doc: "What is asked", Must: true, Shape: t.When.shape()},
		{Name: "expect", Doc: "What should come of it", Must: true, Shape: t.Want.shape()},
	}, nil)
}

// shape returns the shape of a request. It parses each stage separately, so that errors have the right line. A
// request for records requires a class.
func (w *When) shape() yamlconf.Shape {
	pipeline := yamlconf.Items("stages", func(i int) (yamlconf.Shape, func()) {
		var doc value.Value
		stage := yamlconf.Data(&doc)
		return yamlconf.Shape{Schema: stage.Schema, Read: func(r *yamlconf.Reader, n yamlconf.Node, at string) {
			stage.Read(r, n, at)
			stages, err := query.ParsePipeline(value.OfArray([]value.Value{doc}), "")
			if err != nil {
				r.WrongAt(at, err.Error())
			}
			w.Pipeline = append(w.Pipeline, stages...)
		}}, nil
	})
	return yamlconf.Object([]yamlconf.Key{
		{Name: "tool", Doc: "The tool that is called", Must: true, Shape: yamlconf.Words(&w.Tool)},
		{Name: "class", Doc: "The class that it names", Shape: yamlconf.Words(&w.Class)},
		{Name: "keys", Doc: "The fields that are asked for", Shape: yamlconf.List(&w.Keys, "fields", nil)},
		{Name: "include", Doc: "Pointers that are followed", Shape: yamlconf.List(&w.Include, "fields", nil)},
		{Name: "using", Doc: "Fields that a tool groups by, sums or lists", Shape: yamlconf.List(&w.Using, "fields", nil)},
		{Name: "order", Doc: "Fields apart by commas, - for descending", Shape: yamlconf.Words(&w.Order)},
		{Name: "where", Doc: "Which records: a where object", Shape: yamlconf.Where(&w.Where)},
		{Name: "pipeline", Doc: "A list of stages", Shape: pipeline},
		{Name: "by_id", Doc: "true asks for a record by its id", Shape: yamlconf.Flag(&w.ByID)},
	}, func(r *yamlconf.Reader, n yamlconf.Node, at string) {
		if w.asks() && w.Class == "" {
			r.Wrong(n.Start(), at, "needs the class that this is asked of")
		}
	})
}

// shape returns the shape of an expectation: allowed, refused, or an object. It rejects expectations that can never
// be met, such as fields of a refused class. A test that can't pass or can't fail is useless.
func (w *Want) shape() yamlconf.Shape {
	outcome := yamlconf.Choose([]string{"allowed", "refused"}, func(s string) { w.Refused = s == "refused" })
	masked := yamlconf.Each(yamlconf.Table{Names: "field", Of: func(name string) (yamlconf.Shape, func()) {
		var mask string
		return yamlconf.Words(&mask), func() {
			if w.Masked == nil {
				w.Masked = map[string]string{}
			}
			w.Masked[name] = mask
		}
	}})
	sees := yamlconf.Each(yamlconf.Table{Names: "layer", Of: func(name string) (yamlconf.Shape, func()) {
		var f query.Filter
		return yamlconf.Where(&f), func() {
			if w.Sees == nil {
				w.Sees = map[string]query.Filter{}
			}
			w.Sees[name] = f
		}
	}})
	full := yamlconf.Object([]yamlconf.Key{
		{Name: "outcome", Doc: "allowed (the default) or refused", Shape: outcome},
		{Name: "kind", Doc: "Why it is refused, as the audit records it: hidden_class, field_denied, …", Shape: yamlconf.Words(&w.Kind)},
		{Name: "visible", Doc: "Fields that are seen", Shape: yamlconf.List(&w.Visible, "fields", nil)},
		{Name: "hidden", Doc: "Fields that are not seen", Shape: yamlconf.List(&w.Hidden, "fields", nil)},
		{Name: "only", Doc: "The fields that are seen, all of them", Shape: yamlconf.List(&w.Only, "fields", nil)},
		{Name: "masked", Doc: "How the values of fields leave: partial, pseudonym, hash, null, pattern or none", Shape: masked},
		{Name: "layers", Doc: "What narrows the records, in order: tenant, principal, canonical", Shape: yamlconf.List(&w.Layers, "layers", nil)},
		{Name: "sees", Doc: "By layer: the where object that it holds records to", Shape: sees},
		{Name: "tools", Doc: "The tools that may be called, all of them", Shape: yamlconf.List(&w.Tools, "tools", nil)},
		{Name: "has", Doc: "Declared queries and metrics that it has: queries.<name>, metrics.<name>", Shape: yamlconf.List(&w.Has, "names", declaredName)},
		{Name: "lacks", Doc: "Declared queries and metrics that it doesn't have", Shape: yamlconf.List(&w.Lacks, "names", declaredName)},
	}, func(r *yamlconf.Reader, n yamlconf.Node, at string) {
		looks := w.Visible != nil || w.Hidden != nil || w.Only != nil || w.Masked != nil || w.Layers != nil || w.Sees != nil
		switch {
		case w.Refused && looks:
			r.Wrong(n.Start(), at, "nothing is seen of what is refused")
		case !w.Refused && w.Kind != "":
			r.Wrong(n.Start(), at, "kind says why something is refused. Write outcome: refused")
		}
		for _, f := range w.Visible {
			if slices.Contains(w.Hidden, f) {
				r.Wrong(n.Start(), at, "%s is expected to be visible and hidden", f)
			}
		}
	})
	return yamlconf.Either(outcome, full)
}

// declaredName checks the form of a name in Has and Lacks.
func declaredName(name string) string {
	if kind, rest, ok := strings.Cut(name, "."); ok && rest != "" && (kind == "queries" || kind == "metrics") {
		return ""
	}
	return "must be queries.<name> or metrics.<name>"
}
