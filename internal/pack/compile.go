package pack

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/expression"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/internal/writes"
	"github.com/bailiwick-dev/bailiwick/internal/yamlconf"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// These are names that expressions can use, in addition to the input, the time, reads and merges.
const (
	linkName   = "link"
	answerName = "answer"
)

// ReasonArgument is an additional argument of every tool that writes: the reason, for reviewers.
const ReasonArgument = "reason"

// maxReads is the maximum number of reads of a tool before its own call.
const maxReads = 5

// A Tool is a tool of a pack, compiled against the API's document. It is immutable and safe for use by several
// goroutines.
type Tool struct {
	Name        string
	Title       string
	Description string
	Annotations Annotations
	Input       json.RawMessage    // the JSON Schema of its arguments, compact
	Output      json.RawMessage    // the JSON Schema of its result
	Operations  []*spec.Operation  // all operations that it may call, without duplicates
	Writes      bool               // it proposes changes: at least one of Operations isn't a read
	Against     writes.Declaration // the class against which its arguments are checked, or the zero value
	// Fields whose values it preserves. A principal who can't see all of them can't use the tool.
	Sees []string

	arguments *expression.Arguments                                    // without the argument reason
	fault     func(at []string, message string) yamlconf.PositionFault // returns a fault at a place in its declaration
	early     []expression.Requirements                                // requirements that depend only on the input
	late      []expression.Requirements
	reads     []chained
	merges    []merging
	link      *linking
	cases     []choice
	summary   *expression.Template
}

// A chained is a compiled read.
type chained struct {
	name string
	when *expression.Expression // nil means always
	calling
}

// A calling is a compiled call, or no call if op is nil.
type calling struct {
	op                         *spec.Operation
	path, query, headers, body *expression.Template // nil if absent
	fields                     []string
}

// A merging is a compiled merge.
type merging struct {
	name      string
	into, set *expression.Template
	key, of   string
}

// A linking is a compiled link.
type linking struct {
	path string
	with []expression.NamedTemplate
}

// A choice is a compiled case.
type choice struct {
	when *expression.Expression // nil means always
	calling
	result   *expression.Template // nil means the whole response
	picks    bool                 // result only copies parts of the response, so a truncated response is usable
	statuses map[int]*expression.Template
	reads    bool // op only reads
}

// Compile compiles the tools of p against the API's document. rules classify the operations: the operator's rules,
// followed by p.Access. Faults are in a *yamlconf.Error, with line and column. Compile omits tools with an operation
// that the rules exclude or forbid.
func (p *Pack) Compile(d *spec.Document, rules *spec.Classifier) ([]*Tool, error) {
	all, expressions, whole := &yamlconf.Error{}, expression.NewCompiler(), spec.NewView(d, nil, spec.Filter{})
	var out []*Tool
	for _, f := range p.files {
		for i, pattern := range f.partial {
			if err := (spec.ClassRule{Operations: []string{pattern}}).Names(d, ""); err != nil {
				all.Faults = append(all.Faults, f.document.Wrong(problem.Of(err).Detail, "partial", fmt.Sprint(i)))
			}
		}
		for i, rule := range f.readBack {
			if err := rule.Check(d, rules, ""); err != nil {
				at := strings.ToLower(strings.Trim(problem.Of(err).Pointer, "/"))
				all.Faults = append(all.Faults, f.document.Wrong(problem.Of(err).Detail, append([]string{"read_back", fmt.Sprint(i)}, strings.Split(at, "/")...)...))
			}
		}
		for i, declared := range f.tools {
			t := &Tool{fault: func(at []string, message string) yamlconf.PositionFault {
				return f.document.Wrong(message, append([]string{"tools", fmt.Sprint(i)}, at...)...)
			}}
			b := &builder{declaration: declared, document: d, rules: rules, whole: whole, Tool: t, wrong: func(at []string, format string, args ...any) {
				all.Faults = append(all.Faults, t.fault(at, fmt.Sprintf(format, args...)))
			}}
			b.over = expression.NewCallCompiler(expressions, b.wrong)
			if b.build(); !b.absent {
				out = append(out, b.Tool)
			}
		}
	}
	if all.Faults != nil {
		return nil, all
	}
	return out, nil
}

// Arguments returns the names of the tool's arguments, without the reason.
func (t *Tool) Arguments() []string { return t.arguments.Names() }

// Check compiles the check_against declarations of tools under the rules in force. Faults are in a *yamlconf.Error,
// as in Compile.
func Check(tools []*Tool, p *policy.Policy) error {
	all := &yamlconf.Error{}
	for _, t := range tools {
		if t.Against.Class == "" {
			continue
		}
		writes.CompileCheck(p, t.Against, t.arguments.Names(), func(at []string, format string, args ...any) {
			all.Faults = append(all.Faults, t.fault(append([]string{"check_against"}, at...), fmt.Sprintf(format, args...)))
		})
	}
	if all.Faults != nil {
		return all
	}
	return nil
}

// A builder compiles one declaration.
type builder struct {
	*Tool
	declaration
	document *spec.Document
	rules    *spec.Classifier
	whole    *spec.View               // of the whole document
	over     *expression.CallCompiler // for the next expressions, with the variables that they can use
	absent   bool                     // one of its operations is excluded or forbidden
	wrong    expression.Fault
}

// build compiles the declaration into b.Tool and reports each fault at its position. The order is the same as in a
// call: arguments, reads, merges, the link, requirements, and then the cases. The expressions of each part can use
// all parts before it.
func (b *builder) build() {
	t := b.Tool
	t.Name, t.Title, t.Description, t.Annotations, t.Against = b.name, cmp.Or(b.title, b.name), b.description, b.annotations, b.against
	if t.Annotations.ReadOnly && t.Annotations.Destructive {
		b.wrong([]string{"annotations"}, "what only reads can't be destructive")
	}
	if b.declaration.cases != nil && (b.plain.operation != "" || b.plain.hasResult || b.plain.statuses != nil) {
		b.wrong([]string{"cases"}, "operation, result and statuses stand in the cases, or there are no cases")
	}
	if !b.compileArguments() {
		return
	}
	b.chain()
	b.compileLink()
	t.early, t.late = b.over.Require(b.require)
	t.summary = b.over.Optional(b.declaration.summary, "summary")
	b.choices()
	b.checkAnnotations()
	t.Output = b.output()
}

// declareName declares a name for the following expressions.
func (b *builder) declareName(at []string, name string) {
	if b.over.Declares(name, at, linkName, answerName) {
		b.over.Declare(expression.Variable{Name: name, What: "what was read as " + name})
	}
}

// chain compiles the reads and merges. Each can use the reads and merges before it.
func (b *builder) chain() {
	if len(b.declaration.reads) > maxReads {
		b.wrong([]string{"reads"}, "a tool reads at most %d times before it does its own", maxReads)
	}
	for _, r := range b.declaration.reads {
		at := []string{"reads", r.name}
		c := chained{name: r.name, when: b.over.When(r.when, append(at, "when")), calling: b.call(r.call, at)}
		if c.op != nil && b.class(c.op) != spec.ClassRead {
			b.wrong(append(at, "operation"), "%s is classed %s. Only what reads can stand here", c.op.Name(), b.class(c.op))
		}
		b.Tool.reads = append(b.Tool.reads, c)
		b.declareName(at, r.name)
	}
	for _, m := range b.declaration.merge {
		into := b.over.Template(m.into, "merge", m.name, "into")
		b.sees(m, into, []string{"merge", m.name, "into"})
		b.Tool.merges = append(b.Tool.merges, merging{name: m.name, key: m.key, of: m.of, into: into, set: b.over.Template(m.set, "merge", m.name, "set")})
		b.declareName([]string{"merge", m.name}, m.name)
	}
}

// sees records the fields on the path to the target of a merge. If one of them were hidden, the target would appear
// empty, and its values would be lost.
func (b *builder) sees(m merge, into *expression.Template, at []string) {
	of, path := into.Path()
	if _, expression := m.into.Get(expression.TemplateKey); expression && of == "" {
		b.wrong(at, "must be a part of what was read, and nothing else: {$cel: instance.settings.env}")
	}
	if !slices.ContainsFunc(b.declaration.reads, func(r read) bool { return r.name == of }) {
		return
	}
	if b.Sees = append(b.Sees, path...); m.key != "" {
		b.Sees = append(b.Sees, m.key, m.of)
	}
}

// compileLink compiles the link, if any.
func (b *builder) compileLink() {
	l := b.declaration.link
	if l == nil {
		return
	}
	want := spec.Variables(l.path)
	for _, m := range l.with.Members() {
		if !slices.Contains(want, m.Name) {
			b.wrong([]string{"link", "with", m.Name}, "the path has no {%s}%s", problem.Cut(m.Name), near(m.Name, want))
		}
	}
	for _, name := range want {
		if _, ok := l.with.Get(name); !ok {
			b.wrong([]string{"link"}, "with needs the value of {%s}", name)
		}
	}
	b.Tool.link = &linking{path: l.path, with: b.over.Named(l.with, "link", "with")}
	b.over.Declare(expression.Variable{Name: linkName, What: "the link"})
}

// choices compiles the cases. Their results can use the response. The results of statuses can use an error instead of
// the response.
func (b *builder) choices() {
	answered := b.over.After(expression.Variable{Name: answerName, What: "the answer"})
	failed := b.over.After(expression.Variable{Name: answerName, What: "an error of the API", Members: []string{"status", "code", "message"}})
	declared, at := b.branches(), func(i int) []string { return []string{"cases", fmt.Sprint(i)} }
	if b.declaration.cases == nil {
		at = func(int) []string { return nil }
	}
	for i, one := range declared {
		if one.when == "" && i < len(declared)-1 {
			b.wrong(at(i), "needs when: no case behind it is ever reached")
		}
		c := choice{when: b.over.When(one.when, append(at(i), "when")), calling: b.call(one.call, at(i))}
		if one.operation == "" && !one.hasResult {
			b.wrong(at(i), "needs an operation, or a result")
		}
		c.reads = c.op == nil || b.class(c.op) == spec.ClassRead
		if one.hasResult {
			known := b.over
			if one.operation != "" {
				known = answered
			}
			var of value.Value
			of, c.picks = b.paths(one.result, c.op, append(at(i), "result"))
			c.result = known.Template(of, append(at(i), "result")...)
		}
		for _, s := range one.statuses {
			where := append(at(i), "statuses", fmt.Sprint(s.code))
			if c.reads && c.op == nil || !c.reads {
				b.wrong(where, "statuses belong to an operation that reads")
			}
			picked, _ := b.paths(s.result, nil, where)
			if c.statuses == nil {
				c.statuses = map[int]*expression.Template{}
			}
			c.statuses[s.code] = failed.Template(picked, where...)
		}
		b.Tool.cases = append(b.Tool.cases, c)
	}
}

// branches returns the cases as declared.
func (b *builder) branches() []branch {
	if b.declaration.cases == nil {
		return []branch{b.plain}
	}
	return b.declaration.cases
}

// class returns the class of an operation. It sets absent if the operation is excluded or forbidden.
func (b *builder) class(op *spec.Operation) spec.Class {
	class := b.rules.Of(op).Class
	if class == spec.ClassExcluded || class == spec.ClassForbidden {
		b.absent = true
	}
	return class
}

// checkAnnotations refuses annotations that understate the effects of the operations.
func (b *builder) checkAnnotations() {
	at := []string{"annotations"}
	for _, c := range b.Tool.cases {
		if c.op == nil {
			continue
		}
		switch class := b.class(c.op); {
		case b.absent || class == spec.ClassRead:
		case b.Annotations.ReadOnly:
			b.wrong(at, "readOnly, and %s is classed %s. If it reads, say so in access", c.op.Name(), class)
		default:
			b.Tool.Writes = true
			if class == spec.ClassDestructive && !b.Annotations.Destructive {
				b.wrong(at, "%s is classed destructive: the tool needs destructive: true", c.op.Name())
			}
		}
	}
	if !b.Tool.Writes && !b.Annotations.ReadOnly && !b.absent {
		b.wrong(at, "it only reads: readOnly: true")
	}
	if b.Against.Class != "" && b.Annotations.ReadOnly {
		b.wrong([]string{"check_against"}, "what reads has nothing to check. Take it out")
	}
}
