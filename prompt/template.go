package prompt

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/template"
	"text/template/parse"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/internal/argcheck"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// FromTemplate returns p with a handler that executes a template of package text/template. Its data are the arguments
// of p. {{.name}} is the argument called name, or "" if it was not given. Arguments are never parsed as templates. A
// template can test them (if, else, with, and, or, not, eq, ne, len) and encode them as JSON (json). It can't call
// other functions and can't contain loops. So it reads no other data and always ends quickly. An error contains the
// line and column in the template.
func FromTemplate(p Prompt, text string) (Prompt, error) {
	if strings.TrimSpace(text) == "" {
		return Prompt{}, errors.New("the template is empty")
	}
	t, err := template.New(unnamed).Option("missingkey=error").Funcs(template.FuncMap{"json": quoteJSON}).Parse(text)
	if err != nil {
		return Prompt{}, templateError(err.Error())
	}
	names := make([]string, len(p.Arguments))
	for i, a := range p.Arguments {
		names[i] = a.Name
	}
	if len(t.Templates()) > 1 {
		return Prompt{}, errors.New("a template can't define others")
	}
	c := &checker{tree: t.Tree, names: names}
	c.list(t.Root, true)
	if c.errs != nil {
		return Prompt{}, errors.Join(c.errs...)
	}
	fill := func(given map[string]string) (string, error) {
		var out bounded
		err := t.Execute(&out, given)
		return out.String(), err
	}
	// The template is executed with empty and with given arguments, so that most faults are found when it is
	// configured.
	for _, trial := range []string{"", "x"} {
		given := map[string]string{}
		for _, name := range names {
			given[name] = trial
		}
		if _, err := fill(given); err != nil {
			return Prompt{}, templateError(err.Error())
		}
	}
	p.Handle = func(_ context.Context, _ *bailiwick.Call, in Input) (Result, error) {
		given := make(map[string]string, len(names))
		for _, name := range names {
			given[name] = in.Text(name)
		}
		out, err := fill(given)
		if errors.Is(err, errLong) {
			return Result{}, problem.New(problem.BudgetExceeded, fmt.Sprintf("the prompt is longer than %d bytes. Shorten its arguments", maxText))
		}
		if err != nil {
			return Result{}, fmt.Errorf("fill in the prompt %s: %w", p.Name, err)
		}
		return Say("", out), nil
	}
	return p, nil
}

// unnamed is the name of every template. Package text/template begins its messages with it.
const unnamed = "t"

// templateError returns message as an error with its position rewritten: "template: t:1:37: …" becomes line 1, column
// 37.
func templateError(message string) error {
	rest, ok := strings.CutPrefix(strings.TrimPrefix(message, "template: "), unnamed+":")
	place, text, cut := strings.Cut(rest, ": ")
	if !ok || !cut {
		return errors.New(message)
	}
	line, column, precise := strings.Cut(place, ":")
	if precise {
		line += ", column " + column
	}
	return errors.New("line " + line + ": " + strings.TrimPrefix(text, `executing "`+unnamed+`" at `))
}

// bounded collects the output of a template, up to the maximum size of a prompt.
type bounded struct{ strings.Builder }

var errLong = errors.New("the text is too long")

// Write implements [io.Writer].
func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > maxText {
		return 0, errLong
	}
	return b.Builder.Write(p)
}

// functions are all functions that a template can call.
var functions = []string{"and", "eq", "json", "len", "ne", "not", "or"}

// A checker finds elements that a template may not contain.
type checker struct {
	tree  *parse.Tree
	names []string
	errs  []error
}

func (c *checker) refuse(n parse.Node, format string, args ...any) {
	location, _ := c.tree.ErrorContext(n)
	c.errs = append(c.errs, templateError(location+": "+fmt.Sprintf(format, args...)))
}

// list checks a list of nodes. If root is true, the dot there is the set of all arguments. Otherwise it is one
// argument.
func (c *checker) list(l *parse.ListNode, root bool) {
	if l == nil {
		return
	}
	for _, n := range l.Nodes {
		switch n := n.(type) {
		case *parse.TextNode, *parse.CommentNode:
		case *parse.ActionNode:
			c.pipe(n.Pipe, root)
		case *parse.IfNode:
			c.branch(&n.BranchNode, root, root)
		case *parse.WithNode:
			c.branch(&n.BranchNode, root, false)
		default:
			c.refuse(n, "%s isn't allowed in a prompt. It has if, else and with", word(n))
		}
	}
}

func (c *checker) branch(n *parse.BranchNode, root, inside bool) {
	c.pipe(n.Pipe, root)
	c.list(n.List, inside)
	c.list(n.ElseList, root)
}

// pipe checks a pipeline of a template. It may contain no variables, and only arguments that arg allows.
func (c *checker) pipe(p *parse.PipeNode, root bool) {
	if len(p.Decl) > 0 {
		c.refuse(p, "a prompt has no variables")
	}
	for _, cmd := range p.Cmds {
		for _, arg := range cmd.Args {
			c.arg(arg, root)
		}
	}
}

// arg checks one argument of a template's action. If root is true, a dot there is the set of all arguments. Only
// constants, arguments and the listed functions are allowed. So a template can't call methods or print other data.
func (c *checker) arg(n parse.Node, root bool) {
	switch n := n.(type) {
	case *parse.StringNode, *parse.NumberNode, *parse.BoolNode, *parse.DotNode:
		if _, dot := n.(*parse.DotNode); dot && root {
			c.refuse(n, "a dot alone is all arguments; name one: %s", "."+strings.Join(c.names, ", ."))
		}
	case *parse.PipeNode:
		c.pipe(n, root)
	case *parse.FieldNode:
		c.field(n, n.Ident, root)
	case *parse.VariableNode: // $ is always the set of all arguments
		if n.Ident[0] != "$" || len(n.Ident) == 1 {
			c.refuse(n, "a prompt has no variables")
			return
		}
		c.field(n, n.Ident[1:], true)
	case *parse.IdentifierNode:
		if !slices.Contains(functions, n.Ident) {
			c.refuse(n, "a prompt can't call %s. It has %s", n.Ident, strings.Join(functions, ", "))
		}
	default:
		c.refuse(n, "%s isn't allowed in a prompt", word(n))
	}
}

// field checks a path such as .name. It must be one argument of the prompt, at the root of the data.
func (c *checker) field(n parse.Node, path []string, root bool) {
	switch {
	case !root:
		c.refuse(n, "inside of with, the dot is one argument; write $.%s for an argument", path[0])
	case len(path) > 1:
		c.refuse(n, "an argument is text and has no parts: .%s", strings.Join(path, "."))
	case !slices.Contains(c.names, path[0]):
		c.refuse(n, "%s", argcheck.UnknownName("", "argument", path[0], c.names).Message)
	}
}

// word returns the keyword of a node, for messages.
func word(n parse.Node) string {
	text, _, _ := strings.Cut(strings.Trim(n.String(), "{} "), " ")
	return text
}
