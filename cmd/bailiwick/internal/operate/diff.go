package operate

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/cmd/bailiwick/internal/terminal"
	"github.com/bailiwick-dev/bailiwick/internal/app"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/policyops"
)

// policyDiff returns the command policy diff. It reads the audit of the last --days and the catalogues of both
// configurations. It reads no records.
func policyDiff(t *terminal.Terminal) *cobra.Command {
	var store, name string
	var days int
	var people bool
	cmd := &cobra.Command{
		Use:   "diff OLD NEW",
		Short: "Tell which calls of the last days would end otherwise under another configuration",
		Long: "Tell which calls of the last days would end otherwise under the configuration NEW than under OLD. Such a call would be\n" +
			"refused, be allowed, or give other records or fields. It also names the declared queries and metrics that a principal gets or\n" +
			"loses. It reads the audit and what the sources have, and no records. The audit has no values, so some calls can't be decided.\n" +
			"They are listed separately. Calls of people, such as the pages of the console, come with --people or --as. Ends with code 1 when\n" +
			"something would be otherwise.",
		Example: "  bailiwick policy diff bailiwick.yaml proposed.yaml --days 7",
		Args:    terminal.These(2, "OLD, the configuration in force,", "NEW, the configuration to try,"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if days < 1 {
				return config.Usagef("--days must be 1 or more")
			}
			return compare(cmd.Context(), t, comparison{old: args[0], new: args[1], store: store, as: name, since: time.Now().AddDate(0, 0, -days), days: days, people: people})
		},
	}
	f := cmd.Flags()
	f.IntVar(&days, "days", 7, "how many `DAYS` back")
	f.StringVar(&name, "as", "", "only the calls of `WHO`: a token by its ID or name, stdio or anonymous")
	peopleFlag(f, &people)
	f.StringVar(&store, "store", "", "the store with the audit: sqlite:`FILE` (default that of OLD)")
	return cmd
}

// A comparison contains the arguments of the command policy diff.
type comparison struct {
	old, new, store, as string // the files, the store with the audit ("" means the store of old), and the principal ("" means all)
	since               time.Time
	days                int
	people              bool // also the calls of people
}

// compare judges each recorded call since q.since by the rules of both files. It checks each side with its own
// sources. The principals of both sides come from the tokens in the old store, because a proposed file has no tokens.
// The audit is read backwards, so that reading can stop at q.since.
func compare(ctx context.Context, t *terminal.Terminal, q comparison) error {
	from := app.Setup{File: q.old, Store: q.store}
	c, err := from.Load()
	if err != nil {
		return err
	}
	old, err := policyLook(ctx, c)
	if err != nil {
		return err
	}
	next, err := app.LoadFile(q.new)
	if err != nil {
		return err
	}
	now, err := policyLook(ctx, next)
	if err != nil {
		return err
	}
	if err := old.know(ctx, c.Store); err != nil {
		return err
	}
	now.directory.Tokens = old.directory.Tokens
	only := ""
	if q.as != "" {
		p, err := old.as(q.as)
		if err != nil {
			return err
		}
		only = p.ID
	}
	run := policyops.Trial{Old: policyops.Side{Regime: old.Regime, Directory: old.directory}, New: policyops.Side{Regime: now.Regime, Directory: now.directory}}
	err = keeping(ctx, c.Store, func(store app.Store) error {
		return store.Backwards(ctx, audit.Last, func(r audit.Record) bool {
			if r.Step != "" {
				return true // a step isn't a call, and its time may be long ago
			}
			if r.Time.Before(q.since) {
				return false
			}
			if r.Checkpoint == "" && (only == "" && (q.people || !r.Person) || r.Principal == only) {
				run.Add(r)
			}
			return true
		})
	})
	if err != nil {
		return err
	}
	now.printSamplingNote(t)
	d := difference{DiffReport: run.Report(), days: q.days}
	if q.as == "" {
		d.declared = policyops.CompareDeclared(old.Regime, now.Regime, old.holders())
	}
	return printDiff(t, d, old, now)
}

// A difference is what another configuration changes: for calls of the last days, and for declared queries and metrics.
type difference struct {
	policyops.DiffReport
	days     int
	declared []policyops.DeclaredChange
}

// A told is a difference with the position of the rule that refuses.
type told struct {
	policyops.Difference
	Place *place `json:"place,omitempty"`
}

// printDiff prints the differences under a heading for each kind, and the counts. A position refers to the file that
// refuses. That is the new file, or the old file for calls that would now be allowed. It returns ErrSaid if there are
// differences.
func printDiff(t *terminal.Terminal, r difference, old, now *scene) error {
	changes := make([]told, len(r.Changes))
	for i, c := range r.Changes {
		changes[i] = told{Difference: c}
		side := now
		if c.Ends == policyops.NowAllowed {
			side = old
		}
		if c.Verdict.Reason != "" {
			p, _ := side.directory.Of(&audit.Record{Principal: c.Principal, TokenID: strings.TrimPrefix(c.Principal, "token:"), Tenant: c.Tenant})
			changes[i].Place = side.place(c.Verdict.Rule, p)
		}
	}
	var otherwise error
	if len(changes)+len(r.declared) > 0 {
		otherwise = terminal.ErrSaid
	}
	if t.JSON {
		if err := t.PrintJSON(struct {
			Calls   int    `json:"calls"`
			Same    int    `json:"same"`
			Changes []told `json:"changes"`

			Declared []policyops.DeclaredChange `json:"declared,omitempty"`
		}{r.Calls, r.Same, changes, r.declared}); err != nil {
			return err
		}
		return otherwise
	}
	ends, counts := "", map[string]int{}
	for _, c := range changes {
		if counts[c.Ends] += c.Calls; c.Ends != ends {
			ends = c.Ends
			t.Printf("%s\n", headings[ends])
		}
		printChange(t, c)
	}
	for _, d := range r.declared {
		verb := "loses"
		if d.Gets {
			verb = "gets"
		}
		t.Printf("%s %s %s\n", d.Principal, verb, d.Name)
	}
	t.Printf("%d calls in %d days: %d refused, %d allowed, %d changed, %d undecided, %d as before\n", r.Calls, r.days,
		counts[policyops.NowRefused], counts[policyops.NowAllowed], counts[policyops.Otherwise], counts[policyops.Undecided], r.Same)
	return otherwise
}

// headings contains the heading for each kind of difference.
var headings = map[string]string{
	policyops.NowRefused: terminal.Style(terminal.Red, "would be refused"),
	policyops.NowAllowed: terminal.Style(terminal.Green, "would be allowed"),
	policyops.Otherwise:  terminal.Style(terminal.Amber, "would give something else"),
	policyops.Undecided:  terminal.Style(terminal.Amber, "can't be decided from the audit"),
}

// printChange prints one group of calls with the same principal, tool and classes. It prints their number, the
// refusing rule with its position, and the differences.
func printChange(t *terminal.Terminal, c told) {
	asker := c.Principal
	if c.Tenant != "" {
		asker += "@" + c.Tenant
	}
	calls := "calls"
	if c.Calls == 1 {
		calls = "call"
	}
	t.Printf("  %s  %s  %s  (%d %s, last %s)\n", terminal.Printable(asker), terminal.Printable(c.Tool), strings.Join(c.Uses, " "), c.Calls, calls, day(c.Last))
	if c.Verdict.Reason != "" {
		where := ""
		if c.Place != nil {
			where = "; " + c.Place.String()
		}
		t.Printf("    %s: %s%s%s\n", c.Verdict.Reason, c.Verdict.Class, fieldSuffix(c.Verdict.Field), where)
	}
	for _, d := range c.Details {
		t.Printf("    %s\n", d)
	}
	if c.Rebuilt {
		t.Printf("    the principal is none that is known now: judged by the tenant and scopes of the records\n")
	}
}
