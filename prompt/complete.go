package prompt

import (
	"context"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/argcheck"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// maxCompletions is the maximum number of values in one answer, as the protocol defines it.
const maxCompletions = 100

// A Completion requests values for an argument.
type Completion struct {
	Prompt      string // the prompt's name, or "" if Template is set
	Template    string // the URI template of resources
	Argument    string // an argument of the prompt, or a variable of the template
	Written     string // the argument so far
	Given       map[string]string
	Correlation string
}

// Completed contains the possible values of an argument, with the most likely first.
type Completed struct {
	Values []string // at most 100
	Total  int      // the number of all possible values
}

// Complete answers a completion. It uses only data that the principal sees. Errors contain a *problem.Error:
// UnknownTool for a prompt that is not in List, and NotFound for a template that is not in Templates.
func (s *Set) Complete(ctx context.Context, principal identity.Principal, r Completion) (Completed, error) {
	var of *Prompt
	if r.Prompt != "" {
		of = s.find(r.Prompt)
	} else {
		of = s.templatePrompt(r.Template)
	}
	var out Completed
	ask := bailiwick.CallSpec{Tool: "completion", Needs: identity.Read, Uses: uses(of), Correlation: r.Correlation, Timeout: timeout}
	err := s.gateway.Do(ctx, principal, ask, func(ctx context.Context, c *bailiwick.Call) (int, error) {
		if of == nil {
			return 0, unknownPromptError("unknown_prompt")
		}
		var known []string
		for _, a := range of.Arguments {
			if known = append(known, a.Name); a.Name != r.Argument || a.Complete == nil {
				continue
			}
			if len(r.Written) <= maxArgument {
				values, err := a.Complete(ctx, c, r.Written, r.Given)
				if err != nil {
					return 0, err
				}
				out = closest(values, r.Written)
			}
			return size(out.Values), nil
		}
		if !slices.Contains(known, r.Argument) {
			unknown := argcheck.UnknownName("", "argument", r.Argument, known)
			p := invalid("argument", unknown.Message)
			p.Near = unknown.Near
			return 0, p
		}
		return 0, nil
	})
	switch {
	case err != nil && r.Prompt == "" && problem.CodeOf(err) == problem.UnknownTool:
		return Completed{}, &problem.Error{Code: problem.NotFound, Kind: problem.Of(err).Kind, Detail: "there is no such resource template"}
	case err != nil:
		return Completed{}, hide(err)
	}
	return out, nil
}

// closest returns the candidates that contain the written text, ignoring case. Candidates that begin with the text
// come first.
func closest(candidates []string, written string) Completed {
	slices.Sort(candidates)
	candidates = slices.Compact(candidates)
	written = strings.ToLower(written)
	var first, further []string
	for _, c := range candidates {
		switch i := strings.Index(strings.ToLower(c), written); {
		case i == 0:
			first = append(first, c)
		case i > 0:
			further = append(further, c)
		}
	}
	all := append(first, further...)
	return Completed{Values: all[:min(len(all), maxCompletions)], Total: len(all)}
}

func size(texts []string) (n int) {
	for _, t := range texts {
		n += len(t)
	}
	return n
}

// classNames completes the name of a class.
func classNames(_ context.Context, c *bailiwick.Call, _ string, _ map[string]string) ([]string, error) {
	return namesOf(c), nil
}

func namesOf(c *bailiwick.Call) []string {
	views := c.Views()
	out := make([]string, len(views))
	for i, v := range views {
		out[i] = v.Name()
	}
	return out
}

// classList completes the last name of a comma-separated list.
func classList(_ context.Context, c *bailiwick.Call, written string, _ map[string]string) ([]string, error) {
	names := namesOf(c)
	before := ""
	if i := strings.LastIndexByte(written, ','); i >= 0 {
		before = written[:i+1]
	}
	already := splitList(before)
	names = slices.DeleteFunc(names, func(n string) bool { return slices.Contains(already, n) })
	for i := range names {
		names[i] = before + names[i]
	}
	return names, nil
}

// fieldsOf completes a field to group by. Another argument names the class of the field.
func fieldsOf(class string) Completer {
	return func(_ context.Context, c *bailiwick.Call, _ string, given map[string]string) ([]string, error) {
		v, err := c.View(given[class])
		if err != nil {
			return nil, nil
		}
		var out []string
		for _, f := range v.Fields() {
			if groupable(v, f) {
				out = append(out, f.Name)
			}
		}
		return out, nil
	}
}

// groupable reports whether records can be grouped by a field.
func groupable(v *policy.View, f *schema.Field) bool {
	return f.Type != schema.Opaque && v.Mask(f.Name) == nil
}

// pointersOf completes a pointer of the class in the argument child. If the argument parent is given, only pointers
// to that class count.
func pointersOf(child, parent string) Completer {
	return func(_ context.Context, c *bailiwick.Call, _ string, given map[string]string) ([]string, error) {
		v, err := c.View(given[child])
		if err != nil {
			return nil, nil
		}
		target := ""
		if given[parent] != "" {
			p, err := c.View(given[parent])
			if err != nil {
				return nil, nil
			}
			target = p.Name()
		}
		return pointers(v, target), nil
	}
}

// pointers returns the pointers of v to the class that its principal knows as target. If target is "", it returns all
// pointers.
func pointers(v *policy.View, target string) []string {
	var out []string
	for _, r := range v.Relations() {
		if target == "" || r.Target == target {
			out = append(out, r.Field)
		}
	}
	return out
}
