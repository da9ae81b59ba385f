package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/bailiwick-dev/bailiwick/cmd/bailiwick/internal/operate"
	"github.com/bailiwick-dev/bailiwick/cmd/bailiwick/internal/terminal"
	"github.com/bailiwick-dev/bailiwick/internal/app"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/policyops"
)

// checkCommand returns the command check. Like serve, it reads the catalogues of all sources and compiles the rules
// against them.
func checkCommand(t *terminal.Terminal) *cobra.Command {
	var from app.Setup
	var thorough bool
	var name string
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Check a configuration against its databases, and say what agents would see",
		Long: "Check a configuration against its databases, and say what agents would see. It looks at a sample of the values that agents could\n" +
			"see. Fields whose values look like credentials are hidden, whatever the rules say, until lift names them. With --values it takes\n" +
			"larger samples of every class, without a bound on all of them. It prints for each field how many values it saw. It prints no value.\n\n" +
			"It runs each declared query with its example, for all tenants, and prints the first record. With --as, it also answers the examples\n" +
			"of classes as that principal, and names those that fail. Ends with code 1 when a query or an example fails.",
		Args: terminal.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := from.Load()
			if err != nil {
				return err
			}
			r, err := examine(cmd.Context(), c, thorough)
			if err == nil && name != "" {
				err = r.tryExamples(cmd.Context(), c, name)
			}
			if err == nil {
				err = printExamination(t, r)
			}
			if err == nil && r.failed() {
				return terminal.ErrSaid
			}
			return err
		},
	}
	from.Flags(cmd.Flags())
	cmd.Flags().BoolVar(&thorough, "values", false, "look at larger samples of the values of every class, and print counts for each field")
	cmd.Flags().StringVar(&name, "as", "", "answer the examples of classes as `WHO`: a token by its ID or name, stdio or anonymous")
	return cmd
}

// An examination is the report of the command check about the classes and APIs.
type examination struct {
	Rules    string            `json:"rules"` // the digest of the rules
	Classes  []policyops.Class `json:"classes"`
	APIs     []policyops.API   `json:"apis,omitempty"`
	Gates    []config.SetGate  `json:"gates"`
	Warnings []string          `json:"warnings"`
	Values   []app.FieldValues `json:"values,omitempty"` // only with --values

	Queries  []app.QueryTrial `json:"queries,omitempty"`
	Examples *exampleTrials   `json:"examples,omitempty"` // only with --as

	survey *app.Survey
}

// examine compiles the rules of c against the classes of its sources.
func examine(ctx context.Context, c *config.Config, thorough bool) (*examination, error) {
	s, found, err := operate.Findings(ctx, c, thorough)
	if err != nil {
		return nil, err
	}
	r := &examination{Rules: c.Rules.Version, Warnings: s.Warnings, Gates: c.Gates()}
	bare := 0
	for _, f := range found {
		if f.Code == policyops.MissingDescription { // there may be many, and they are harmless
			bare++
			continue
		}
		text := f.String()
		if f.Code == policyops.Withheld {
			text += ". " + strings.ToUpper(f.Suggestion[:1]) + f.Suggestion[1:]
		}
		r.Warnings = append(r.Warnings, text)
	}
	if bare > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("descriptions are missing in %s, so that agents see only names there. The command \"bailiwick policy audit\" lists them", terminal.Count(bare, "place")))
	}
	undeclared, err := app.DeclarationWarnings(ctx, c, s.Policy.Catalogue())
	if err != nil {
		return nil, err
	}
	r.Warnings = append(r.Warnings, undeclared...)
	if thorough {
		r.Values = s.Values.Fields
	}
	r.survey, r.APIs = s, policyops.APIs(s.Policy)
	if r.Queries, err = s.TryQueries(ctx, c); err != nil {
		return nil, err
	}
	r.Classes, err = policyops.Report(s.Policy.Rules(), s.Policy.Catalogue())
	return r, err
}

// printExamination prints a line for each class, the APIs, warnings, hidden and masked fields, and gates. The column
// RECORDS names the tenant field. If only some classes have a tenant, it marks the classes without.
func printExamination(t *terminal.Terminal, r *examination) error {
	if t.JSON {
		return t.PrintJSON(r)
	}
	w := tabwriter.NewWriter(t.Out, 0, 8, 2, ' ', 0)
	if len(r.Classes) > 0 || len(r.APIs) == 0 {
		fmt.Fprintln(w, "CLASS\tVISIBLE\tHIDDEN\tDENIED\tRECORDS")
	}
	shown := 0
	tenanted := slices.ContainsFunc(r.Classes, func(e policyops.Class) bool { return e.Tenant != "" })
	for _, e := range r.Classes {
		if !e.Shown {
			fmt.Fprintf(w, "%s\t-\t-\t-\t%s\n", e.Name, e.Why)
			continue
		}
		shown++
		records := e.Tenant
		switch {
		case e.Recordless:
			records = "none: a description"
		case records == "":
			records = "all"
			if tenanted {
				records = "all, for every tenant"
			}
		}
		if e.Guarded != "" {
			records += "; as " + e.Guarded
		}
		if e.Canonical {
			records += "; canonical"
		}
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%s\n", e.Name, len(e.Visible), len(e.Hidden), len(e.Denied)+len(e.Floor)+len(e.Derived)+len(e.Withheld), records)
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	if err := operate.PrintAPIs(t, r.APIs); err != nil {
		return err
	}
	for _, warning := range r.Warnings {
		t.Notef("%s %s", terminal.Style(terminal.Amber, "warning:"), warning)
	}
	printHiddenFields(t, r)
	if err := printValues(t, r.Values); err != nil {
		return err
	}
	if err := printTrials(t, r); err != nil {
		return err
	}
	operate.PrintGates(t, r.Gates)
	printVisibleCounts(t, r, shown)
	return nil
}

// printHiddenFields prints the fields of each class that are hidden because of their names or values, and the masked
// fields.
func printHiddenFields(t *terminal.Terminal, r *examination) {
	for _, e := range r.Classes {
		if e.Shown && len(e.Floor) > 0 {
			t.Printf("%s: denied by name: %s\n", e.Name, strings.Join(e.Floor, ", "))
		}
		if len(e.Withheld) > 0 {
			t.Printf("%s: hidden because of their values: %s\n", e.Name, strings.Join(e.Withheld, ", "))
		}
		if e.Shown && len(e.Masked) > 0 {
			t.Printf("%s: masked: %s\n", e.Name, strings.Join(maskedFields(e), ", "))
		}
	}
}

// printValues prints how many values of each field were sampled, and how many of them look like credentials.
func printValues(t *terminal.Terminal, fields []app.FieldValues) error {
	if len(fields) == 0 {
		return nil
	}
	w := tabwriter.NewWriter(t.Out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "FIELD\tVALUES\tCREDENTIALS\tRANDOM\tRESULT")
	for _, f := range fields {
		result := "shown"
		switch {
		case f.Why != "" && f.Lifted:
			result = "shown: lifted"
		case f.Why != "":
			result = "hidden"
		case f.Values == 0:
			result = "shown, no value seen"
		}
		fmt.Fprintf(w, "%s.%s\t%d\t%d\t%d\t%s\n", f.Class, f.Field, f.Values, f.Secrets, f.Random, result)
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	return nil
}

// printVisibleCounts prints how many classes and operations agents can see.
func printVisibleCounts(t *terminal.Terminal, r *examination, shown int) {
	seen, can := []string{}, shown
	if len(r.Classes) > 0 || len(r.APIs) == 0 {
		seen = append(seen, fmt.Sprintf("%d of %d classes", shown, len(r.Classes)))
	}
	if len(r.APIs) > 0 {
		of, all := 0, 0
		for _, a := range r.APIs {
			of, all = of+a.Operations(), all+a.Operations()+a.Excluded+a.Forbidden+a.Unseen
		}
		seen, can = append(seen, fmt.Sprintf("%d of %d operations", of, all)), can+of
	}
	if can == 0 {
		t.Printf("%s  %s can be seen (rules %s): none is named by the rules. Name classes under classes, or let \"bailiwick init\" write rules\n",
			terminal.Style(terminal.Amber, "nothing"), strings.Join(seen, " and "), r.Rules)
		return
	}
	t.Printf("%s  %s can be seen (rules %s)\n", terminal.Style(terminal.Green, "good"), strings.Join(seen, " and "), r.Rules)
}

// maskedFields returns the masked fields of a class with their masks.
func maskedFields(e policyops.Class) []string {
	var out []string
	for _, f := range e.Visible {
		if m, ok := e.Masked[f]; ok {
			out = append(out, f+" ("+string(m)+")")
		}
	}
	return out
}
