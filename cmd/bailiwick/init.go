package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bailiwick-dev/bailiwick/config"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/schema"
)

func initCommand(t *terminal) *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "init DATABASE",
		Short: "Look at a database and write a configuration with safe rules",
		Long: "Look at a database and write a configuration with safe rules: credentials denied, credential stores hidden, tenants\n" +
			"guessed. What is guessed is marked \"confirm\".",
		Example: "  bailiwick init app.db --out bailiwick.yaml\n  bailiwick init postgres://reader@db.example/shop --out bailiwick.yaml",
		Args:    these(1, "the database: sqlite:app.db or postgres://…"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return t.writeConfig(cmd.Context(), args[0], out)
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", "", "`FILE` to write (default standard output)")
	return cmd
}

func (t *terminal) writeConfig(ctx context.Context, database, out string) error {
	s, err := sourceOf(database)
	if err != nil {
		return err
	}
	classes, warnings, err := describe(ctx, &config.Config{}, s)
	if err != nil {
		return err
	}
	floor, err := visible(policy.Rules{Unlisted: true}, classes, func(*policy.ClassRule) {})
	if err != nil {
		return err
	}
	guesses := guessRules(classes, floor)
	text := writeRules(written(s, out), tenantWord(classes), guesses)
	if err := sound(text, s.Name, classes); err != nil {
		return err
	}
	if out != "" {
		if err := writeNew(out, text); err != nil {
			return err
		}
	}
	return t.printGuesses(out, text, guesses, warnings)
}

// written returns s as the file at out says it: relative to that file, and without a password.
func written(s config.Source, out string) config.Source {
	path, ok := s.SQLite()
	if ok {
		dir, err := filepath.Abs(filepath.Dir(out))
		abs, err2 := filepath.Abs(path)
		if err == nil && err2 == nil && !filepath.IsAbs(path) {
			if rel, err := filepath.Rel(dir, abs); err == nil {
				s.URL = "sqlite:" + filepath.ToSlash(rel)
			}
		}
		return s
	}
	u, err := url.Parse(s.URL)
	if err != nil {
		return s // sourceOf has parsed it before
	}
	_, inUser := u.User.Password()
	q := u.Query()
	if !inUser && !q.Has("password") {
		return s
	}
	if inUser {
		u.User = url.User(u.User.Username())
	}
	q.Del("password")
	u.RawQuery = q.Encode()
	s.URL, s.Description = u.String(), "password" // tells writeRules that one was taken out
	return s
}

// sound makes sure that what was written says what is right: it is read and compiled as check does.
func sound(text, source string, classes []schema.Class) error {
	c, err := config.Parse(defaultFile, []byte(text), os.LookupEnv)
	if err == nil {
		_, err = policy.New(c.Rules, classes)
	}
	if err != nil {
		return fmt.Errorf("the rules that were guessed for %s are not right, which is a fault of this program: %w", source, err)
	}
	return nil
}

// writeNew writes a file that isn't there yet.
func writeNew(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("there is a file %s already; name another one with --out", path)
	}
	if err != nil {
		return fmt.Errorf("write the configuration: %w", err)
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write the configuration: %w", err)
	}
	return nil
}

func (t *terminal) printGuesses(out, text string, guesses []guess, warnings []string) error {
	confirm := strings.Count(text, "# confirm")
	if t.json {
		return t.printJSON(struct {
			File     string   `json:"file,omitempty"`
			Config   string   `json:"config"`
			Classes  int      `json:"classes"`
			Confirm  int      `json:"confirm"`
			Warnings []string `json:"warnings"`
		}{out, text, len(guesses), confirm, append([]string{}, warnings...)})
	}
	for _, w := range warnings {
		t.notef("%s %s", styled(amber, "warning:"), w)
	}
	if out == "" {
		t.printf("%s", text)
		return nil
	}
	t.notef("wrote %s: %d classes, %d guesses to confirm", out, len(guesses), confirm)
	t.notef("next: read it, then \"bailiwick check --config %s\"", out)
	return nil
}
