package operate

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/cmd/bailiwick/internal/terminal"
	"github.com/bailiwick-dev/bailiwick/internal/app"
	"github.com/bailiwick-dev/bailiwick/internal/config"
)

// AuditCommand returns the audit commands.
func AuditCommand(t *terminal.Terminal) *cobra.Command {
	cmd := terminal.Group(&cobra.Command{Use: "audit", Short: "Read and verify the record of every call"})
	cmd.AddCommand(auditTail(t), auditVerify(t), auditKey(t), auditExport(t), auditArchive(t), auditUsage(t), auditConversation(t))
	return cmd
}

// followEvery is the interval at which audit tail --follow checks for new records.
const followEvery = 300 * time.Millisecond

// auditTail returns the command audit tail. With --follow it polls the log, because another process writes it. An
// interruption is not an error.
func auditTail(t *terminal.Terminal) *cobra.Command {
	k := app.Keep{There: true, Reads: true}
	var most int
	var follow, people bool
	cmd := &cobra.Command{
		Use:   "tail",
		Short: "Show the last calls of agents",
		Long:  "Tail shows the last calls of agents, and the steps of changes and tokens. Calls of people, such as the pages of the console, come\nwith --people.",
		Args:  terminal.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if most < 0 {
				return config.Usagef("-n must be 0 or more")
			}
			return k.Log(cmd.Context(), func(log audit.Reader) error {
				next, err := lastRecords(cmd.Context(), t, log, recent{most, people})
				for err == nil && follow {
					select {
					case <-cmd.Context().Done():
						return nil
					case <-time.After(followEvery):
					}
					err = log.Records(cmd.Context(), next, func(r audit.Record) bool {
						next = r.Seq + 1
						if people || !r.Person {
							printRecord(t, r)
						}
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
	peopleFlag(cmd.Flags(), &people)
	return cmd
}

// peopleFlag adds the flag that includes the calls of people.
func peopleFlag(f *pflag.FlagSet, people *bool) {
	f.BoolVar(people, "people", false, "also the calls of people")
}

// A recent selects the last records.
type recent struct {
	most   int
	people bool // also those of people
}

// lastRecords prints the last records in order. It returns the sequence number of the next record.
func lastRecords(ctx context.Context, t *terminal.Terminal, log audit.Reader, of recent) (next int64, err error) {
	head, err := log.Head(ctx)
	if err != nil {
		return 0, err
	}
	var last []audit.Record
	if of.most > 0 {
		err = log.Backwards(ctx, audit.Last, func(r audit.Record) bool {
			head.Seq = max(head.Seq, r.Seq)
			if of.people || !r.Person {
				last = append(last, r)
			}
			return len(last) < of.most
		})
	}
	for _, r := range slices.Backward(last) {
		printRecord(t, r)
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
	outcome := terminal.Style(terminal.Green, r.Outcome)
	switch r.Outcome {
	case audit.Refused:
		outcome = terminal.Style(terminal.Amber, r.Outcome)
	case audit.Failed:
		outcome = terminal.Style(terminal.Red, r.Outcome)
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

// auditKey returns the command audit key. It prints the public key for audit.key, or for the key in the store.
func auditKey(t *terminal.Terminal) *cobra.Command {
	k := app.Keep{There: true, Reads: true}
	cmd := &cobra.Command{
		Use:   "key",
		Short: "Print the public key that checkpoints of the audit are signed with",
		Long: "Key prints the public key of the configuration's audit.key, or else of the key that the store made. Keep it outside the store:\n" +
			"someone who can write to the store could also replace a key kept there. With the key, audit verify --key finds records that such\n" +
			"a person rewrote.",
		Args: terminal.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return k.WithSigning(cmd.Context(), func(s app.Signing) error {
				text := audit.FormatKey(s.Key.Public().(ed25519.PublicKey))
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

// auditExport returns the command audit export. It skips the records of steps that the archive contains, so that the
// archive and the export together contain each record once. A failed write ends it with an error.
func auditExport(t *terminal.Terminal) *cobra.Command {
	k := app.Keep{There: true, Reads: true}
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Write the records of the store to standard output, one JSON object a line",
		Long: "Write the records of the store to standard output, one JSON object a line, in the form of the files of an archive. Records that\n" +
			"audit archive has moved are in its files: these, one after the other, and then the export are the whole audit.",
		Args: terminal.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return k.WithSigning(cmd.Context(), func(log app.Signing) error {
				base, err := log.Base(cmd.Context())
				if err != nil {
					return err
				}
				lines := json.NewEncoder(t.Out)
				lines.SetEscapeHTML(false)
				var wrote error
				err = log.Records(cmd.Context(), audit.First, func(r audit.Record) bool {
					if 0 < r.Seq && r.Seq <= base.Seq {
						return true // a step, which the archive contains
					}
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
