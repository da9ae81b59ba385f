package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bailiwick-dev/bailiwick/cmd/bailiwick/internal/terminal"
	"github.com/bailiwick-dev/bailiwick/internal/app"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/yamlconf"
)

// configCommand returns the command config.
func configCommand(t *terminal.Terminal) *cobra.Command {
	cmd := &cobra.Command{Use: "config", Short: "Replace the configuration of a running gateway"}
	cmd.AddCommand(configPutCommand(t))
	return terminal.Group(cmd)
}

// configPutCommand returns the command config put. It checks a new configuration as if it were already at the path of
// the current one. Then it replaces the file atomically, so that no reader sees a partial file.
func configPutCommand(t *terminal.Terminal) *cobra.Command {
	var path string
	var offline bool
	cmd := &cobra.Command{
		Use:   "put FILE",
		Short: "Check a new configuration, and put it in the place of the old one in one step",
		Long: "Check a new configuration, and put it in the place of the old one in one step. FILE is the new configuration, - is standard input.\n" +
			"Its paths are relative to the folder of the old file. The old file stays if the check finds a fault.\n" +
			"A running gateway takes the new file within a few seconds. The command names the keys that take a restart.",
		Example: "  bailiwick config put new.yaml\n  sed 's/limit: 50/limit: 20/' bailiwick.yaml | bailiwick config put -",
		Args:    terminal.These(1, "the new configuration"),
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := readConfiguration(args[0], cmd.InOrStdin())
			if err != nil {
				return err
			}
			place, err := filepath.EvalSymlinks(path)
			if errors.Is(err, fs.ErrNotExist) {
				place, err = path, nil
			}
			if err != nil {
				return err
			}
			c, err := app.LoadText(place, text)
			if err != nil {
				return err
			}
			if !offline {
				r, err := examine(cmd.Context(), c, false)
				if err != nil {
					return err
				}
				for _, w := range r.Warnings {
					t.Notef("warning: %s", w)
				}
			}
			before, err := config.Load(place)
			if err != nil {
				before = nil // there was no configuration, or an invalid one
			}
			if err := replaceConfiguration(place, text); err != nil {
				return fmt.Errorf("%s is as it was: %w", path, err)
			}
			return printPut(t, path, before, c)
		},
	}
	cmd.Flags().StringVarP(&path, "config", "c", app.DefaultFile, "the configuration `FILE` to replace")
	cmd.Flags().BoolVar(&offline, "offline", false, "don't check it against its databases and APIs")
	return cmd
}

// readConfiguration returns the contents of the file at path. If path is "-", it returns the contents of the reader
// in.
func readConfiguration(path string, in io.Reader) ([]byte, error) {
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer f.Close() //nolint:errcheck // it was only read
		in = f
	}
	text, err := io.ReadAll(io.LimitReader(in, yamlconf.MaxFile+1))
	if err == nil && len(text) == 0 {
		err = fmt.Errorf("%s is empty", path)
	}
	return text, err
}

// replaceConfiguration replaces the file at path atomically and keeps its mode. A new file is readable only by its
// owner.
func replaceConfiguration(path string, text []byte) error {
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
		if !info.Mode().IsRegular() {
			return errors.New(path + " is not a regular file")
		}
	}
	return app.ReplaceFile(path, text, mode)
}

// printPut reports the new configuration and its differences. before is the previous configuration, or nil.
func printPut(t *terminal.Terminal, path string, before, c *config.Config) error {
	var old string
	var restart []string
	if before != nil {
		old, restart = before.Rules.Version, app.Restart(before, c)
	}
	if t.JSON {
		return t.PrintJSON(struct {
			File    string   `json:"file"`
			Rules   string   `json:"rules"`
			Before  string   `json:"before,omitempty"`
			Restart []string `json:"restart,omitempty"`
		}{path, c.Rules.Version, old, restart})
	}
	t.Printf("put %s: rules %s, before %s\n", path, c.Rules.Version, cmp.Or(old, "none that could be read"))
	if restart != nil {
		t.Printf("these keys take a restart: %s\n", strings.Join(restart, ", "))
	}
	return nil
}
