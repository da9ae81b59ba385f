package config

import (
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/goccy/go-yaml/ast"
)

// The bounds of what can be set (design 03, 07).
const (
	maxBudget  = 4 << 20
	maxBody    = 64 << 20
	maxTimeout = 300 * time.Second
	maxRows    = 1000
	maxSamples = 20
	many       = 1_000_000
)

// shape is the whole file.
func (c *Config) shape() shape {
	keys := []key{
		{name: "listen", doc: "Where agents connect: host:port. Default " + DefaultListen, shape: text("host:port, such as "+DefaultListen, c.setListen)},
		{name: "store", doc: "Where tokens and the audit are kept: sqlite:path. Default " + DefaultStore, shape: secret("sqlite:path", c.setStore)},
		{name: "sources", doc: "The databases to serve, by name", shape: c.sources(), must: true},
		{name: "classes", doc: `What agents see of each class, by "source.Class" or a class name that one source has`, shape: c.classes()},
		{name: "policy", doc: "Rules that hold for every class", shape: object(append([]key{
			{name: "unlisted", doc: "Classes that no rule names are hidden (the default) or visible", shape: c.unlisted()},
			{name: "refuse_scans", doc: "true refuses what would read every record of a class: a where that no index serves, or none", shape: flag(&c.Rules.RefuseScans)},
		}, later("disclose")...), nil)},
		{name: "tools", doc: "Which tools are served", shape: object(append([]key{
			{name: "profile", doc: "full (the default), or lean: short descriptions", shape: choose([]string{"full", "lean"}, func(s string) { c.Tools.Lean = s == "lean" })},
		}, listKeys(&c.Tools.List, "tool names")...), only)},
		{name: "results", doc: "Which parts of a result clients are sent: both, text or structured", shape: c.results()},
		{name: "budget", doc: "Most bytes of a result. Default 100 KB, at most 4 MiB", shape: size(&c.Budget, 1000, maxBudget)},
		{name: "limits", doc: "What one principal can ask for", shape: c.limits()},
		{name: "auth", doc: "Who is let in over HTTP", shape: c.auth()},
		{name: "stdio", doc: "Who speaks over stdio", shape: principal(&c.Stdio, "stdio")},
		{name: "server", doc: "The HTTP door", shape: c.Server.shape()},
		{name: "gates", doc: "What agents may propose", shape: c.gates()},
		{name: "review", doc: "Which changes need whose approval", shape: c.review()},
		{name: "log", doc: "What is logged, on standard error", shape: object([]key{
			{name: "level", doc: "The least that is logged. Default info", shape: choose([]string{"debug", "info", "warn", "error"}, c.Log.setLevel)},
			{name: "format", doc: "json (the default) or text", shape: choose([]string{"json", "text"}, func(s string) { c.Log.Text = s == "text" })},
		}, nil)},
	}
	keys = append(keys, later("actions", "include", "prompts", "resources", "notifications", "telemetry", "metadata")...)
	return object(keys, c.check)
}

// check looks at what only several sections together tell.
func (c *Config) check(r *reader, _ ast.Node, _ string) {
	if c.Auth.TokensOff && c.Auth.Anonymous == nil {
		r.wrongAt("/auth/tokens", "without tokens and without anonymous nobody is let in; say who anonymous is")
	}
	if c.Auth.TokensOff && c.Listen != "" && !loopback(c.Listen) {
		r.wrongAt("/listen", "other machines can reach this address, and auth.tokens is false; listen on "+DefaultListen+" or take auth.tokens out")
	}
	names := make([]string, len(c.Sources))
	for i, s := range c.Sources {
		names[i] = s.Name
	}
	for _, class := range sortedKeys(c.Rules.Classes) {
		source, _, dotted := strings.Cut(class, ".")
		if dotted && !slices.Contains(names, source) {
			path := join("classes", class)
			r.wrongAt(path, "there is no source "+strconv.Quote(problem.Cut(source))+problem.DidYouMean(problem.Nearest(source, names, 2)))
		}
		if source, bare, _ := strings.Cut(class, "."); dotted && len(names) == 1 && source == names[0] {
			if _, twice := c.Rules.Classes[bare]; twice {
				r.wrongAt(join("classes", class), "the class has another rule, as "+problem.Cut(bare))
			}
		}
	}
}

// loopback reports whether only this machine can reach an address.
func loopback(listen string) bool {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

func (c *Config) setListen(s string) string {
	_, port, err := net.SplitHostPort(s)
	n, bad := strconv.ParseUint(port, 10, 16)
	if err != nil || bad != nil || n > 65535 {
		return "must be host:port, such as " + DefaultListen
	}
	c.Listen = s
	return ""
}

func (c *Config) setStore(r *reader, s string) string {
	scheme, rest, _ := strings.Cut(s, ":")
	switch {
	case scheme == "postgres" || scheme == "postgresql":
		return "a store in PostgreSQL is not supported yet by this version; use sqlite:path"
	case scheme != "sqlite" || rest == "":
		return "must be sqlite:path"
	}
	c.Store = r.sqlite(rest)
	return ""
}

// sqlite returns the URL of an SQLite file; a relative path starts at the folder of the configuration.
func (r *reader) sqlite(path string) string {
	path = strings.TrimPrefix(path, "//")
	if !filepath.IsAbs(path) && path != ":memory:" && r.dir != "." {
		path = filepath.Join(r.dir, path)
	}
	return "sqlite:" + path
}

func (c *Config) sources() shape {
	return each(table{names: "source", check: sourceName, of: func(name string) (shape, func()) {
		s := Source{Name: name}
		keys := append([]key{
			{name: "url", doc: "sqlite:path, postgres://user:${PASSWORD}@host/database or mariadb://user:${PASSWORD}@host/database (mysql:// is the same)", must: true, shape: secret("a URL", s.setURL)},
			{name: "description", doc: "For agents", shape: words(&s.Description)},
			{name: "schemas", doc: "PostgreSQL schemas to look into; all that the user may read unless named", shape: list(&s.Schemas, "schema names", nil)},
			{name: "tables", doc: "Which tables and views become classes", shape: object(listKeys(&s.Tables, "table names"), only)},
			{name: "read_only", doc: "Always true in this version", shape: readOnly().with("const", true)},
		}, later("openapi", "document", "base_url", "metadata", "roots", "headers", "timeout")...)
		check := func(r *reader, n ast.Node, at string) {
			if s.Schemas != nil && !strings.HasPrefix(s.URL, "postgres") && s.URL != "" {
				r.wrongAt(at+"/schemas", "only PostgreSQL has schemas; take it out")
			}
		}
		return object(keys, check), func() { c.Sources = append(c.Sources, s) }
	}})
}

func sourceName(r *reader, e entry) bool {
	for i, ch := range e.name {
		if letter := ch|0x20 >= 'a' && ch|0x20 <= 'z' && ch < 0x80; !letter && (i == 0 || !strings.ContainsRune("0123456789_-", ch)) || i > 62 {
			r.wrong(e.key, e.at, "a source is named with letters, digits, - and _, a letter first, at most 63")
			return false
		}
	}
	return true
}

func (s *Source) setURL(r *reader, raw string) string {
	scheme, rest, _ := strings.Cut(raw, ":")
	switch scheme {
	case "sqlite":
		if rest == "" || rest == "//" {
			return "needs a path after sqlite:"
		}
		s.URL = r.sqlite(rest)
		return ""
	case "postgres", "postgresql":
		// url.Parse quotes the URL, which may hold a password, so its error is not passed on.
		if u, err := url.Parse(raw); err != nil || u.Opaque != "" {
			return "is not a URL such as postgres://user:password@host/database; write reserved characters in a password as %XX"
		}
		s.URL = raw
		return ""
	case "mysql", "mariadb":
		if u, err := url.Parse(raw); err != nil || u.Opaque != "" || u.Host == "" || len(u.Path) < 2 {
			return "is not a URL such as mariadb://user:password@host/database; write reserved characters in a password as %XX"
		}
		s.URL = raw
		return ""
	case "mongodb", "mongodb+srv", "parse", "parse+http", "parse+https":
		return scheme + " sources are not supported yet by this version"
	}
	return "must begin with sqlite:, postgres:// or mariadb://"
}

// readOnly is true: writes to sources are not of this version.
func readOnly() shape {
	var b bool
	inner := flag(&b)
	return shape{schema: inner.schema, read: func(r *reader, n ast.Node, at string) {
		b = true
		if inner.read(r, n, at); !b {
			r.wrong(start(n), at, "writing to a source is not supported yet by this version")
		}
	}}
}

// listKeys are the keys of an object that narrows a set of names.
func listKeys(l *identity.List, of string) []key {
	return []key{
		{name: "only", doc: "Keep these " + of, shape: list(&l.Only, of, nil)},
		{name: "except", doc: "Leave out these " + of, shape: list(&l.Except, of, nil)},
	}
}

// only refuses an object that says nothing.
func only(r *reader, n ast.Node, at string) {
	if m, ok := n.(*ast.MappingNode); ok && len(m.Values) == 0 {
		r.wrong(start(n), at, "is empty; leave it out")
	}
}

func (c *Config) unlisted() shape {
	return choose([]string{"hidden", "visible"}, func(s string) { c.Rules.Unlisted = s == "visible" })
}

// choose is a text out of a few, given to set.
func choose(names []string, set func(string)) shape {
	var got string
	inner := oneOf(&got, names...)
	return shape{schema: inner.schema, read: func(r *reader, n ast.Node, at string) {
		got = ""
		if inner.read(r, n, at); got != "" {
			set(got)
		}
	}}
}

func (l *Log) setLevel(s string) {
	levels := map[string]slog.Level{"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError}
	l.Level = levels[s]
}

func (c *Config) results() shape {
	forms := []Form{Both, Text, Structured}
	one := oneOf(&c.Results.Default, forms...)
	by := object([]key{
		{name: "default", doc: "For clients that are not named", shape: one},
		{name: "clients", doc: "By the name that a client gives", shape: each(table{names: "client", of: func(name string) (shape, func()) {
			var f Form
			return oneOf(&f, forms...), func() {
				if c.Results.Clients == nil {
					c.Results.Clients = map[string]Form{}
				}
				c.Results.Clients[name] = f
			}
		}})},
	}, nil)
	return either(one, by)
}

// either is by when a mapping stands there, else plain.
func either(plain, by shape) shape {
	return shape{schema: map[string]any{"anyOf": []any{plain.schema, by.schema}}, read: func(r *reader, n ast.Node, at string) {
		if kind(n) == "keys and values" {
			by.read(r, n, at)
		} else {
			plain.read(r, n, at)
		}
	}}
}
