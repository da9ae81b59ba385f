package main

import (
	"context"
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
)

func auditCommand(t *terminal) *cobra.Command {
	cmd := group(&cobra.Command{Use: "audit", Short: "Read and verify the record of every call"})
	cmd.AddCommand(auditTail(t), auditVerify(t), auditExport(t))
	return cmd
}

// log opens the store and gives its audit to do.
func (k *keep) log(ctx context.Context, do func(audit.Reader) error) (err error) {
	path, _, err := k.locate()
	if err != nil {
		return err
	}
	store, err := k.open(ctx, path)
	if err != nil {
		return err
	}
	defer closeAfter(store, &err)
	return do(store)
}

// followEvery is how long a follower waits before it looks for new records.
const followEvery = 300 * time.Millisecond

func auditTail(t *terminal) *cobra.Command {
	k := keep{there: true}
	var most int
	var follow bool
	cmd := &cobra.Command{
		Use:   "tail",
		Short: "Show the last calls",
		Args:  none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if most < 0 {
				return usagef("-n must be 0 or more")
			}
			return k.log(cmd.Context(), func(log audit.Reader) error {
				next, err := t.lastRecords(cmd.Context(), log, most)
				for err == nil && follow {
					select {
					case <-cmd.Context().Done():
						return nil
					case <-time.After(followEvery):
					}
					err = log.Records(cmd.Context(), next, func(r audit.Record) bool {
						next = r.Seq + 1
						t.printRecord(r)
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
	k.flags(cmd.Flags())
	cmd.Flags().IntVarP(&most, "lines", "n", 20, "how many `CALLS`")
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "go on showing calls as they come")
	return cmd
}

// lastRecords prints the last records, the newest last, and returns the number of the next one.
func (t *terminal) lastRecords(ctx context.Context, log audit.Reader, most int) (next int64, err error) {
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
		t.printRecord(r)
		head.Seq = max(head.Seq, r.Seq)
	}
	return head.Seq + 1, err
}

// printRecord prints one call on one line.
func (t *terminal) printRecord(r audit.Record) {
	if t.json {
		b, _ := json.Marshal(r) // plain fields always encode
		t.printf("%s\n", b)
		return
	}
	outcome := styled(green, r.Outcome)
	switch r.Outcome {
	case audit.Refused:
		outcome = styled(amber, r.Outcome)
	case audit.Failed:
		outcome = styled(red, r.Outcome)
	}
	var rest []string
	for _, part := range []string{r.Class, r.Code, reason(r)} {
		if part != "" {
			rest = append(rest, printable(part))
		}
	}
	who := r.Principal
	if r.Tenant != "" {
		who += "@" + r.Tenant
	}
	t.printf("%s  %6d  %s  %-20s %s  %d rows  %s\n", r.Time.Local().Format(time.DateTime), r.Seq, printable(who), printable(r.Tool),
		strings.Join(append([]string{outcome}, rest...), " "), r.Rows, time.Duration(r.Micros)*time.Microsecond)
}

func reason(r audit.Record) string {
	if r.Kind == "" {
		return ""
	}
	return "(" + r.Kind + ")"
}

// printable makes control characters in what an agent wrote harmless to a terminal.
func printable(s string) string {
	if strings.ContainsFunc(s, func(c rune) bool { return !strconv.IsPrint(c) }) {
		return strconv.Quote(s)
	}
	return s
}

func auditVerify(t *terminal) *cobra.Command {
	k := keep{there: true}
	var head string
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Find what was changed in the audit since it was written",
		Long: "Verify reads the whole audit and names every record that was changed, removed, added or moved. It prints the end of\n" +
			"the audit; kept elsewhere and given as --head later, it also finds a past that was written anew.",
		Args: none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var kept []audit.Head
			if head != "" {
				seq, hash, ok := strings.Cut(head, ":")
				n, err := strconv.ParseInt(seq, 10, 64)
				if !ok || err != nil {
					return usagef("--head must be SEQ:HASH, as verify prints it")
				}
				kept = append(kept, audit.Head{Seq: n, Hash: hash})
			}
			return k.log(cmd.Context(), func(log audit.Reader) error {
				report, err := audit.Verify(cmd.Context(), log, kept...)
				if err != nil {
					return err
				}
				return t.printReport(report)
			})
		},
	}
	k.flags(cmd.Flags())
	cmd.Flags().StringVar(&head, "head", "", "an end of this audit that was kept elsewhere: `SEQ:HASH`")
	return cmd
}

func (t *terminal) printReport(r audit.Report) error {
	if t.json {
		r.Damage = append([]audit.Damage{}, r.Damage...) // written as a list when it is empty too
		if err := t.printJSON(struct {
			Whole bool `json:"whole"`
			audit.Report
		}{r.Whole(), r}); err != nil || r.Whole() {
			return err
		}
		return errSaid
	}
	if r.Whole() {
		t.printf("%s  %d records, end %d:%s\n", styled(green, "whole"), r.Records, r.Head.Seq, r.Head.Hash)
		return nil
	}
	for i := range r.Damage {
		t.notef("%s", styled(red, r.Damage[i].Error()))
	}
	t.notef("%d records read; the audit is not what was written", r.Records)
	return errSaid
}

func auditExport(t *terminal) *cobra.Command {
	k := keep{there: true}
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Write all records to standard output, one JSON object a line",
		Args:  none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return k.log(cmd.Context(), func(log audit.Reader) error {
				lines := json.NewEncoder(t.out)
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
	k.flags(cmd.Flags())
	return cmd
}
