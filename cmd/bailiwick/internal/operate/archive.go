package operate

import (
	"cmp"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/bailiwick-dev/bailiwick/cmd/bailiwick/internal/terminal"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/app"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/store"
)

// errNoFolder is the error if neither the command nor the configuration names a folder for the archive.
var errNoFolder = errors.New("name the folder of the archive: --to FOLDER, or audit.archive.folder in the configuration")

// auditArchive returns the command audit archive. After an error it also prints the files that it has written,
// because they are complete and remain.
func auditArchive(t *terminal.Terminal) *cobra.Command {
	k := app.Keep{There: true}
	var before, to string
	cmd := &cobra.Command{
		Use:   "archive",
		Short: "Move old records from the store to files, which verify reads together with the store",
		Long: "Archive writes the records before a day to files, one JSON object a line, and takes them out of the store, while servers use it.\n" +
			"A file is complete and on the disk before the store drops its records. Nothing is lost if the command is killed or the\n" +
			"disk is full: run it again. The records of steps of changes and tokens stay in the store too, because verify compares changes and\n" +
			"tokens with them. With audit.archive in the configuration a server does this each hour.",
		Example: "  bailiwick audit archive --before 2026-01-01 --to audit-archive\n  bailiwick audit verify --archive audit-archive",
		Args:    terminal.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			day, err := parseBefore(before, time.Now())
			if err != nil {
				return err
			}
			var moved store.MovedRecords
			err = k.WithSigning(cmd.Context(), func(s app.Signing) (err error) {
				o := store.ArchiveOptions{Dir: cmp.Or(to, s.Archive), Before: day, By: identity.Local(app.LocalUser()).ID}
				if o.Dir == "" {
					return errNoFolder
				}
				moved, err = store.MoveRecords(cmd.Context(), s, o)
				return err
			})
			if t.JSON && err == nil {
				return t.PrintJSON(moved)
			}
			if !t.JSON {
				for _, name := range moved.Files {
					t.Printf("wrote %s\n", name)
				}
			}
			if err != nil {
				return err
			}
			if moved.Records == 0 {
				t.Printf("the store has no records from before %s. Nothing is moved\n", day.Format(time.RFC3339))
				return nil
			}
			t.Printf("moved %d records out of the store, up to %d:%s\n", moved.Records, moved.Base.Seq, moved.Base.Hash)
			return nil
		},
	}
	k.Flags(cmd.Flags())
	cmd.Flags().StringVar(&before, "before", "", "the `DATE` whose records and all later ones stay: 2026-01-31, 2026-01-31T12:00:00Z")
	cmd.Flags().StringVar(&to, "to", "", "the `FOLDER` of the files (default audit.archive.folder of the configuration)")
	return cmd
}

// parseBefore parses a day in UTC or a time. Both must be in the past.
func parseBefore(text string, now time.Time) (time.Time, error) {
	at, err := time.Parse(time.DateOnly, text)
	if err != nil {
		at, err = time.Parse(time.RFC3339, text)
	}
	if err != nil {
		return at, config.Usagef("--before must be a day of UTC such as 2026-01-31, or a time such as 2026-01-31T12:00:00Z")
	}
	if at.After(now) {
		return at, config.Usagef("--before is in the future. The latest is now, %s", now.UTC().Format(time.RFC3339))
	}
	return at, nil
}
