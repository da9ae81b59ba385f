package operate

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bailiwick-dev/bailiwick/cmd/bailiwick/internal/terminal"
	"github.com/bailiwick-dev/bailiwick/internal/app"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/policyops"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// policyAudit returns the command policy audit. The exit code is 1 only for the codes of --fail-on. A first check of
// old rules therefore doesn't break a pipeline.
func policyAudit(t *terminal.Terminal) *cobra.Command {
	var from app.Setup
	var fail []string
	var all bool
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Find what is odd in rules that work",
		Long: "Find what is odd in rules that work. It reads a sample of records and keeps none of it. Wrong rules are an error of each command.\n" +
			"The findings:\n\n" +
			"  missing-description  agents see a name without a description\n" +
			"  unresolved           a name in a list or a filter leads to nothing\n" +
			"  dead                 a rule does nothing\n" +
			"  drift                a documented value is no longer in the database\n" +
			"  unscoped             a class with a tenant is joined to a class without one\n" +
			"  trusted              a declared query reads the database directly, so that no rule of a class applies\n" +
			"  absent               a metric reads a field that is hidden or masked for a principal, who doesn't have the metric\n" +
			"  derived              a field is denied or masked because the database makes it from one that is\n" +
			"  withheld             the gateway hides a field because its values look like credentials\n" +
			"  lifted               a rule shows a field whose values look like credentials",
		Example: "  bailiwick policy audit --fail-on unresolved,unscoped",
		Args:    terminal.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			stops, err := codes(fail)
			if err != nil {
				return err
			}
			c, err := from.Load()
			if err != nil {
				return err
			}
			_, found, err := Findings(cmd.Context(), c, false)
			if err != nil {
				return err
			}
			if all {
				return printFindings(t, found, stops, len(found))
			}
			return printFindings(t, found, stops, maxPerKind)
		},
	}
	from.Flags(cmd.Flags())
	cmd.Flags().BoolVar(&all, "all", false, "show each of many findings of one kind")
	cmd.Flags().StringSliceVar(&fail, "fail-on", nil, "end with code 1 when there is one of these `CODES`: any, or missing-description, unresolved, dead, drift, unscoped, open, uncallable, trusted, absent, derived, withheld, lifted")
	return cmd
}

// codes parses --fail-on.
func codes(names []string) ([]policyops.Code, error) {
	var out []policyops.Code
	all := []string{"any"}
	for _, c := range policyops.Codes() {
		all = append(all, string(c))
	}
	for _, n := range names {
		switch {
		case n == "any":
			return policyops.Codes(), nil
		case !slices.Contains(all, n):
			return nil, config.Usagef("--fail-on: there is no finding %q%s", n, problem.DidYouMean(problem.Nearest(n, all, 1)))
		}
		out = append(out, policyops.Code(n))
	}
	return out, nil
}

// A Finding is a finding with its position in the configuration.
type Finding struct {
	policyops.Finding
	Place *place `json:"place,omitempty"`
}

// String returns the finding on one line, without the suggestion.
func (f Finding) String() string {
	at := f.Holder
	if f.Place != nil {
		at = f.Place.String()
		if f.Place.File != "" {
			at = fmt.Sprintf("%s:%d:%d", f.Place.File, f.Place.Line, f.Place.Column)
		}
	}
	return fmt.Sprintf("%s: %s: %s", at, f.Code, f.Message)
}

// holders returns the principals of the configuration, and those of tokens that are valid now.
func (s *scene) holders() []policyops.Holder {
	var out []policyops.Holder
	if s.directory.Stdio.ID != "" {
		out = append(out, policyops.Holder{Who: s.directory.Stdio, Name: "stdio", Path: []string{"stdio"}})
	}
	if s.directory.Anonymous.ID != "" {
		out = append(out, policyops.Holder{Who: s.directory.Anonymous, Name: "anonymous", Path: []string{"auth", "anonymous"}})
	}
	for _, k := range s.tokens {
		if k.Revoked.IsZero() && k.Expires.After(time.Now()) {
			out = append(out, policyops.Holder{Who: s.directory.Tokens[k.ID], Name: "token " + k.ID})
		}
	}
	return out
}

// Findings checks a configuration, its sources, and the tokens in its store if the store exists. With thorough, it
// samples all values that agents could see, without a time limit. Otherwise it takes small samples for at most half a
// minute.
func Findings(ctx context.Context, c *config.Config, thorough bool) (*app.Survey, []Finding, error) {
	s, err := policyLook(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	if err := s.know(ctx, c.Store); err != nil {
		return nil, nil, err
	}
	if err := s.Sample(ctx, c, thorough); err != nil {
		return nil, nil, err
	}
	var values policyops.FieldValues
	if v := s.Values; v != nil {
		values = policyops.FieldValues{Withheld: v.Withheld, Lifted: v.Lifted}
		if len(v.Missed) > 0 {
			s.Warnings = append(s.Warnings, fmt.Sprintf("the values of %s could not be looked at: %s", terminal.Count(len(v.Missed), "class"), strings.Join(v.Missed[:min(len(v.Missed), 5)], ", ")))
		}
	}
	found, err := policyops.Findings(s.Regime, s.holders(), values)
	if err != nil {
		return nil, nil, err
	}
	out := make([]Finding, len(found))
	for i, f := range found {
		out[i] = Finding{Finding: f}
		if f.Path != nil {
			out[i].Place = s.keyPlace(f.Path)
		}
	}
	return s.Survey, out, nil
}

// maxPerKind is the maximum number of findings shown of each kind. Further findings are only counted.
const maxPerKind = 5

// printFindings prints at most most findings of each code, with their positions and suggestions, and counts the
// others. As JSON it prints all findings. It returns ErrSaid if a finding has one of the codes in stops.
func printFindings(t *terminal.Terminal, all []Finding, stops []policyops.Code, most int) error {
	var failed error
	counts := map[policyops.Code]int{}
	for _, f := range all {
		if counts[f.Code]++; slices.Contains(stops, f.Code) {
			failed = terminal.ErrSaid
		}
	}
	if t.JSON {
		if err := t.PrintJSON(struct {
			Findings []Finding `json:"findings"`
			Failed   bool      `json:"failed"`
		}{append([]Finding{}, all...), failed != nil}); err != nil {
			return err
		}
		return failed
	}
	shown := map[policyops.Code]int{}
	for _, f := range all {
		if shown[f.Code]++; shown[f.Code] > most {
			if shown[f.Code] == counts[f.Code] {
				t.Printf("… and %d more of %s. --all shows them, --json as well\n", counts[f.Code]-most, f.Code)
			}
			continue
		}
		t.Printf("%s\n", f)
		if f.Place != nil && f.Place.Excerpt != "" && f.Code != policyops.MissingDescription {
			t.Printf("%s\n", f.Place.Excerpt)
		}
		t.Printf("  → %s\n", f.Suggestion)
	}
	var parts []string
	for _, c := range policyops.Codes() {
		if counts[c] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[c], c))
		}
	}
	if parts == nil {
		t.Printf("%s  nothing is odd\n", terminal.Style(terminal.Green, "good"))
		return nil
	}
	t.Printf("%s: %s\n", terminal.Count(len(all), "finding"), strings.Join(parts, ", "))
	return failed
}
