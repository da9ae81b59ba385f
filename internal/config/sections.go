package config

import (
	"net"
	"net/netip"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/connstring"
	"github.com/bailiwick-dev/bailiwick/internal/expression"
	"github.com/bailiwick-dev/bailiwick/internal/yamlconf"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// These are the limits of settings.
const (
	maxBudget  = 4 << 20
	maxBody    = 64 << 20
	maxRows    = 1000
	maxSamples = 20
	many       = 1_000_000
)

// MaxTimeout is the maximum timeout that a configuration may set for a tool.
const MaxTimeout = 300 * time.Second

// shape returns the shape of the whole file.
func (c *Config) shape() yamlconf.Shape {
	c.expressions, c.contents = expression.NewCompiler(), map[string]*Document{}
	keys := []yamlconf.Key{
		{Name: "include", Doc: "Further files of this form: paths and patterns such as rules/*.yaml, from the folder of this file. Sections of several files are put together", Shape: yamlconf.Files()},
		{Name: "listen", Doc: "Where agents connect: host:port. Default " + DefaultListen, Shape: yamlconf.Text("host:port, such as "+DefaultListen, c.setListen)},
		{Name: "store", Doc: "Where tokens, changes and the audit are kept: sqlite:path, or postgres://user:${PASSWORD}@host/database, which replicas can share. Default " + DefaultStore, Shape: yamlconf.Secret("sqlite:path or postgres://…", c.setStore)},
		{Name: "sources", Doc: "What to serve, by name: databases, descriptions of objects, and HTTP APIs", Shape: c.sources(), Must: true},
		{Name: "classes", Doc: `What agents see of each class, by "source.Class" or a class name that one source has`, Shape: c.classes()},
		{Name: "apis", Doc: "What agents see and may call of each HTTP API, by the name of its source. One that isn't named is not seen, unless policy.unlisted is visible", Shape: c.apis()},
		{Name: "policy", Doc: "Rules that hold for every class", Shape: yamlconf.Object([]yamlconf.Key{
			{Name: "unlisted", Doc: "Classes that no rule names are hidden (the default) or visible", Shape: c.unlistedShape()},
			{Name: "refuse_scans", Doc: "true refuses what would read every record of a class: a where that no index serves, or none", Shape: yamlconf.Flag(&c.Rules.RefuseScans)},
			{Name: "disclose", Doc: "true: a refusal says what the rules hide from the caller: for companies that trust their agents. Names of what is hidden show", Shape: yamlconf.Flag(&c.Rules.Disclose)},
			{Name: "strict_pointer_shapes", Doc: "true refuses conditions on pointers that are neither an id nor a whole pointer to the right class. false, the default, takes other forms, and says what matches nothing", Shape: yamlconf.Flag(&c.Rules.Pointers)},
			{Name: "strict", Doc: "false only warns of names in the lists of principals and tokens that name nothing. true, the default, refuses them", Shape: c.unless(&c.Lenient)},
			{Name: "sample_values", Doc: "false looks at no values. true, the default, looks at a sample of the values that agents could see, at the start and once a day, and hides fields whose values look like credentials", Shape: c.unless(&c.Unsampled)},
		}, nil)},
		{Name: "tools", Doc: "Which tools are served", Shape: yamlconf.Object(append([]yamlconf.Key{
			{Name: "profile", Doc: "Which tools clients are shown: standard (the default) lists those that most agents need, and the others can be called by name. full lists all. lean (finds and counts records) and sql (asks with SELECT) serve a few and no others", Shape: yamlconf.Choose([]string{"standard", "full", "lean", "sql"}, func(s string) { c.Tools.Profile = strings.TrimPrefix(s, "standard") })},
		}, listKeys(&c.Tools.List, "tool names")...), yamlconf.NotEmpty)},
		{Name: "results", Doc: "Which parts of a result clients are sent: text, the default, structured or both. docs/clients.md says which client hands what to its model", Shape: c.results()},
		{Name: "prompts", Doc: "Texts of your own that agents can be started with, besides the built-in ones", Shape: c.prompts()},
		{Name: "budget", Doc: "Most bytes of a result. Default 100 KB, at most 4 MiB", Shape: yamlconf.Size(&c.Budget, 1000, maxBudget)},
		{Name: "limits", Doc: "What one principal can ask for", Shape: c.limits()},
		{Name: "auth", Doc: "Who is let in over HTTP", Shape: c.auth()},
		{Name: "stdio", Doc: "Who speaks over stdio", Shape: c.principal(&c.Stdio, "stdio")},
		{Name: "server", Doc: "The HTTP server", Shape: c.Server.shape()},
		{Name: "gates", Doc: "What agents may write at all", Shape: c.gates()},
		{Name: "review", Doc: "Which changes need how many people's approval: a list of rules, or an object with rules", Shape: c.review()},
		{Name: "actions", Doc: "Named writes, as in classes, each with the class that it is on", Shape: c.actions("", true)},
		{Name: "metrics", Doc: "What is measured, by name: the owner's definitions of revenue and the like, which agents ask for with query_metrics", Shape: c.metrics()},
		{Name: "queries", Doc: "Queries that agents ask by name, with arguments", Shape: c.queries()},
		{Name: "notifications", Doc: "Who is notified of what happens to changes", Shape: c.notifications()},
		{Name: "accounts", Doc: "The accounts that people connect to HTTP APIs (sources.<name>.openapi.credential.person)", Shape: c.Accounts.Shape()},
		{Name: "audit", Doc: "The record of every call", Shape: c.Audit.Shape()},
		{Name: "log", Doc: "What is logged, on standard error", Shape: c.Log.shape()},
		{Name: "telemetry", Doc: "Which calls are traced, and where to. Without it none are", Shape: c.Telemetry.shape()},
	}
	keys = append(keys, yamlconf.Later("resources")...)
	return yamlconf.Object(keys, c.check)
}

// check checks that the sections fit together.
func (c *Config) check(r *yamlconf.Reader, _ yamlconf.Node, _ string) {
	c.restrict(r)
	c.resolveTeams(r)
	c.checkAPIs(r)
	if c.Auth.TokensOff && c.Auth.Anonymous == nil && c.Auth.OIDC == nil {
		r.WrongAt("/auth/tokens", "without tokens and without anonymous no caller can authenticate. Declare anonymous")
	}
	if c.Auth.TokensOff && c.Auth.OIDC == nil && c.Listen != "" && !loopback(c.Listen) {
		r.WrongAt("/listen", "other machines can reach this address, and auth.tokens is false. Listen on "+DefaultListen+" or take auth.tokens out")
	}
	if c.Audit.Every > 0 && strings.HasPrefix(c.Store, "postgres") {
		r.WrongAt("/audit/durability", "the store is a PostgreSQL database, where each record is committed. Write each, or take it out")
	}
	c.checkAccounts(r)
	names := make([]string, len(c.Sources))
	for i, s := range c.Sources {
		names[i] = s.Name
	}
	for _, class := range sortedKeys(c.Rules.Classes) {
		source, _, dotted := strings.Cut(class, ".")
		if dotted && c.isAPI(source) {
			r.WrongAt(yamlconf.Join("classes", class), "the source is an HTTP API, and has no classes. Write apis")
			continue
		}
		if dotted && !slices.Contains(names, source) {
			path := yamlconf.Join("classes", class)
			r.WrongAt(path, "there is no source "+strconv.Quote(problem.Cut(source))+problem.DidYouMean(problem.Nearest(source, names, 2)))
		}
		if source, bare, _ := strings.Cut(class, "."); dotted && len(names) == 1 && source == names[0] {
			if _, twice := c.Rules.Classes[bare]; twice {
				r.WrongAt(yamlconf.Join("classes", class), "the class has another rule, as "+problem.Cut(bare))
			}
		}
	}
}

// loopback reports whether an address is reachable only from this machine.
func loopback(listen string) bool {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// hostPort reports whether s is a valid address to listen on.
func hostPort(s string) bool {
	_, port, err := net.SplitHostPort(s)
	_, bad := strconv.ParseUint(port, 10, 16)
	return err == nil && bad == nil
}

func (c *Config) setListen(s string) string {
	if !hostPort(s) {
		return "must be host:port, such as " + DefaultListen
	}
	c.Listen = s
	return ""
}

// setStore sets the store. It returns the fault in s, or "". A relative path of SQLite begins at folder.
func (c *Config) setStore(folder, s string) string {
	scheme, rest, _ := strings.Cut(s, ":")
	switch {
	case scheme == "postgres" || scheme == "postgresql":
		if several, err := connstring.Parse(s); err == nil && strings.Contains(several.URL, "host=") { // several hosts, which url.Parse can't parse
			s = several.URL
		}
		if u, err := url.Parse(s); err != nil || u.Opaque != "" { // the error of url.Parse would contain the password
			return "is not a URL such as postgres://user:password@host/database. Write reserved characters in a password as %XX"
		}
		c.Store = s
		return ""
	case scheme != "sqlite" || rest == "":
		return "must be sqlite:path or postgres://user:password@host/database"
	}
	c.Store = sqliteURL(folder, rest)
	return ""
}

// sqliteURL returns the URL of an SQLite file. A relative path begins at folder.
func sqliteURL(folder, path string) string { return "sqlite:" + pathFrom(folder, path) }

// pathFrom returns the path of a URL. A relative path begins at folder.
func pathFrom(folder, path string) string {
	path = strings.TrimPrefix(path, "//")
	if !filepath.IsAbs(path) && path != ":memory:" && folder != "." {
		path = filepath.Join(folder, path)
	}
	return path
}

// sources returns the shape of the sources, by name. Exactly one of url, metadata and openapi determines the kind of
// a source. The variable is records which key was given, and checks that the other keys fit it.
func (c *Config) sources() yamlconf.Shape {
	return yamlconf.Each(yamlconf.Table{Names: "source", Check: sourceName, Of: func(name string) (yamlconf.Shape, func()) {
		s := Source{Name: name}
		var is kinds
		metadata := func(r *yamlconf.Reader, n yamlconf.Node, at string) {
			s.Metadata = &Metadata{}
			s.Metadata.shape().Read(r, n, at)
		}
		openapi := func(r *yamlconf.Reader, n yamlconf.Node, at string) {
			s.OpenAPI = &APISource{}
			c.contents[name] = &Document{}
			s.OpenAPI.Shape(c.contents[name]).Read(r, n, at)
		}
		parse := func(r *yamlconf.Reader, n yamlconf.Node, at string) {
			s.Parse = &ParseServer{}
			s.Parse.shape(c.expressions).Read(r, n, at)
		}
		keys := []yamlconf.Key{
			{Name: "url", Doc: "sqlite:path, postgres://user:${PASSWORD}@host/database or mariadb://user:${PASSWORD}@host/database (mysql:// is the same), or mongodb://user:${PASSWORD}@host/database (also mongodb+srv://), or parse+https://host/parse, or duckdb:path with the program bailiwick-duckdb", Shape: is.of("url", yamlconf.Secret("a URL", func(folder, raw string) string {
				if parsed, err := connstring.Parse(raw); err == nil {
					is.schemas = parsed.Schemas
				}
				return s.setURL(folder, raw)
			}))},
			{Name: "metadata", Doc: "Instead of url: descriptions of objects that the Provar IDE keeps on disk. They are classes without records, and the tool org_describe is served", Shape: is.of("metadata", yamlconf.Shape{Schema: (&Metadata{}).shape().Schema, Read: metadata})},
			{Name: "openapi", Doc: "Instead of url: an HTTP API, from its OpenAPI document. What agents may call of it is said in apis", Shape: is.of("openapi", yamlconf.Shape{Schema: (&APISource{}).Shape(nil).Schema, Read: openapi})},
			{Name: "parse", Doc: "With the url of a Parse Server: its keys, and whom agents act as", Shape: yamlconf.Shape{Schema: (&ParseServer{}).shape(nil).Schema, Read: parse}},
			{Name: "description", Doc: "For agents", Shape: yamlconf.Words(&s.Description)},
			{Name: "schemas", Doc: "PostgreSQL and DuckDB: the schemas to look into. All that the user may read unless named", Shape: yamlconf.List(&s.Schemas, "schema names", nil)},
			{Name: "schema", Doc: "PostgreSQL with one schema per tenant: {$cel: principal.tenant}, an expression over principal that yields the name of the caller's schema. Needs template", Shape: c.schema(&s.Schema)},
			{Name: "template", Doc: "With schema: the schema whose tables become classes. Other schemas are used only while their tables are like its own", Shape: yamlconf.Words(&s.Template)},
			{Name: "tables", Doc: "Which tables and views become classes: names of tables, with the schema before a dot if it is not the default one, or of classes", Shape: yamlconf.Object(listKeys(&s.Tables, "table names"), yamlconf.NotEmpty)},
			{Name: "ssh", Doc: "PostgreSQL and MariaDB: the SSH server through which the database is reached", Shape: s.ssh()},
			{Name: "rename", Doc: "Names of classes, by table: {sales.orders: orders_eu}. A table of another schema than the default one is otherwise called by both names: sales_orders", Shape: s.rename()},
			{Name: "local_rows", Doc: "MongoDB, Parse Server and DuckDB: the most records that one query may read to finish here what the server can't do. Default 10,000", Shape: yamlconf.Count(&s.LocalRows, 1, many)},
			{Name: "collections", Doc: "MongoDB: what the server doesn't say of its collections", Shape: s.collections()},
			{Name: "write_url", Doc: "The url of an account that may write, for what is written alone. That of url unless named", Shape: yamlconf.Secret("a URL", s.setWriteURL)},
			{Name: "read_only", Doc: "Nothing is ever written to it, whatever gates and rules say", Shape: yamlconf.Flag(&s.ReadOnly)},
		}
		one := []any{map[string]any{"required": []string{"url"}}, map[string]any{"required": []string{"metadata"}}, map[string]any{"required": []string{"openapi"}}}
		return yamlconf.Object(keys, is.check(&s)).With("oneOf", one), func() {
			if s.Schema != "" {
				c.divide(name, s.Schema)
			}
			c.Sources = append(c.Sources, s)
		}
	}})
}

func sourceName(r *yamlconf.Reader, e yamlconf.Entry) bool {
	for i, ch := range e.Name {
		if letter := ch|0x20 >= 'a' && ch|0x20 <= 'z' && ch < 0x80; !letter && (i == 0 || !strings.ContainsRune("0123456789_-", ch)) || i > 62 {
			r.Wrong(e.Key, e.At, "a source is named with letters, digits, - and _, a letter first, at most 63")
			return false
		}
	}
	return true
}

// setURL sets the URL of a database. It returns the fault in raw, or "". Relative paths begin at folder, the folder
// of the configuration file. The result never repeats the URL, which may contain a password.
func (s *Source) setURL(folder, raw string) string {
	parsed, err := connstring.Parse(raw)
	if err != nil {
		return err.Error()
	}
	raw = parsed.URL
	kind := KindOf(raw)
	switch {
	case kind.Name == "":
		return "must begin with " + Beginnings()
	case kind.read != nil:
		return kind.read(s, folder, raw)
	}
	s.URL = raw
	return ""
}

// mongoURL matches a connection string of MongoDB, which may contain several hosts.
var mongoURL = regexp.MustCompile(`^mongodb(\+srv)?://[^/?#]+/[^/?#]+(\?.*)?$`)

// listKeys returns the keys of an object that restricts a set of names.
func listKeys(l *identity.List, of string) []yamlconf.Key {
	return []yamlconf.Key{
		{Name: "only", Doc: "Keep these " + of, Shape: yamlconf.List(&l.Only, of, nil)},
		{Name: "except", Doc: "Leave out these " + of, Shape: yamlconf.List(&l.Except, of, nil)},
	}
}

func (c *Config) unlistedShape() yamlconf.Shape {
	return yamlconf.Choose([]string{"hidden", "visible"}, func(s string) { c.Rules.Unlisted = s == "visible" })
}

// results returns the shape of the form of results: one form for all clients, or one form per client name.
func (c *Config) results() yamlconf.Shape {
	forms := []Form{Both, Text, Structured}
	one := yamlconf.OneOf(&c.Results.Default, forms...)
	by := yamlconf.Object([]yamlconf.Key{
		{Name: "default", Doc: "For clients that are not named", Shape: one},
		{Name: "clients", Doc: "By the name that a client gives", Shape: yamlconf.Each(yamlconf.Table{Names: "client", Of: func(name string) (yamlconf.Shape, func()) {
			var f Form
			return yamlconf.OneOf(&f, forms...), func() {
				if c.Results.Clients == nil {
					c.Results.Clients = map[string]Form{}
				}
				c.Results.Clients[name] = f
			}
		}})},
	}, nil)
	return yamlconf.Either(one, by)
}

// unless returns the shape of a flag that is true by default. It sets not to the opposite of the flag.
func (c *Config) unless(not *bool) yamlconf.Shape {
	var b bool
	inner := yamlconf.Flag(&b)
	return yamlconf.Shape{Schema: inner.Schema, Read: func(r *yamlconf.Reader, n yamlconf.Node, at string) {
		b = true
		inner.Read(r, n, at)
		*not = !b
	}}
}

// checkAccounts reports sources that use accounts of people if there is no key to encrypt the accounts' tokens.
func (c *Config) checkAccounts(r *yamlconf.Reader) {
	for _, s := range c.Sources {
		if s.OpenAPI != nil && s.OpenAPI.Person() != nil && c.Accounts.Key == nil {
			at := yamlconf.Join("sources", s.Name, "openapi", "credential", "person")
			for _, of := range s.OpenAPI.Credentials {
				if of.Credential.Person != nil {
					at = yamlconf.Join("sources", s.Name, "openapi", "credentials", of.Scheme, "person")
				}
			}
			r.WrongAt(at, "needs the section accounts with a key, which seals people's tokens in the store: accounts: {key: \"${ACCOUNTS_KEY}\"}")
		}
	}
}
