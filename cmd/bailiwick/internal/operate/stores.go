package operate

import (
	"github.com/spf13/cobra"

	"github.com/bailiwick-dev/bailiwick/cmd/bailiwick/internal/terminal"
	"github.com/bailiwick-dev/bailiwick/internal/app"
	"github.com/bailiwick-dev/bailiwick/store/sqlite"
)

// StoreCommand returns the group of store commands.
func StoreCommand(t *terminal.Terminal) *cobra.Command {
	cmd := terminal.Group(&cobra.Command{Use: "store", Short: "Back up, restore and check the store of tokens, changes and the audit"})
	cmd.AddCommand(storeBackup(t), storeRestore(t), storeCheck(t))
	return cmd
}

// storeBackup returns the command store backup.
func storeBackup(t *terminal.Terminal) *cobra.Command {
	k := app.Keep{There: true, Reads: true}
	cmd := &cobra.Command{
		Use:   "backup FILE",
		Short: "Write a copy of the store to a new file, while servers use it",
		Long: "Write a copy of the store as it is at this moment to a new file, while servers use it. It holds the hashes of tokens and the keys\n" +
			"of the gateway: keep it as you keep the store. A store in PostgreSQL is backed up with pg_dump --schema=bailiwick.",
		Example: "  bailiwick store backup /backups/bailiwick-monday.db",
		Args:    terminal.These(1, "the file to write"),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := k.InFile(cmd.Context(), func(s *sqlite.Store) error { return s.Backup(cmd.Context(), args[0]) })
			if err != nil {
				return err
			}
			if t.JSON {
				return t.PrintJSON(map[string]string{"store": path, "backup": args[0]})
			}
			t.Printf("wrote %s, a copy of %s\n", args[0], path)
			return nil
		},
	}
	k.Flags(cmd.Flags())
	return cmd
}

// storeRestore returns the command store restore. It keeps the previous store, so that restoring the wrong file can
// be undone.
func storeRestore(t *terminal.Terminal) *cobra.Command {
	var k app.Keep
	cmd := &cobra.Command{
		Use:   "restore FILE",
		Short: "Put a backup in the place of the store, which is kept",
		Long: "Put a backup in the place of the store, once it was found whole. The store that is there is kept under another name. Stop the\n" +
			"servers first: one that runs takes no more calls. The audit, tokens and changes lose everything since the backup. Tokens that were\n" +
			"revoked since are valid again. Changes that were applied since may look as if they were not. The databases that they wrote to\n" +
			"hold a marker for each, and no change is applied a second time.",
		Example: "  bailiwick store restore /backups/bailiwick-monday.db",
		Args:    terminal.These(1, "the backup"),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := k.StoreFile()
			if err != nil {
				return err
			}
			kept, err := sqlite.Restore(cmd.Context(), args[0], path)
			if err != nil {
				return err
			}
			if t.JSON {
				return t.PrintJSON(map[string]string{"store": path, "backup": args[0], "kept": kept})
			}
			t.Printf("restored %s from %s\n", path, args[0])
			if kept != "" {
				t.Printf("what was there is kept in %s\n", kept)
			}
			t.Printf("start the servers again, and look at tokens that were revoked since\n")
			return nil
		},
	}
	k.Flags(cmd.Flags())
	return cmd
}

// storeCheck returns the command store check. The exit code is 1 if the file is damaged.
func storeCheck(t *terminal.Terminal) *cobra.Command {
	k := app.Keep{There: true, Reads: true}
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Check that the store's file is whole (audit verify checks its records)",
		Args:  terminal.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var wrong []string
			path, err := k.InFile(cmd.Context(), func(s *sqlite.Store) (err error) {
				wrong, err = s.Check(cmd.Context())
				return err
			})
			if err != nil {
				return err
			}
			if t.JSON {
				if err := t.PrintJSON(map[string]any{"store": path, "damage": append([]string{}, wrong...)}); err != nil {
					return err
				}
			}
			for _, w := range wrong {
				t.Notef("%s: %s", path, w)
			}
			switch {
			case wrong != nil:
				return terminal.ErrSaid
			case !t.JSON:
				t.Printf("%s  %s is whole\n", terminal.Style(terminal.Green, "good"), path)
			}
			return nil
		},
	}
	k.Flags(cmd.Flags())
	return cmd
}
