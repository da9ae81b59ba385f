package agentcmd

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/result"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// timeout is the maximum duration of an export.
const timeout = 24 * time.Hour

// all is the limit of an export without --limit, so large that it has no effect.
const all = 1 << 40

// ExportOptions connects the command to the rest of the command line.
type ExportOptions struct {
	In       io.Reader
	Out, Err io.Writer
	Sanitize func(io.Writer) io.Writer // prevents data from controlling a terminal
	// Open returns the gateway and the principal. Both are valid until the caller closes the Closer.
	Open func(context.Context) (*bailiwick.Gateway, identity.Principal, io.Closer, error)
	// Usage returns a usage error.
	Usage func(format string, args ...any) error
	Args  func(optional int, names ...string) cobra.PositionalArgs
}

// exportCommand returns the export command.
func exportCommand(o ExportOptions) *cobra.Command {
	f := &flags{timeout: timeout}
	cmd := &cobra.Command{
		Use:   "export [CLASS]",
		Short: "Write all records of a class, or what a pipeline or a SELECT makes of them, as CSV or lines of JSON",
		Example: "  bailiwick export issues --where '{\"status\": \"Todo\"}' --column number --column assignee_id.name=Assignee >todo.csv\n" +
			"  bailiwick export issues --pipeline - --format jsonl --source sqlite:app.db <pipeline.json\n" +
			"  bailiwick export --sql \"SELECT number, title FROM issues WHERE status = 'Todo'\" --column number --column title=Title >todo.csv",
		Args: o.Args(0, "the name of the class"),
		RunE: func(cmd *cobra.Command, args []string) error {
			q, options, err := f.query(args, o)
			if err != nil {
				return err
			}
			return run(cmd.Context(), o, q, options, f.timeout)
		},
	}
	f.add(cmd.Flags())
	return cmd
}

// ExportSQL returns the command that runs a SELECT statement.
func ExportSQL(o ExportOptions) *cobra.Command {
	f := &flags{}
	cmd := &cobra.Command{
		Use:   "sql STATEMENT",
		Short: "Run a SELECT over the classes as a caller sees them, and write its rows as CSV or lines of JSON",
		Example: "  bailiwick sql \"SELECT status, count(*) FROM issues GROUP BY status\" --source sqlite:app.db\n" +
			"  bailiwick sql - --format jsonl --tenant acme <report.sql",
		Args: o.Args(1, "the statement, or - for standard input"),
		RunE: func(cmd *cobra.Command, args []string) error {
			options, err := f.options(o)
			if err != nil {
				return err
			}
			if f.timeout <= 0 {
				return o.Usage("--timeout must be longer than 0s")
			}
			q, err := f.statement(args[0], o)
			if err != nil {
				return err
			}
			return run(cmd.Context(), o, q, options, f.timeout)
		},
	}
	cmd.Flags().StringVar(&f.format, "format", "csv", "csv or jsonl")
	cmd.Flags().BoolVar(&f.raw, "all", false, "also records that don't count as live")
	cmd.Flags().DurationVar(&f.timeout, "timeout", 5*time.Minute, "how long the statement may run")
	cmd.Flags().StringVar(&f.source, "from", "", "the `SOURCE` of a statement that names no class")
	return cmd
}

// flags contains the flags that select the records.
type flags struct {
	where, pipeline, order string // where and pipeline are JSON, or "-" to read standard input
	sql                    string
	keys, include, columns []string
	limit                  int
	format, source         string
	raw                    bool // ignore the canonical filter
	timeout                time.Duration
}

// add defines the flags in s.
func (f *flags) add(s *pflag.FlagSet) {
	s.StringVar(&f.where, "where", "", "which records: a where object in `JSON`, - for standard input")
	s.StringVar(&f.pipeline, "pipeline", "", "what to make of the records: a list of stages in `JSON`, - for standard input")
	s.StringVar(&f.sql, "sql", "", "a SELECT `STATEMENT` in place of a class, - for standard input")
	s.StringVar(&f.order, "order", "", "`FIELDS` apart by commas, - for descending")
	s.StringSliceVar(&f.keys, "keys", nil, "`FIELDS` to read, apart by commas (default all)")
	s.StringSliceVar(&f.include, "include", nil, "pointer `FIELDS` to replace with their records")
	s.StringArrayVar(&f.columns, "column", nil, "a `COLUMN` to write, or column=Header (repeatable, default all)")
	s.IntVar(&f.limit, "limit", 0, "most records (default all)")
	s.StringVar(&f.format, "format", "csv", "csv or jsonl")
	s.BoolVar(&f.raw, "all", false, "also records that don't count as live")
}

// options parses the flags for the output format.
func (f *flags) options(o ExportOptions) (result.ExportOptions, error) {
	options := result.ExportOptions{Format: result.Format(f.format), Budget: -1}
	if options.Format != result.CSV && options.Format != result.JSONLines {
		return options, o.Usage("--format must be csv or jsonl")
	}
	for _, text := range f.columns {
		name, title, _ := strings.Cut(text, "=")
		path, err := query.CheckPath(name, "")
		if err != nil {
			return options, o.Usage("--column %s: %v", text, err)
		}
		options.Columns = append(options.Columns, result.Selection{Path: path, Header: title})
	}
	return options, nil
}

// statement parses a SELECT statement. "-" means standard input.
func (f *flags) statement(text string, o ExportOptions) (*query.SQL, error) {
	if text == "-" {
		b, err := io.ReadAll(io.LimitReader(o.In, maxJSON))
		if err != nil {
			return nil, fmt.Errorf("read the statement: %w", err)
		}
		text = string(b)
	}
	q, err := query.ParseSQL(text)
	if err != nil {
		return nil, err
	}
	q.Raw, q.Source, q.Limit = f.raw, f.source, all
	return q, nil
}

// query parses the flags and returns the query to run.
func (f *flags) query(args []string, o ExportOptions) (query.Query, result.ExportOptions, error) {
	options, err := f.options(o)
	if err != nil {
		return nil, options, err
	}
	selects := f.where != "" || f.order != "" || f.keys != nil || f.include != nil
	if f.sql != "" {
		if len(args) > 0 || selects || f.pipeline != "" || f.limit != 0 {
			return nil, options, o.Usage("--sql excludes CLASS, --where, --pipeline, --order, --keys, --include and --limit. Write them in the statement")
		}
		q, err := f.statement(f.sql, o)
		return q, options, err
	}
	if len(args) == 0 {
		return nil, options, o.Usage("the name of the class is missing")
	}
	class := args[0]
	if f.limit < 0 {
		return nil, options, o.Usage("--limit must be 1 or more")
	}
	limit := f.limit
	if limit == 0 {
		limit = all
	}
	if f.pipeline != "" {
		if selects {
			return nil, options, o.Usage("--pipeline excludes --where, --order, --keys and --include. Write them as stages")
		}
		doc, err := f.json("--pipeline", f.pipeline, o)
		if err != nil {
			return nil, options, err
		}
		stages, err := query.ParsePipeline(doc, "/pipeline")
		return &query.Pipeline{Class: class, Stages: stages, Raw: f.raw, Limit: limit}, options, err
	}
	q := &query.Find{Class: class, Raw: f.raw, Limit: limit}
	return q, options, f.find(q, options.Columns, o)
}

// find parses the flags of an export of records into q. Without --keys and --include, the columns determine the
// fields to read.
func (f *flags) find(q *query.Find, columns []result.Selection, o ExportOptions) error {
	if f.where != "" {
		doc, err := f.json("--where", f.where, o)
		if err != nil {
			return err
		}
		if q.Where, err = query.ParseWhere(doc, "/where"); err != nil {
			return err
		}
	}
	var err error
	if q.Order, err = query.ParseOrder(f.order, "/order"); err != nil {
		return err
	}
	for into, names := range map[*[]query.Path][]string{&q.Keys: f.keys, &q.Include: f.include} {
		for _, name := range names {
			path, err := query.CheckPath(name, "")
			if err != nil {
				return err
			}
			*into = append(*into, path)
		}
	}
	if q.Keys == nil && q.Include == nil {
		for _, c := range columns {
			q.Keys = append(q.Keys, c.Path)
		}
	}
	return nil
}

// maxJSON is the maximum size of the JSON in a flag, in bytes.
const maxJSON = 1 << 20

// json parses the JSON value of a flag. "-" means standard input, with at most maxJSON bytes.
func (f *flags) json(flag, text string, o ExportOptions) (value.Value, error) {
	if text == "-" {
		b, err := io.ReadAll(io.LimitReader(o.In, maxJSON+1))
		if err != nil {
			return value.Value{}, fmt.Errorf("read %s: %w", flag, err)
		}
		text = string(b)
	}
	if len(text) > maxJSON {
		return value.Value{}, o.Usage("%s is larger than %d bytes", flag, maxJSON)
	}
	doc, err := value.Read([]byte(text), 0)
	if err != nil {
		return doc, o.Usage("%s is not JSON: %s", flag, strings.TrimPrefix(err.Error(), "invalid_argument: "))
	}
	return doc, nil
}

// run runs the query q and writes the results.
func run(ctx context.Context, o ExportOptions, q query.Query, options result.ExportOptions, timeout time.Duration) (err error) {
	g, p, closer, err := o.Open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closer.Close()) }()
	progress := &bar{now: time.Now}
	if isTerminal(o.Err) && !isTerminal(o.Out) { // otherwise progress and records would be mixed on the same terminal
		progress.out = o.Err
	}
	options.Progress = progress.update
	out := bufio.NewWriterSize(o.bare(o.Out), 64<<10)
	var done result.Exported
	ask := bailiwick.CallSpec{Tool: "export_data", Needs: identity.Read, Timeout: timeout, Arguments: auditArguments(q, options)}
	err = g.Do(ctx, p, ask, func(ctx context.Context, c *bailiwick.Call) (int, error) {
		var err error
		progress.began = progress.now()
		if progress.out != nil {
			progress.total = total(ctx, c, q)
		}
		done, err = c.Export(ctx, q, out, options)
		return 0, errors.Join(err, out.Flush())
	})
	progress.end(done.Count, err)
	for _, note := range done.Notes {
		fmt.Fprintln(o.Err, note)
	}
	return err
}

// patience is the time limit for counting the records before an export.
const patience = 3 * time.Second

// total returns the number of records of q, or 0 if unknown. It is unknown for a pipeline, which would have to run
// completely.
func total(ctx context.Context, c *bailiwick.Call, q query.Query) int64 {
	find, ok := q.(*query.Find)
	if !ok {
		return 0
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	n, _, err := c.Count(ctx, &query.Count{Class: find.Class, Where: find.Where, Raw: find.Raw})
	if err != nil {
		return 0 // the export itself will report the error
	}
	return min(n, int64(find.Limit))
}

// auditArguments returns the arguments for the digest in the audit, in the same form as for the tool.
func auditArguments(q query.Query, o result.ExportOptions) value.Value {
	digest, class := [32]byte{}, ""
	switch q := q.(type) {
	case *query.Find:
		digest, class = q.Digest(), q.Class
	case *query.Pipeline:
		digest, class = q.Digest(), q.Class
	case *query.SQL:
		digest, class = sha256.Sum256([]byte(q.Text)), q.From()
	}
	return value.OfObject([]value.Member{{Name: "class_name", Value: value.OfString(class)},
		{Name: "format", Value: value.OfString(string(o.Format))}, {Name: "query", Value: value.OfBytes(string(digest[:]))}})
}

// bare returns the writer below w if the output is not a terminal, so that data is written unchanged. Otherwise it
// returns a writer that removes terminal control sequences.
func (o ExportOptions) bare(w io.Writer) io.Writer {
	if isTerminal(w) {
		return o.Sanitize(w)
	}
	if styles, ok := w.(*colorprofile.Writer); ok {
		return styles.Forward
	}
	return w
}

// isTerminal reports whether w is a terminal.
func isTerminal(w io.Writer) bool {
	if styles, ok := w.(*colorprofile.Writer); ok {
		w = styles.Forward
	}
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(f.Fd())
}
