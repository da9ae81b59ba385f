package agentcmd

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/bailiwick-dev/bailiwick/assistant"
	"github.com/bailiwick-dev/bailiwick/cmd/bailiwick/internal/terminal"
	"github.com/bailiwick-dev/bailiwick/internal/config"
)

// EvalCommand returns the command that evaluates a model.
func EvalCommand(t *terminal.Terminal) *cobra.Command {
	e := &evaluation{Terminal: t}
	cmd := &cobra.Command{
		Use:   "eval [FILE]",
		Short: "Have a model answer questions whose answers are known, and count",
		Long: "Have a model answer questions whose answers are known, as an agent behind a configuration's rules, and count: right,\n" +
			"wrong, refused, calls, tokens, cost. --against does the same with another configuration and shows the difference, so\n" +
			"that one can see whether a rule, a description or a model helps. Exit code 1: something was seen that must never be.\n\n" +
			"Without FILE it asks the examples of classes, and expects their own answers.",
		Example: "  bailiwick eval examples/eval/tracker.yaml --config bailiwick.yaml --against stricter.yaml\n  bailiwick eval --as acme",
		Args:    terminal.These(0, "FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				f, err := e.examples(cmd.Context())
				if err != nil {
					return err
				}
				return e.run(cmd.Context(), f)
			}
			data, err := os.ReadFile(args[0])
			if err != nil {
				return fmt.Errorf("read the questions: %w", err)
			}
			f, err := parse(args[0], data)
			if err != nil {
				return err
			}
			return e.run(cmd.Context(), f)
		},
	}
	e.Flags(cmd.Flags())
	cmd.Flags().StringVar(&e.against, "against", "", "a second configuration `FILE` to compare with")
	return cmd
}

// An evaluation contains the flags of the command eval.
type evaluation struct {
	dialer
	*terminal.Terminal
	against string
}

// A round is the result of all questions with one configuration.
type round struct {
	Config    string   `json:"config"`
	Model     string   `json:"model"`
	Total     tally    `json:"total"`
	Scenarios []tally  `json:"scenarios"`
	Questions []graded `json:"questions"`
}

// A tally counts results.
type tally struct {
	Scenario  string  `json:"scenario,omitempty"`
	Questions int     `json:"questions"`
	Right     int     `json:"right"`
	Wrong     int     `json:"wrong"`
	Refused   int     `json:"refused"`
	Failed    int     `json:"failed"`
	Leaked    int     `json:"leaked"`
	Calls     int     `json:"calls"`
	Tokens    int     `json:"tokens"`
	Cost      float64 `json:"cost_usd"`
}

// add counts the result of one question. It counts leaks in addition to the verdict, because a right answer may also
// contain a leak.
func (t *tally) add(r graded) {
	t.Questions++
	switch r.Verdict {
	case right:
		t.Right++
	case refused:
		t.Refused++
	case failed:
		t.Failed++
	default:
		t.Wrong++
	}
	if r.Leaked != "" {
		t.Leaked++
	}
	t.Calls, t.Tokens, t.Cost = t.Calls+r.Calls, t.Tokens+r.Tokens, t.Cost+r.Cost
}

// run asks all questions of f with one configuration, or with two to compare them. A wrong answer is not an
// error. The exit code is 1 only after a leak.
func (e *evaluation) run(ctx context.Context, f *file) error {
	p, err := provider()
	if err != nil {
		return err
	}
	configs := []string{e.File}
	if e.against != "" {
		configs = append(configs, e.against)
	}
	var rounds []round
	for _, c := range configs {
		e.File = c
		r, err := e.round(ctx, f, p)
		if err != nil {
			return err
		}
		r.Config = e.Path()
		rounds = append(rounds, r)
	}
	if e.JSON {
		err = e.PrintJSON(map[string]any{"rounds": rounds})
	} else {
		e.print(rounds)
	}
	for _, r := range rounds {
		if r.Total.Leaked > 0 {
			return errors.Join(err, terminal.ErrSaid)
		}
	}
	return err
}

// round asks all questions with the current configuration.
func (e *evaluation) round(ctx context.Context, f *file, p assistant.Provider) (round, error) {
	r := round{Model: p.String()}
	at := map[string]int{}
	for name := range f.given {
		some, err := e.asAll(ctx, f, name, p)
		if err != nil {
			return r, err
		}
		r.Questions = append(r.Questions, some...)
	}
	// Restore the order of the file.
	byID := map[string]graded{}
	for _, q := range r.Questions {
		byID[q.ID] = q
	}
	r.Questions = nil
	for _, q := range f.questions {
		res := byID[q.id]
		r.Questions = append(r.Questions, res)
		r.Total.add(res)
		i, ok := at[q.scenario]
		if !ok {
			i = len(r.Scenarios)
			at[q.scenario] = i
			r.Scenarios = append(r.Scenarios, tally{Scenario: q.scenario})
		}
		r.Scenarios[i].add(res)
	}
	return r, nil
}

// asAll asks the questions of one principal, each in a new conversation.
func (e *evaluation) asAll(ctx context.Context, f *file, name string, p assistant.Provider) (all []graded, err error) {
	if err := e.Speak(f.given[name].tenant, f.given[name].scopes); err != nil {
		return nil, err
	}
	c, end, err := e.Open(ctx)
	if err != nil {
		return nil, advise(err)
	}
	defer func() { err = errors.Join(err, c.Close(), end()) }()
	agree := func(context.Context, assistant.Call) (bool, error) { return true, nil } // proposals are not stored here
	a, err := assistant.New(assistant.Options{Client: c, Provider: p, System: howToEnd, Hooks: assistant.Hooks{Confirm: agree}})
	if err != nil {
		return nil, config.Usage(err)
	}
	for _, q := range f.questions {
		if q.as != name {
			continue
		}
		answer, err := a.Ask(ctx, q.ask)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		res := graded{ID: q.id, Scenario: q.scenario, Tier: q.tier, Verdict: failed}
		if err != nil {
			res.Error = err.Error()
		} else {
			res = q.grade(answer)
		}
		all = append(all, res)
	}
	return all, nil
}

// print prints a table for each configuration. For one configuration it lists the questions with wrong answers. For
// two configurations it lists questions with different verdicts. It always prints leaks.
func (e *evaluation) print(rounds []round) {
	for _, r := range rounds {
		e.Printf("%s  %s\n", terminal.Style(terminal.Bold, r.Config), terminal.Style(terminal.Faint, r.Model))
		rows := [][]string{{"scenario", "questions", "right", "wrong", "refused", "failed", "leaked", "calls", "tokens", "cost"}}
		for _, t := range append(r.Scenarios, r.Total) {
			name := t.Scenario
			if name == "" {
				name = "all"
			}
			row := []string{name}
			for _, n := range []int{t.Questions, t.Right, t.Wrong, t.Refused, t.Failed, t.Leaked, t.Calls, t.Tokens} {
				row = append(row, fmt.Sprint(n))
			}
			rows = append(rows, append(row, fmt.Sprintf("$%.4f", t.Cost)))
		}
		e.Printf("%s\n", Table(rows))
	}
	for i, q := range rounds[0].Questions {
		last := rounds[len(rounds)-1].Questions[i]
		switch {
		case len(rounds) == 2 && q.Verdict != last.Verdict:
			e.Printf("%s: %s → %s (%s → %s)\n", q.ID, q.Verdict, last.Verdict, Line(q.Answer, 40), Line(last.Answer, 40))
		case len(rounds) == 1 && q.Verdict != right:
			e.Printf("%s: %s %s\n", q.ID, q.Verdict, Line(q.Answer+q.Error, 90))
		}
		for _, r := range rounds {
			if leaked := r.Questions[i].Leaked; leaked != "" {
				e.Printf("%s\n", terminal.Style(terminal.Red, q.ID+": "+Line(leaked, 60)+" was seen behind "+r.Config))
			}
		}
	}
}
