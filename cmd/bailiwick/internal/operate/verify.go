package operate

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/cmd/bailiwick/internal/terminal"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/app"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/store"
)

// A proof contains the arguments for verifying the audit.
type proof struct {
	head    string   // "SEQ:HASH", or "" if not given
	keys    []string // public keys. If empty, the gateway's own key is used
	folders []string // folders of the archive. If empty, the folder in the configuration is used

	kept    []audit.Head
	trusted []ed25519.PublicKey
}

// auditVerify returns the command audit verify. It parses the flags before it opens a store.
func auditVerify(t *terminal.Terminal) *cobra.Command {
	k := app.Keep{There: true, Reads: true}
	var p proof
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Find what was changed in the audit since it was written",
		Long: "Verify reads the whole audit and names every record that was changed, removed, added or moved. Signed checkpoints find a past\n" +
			"that was rewritten by someone without the key (see audit key). With --key, at least one must be by that key. It prints\n" +
			"the end of the audit. Keep it elsewhere and give it as --head later: it finds that too, and a tail that was cut off.\n\n" +
			"Records that audit archive has moved are read from the archive: that of the configuration, or the folders given with --archive.\n" +
			"If its oldest files are gone, --head must have the record before the first that is left.\n\n" +
			"It compares the changes of the store with the audit as well. It names each change that lacks the record of a step: who proposed,\n" +
			"approved, rejected or cancelled it, that it expired, and what was applied. It names each token that lacks the record of who made\n" +
			"or revoked it, or that allows other things than its record.",
		Args: terminal.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := p.parse(); err != nil {
				return err
			}
			return k.WithSigning(cmd.Context(), func(s app.Signing) error { return p.verify(cmd.Context(), t, s) })
		},
	}
	k.Flags(cmd.Flags())
	cmd.Flags().StringArrayVar(&p.keys, "key", nil, "a public `KEY` whose checkpoints are believed, in place of this gateway's, repeatable")
	cmd.Flags().StringVar(&p.head, "head", "", "an end of this audit that was kept elsewhere: `SEQ:HASH`")
	cmd.Flags().StringArrayVar(&p.folders, "archive", nil, "a `FOLDER` with files of audit archive (default that of the configuration), repeatable")
	return cmd
}

// parse parses --head and --key into kept and trusted. It returns usage errors.
func (p *proof) parse() error {
	if p.head != "" {
		seq, hash, ok := strings.Cut(p.head, ":")
		n, err := strconv.ParseInt(seq, 10, 64)
		if !ok || err != nil {
			return config.Usagef("--head must be SEQ:HASH, as verify prints it")
		}
		p.kept = append(p.kept, audit.Head{Seq: n, Hash: hash})
	}
	for _, text := range p.keys {
		public, err := audit.ParseKey(text)
		if err != nil {
			return config.Usagef("--key: %v", err)
		}
		p.trusted = append(p.trusted, public)
	}
	return nil
}

// verify verifies a store together with its archive and prints the result.
func (p *proof) verify(ctx context.Context, t *terminal.Terminal, s app.Signing) error {
	named := p.trusted != nil
	if !named {
		p.trusted = append(p.trusted, s.Key.Public().(ed25519.PublicKey))
	}
	if p.folders == nil && s.Archive != "" && app.Exists(s.Archive) {
		p.folders = []string{s.Archive}
	}
	var log audit.Chain = s
	if len(p.folders) > 0 {
		joined, err := store.OpenArchive(s, p.kept, p.folders...)
		if err != nil {
			return err
		}
		log = joined
	}
	report, err := audit.VerifyWithKeys(ctx, log, p.trusted, p.kept...)
	if err != nil {
		return err
	}
	if kept, ok := s.Store.(audit.Losses); ok {
		lost, err := kept.Losses(ctx)
		if err != nil {
			return err
		}
		report.Damage = append(report.Damage, lost...)
		slices.SortStableFunc(report.Damage, func(a, b audit.Damage) int { return cmp.Compare(a.Seq, b.Seq) })
	}
	if named && report.Whole() && report.Records > 0 && report.Signed.Seq == 0 {
		report.Damage = append(report.Damage, audit.Damage{Seq: report.Base.Seq + 1, Last: report.Head.Seq, Kind: audit.Unsigned, Detail: "the log has no checkpoint that the key given has signed"})
	}
	held, err := change.Reconcile(ctx, s, s)
	tokens, failed := identity.Reconcile(ctx, s, s)
	if err = errors.Join(err, failed); err != nil && report.Whole() { // a damaged log can't be read completely, so its report is printed instead
		return err
	}
	return printReport(t, report, held, tokens)
}

// printReport prints the verified range of the audit, or all damage. It also prints each change and token whose
// records are missing or different. It returns ErrSaid unless everything is intact.
func printReport(t *terminal.Terminal, r audit.Report, held change.Reconciliation, tokens identity.Reconciliation) error {
	whole := r.Whole() && len(held.Lacks) == 0 && len(tokens.Lacks) == 0
	if t.JSON {
		r.Damage, held.Lacks = append([]audit.Damage{}, r.Damage...), append([]change.Lack{}, held.Lacks...)
		tokens.Lacks = append([]identity.Lack{}, tokens.Lacks...) // empty lists are written as [] and not as null
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
		t.Printf("%s  %d records, %d of them signed, end %d:%s\n", terminal.Style(terminal.Green, "whole"), r.Records, max(r.Signed.Seq-r.Base.Seq, 0), r.Head.Seq, r.Head.Hash)
		if r.Base.Seq > 0 {
			t.Printf("       records 1 to %d are in an archive that was not read. --archive FOLDER reads it\n", r.Base.Seq)
		}
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
		t.Notef("%s", terminal.Style(terminal.Red, r.Damage[i].Error()))
	}
	for i := range held.Lacks {
		t.Notef("%s", terminal.Style(terminal.Red, held.Lacks[i].Error()))
	}
	for i := range tokens.Lacks {
		t.Notef("%s", terminal.Style(terminal.Red, tokens.Lacks[i].Error()))
	}
	if !r.Whole() {
		t.Notef("%s read. The audit is not what was written", terminal.Count(r.Records, "record"))
	}
	if n := len(held.Lacks); n > 0 {
		t.Notef("%s read. What the audit says of them and what the store has differ in %s", terminal.Count(held.Changes, "change"), terminal.Count(n, "place"))
	}
	if n := len(tokens.Lacks); n > 0 {
		t.Notef("%s read. What the audit says of them and what the store has differ in %s", terminal.Count(tokens.Tokens, "token"), terminal.Count(n, "place"))
	}
	return terminal.ErrSaid
}

// waiting returns a note about steps whose records are not written yet.
func waiting(n int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" or, %d of them, about to be", n)
}
