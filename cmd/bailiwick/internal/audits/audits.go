// Package audits implements the commands that read and verify the record of every call.
//
// If the audit was modified, verify reports what was changed and exits with code 1.
package audits

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/app"
	"github.com/bailiwick-dev/bailiwick/internal/terminal"
)

// Command returns the audit commands.
func Command(t *terminal.Terminal) *cobra.Command {
	cmd := terminal.Group(&cobra.Command{Use: "audit", Short: "Read and verify the record of every call"})
	cmd.AddCommand(tail(t), verify(t), key(t), export(t), usage(t))
	return cmd
}

// followEvery is the interval at which a follower looks for new records.
const followEvery = 300 * time.Millisecond

func tail(t *terminal.Terminal) *cobra.Command {
	k := app.Keep{There: true}
	var most int
	var follow bool
	cmd := &cobra.Command{
		Use:   "tail",
		Short: "Show the last calls",
		Args:  terminal.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if most < 0 {
				return terminal.Usagef("-n must be 0 or more")
			}
			return k.Log(cmd.Context(), func(log audit.Reader) error {
				next, err := lastRecords(cmd.Context(), t, log, most)
				for err == nil && follow {
					select {
					case <-cmd.Context().Done():
						return nil
					case <-time.After(followEvery):
					}
					err = log.Records(cmd.Context(), next, func(r audit.Record) bool {
						next = r.Seq + 1
						printRecord(t, r)
						return true
					})
					if cmd.Context().Err() != nil {
						return nil
					}
				}
				return err
			})
		},
	}
	k.Flags(cmd.Flags())
	cmd.Flags().IntVarP(&most, "lines", "n", 20, "how many `CALLS`")
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "go on showing calls as they come")
	return cmd
}

// lastRecords prints the last records, the newest last, and returns the sequence number of the next one.
func lastRecords(ctx context.Context, t *terminal.Terminal, log audit.Reader, most int) (next int64, err error) {
	head, err := log.Head(ctx)
	if err != nil {
		return 0, err
	}
	var last []audit.Record
	if most > 0 {
		err = log.Backwards(ctx, audit.Last, func(r audit.Record) bool {
			last = append(last, r)
			return len(last) < most
		})
	}
	for _, r := range slices.Backward(last) {
		printRecord(t, r)
		head.Seq = max(head.Seq, r.Seq)
	}
	return head.Seq + 1, err
}

// printRecord prints one call on one line.
func printRecord(t *terminal.Terminal, r audit.Record) {
	if t.JSON {
		b, _ := json.Marshal(r) // can't fail for plain fields
		t.Printf("%s\n", b)
		return
	}
	outcome := terminal.Styled(terminal.Green, r.Outcome)
	switch r.Outcome {
	case audit.Refused:
		outcome = terminal.Styled(terminal.Amber, r.Outcome)
	case audit.Failed:
		outcome = terminal.Styled(terminal.Red, r.Outcome)
	}
	var rest []string
	for _, part := range []string{r.Class, r.Code, reason(r)} {
		if part != "" {
			rest = append(rest, terminal.Printable(part))
		}
	}
	who := r.Principal
	if r.Tenant != "" {
		who += "@" + r.Tenant
	}
	t.Printf("%s  %6d  %s  %-20s %s  %d rows  %s\n", r.Time.Local().Format(time.DateTime), r.Seq, terminal.Printable(who), terminal.Printable(r.Tool),
		strings.Join(append([]string{outcome}, rest...), " "), r.Rows, time.Duration(r.Micros)*time.Microsecond)
}

func reason(r audit.Record) string {
	if r.Kind == "" {
		return ""
	}
	return "(" + r.Kind + ")"
}

func verify(t *terminal.Terminal) *cobra.Command {
	k := app.Keep{There: true}
	var head string
	var keys []string
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Find what was changed in the audit since it was written",
		Long: "Verify reads the whole audit and names every record that was changed, removed, added or moved. Signed checkpoints find a past\n" +
			"that was written anew, by somebody who has not the key (see audit key); with --key, one at least must be by that key. It prints\n" +
			"the end of the audit; kept elsewhere and given as --head later, it finds that too, and a tail that was cut off.\n\n" +
			"It holds the changes of the store against the audit as well, and names each change that lacks the record of a step: who proposed,\n" +
			"approved, rejected or cancelled it, that it expired, and what was applied; and each token that lacks the record of who made or\n" +
			"revoked it, or that allows other things than its record.",
		Args: terminal.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var kept []audit.Head
			if head != "" {
				seq, hash, ok := strings.Cut(head, ":")
				n, err := strconv.ParseInt(seq, 10, 64)
				if !ok || err != nil {
					return terminal.Usagef("--head must be SEQ:HASH, as verify prints it")
				}
				kept = append(kept, audit.Head{Seq: n, Hash: hash})
			}
			var trusted []ed25519.PublicKey
			for _, text := range keys {
				public, err := audit.ParseKey(text)
				if err != nil {
					return terminal.Usagef("--key: %v", err)
				}
				trusted = append(trusted, public)
			}
			return k.Signed(cmd.Context(), func(log app.Store, own ed25519.PrivateKey) error {
				named := trusted != nil
				if !named {
					trusted = append(trusted, own.Public().(ed25519.PublicKey))
				}
				report, err := audit.VerifySigned(cmd.Context(), log, trusted, kept...)
				if err != nil {
					return err
				}
				if named && report.Whole() && report.Records > 0 && report.Signed.Seq == 0 {
					report.Damage = append(report.Damage, audit.Damage{Seq: 1, Last: report.Head.Seq, Kind: audit.Unsigned, Detail: "the log has no checkpoint that the key given has signed"})
				}
				held, err := change.Reconcile(cmd.Context(), log, log)
				tokens, failed := identity.Reconcile(cmd.Context(), log, log)
				if err = errors.Join(err, failed); err != nil && report.Whole() { // a damaged log can't be read completely
					return err
				}
				return printReport(t, report, held, tokens)
			})
		},
	}
	k.Flags(cmd.Flags())
	cmd.Flags().StringArrayVar(&keys, "key", nil, "a public `KEY` whose checkpoints are believed, in place of this gateway's; again for more")
	cmd.Flags().StringVar(&head, "head", "", "an end of this audit that was kept elsewhere: `SEQ:HASH`")
	return cmd
}

func key(t *terminal.Terminal) *cobra.Command {
	k := app.Keep{There: true}
	cmd := &cobra.Command{
		Use:   "key",
		Short: "Print the public key that checkpoints of the audit are signed with",
		Long: "Key prints the public key of the configuration's audit.key, or else of the key that the store made. Keep it elsewhere: with it,\n" +
			"audit verify --key finds what was written anew by whoever can write to the store, and could put another key there.",
		Args: terminal.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return k.Signed(cmd.Context(), func(_ app.Store, own ed25519.PrivateKey) error {
				text := audit.FormatKey(own.Public().(ed25519.PublicKey))
				if t.JSON {
					return t.PrintJSON(map[string]string{"key": text})
				}
				t.Printf("%s\n", text)
				return nil
			})
		},
	}
	k.Flags(cmd.Flags())
	return cmd
}

func printReport(t *terminal.Terminal, r audit.Report, held change.Reconciliation, tokens identity.Reconciliation) error {
	whole := r.Whole() && len(held.Lacks) == 0 && len(tokens.Lacks) == 0
	if t.JSON {
		r.Damage, held.Lacks = append([]audit.Damage{}, r.Damage...), append([]change.Lack{}, held.Lacks...)
		tokens.Lacks = append([]identity.Lack{}, tokens.Lacks...) // so that empty lists are written as lists
		if err := t.PrintJSON(struct {
			Whole bool `json:"whole"`
			audit.Report
			Changes change.Reconciliation   `json:"changes"`
			Tokens  identity.Reconciliation `json:"tokens"`
		}{whole, r, held, tokens}); err != nil || whole {
			return err
		}
		return terminal.ErrSaid
	}
	if whole {
		t.Printf("%s  %d records, %d of them signed, end %d:%s\n", terminal.Styled(terminal.Green, "whole"), r.Records, r.Signed.Seq, r.Head.Seq, r.Head.Hash)
		if held.Changes > 0 {
			t.Printf("       %d changes, each of their %d steps recorded%s\n", held.Changes, held.Steps, waiting(held.Waiting))
		}
		if n := tokens.Tokens - tokens.Older; n > 0 {
			t.Printf("       %d tokens, each recorded%s\n", n, waiting(tokens.Waiting))
		}
		if tokens.Older > 0 {
			t.Printf("       %d tokens are older than such records\n", tokens.Older)
		}
		return nil
	}
	for i := range r.Damage {
		t.Notef("%s", terminal.Styled(terminal.Red, r.Damage[i].Error()))
	}
	for i := range held.Lacks {
		t.Notef("%s", terminal.Styled(terminal.Red, held.Lacks[i].Error()))
	}
	for i := range tokens.Lacks {
		t.Notef("%s", terminal.Styled(terminal.Red, tokens.Lacks[i].Error()))
	}
	if !r.Whole() {
		t.Notef("%d records read; the audit is not what was written", r.Records)
	}
	if n := len(held.Lacks); n > 0 {
		t.Notef("%d changes read; what the audit says of them and what the store has differ in %d places", held.Changes, n)
	}
	if n := len(tokens.Lacks); n > 0 {
		t.Notef("%d tokens read; what the audit says of them and what the store has differ in %d places", tokens.Tokens, n)
	}
	return terminal.ErrSaid
}

// waiting returns a note on steps whose records are not written yet.
func waiting(n int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" or, %d of them, about to be", n)
}

func export(t *terminal.Terminal) *cobra.Command {
	k := app.Keep{There: true}
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Write all records to standard output, one JSON object a line",
		Args:  terminal.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return k.Log(cmd.Context(), func(log audit.Reader) error {
				lines := json.NewEncoder(t.Out)
				lines.SetEscapeHTML(false)
				var wrote error
				err := log.Records(cmd.Context(), audit.First, func(r audit.Record) bool {
					wrote = lines.Encode(r)
					return wrote == nil
				})
				if wrote != nil {
					err = errors.Join(err, fmt.Errorf("write %s: %w", os.Stdout.Name(), wrote))
				}
				return err
			})
		},
	}
	k.Flags(cmd.Flags())
	return cmd
}
