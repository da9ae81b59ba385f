package operate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bailiwick-dev/bailiwick/cmd/bailiwick/internal/terminal"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/app"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/policyops"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// PolicyCommand returns the policy commands.
func PolicyCommand(t *terminal.Terminal) *cobra.Command {
	cmd := terminal.Group(&cobra.Command{Use: "policy", Short: "Ask about rules: what they show, why they refuse, what is odd, what others would change"})
	cmd.AddCommand(policyDescribe(t), policyExplain(t), policyAudit(t), policyTest(t), policyDiff(t))
	return cmd
}

// A scene is a configuration with its compiled rules and known principals.
type scene struct {
	*app.Survey
	config    *config.Config
	tokens    []identity.Token
	directory policyops.CallDirectory
}

// policyLook checks a configuration with its sources.
func policyLook(ctx context.Context, c *config.Config) (*scene, error) {
	survey, err := app.Examine(ctx, c)
	if err != nil {
		return nil, err
	}
	return newScene(survey, c), nil
}

// newScene returns the scene of a configuration, without the tokens of its store.
func newScene(survey *app.Survey, c *config.Config) *scene {
	s := &scene{Survey: survey, config: c, directory: policyops.CallDirectory{Tokens: map[string]identity.Principal{}, Stdio: c.Stdio}}
	if c.Auth.Anonymous != nil {
		s.directory.Anonymous = *c.Auth.Anonymous
	}
	return s
}

// printSamplingNote prints that a running gateway also hides fields because of their values. The policy commands
// don't sample values, so that their result doesn't depend on the data.
func (s *scene) printSamplingNote(t *terminal.Terminal) {
	if s.config.Unsampled || len(s.Policy.ExposedClasses()) == 0 {
		return
	}
	t.Notef("note: values were not looked at. A gateway also hides fields whose values look like credentials. \"bailiwick check\" lists them.")
}

// know reads the tokens of the store at url, if it exists.
func (s *scene) know(ctx context.Context, url string) error {
	err := keeping(ctx, url, func(store app.Store) (err error) {
		for k, err := range identity.NewTokens(identity.TokenOptions{Store: store}).All(ctx, identity.Local(app.LocalUser()), identity.TokenFilter{}) {
			if err != nil {
				return err
			}
			p, err := k.Principal()
			if err != nil {
				return fmt.Errorf("token %s: %w", k.ID, err)
			}
			s.tokens = append(s.tokens, k)
			s.directory.Tokens[k.ID] = p
		}
		slices.Reverse(s.tokens) // oldest first
		return nil
	})
	if errors.Is(err, app.ErrNoStore) {
		return nil
	}
	return err
}

// keeping opens the store at url and calls do with it. The store must exist.
func keeping(ctx context.Context, url string, do func(app.Store) error) (err error) {
	store, err := app.OpenStore(ctx, url, true)
	if err != nil {
		return err
	}
	defer app.CloseAfter(store, &err)
	return do(store)
}

// as returns a principal by name. The name is stdio, anonymous, or the ID, the name or the secret of a token.
func (s *scene) as(name string) (identity.Principal, error) {
	switch {
	case name == "":
		return identity.Principal{}, config.Usagef("whose rights? name a token by its ID or name, stdio or anonymous with --as")
	case name == "stdio" && s.directory.Stdio.ID != "":
		return s.directory.Stdio, nil
	case name == "anonymous" && s.directory.Anonymous.ID != "":
		return s.directory.Anonymous, nil
	case name == "stdio" || name == "anonymous":
		return identity.Principal{}, fmt.Errorf("the configuration says nothing of %s", name)
	}
	var found []identity.Token
	names := []string{"stdio", "anonymous"}
	for _, k := range s.tokens {
		if k.ID == name || strings.HasPrefix(name, identity.TokenStart+k.Prefix) {
			return s.directory.Tokens[k.ID], nil
		}
		if k.Name == name {
			found = append(found, k)
		}
		names = append(names, k.ID, k.Name)
	}
	switch len(found) {
	case 0:
		if strings.HasPrefix(name, identity.TokenStart) {
			return identity.Principal{}, fmt.Errorf("the store has no such token")
		}
		return identity.Principal{}, fmt.Errorf("there is no token %q%s (\"bailiwick token list\" shows all)", name, problem.DidYouMean(problem.Nearest(name, names, 2)))
	case 1:
		return s.directory.Tokens[found[0].ID], nil
	}
	ids := make([]string, len(found))
	for i, k := range found {
		ids[i] = k.ID
	}
	return identity.Principal{}, config.Usagef("%d tokens are called %s. Name one by its ID: %s", len(found), name, strings.Join(ids, ", "))
}

// Principal returns a principal of c by name: stdio, anonymous, or the ID, the name or the secret of a token.
func Principal(ctx context.Context, c *config.Config, survey *app.Survey, name string) (identity.Principal, error) {
	s := newScene(survey, c)
	if err := s.know(ctx, c.Store); err != nil {
		return identity.Principal{}, err
	}
	return s.as(name)
}

// A place is the position of a rule in a file, or in the record of a token.
type place struct {
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Path    string `json:"path"`
	Excerpt string `json:"excerpt,omitempty"`
}

// String returns the place on one line.
func (p *place) String() string {
	if p.File == "" {
		return p.Path
	}
	return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Path)
}

// place returns the position of a rule for p, or nil for a built-in rule.
func (s *scene) place(rule []string, p identity.Principal) *place {
	if len(rule) == 0 {
		return nil
	}
	if rule[0] == "principal" {
		switch {
		case p.TokenID != "":
			return &place{Path: "token " + p.TokenID + ": " + strings.Join(rule[1:], ".")}
		case p.ID == "stdio" && s.directory.Stdio.ID != "":
			rule = append([]string{"stdio"}, rule[1:]...)
		case p.ID == "anonymous" && s.directory.Anonymous.ID != "":
			rule = append([]string{"auth", "anonymous"}, rule[1:]...)
		default:
			return &place{Path: strings.Join(rule, ".")}
		}
	}
	return s.keyPlace(rule)
}

// further returns the positions of the other rules that also refuse.
func (s *scene) further(v policyops.Verdict) (out []*place) {
	for _, rule := range v.Further {
		out = append(out, s.keyPlace(rule))
	}
	return out
}

// keyPlace returns the position of a key in the configuration.
func (s *scene) keyPlace(rule []string) *place {
	for _, g := range s.config.Gates() {
		if by := strings.Join(rule, ".") + " (" + g.SetBy + ")"; slices.Equal(rule, []string{"gates", g.Key}) && !strings.Contains(g.SetBy, ":") {
			return &place{Path: by} // the file doesn't contain the gate
		}
	}
	f := s.config.Wrong("", rule...)
	if strings.Join(rule, ".") == "policy.unlisted" && f.Line <= 1 { // if it isn't set, point to the list of classes instead
		f = s.config.Wrong("", "classes")
	}
	return &place{File: f.File, Line: f.Line, Column: f.Column, Path: strings.Join(rule, "."), Excerpt: f.Excerpt}
}

// day formats a time for people.
func day(t time.Time) string { return t.Local().Format(time.DateTime) }
