package operate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/app"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/expression"
	"github.com/bailiwick-dev/bailiwick/internal/policyops"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A listed is a token for display. Its filters contain digests instead of values.
type listed struct {
	identity.Token
	Filters map[string]string `json:"filters,omitempty"`
}

// checkToolNames returns an error for unknown tools in a list, because a misspelt name in except would have no
// effect.
func checkToolNames(c *config.Config, tools identity.List) error {
	if c.Lenient {
		return nil // CheckToken warns
	}
	names := app.ToolNames(c)
	for _, n := range slices.Concat(tools.Only, tools.Except) {
		if !slices.Contains(names, n) {
			return config.Usagef("there is no tool %q%s", problem.Cut(n), problem.DidYouMean(problem.Nearest(n, names, 2)))
		}
	}
	return nil
}

// parseFilters parses arguments of the form CLASS=WHERE. It only checks the expressions in the where objects, because
// policy would check them much later. Other errors are found when the token is created.
func parseFilters(texts []string) (map[string]string, error) {
	var out map[string]string
	expressions := expression.NewCompiler()
	for _, text := range texts {
		class, where, ok := strings.Cut(text, "=")
		if class = strings.TrimSpace(class); !ok || class == "" || !strings.HasPrefix(strings.TrimSpace(where), "{") {
			return nil, config.Usagef("--filter must be CLASS=WHERE, such as 'issues={\"status\":\"open\"}'")
		}
		if out[class] != "" {
			return nil, config.Usagef("--filter names %s twice. Put both conditions in one where object", class)
		}
		if out == nil {
			out = map[string]string{}
		}
		out[class] = where
		if f, err := ruleOf(where); err == nil {
			if err := expressions.Check(f); err != nil {
				return nil, fmt.Errorf("filter of %s: %w", class, err)
			}
		}
	}
	return out, nil
}

func ruleOf(text string) (query.Filter, error) {
	v, err := value.Read([]byte(text), 0)
	if err != nil {
		return nil, err
	}
	return query.ParseRule(v, "")
}

// restrictionText describes the restrictions of a token other than its scopes, or returns "".
func restrictionText(k identity.Token) string {
	var parts []string
	for _, l := range []struct {
		of   string
		list identity.List
	}{{"tools", k.Tools}, {"actions", k.Actions}, {"classes", k.Classes}} {
		if l.list.Only != nil {
			parts = append(parts, l.of+" "+dash(strings.Join(l.list.Only, ",")))
		}
		if len(l.list.Except) > 0 {
			parts = append(parts, l.of+" but "+strings.Join(l.list.Except, ","))
		}
	}
	filters := digests(k)
	for _, class := range slices.Sorted(maps.Keys(filters)) {
		parts = append(parts, class+" where "+filters[class])
	}
	if len(k.IPs) > 0 {
		parts = append(parts, "from "+strings.Trim(fmt.Sprint(k.IPs), "[]"))
	}
	return strings.Join(parts, "; ")
}

// digests returns a token's filters for display, with the beginning of a digest in place of each value.
func digests(k identity.Token) map[string]string {
	out := make(map[string]string, len(k.Filters))
	for class, text := range k.Filters {
		out[class] = "(not valid)"
		if f, err := ruleOf(text); err == nil && f != nil {
			out[class] = policyops.DigestFilter(f)
		}
	}
	return out
}
