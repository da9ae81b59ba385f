package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/connstring"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/source/metadata"
	"github.com/bailiwick-dev/bailiwick/source/mongodb"
)

// An Opened is an open source. It must be closed.
type Opened interface {
	source.Source
	io.Closer
}

// OpenSource opens s with the adapter for its kind.
func OpenSource(ctx context.Context, c *config.Config, s config.Source) (Opened, error) {
	if s.OpenAPI != nil {
		return openAPI(c, s, nil, nil)
	}
	if m := s.Metadata; m != nil {
		return metadata.New(metadata.Options{Name: s.Name, Roots: m.Roots, Connection: m.Connection, Environment: m.Environment,
			Allows: func(object string) bool { return m.Objects.Allows(object) }})
	}
	if s.Parse != nil {
		return openParse(ctx, c, s)
	}
	opened, err := openElsewhere(ctx, c, s)
	if err != nil {
		return nil, err
	}
	link := source.Link{Fresh: c.Renewal(s.Name).URL}
	var through *tunnel
	if s.SSH != nil && opened == nil {
		if through, err = openTunnel(s.SSH); err != nil {
			return nil, fmt.Errorf("source %s can't be reached: %w", s.Name, err)
		}
		link.Dial = through.dial
	}
	if open := databaseOf(s).open; opened == nil && open == nil {
		err = fmt.Errorf("source %s can't be opened: its url must begin with %s", s.Name, config.Beginnings())
	} else if opened == nil {
		opened, err = open(ctx, s, link)
	}
	if err != nil {
		return nil, errors.Join(unreachable(s, err), through.close())
	}
	k := keep(opened, c.Chooser(s.Name))
	k.through = through
	return k, nil
}

// collectionsOf returns the configured declarations of the collections of a source.
func collectionsOf(s config.Source) map[string]mongodb.Collection {
	out := map[string]mongodb.Collection{}
	for name, c := range s.Collections {
		out[name] = mongodb.Collection(c)
	}
	return out
}

// openElsewhere opens a source whose driver this program may lack. It returns nil if the source is of another kind.
func openElsewhere(ctx context.Context, c *config.Config, s config.Source) (source.Adapter, error) {
	if c.Open != nil {
		return c.Open(ctx, s)
	}
	if _, ok := s.DuckDB(); ok {
		return nil, fmt.Errorf("source %s is read by DuckDB, which this program doesn't have: run bailiwick-duckdb, as docs/duckdb.md says", s.Name)
	}
	return nil, nil
}

// kept is a source restricted to the classes that its configuration allows.
type kept struct {
	source.Adapter
	choice *config.Chooser

	through *tunnel // through the SSH server, or nil

	mu   sync.Mutex // locked while it is described
	once bool       // it has been described before

	late
}

// keep restricts a source to the classes that choice allows.
func keep(s source.Adapter, choice *config.Chooser) *kept {
	if c, ok := s.(source.Chooser); ok {
		c.Choose(choice.Choose)
	}
	if d, ok := s.(source.Divided); ok && choice.Template() != "" {
		d.Divide(choice.Template())
	}
	return &kept{Adapter: s, choice: choice}
}

// Describe implements source.Source. Names in the configuration that match nothing are an error the first time. Later
// they are warnings, because tables may be removed while the gateway runs.
func (k *kept) Describe(ctx context.Context) ([]schema.Class, []string, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.choice.Begin()
	classes, warnings, err := k.Adapter.Describe(ctx)
	wrong := k.choice.Faults()
	switch {
	case err != nil:
		return nil, nil, err
	case wrong != nil && !k.once:
		return nil, nil, wrong
	case wrong != nil:
		warnings = append(warnings, wrong.Error())
	}
	k.once = true
	if len(classes) == 0 {
		warnings = append(warnings, "source "+k.choice.Name()+" has no class: the account may read no table, or the keys schemas and tables leave out all of them")
	}
	return classes, warnings, nil
}

// CheckNative implements source.NativeReader.
func (k *kept) CheckNative(statement string) ([]string, error) {
	return source.CheckNative(k.Adapter, k.choice.Name(), statement)
}

// Close closes the source and its tunnel.
func (k *kept) Close() error {
	var all io.Closer = k.Adapter
	if w := k.writer.Load(); w != nil {
		all = *w
	}
	return errors.Join(all.Close(), k.through.close())
}

// renew makes the source and its writer use the currently configured user and password. Databases whose drivers
// request them for each connection need no renewal.
func (k *kept) renew(ctx context.Context) error {
	var is any = k.Adapter
	if w := k.writer.Load(); w != nil {
		is = *w
	}
	if r, ok := is.(interface {
		Renew(ctx context.Context) error
	}); ok {
		return r.Renew(ctx)
	}
	return nil
}

// Drifts implements source.Drifting.
func (k *kept) Drifts() bool {
	d, ok := k.Adapter.(source.Drifting)
	return ok && d.Drifts()
}

// Report implements source.Reporter. The zero Server means that the source reports nothing.
func (k *kept) Report(ctx context.Context) (source.Server, error) {
	if r, ok := k.Adapter.(source.Reporter); ok {
		return r.Report(ctx)
	}
	return source.Server{}, nil
}

// LeftOut implements source.Partial.
func (k *kept) LeftOut() []string {
	if p, ok := k.Adapter.(source.Partial); ok {
		return p.LeftOut()
	}
	return nil
}

// SourceOf parses a source from the command line: a URL or the path of an SQLite file. The name is given as "name=…",
// or it is the name of the database.
func SourceOf(text string) (config.Source, error) {
	s := config.Source{URL: text}
	if name, rest, ok := strings.Cut(text, "="); ok && identifier(name) == name && name != "" && !slices.Contains([]string{"host", "dbname", "service"}, name) {
		s.Name, s.URL = name, rest
	}
	parsed, err := connstring.Parse(s.URL)
	if err != nil {
		return s, config.Usagef("the source %v", err)
	}
	// The form in which Prisma names SQLite files.
	if s.URL, s.Schemas = parsed.URL, parsed.Schemas; strings.HasPrefix(s.URL, "file:") {
		path, _, _ := strings.Cut(strings.TrimPrefix(s.URL, "file:"), "?")
		s.URL = "sqlite:" + path
	}
	scheme, rest, hasScheme := strings.Cut(s.URL, ":")
	kind := config.KindOf(s.URL)
	var base string
	switch {
	case scheme == "sqlite" && rest != "":
		s.URL, base = "sqlite:"+strings.TrimPrefix(rest, "//"), rest
	case kind.SQL && !kind.File:
		u, err := url.Parse(s.URL)
		if err != nil {
			return s, config.Usagef("the source is not a URL such as postgres://user:password@host/database. Write reserved characters in a password as %%XX")
		}
		base = u.Path
	case s.MongoDB():
		_, hosts, _ := strings.Cut(rest, "//")
		_, base, _ = strings.Cut(hosts, "/")
		if base, _, _ = strings.Cut(base, "?"); base == "" {
			return s, config.Usagef("the source names no database. Write mongodb://user:password@host/database")
		}
	case s.IsParse():
		if s.Parse = parseOf(os.Getenv); s.Parse.AppID == "" || s.Parse.MasterKey == "" {
			return s, config.Usagef("a Parse Server is asked with its keys: set PARSE_APP_ID and PARSE_MASTER_KEY (and PARSE_REST_KEY, if it wants one)")
		}
		u, err := url.Parse(s.URL)
		if err != nil || u.Hostname() == "" || u.User != nil {
			return s, config.Usagef("the source is not a URL such as parse+https://host/parse")
		}
		base = u.Hostname()
	case hasScheme && !strings.ContainsAny(scheme, "./\\") && len(scheme) > 1 && !Exists(s.URL):
		return s, config.Usagef("%s: sources are not supported by this version. A source begins with %s", scheme, config.Beginnings())
	case s.URL != "":
		s.URL, base = "sqlite:"+s.URL, s.URL
	default:
		return s, config.Usagef("the source is empty. Write sqlite:app.db, postgres://, mariadb:// or mongodb://user:password@host/database, or parse+https://host/parse")
	}
	if s.Name == "" {
		base = filepath.Base(base)
		s.Name = identifier(strings.TrimSuffix(base, filepath.Ext(base)))
	}
	return s, nil
}

// Exists reports whether there is a file at path.
func Exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// SourceName returns a valid source name made from s.
func SourceName(s string) string { return identifier(s) }

// identifier returns a valid source name made from s, or "app" if no characters are left.
func identifier(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '-') {
			return r
		}
		return '_'
	}, s)
	s = strings.TrimLeft(s, "0123456789_-")
	if s == "" {
		return "app"
	}
	return s[:min(len(s), 63)]
}

// Describe opens the source s of c temporarily. It returns the classes, warnings about omitted parts, and the source,
// which is closed: it can still check statements. For an API all are nil, because APIs have no classes.
func Describe(ctx context.Context, c *config.Config, s config.Source) (_ []schema.Class, _ []string, _ source.Source, err error) {
	if s.OpenAPI != nil {
		return nil, nil, nil, nil
	}
	opened, err := OpenSource(ctx, c, s)
	if err != nil {
		return nil, nil, nil, err
	}
	defer CloseAfter(opened, &err)
	classes, warnings, err := opened.Describe(ctx)
	return classes, warnings, opened, err
}
