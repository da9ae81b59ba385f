package main

import (
	"context"
	"fmt"
	"slices"
	"text/tabwriter"

	"github.com/bailiwick-dev/bailiwick/cmd/bailiwick/internal/agentcmd"
	"github.com/bailiwick-dev/bailiwick/cmd/bailiwick/internal/operate"
	"github.com/bailiwick-dev/bailiwick/cmd/bailiwick/internal/terminal"
	"github.com/bailiwick-dev/bailiwick/internal/app"
	"github.com/bailiwick-dev/bailiwick/internal/config"
)

// exampleTrials are the results of the examples of classes for one principal.
type exampleTrials struct {
	As     string          `json:"as"`
	Tried  int             `json:"tried"`
	Failed []failedExample `json:"failed"`
}

// A failedExample is an example that the principal may not make, or whose call failed.
type failedExample struct {
	File     string `json:"file"`
	Line     int    `json:"line"`
	Question string `json:"question"`
	Error    string `json:"error"`
}

// tryExamples answers the examples of the classes that a principal sees.
func (r *examination) tryExamples(ctx context.Context, c *config.Config, name string) error {
	who, err := operate.Principal(ctx, c, r.survey, name)
	if err != nil {
		return err
	}
	all, err := app.TryExamples(ctx, c, r.survey.Regime, who)
	if err != nil {
		return err
	}
	r.Examples = &exampleTrials{As: name, Tried: len(all), Failed: []failedExample{}}
	for _, e := range all {
		if e.Error != "" {
			f := c.Wrong("", e.Path()...)
			r.Examples.Failed = append(r.Examples.Failed, failedExample{f.File, f.Line, e.Question, e.Error})
		}
	}
	return nil
}

// failed reports whether a query or an example failed.
func (r *examination) failed() bool {
	return r.Examples != nil && len(r.Examples.Failed) > 0 || slices.ContainsFunc(r.Queries, func(q app.QueryTrial) bool { return q.Error != "" })
}

// widest is the maximum number of characters of a first record.
const widest = 120

// printTrials prints the first record of each declared query, and the examples that failed.
func printTrials(t *terminal.Terminal, r *examination) error {
	w := tabwriter.NewWriter(t.Out, 0, 8, 2, ' ', 0)
	if len(r.Queries) > 0 {
		fmt.Fprintln(w, "QUERY\tEXAMPLE\tFIRST RECORD")
	}
	for _, q := range r.Queries {
		first := agentcmd.Line(string(q.First), widest)
		switch {
		case q.Error != "":
			first = terminal.Style(terminal.Red, "fails:") + " " + agentcmd.Line(q.Error, 400)
		case q.Example == nil:
			first = "not run: it needs an example, or values of a caller"
		case q.First == nil:
			first = "no record"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", q.Query, agentcmd.Line(string(q.Example), 60), first)
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	if r.Examples == nil {
		return nil
	}
	for _, f := range r.Examples.Failed {
		t.Printf("%s  %s:%d: %s: %s\n", terminal.Style(terminal.Red, "FAIL"), f.File, f.Line, terminal.Printable(f.Question), terminal.Printable(f.Error))
	}
	t.Printf("%s as %s, %d failed\n", terminal.Count(r.Examples.Tried, "example"), r.Examples.As, len(r.Examples.Failed))
	return nil
}
