package operate

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/cmd/bailiwick/internal/terminal"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/review"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/reviewapi"
)

// ReviewCommand returns the review commands.
func ReviewCommand(t *terminal.Terminal) *cobra.Command {
	cmd := terminal.Group(&cobra.Command{Use: "changes", Short: "Look at the changes that agents propose, and decide about them",
		Long: "Look at the changes that agents propose, and decide about them. All of it happens at a running gateway, with the token of a human that has the scope review:\n" +
			"  bailiwick token create --name ana-reviews --kind human --owner ana@example.com --scopes review"})
	var g gateway
	g.flags(cmd.PersistentFlags())
	d := commands{&g, t}
	cmd.AddCommand(d.list(), d.show(), d.value(), d.approve(), d.breakGlass(), d.reject(), d.requestChanges(), d.edit(), d.comment(), d.renew(), d.revert(), d.settle(), d.watch(), d.deliveries(), d.redeliver())
	return cmd
}

// commands contains the state that all review commands share.
type commands struct {
	*gateway
	t *terminal.Terminal
}

// list returns the command changes list. Its flags are the parameters of the review API.
func (d commands) list() *cobra.Command {
	var asked filter
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List changes that wait, or those with --state, the newest first",
		Example: "  bailiwick changes list\n  bailiwick changes list --state all --class issues --limit 20",
		Args:    terminal.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var page reviewapi.Page
			if done, err := d.fetchList(cmd.Context(), "/api/changes", asked, &page); done || err != nil {
				return err
			}
			if len(page.Changes) == 0 {
				d.t.Notef("no changes")
				return nil
			}
			if err := printRows(d.t, page.Changes, time.Now()); err != nil {
				return err
			}
			if page.More {
				d.t.Notef("more: --before %s", oneLine(page.Changes[len(page.Changes)-1].ID))
			}
			return nil
		},
	}
	help := map[string]string{
		"state": "`STATES` apart by commas, or all", "source": "only of this `SOURCE`", "class": "only of this `CLASS`", "op": "create, update, delete, action, call, schema or group",
		"risk": "low, medium or high", "agent": "only those of this `PRINCIPAL`", "owner": "only those of agents of this `PERSON`", "text": "only those with all words of `TEXT`, or words that begin with them: in names, values, titles, reasons, comments, agents, people and states",
		"before": "only those older than this `ID`", "limit": "at most so many, up to 200",
	}
	asked = filterFlags(cmd.Flags(), reviewapi.Parameters(), help, string(change.Pending))
	return cmd
}

// A filter contains the flags that filter a list, by the names of the API's parameters.
type filter map[string]*string

// filterFlags adds a flag for each parameter. The argument state is the default of the flag --state.
func filterFlags(f *pflag.FlagSet, parameters []string, help map[string]string, state string) filter {
	asked := filter{}
	for _, name := range parameters {
		start := ""
		if name == "state" {
			start = state
		}
		asked[name] = f.String(name, start, help[name])
	}
	return asked
}

// fetchList requests a filtered list and decodes it into page. done is true if it has printed the list as JSON.
func (d commands) fetchList(ctx context.Context, path string, asked filter, page any) (done bool, err error) {
	q := url.Values{}
	for name, v := range asked {
		if *v != "" {
			q.Set(name, *v)
		}
	}
	raw, err := d.ask(ctx, http.MethodGet, path+"?"+q.Encode(), nil, page)
	if err == nil && d.t.JSON {
		d.t.Printf("%s\n", raw)
	}
	return d.t.JSON, err
}

// show returns the command changes show.
func (d commands) show() *cobra.Command {
	return &cobra.Command{
		Use:   "show ID",
		Short: "Show a change: what goes where, who wants it, and what speaks against it",
		Args:  terminal.These(1, "the change's ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			sheet, raw, err := d.sheet(cmd.Context(), http.MethodGet, args[0], "", nil)
			if err != nil {
				return err
			}
			return d.print(sheet, raw)
		},
	}
}

// print prints a sheet, or its JSON.
func (d commands) print(sheet *review.Sheet, raw []byte) error {
	if d.t.JSON {
		d.t.Printf("%s\n", raw)
		return nil
	}
	printSheet(d.t, sheet, time.Now())
	return nil
}

// approve returns the command changes approve. It approves a digest: the given one, or that of the sheet just shown.
// The server therefore refuses if the change was revised in the meantime.
func (d commands) approve() *cobra.Command {
	var digest, reason string
	var yes bool
	cmd := &cobra.Command{
		Use:   "approve ID [--reason WORDS]",
		Short: "Approve a change, after a look at it",
		Long: "Approve a change. It is shown first, and you are asked. --digest approves exactly what you have seen before. It is refused if the change is\n" +
			"different now. --yes approves what is shown without asking.",
		Args: terminal.These(1, "the change's ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if digest == "" {
				seen, err := d.look(cmd.Context(), args[0], "Approve this change?", yes)
				if err != nil {
					return err
				}
				digest = seen.Digest
			}
			return d.decide(cmd.Context(), args[0], "approve", map[string]any{"digest": digest, "comment": reason})
		},
	}
	cmd.Flags().StringVar(&digest, "digest", "", "approve what has this `DIGEST`, without a look at it")
	cmd.Flags().BoolVar(&yes, "yes", false, "don't ask")
	reasonFlag(cmd, &reason, "comment")
	return cmd
}

// breakGlass returns the command changes break-glass, which approves regardless of the review rules. It always shows
// the change and asks for confirmation, so it has no flag --yes.
func (d commands) breakGlass() *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use:   "break-glass ID --reason WORDS",
		Short: "Approve a change that needs more people or is your own agent's, and notify everybody",
		Args:  terminal.These(1, "the change's ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if reason == "" {
				return config.Usagef("--reason is missing")
			}
			seen, err := d.look(cmd.Context(), args[0], "Break the glass: approve this change past its rules?", false)
			if err != nil {
				return err
			}
			return d.decide(cmd.Context(), args[0], "break_glass", map[string]any{"digest": seen.Digest, "reason": reason})
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why it can't wait, in `WORDS`")
	return cmd
}

// look shows a change and asks for confirmation. Confirmation requires a terminal unless yes is set.
func (d commands) look(ctx context.Context, id, question string, yes bool) (*review.Sheet, error) {
	sheet, _, err := d.sheet(ctx, http.MethodGet, id, "", nil)
	if err != nil || d.t.JSON && yes {
		return sheet, err
	}
	in, ok := d.t.In.(*os.File)
	if !yes && (!ok || !term.IsTerminal(in.Fd())) {
		return nil, config.Usagef("there is no terminal to ask on. Look with \"bailiwick changes show %s\", then give --digest (or --yes)", id)
	}
	printSheet(d.t, sheet, time.Now())
	d.t.Printf("\n")
	if yes {
		return sheet, nil
	}
	fmt.Fprintf(d.t.Err, "%s Type yes: ", question)
	answer, err := bufio.NewReader(in).ReadString('\n')
	if err != nil && answer == "" {
		return nil, errors.New("there was no answer. Nothing was done")
	}
	if strings.TrimSpace(answer) != "yes" {
		return nil, errors.New("the answer was not yes. Nothing was done")
	}
	return sheet, nil
}

// decide performs the action verb on a change and prints the result. The exit code is 1 if an approved change was not
// applied.
func (d commands) decide(ctx context.Context, id, verb string, body map[string]any) error {
	for name, v := range body {
		if v == "" {
			delete(body, name)
		}
	}
	sheet, raw, err := d.sheet(ctx, http.MethodPost, id, verb, body)
	if err != nil {
		return err
	}
	failed := (verb == "approve" || verb == "break_glass") && (sheet.State == change.Failed || sheet.State == change.Stale || sheet.State == change.Unknown || sheet.State == change.Expired)
	switch {
	case d.t.JSON:
		d.t.Printf("%s\n", raw)
	case failed:
		d.t.Notef("%s", terminal.Style(terminal.Red, oneLine(review.Heading(sheet.State)+": "+sheet.Outcome)))
	default:
		d.t.Printf("%s. ID: %s\n", oneLine(review.Heading(sheet.State)), oneLine(sheet.ID))
		if sheet.State == change.Pending && sheet.Approvals > 0 {
			d.t.Printf("%d of %d approvals\n", sheet.Approvals, sheet.Need)
		}
		if sheet.Outcome != "" {
			d.t.Printf("%s\n", oneLine(sheet.Outcome))
		}
	}
	if failed {
		return terminal.ErrSaid
	}
	return nil
}

// reject returns the command changes reject. It requires a reason because the agent reads it.
func (d commands) reject() *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use:   "reject ID --reason WORDS",
		Short: "Reject a change for good, with a reason that the agent reads",
		Args:  terminal.These(1, "the change's ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if reason == "" {
				return config.Usagef("--reason is missing")
			}
			return d.decide(cmd.Context(), args[0], "reject", map[string]any{"reason": reason})
		},
	}
	reasonFlag(cmd, &reason, "comment")
	return cmd
}

// comment returns the command changes comment. A comment is not a decision.
func (d commands) comment() *cobra.Command {
	return &cobra.Command{
		Use:   "comment ID WORDS",
		Short: "Say something to the agent about a change without deciding",
		Args:  terminal.These(2, "the change's ID", "what you want to say"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return d.decide(cmd.Context(), args[0], "comment", map[string]any{"comment": args[1]})
		},
	}
}

// renew returns the command changes renew. It prints the change with its new preview.
func (d commands) renew() *cobra.Command {
	return &cobra.Command{
		Use:   "renew ID",
		Short: "Preview a stale or pending change again, and begin its approvals anew",
		Args:  terminal.These(1, "the change's ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			sheet, raw, err := d.sheet(cmd.Context(), http.MethodPost, args[0], "renew", map[string]any{})
			if err != nil {
				return err
			}
			return d.print(sheet, raw)
		},
	}
}

// revert returns the command changes revert. It prints the change that it has proposed.
func (d commands) revert() *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use:   "revert ID",
		Short: "Propose the change that takes an applied one back, and that waits for approval like any other",
		Args:  terminal.These(1, "the change's ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return d.decide(cmd.Context(), args[0], "revert", map[string]any{"reason": reason})
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why, in `WORDS`")
	return cmd
}

// settle returns the command changes settle. With it, a person reports the outcome of a change whose outcome is
// unknown. This happens if the executor lost the connection to the target while it applied the change.
func (d commands) settle() *cobra.Command {
	var reason, as string
	cmd := &cobra.Command{
		Use:   "settle ID --as applied|failed --reason WORDS",
		Short: "Say what became of a change whose target did not answer",
		Args:  terminal.These(1, "the change's ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			outcomes := []string{string(change.Applied), string(change.Failed)}
			if as != outcomes[0] && as != outcomes[1] {
				return config.Usagef("--as must be applied or failed%s", problem.DidYouMean(problem.Nearest(as, outcomes, 1)))
			}
			if reason == "" {
				return config.Usagef("--reason is missing")
			}
			return d.decide(cmd.Context(), args[0], "settle", map[string]any{"applied": as == outcomes[0], "reason": reason})
		},
	}
	cmd.Flags().StringVar(&as, "as", "", "what became of it: applied or failed")
	cmd.Flags().StringVar(&reason, "reason", "", "how you know, in `WORDS`")
	return cmd
}

// watch returns the command changes watch. It prints events until it is interrupted. Any other end is an error.
func (d commands) watch() *cobra.Command {
	return &cobra.Command{
		Use:   "watch",
		Short: "Show what happens to changes, as it happens",
		Args:  terminal.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			err := d.follow(cmd.Context(), func(e change.Event, raw string) {
				if d.t.JSON {
					d.t.Printf("%s\n", oneLine(raw))
					return
				}
				by := ""
				if e.By != "" {
					by = " by " + oneLine(e.By)
				}
				d.t.Printf("%s  %s  %s%s\n", when(e.At), oneLine(e.Change), eventText(e), by)
			})
			if cmd.Context().Err() != nil {
				return nil
			}
			return err
		},
	}
}

// eventText describes an event in words.
func eventText(e change.Event) string {
	words := map[change.EventKind]string{change.EventCreated: "proposed", change.EventDecided: "approved by one of several", change.EventAsked: "changes asked for", change.EventRenewed: "previewed again",
		change.EventReplaced: "replaced by another version", change.EventUnknown: "outcome unknown", change.EventClaimed: "being applied", change.EventSettled: "settled"}
	text := cmp.Or(words[e.Kind], oneLine(string(e.Kind)))
	if e.Broken {
		text += ", past the rules of review (break glass)"
	}
	return text
}

// follow calls tell for each event until the stream ends. The end of the stream is an error.
func (d commands) follow(ctx context.Context, tell func(e change.Event, raw string)) error {
	res, err := d.open(ctx, http.MethodGet, "/api/changes/events", nil)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() {
		raw, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var e change.Event
		if err := json.Unmarshal([]byte(raw), &e); err != nil {
			return fmt.Errorf("read an event: %w", err)
		}
		tell(e, raw)
	}
	return errors.New("the gateway ended the stream")
}
