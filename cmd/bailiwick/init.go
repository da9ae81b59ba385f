package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bailiwick-dev/bailiwick/cmd/bailiwick/internal/terminal"
	"github.com/bailiwick-dev/bailiwick/internal/app"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/garbage"
	"github.com/bailiwick-dev/bailiwick/internal/scaffold"
	"github.com/bailiwick-dev/bailiwick/source/metadata"
)

// initCommand returns the command init for databases, OpenAPI documents and project folders. Flags answer its
// questions in advance. Without a terminal, or with --yes, it uses its guesses and marks them in the file.
func initCommand(t *terminal.Terminal) *cobra.Command {
	var out, base string
	var answers scaffold.Answers
	var yes bool
	var schemas, tables []string
	cmd := &cobra.Command{
		Use:   "init DATABASE|DOCUMENT|FOLDER",
		Short: "Look at a database or an HTTP API and write a configuration with safe rules",
		Long: "Look at a database and write a configuration with safe rules: credentials denied, credential stores hidden, personal data\n" +
			"masked, tenants guessed. It reads the schema and a sample of records, of which nothing is kept. On a terminal it asks\n" +
			"three questions. Flags answer them as well. Guesses are marked \"confirm\".\n\n" +
			"Of an OpenAPI document, a file or an https URL, it classes every operation. Of a folder, a project with what the Provar IDE keeps of its connections, it writes the descriptions\n" +
			"of objects as sources.",
		Example: "  bailiwick init app.db --out bailiwick.yaml\n  bailiwick init postgres://reader@db.example/shop --out bailiwick.yaml\n" +
			"  PARSE_APP_ID=… PARSE_MASTER_KEY=… bailiwick init parse+https://app.example/parse --out bailiwick.yaml\n" +
			"  bailiwick init openapi.json --base-url https://app.example --out bailiwick.yaml\n  bailiwick init ./Billing --out bailiwick.yaml",
		Args: terminal.These(1, "what to look at (sqlite:app.db, postgres://…, mariadb://…, mongodb://…, parse+https://…, an OpenAPI document, or a project's folder)"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if isDocument(args[0]) {
				return writeAPI(t, args[0], base, out)
			}
			if base != "" {
				return config.Usagef("--base-url goes with an OpenAPI document: a .json, .yaml or .yml file, or an https URL")
			}
			return writeConfig(cmd.Context(), t, place{args[0], out, schemas, tables}, answers, !yes)
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", "", "`FILE` to write (default standard output)")
	cmd.Flags().StringSliceVar(&schemas, "schema", nil, "the `SCHEMAS` of PostgreSQL or DuckDB to read, separated by commas (default what the database calls its own)")
	cmd.Flags().StringSliceVar(&tables, "tables", nil, "the `TABLES` to read, separated by commas (default all)")
	cmd.Flags().StringVar(&base, "base-url", "", "the `URL` that the API's calls go to (default what the document says)")
	cmd.Flags().StringVar(&answers.Tenant, "tenant", "", "the `FIELD` that says which tenant a record belongs to, such as org_id, or none (default a guess)")
	cmd.Flags().StringVar(&answers.Personal, "personal", "", "what agents see of personal data: mask, hide or show (default mask)")
	cmd.Flags().StringVar(&answers.Writes, "writes", "", "what agents may change: off, or review for what people approve (default off)")
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "ask nothing, and take the guesses")
	return cmd
}

// isDocument reports whether the argument from names an OpenAPI document.
func isDocument(from string) bool {
	if strings.HasPrefix(from, "https://") || strings.HasPrefix(from, "http://") {
		return true
	}
	return slices.Contains([]string{".json", ".yaml", ".yml"}, strings.ToLower(filepath.Ext(from))) && !strings.Contains(from, ":")
}

// writeAPI writes a configuration for an API. from is the location of its document.
func writeAPI(t *terminal.Terminal, from, base, out string) error {
	garbage.Spare()
	a, err := app.ReadDocument(from)
	a.Name = app.SourceName(a.Name)
	if err != nil {
		return err
	}
	if a.BaseURL = base; !strings.Contains(from, "://") {
		abs, err := filepath.Abs(from)
		if err != nil {
			return fmt.Errorf("find the document: %w", err)
		}
		a.Document = beside(out, abs)
	}
	d, err := scaffold.OfAPI(a)
	if err != nil {
		return err
	}
	var warnings []string
	for _, w := range a.Contents.Odd() {
		warnings = append(warnings, "the document"+w)
	}
	return keepDraft(t, out, d, warnings)
}

// place contains the source of a configuration and the file to write. With an empty file, it is written to standard
// output.
type place struct {
	from, out       string
	schemas, tables []string // to read, or nil for all
}

// refusal returns err, or the first name of --schema or --tables that the source doesn't have.
func (p place) refusal(err error) error {
	wrong, is := errors.AsType[*config.Error](err)
	if !is || len(wrong.Faults) == 0 {
		return err
	}
	f := wrong.Faults[0]
	flag, names := "--schema", p.schemas
	if strings.Contains(f.Path, ".tables.only.") {
		flag, names = "--tables", p.tables
	}
	if n, failed := strconv.Atoi(f.Path[strings.LastIndexByte(f.Path, '.')+1:]); failed == nil && n < len(names) {
		return config.Usagef("%s %s: %s", flag, names[n], f.Message)
	}
	return err
}

// writeConfig writes a configuration for a database. If asks is set, a person at a terminal is asked the questions
// that answers doesn't answer.
func writeConfig(ctx context.Context, t *terminal.Terminal, at place, answers scaffold.Answers, asks bool) error {
	database, out := at.from, at.out
	if err := answers.Validate(); err != nil {
		return config.Usagef("%v", err)
	}
	if info, err := os.Stat(database); err == nil && info.IsDir() {
		return writeCaches(t, database, out)
	}
	s, err := app.SourceOf(database)
	if err != nil {
		return err
	}
	if at.schemas != nil {
		if !config.KindOf(s.URL).Schemas {
			return config.Usagef("--schema goes with PostgreSQL and DuckDB. Choose from other databases with --tables")
		}
		s.Schemas = at.schemas
	}
	s.Tables.Only = at.tables
	if out != "" && app.Exists(out) { // checked before any question is asked
		return alreadyThere(out)
	}
	classes, warnings, seen, err := app.Look(ctx, s)
	if err != nil {
		return at.refusal(err)
	}
	d, err := scaffold.Of(scaffoldSource(s, at), classes, seen, answers)
	if err == nil && asks && t.Interactive() && !t.JSON && len(classes) > 0 {
		if err = ask(t, &answers, d.Tenancies); err == nil {
			d, err = scaffold.Of(scaffoldSource(s, at), classes, seen, answers)
		}
	}
	if err != nil {
		return err
	}
	return keepDraft(t, out, d, warnings)
}

// writeCaches writes a configuration for the metadata that an IDE has cached for a project.
func writeCaches(t *terminal.Terminal, folder, out string) error {
	roots, connections, err := metadata.Find(folder)
	if err != nil {
		return err
	}
	for i, root := range roots {
		roots[i] = beside(out, root)
	}
	used := map[string]int{}
	var caches []scaffold.Cache
	for _, c := range connections {
		name := app.SourceName(c.Name)
		if used[name]++; used[name] > 1 {
			name += fmt.Sprint("_", used[name])
		}
		caches = append(caches, scaffold.Cache{Name: name, Connection: c.Name, Roots: roots, Objects: c.Objects})
	}
	d, err := scaffold.OfCaches(caches)
	if err != nil {
		return err
	}
	return keepDraft(t, out, d, nil)
}

// beside returns path in the form for the file at out, relative to the folder of that file if possible.
func beside(out, path string) string {
	dir, err := filepath.Abs(filepath.Dir(out))
	if err != nil {
		return path
	}
	rel, err := filepath.Rel(dir, path)
	if err != nil {
		return path
	}
	return filepath.ToSlash(rel)
}

// keepDraft writes a draft to the file out, or prints it if out is "". It reports the contents of the draft.
func keepDraft(t *terminal.Terminal, out string, d scaffold.Draft, warnings []string) error {
	if out != "" {
		for _, f := range d.Included { // first, so that the file that includes them is the last
			if err := writeNew(filepath.Join(filepath.Dir(out), f.Name), f.Text); err != nil {
				return err
			}
		}
		if err := writeNew(out, d.Text); err != nil {
			return err
		}
	}
	return printDraft(t, out, d, warnings)
}

// scaffoldSource returns s in the form for the file to write. Its path is relative to that file, and it has no password.
func scaffoldSource(s config.Source, at place) scaffold.Source {
	out := at.out
	as := scaffold.Source{Name: s.Name, URL: s.URL, RESTKey: s.Parse != nil && s.Parse.RESTKey != "", Schemas: s.Schemas, Tables: s.Tables.Only}
	if out != "" {
		as.File = filepath.Base(out)
	}
	path, ok := s.SQLite()
	if ok {
		dir, err := filepath.Abs(filepath.Dir(out))
		abs, err2 := filepath.Abs(path)
		if err == nil && err2 == nil && !filepath.IsAbs(path) {
			if rel, err := filepath.Rel(dir, abs); err == nil {
				as.URL = "sqlite:" + filepath.ToSlash(rel)
			}
		}
		return as
	}
	if s.MongoDB() {
		as.URL, as.WithPassword = withoutPassword(s.URL)
		return as
	}
	u, err := url.Parse(s.URL)
	if err != nil {
		return as // can't happen, because SourceOf has parsed the address
	}
	_, inUser := u.User.Password()
	q := u.Query()
	if !inUser && !q.Has("password") {
		return as
	}
	if inUser {
		u.User = url.User(u.User.Username())
	}
	q.Del("password")
	u.RawQuery = q.Encode()
	as.URL, as.WithPassword = u.String(), true
	return as
}

func alreadyThere(path string) error {
	return fmt.Errorf("the file %s already exists. Name another one with --out", path)
}

// withoutPassword replaces the password in a MongoDB connection string by an environment variable. Such a string may
// name several hosts. It reports whether there was a password.
func withoutPassword(raw string) (string, bool) {
	scheme, rest, _ := strings.Cut(raw, "://")
	user, hosts, ok := strings.Cut(rest, "@")
	name, _, has := strings.Cut(user, ":")
	if !ok || !has {
		return raw, false
	}
	return scheme + "://" + name + ":${MONGODB_PASSWORD}@" + hosts, true
}

// writeNew writes a new file. It fails if the file exists.
func writeNew(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return alreadyThere(path)
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

// printDraft reports a draft that was written to out, or prints its text if out is "".
func printDraft(t *terminal.Terminal, out string, d scaffold.Draft, warnings []string) error {
	if t.JSON {
		return t.PrintJSON(struct {
			File     string   `json:"file,omitempty"`
			Config   string   `json:"config"`
			Classes  int      `json:"classes"`
			Calls    int      `json:"operations,omitempty"`
			Confirm  int      `json:"confirm"`
			Warnings []string `json:"warnings"`
		}{out, d.Text, d.Classes, d.Operations, d.Confirm, append([]string{}, warnings...)})
	}
	for _, w := range warnings {
		t.Notef("%s %s", terminal.Style(terminal.Amber, "warning:"), w)
	}
	if out == "" {
		t.Printf("%s", d.Text)
		return nil
	}
	what := terminal.Count(d.Classes, "class")
	if d.Operations > 0 {
		what = terminal.Count(d.Operations, "operation")
	}
	if n := len(d.Included); n > 0 {
		what += fmt.Sprintf(" in %s from %s on", terminal.Count(n, "file"), d.Included[0].Name)
	}
	t.Notef("wrote %s: %s, %s to confirm", out, what, terminal.Count(d.Confirm, "guess"))
	t.Notef("next: read it, then \"bailiwick check --config %s\"", out)
	return nil
}
