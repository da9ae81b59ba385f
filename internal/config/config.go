// Package config reads and strictly checks the configuration file.
//
//	YAML ─yamlconf: shapes→ Config: options of transports, policy.Rules, sources → app
//
// It opens no source, no store and no listener. Besides the configuration it reads the files named by ${file:…} and
// file:, packs, and API documents that are files. Its caller fetches documents at URLs. All faults of a file are
// reported in one error, with line, column and excerpt. It rejects unknown and duplicate keys, keys without a value,
// features that this version lacks, and ambiguous values.
//
// For an HTTP API it produces the address, the credential, the rules of package calls and the options of a client. An
// invalid document is reported at the key that names it. Other sections say how the record of calls is kept, and how
// people's accounts at APIs are. JSONSchema describes the whole file for editors.
//
// Package app builds the running parts, and package scaffold writes first configurations.
package config

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick/action"
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/declared"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/expression"
	"github.com/bailiwick-dev/bailiwick/internal/oidc"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/client"
	"github.com/bailiwick-dev/bailiwick/internal/pack"
	"github.com/bailiwick-dev/bailiwick/internal/yamlconf"
	"github.com/bailiwick-dev/bailiwick/metric"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/value"
)

// The defaults of Listen and Store.
const (
	DefaultListen = "127.0.0.1:8420"
	DefaultStore  = "sqlite:bailiwick.db"
)

// An Open opens a source whose driver only some programs link. It returns nil without an error if it doesn't know the
// kind of source.
type Open func(context.Context, Source) (source.Adapter, error)

// A Config is a configuration. The zero value has the defaults, grants access to no principal and has no source.
type Config struct {
	Listen  string   // host:port. "" is DefaultListen
	Store   string   // "sqlite:path" or "postgres://…". "" is DefaultStore
	Sources []Source // in the order of the file
	Open    Open     // opens sources that the program itself can't open, or nil. No file sets it

	// Credential returns the program's own credential of an HTTP API, which replaces a configured one, or nil. No file
	// sets it.
	Credential func(source string) client.Credential
	Rules      policy.Rules // Version is set to their Digest
	Tools      Tools
	Results    Results
	Prompts    []Prompt // in the order of the file
	Budget     int      // maximum bytes of a shaped result. 0 is the default
	Limits     Limits
	Auth       Auth
	Stdio      identity.Principal // the principal over stdio, ID "stdio". Without scopes, stdio is refused
	Server     Server
	Log        Log
	Audit      Audit
	Accounts   Accounts

	Unsampled bool     // values are not looked at to find credentials
	Lenient   bool     // unknown names in lists of principals and tokens are warnings instead of faults
	Notes     []string // settings without effect, for the operator

	Telemetry     Telemetry
	Notifications Notifications
	Actions       []action.Declaration   // in the order of the file, those of classes first
	Metrics       []metric.Declaration   // in the order of the file
	Queries       []declared.Declaration // likewise
	Review        Review
	Packs         map[string][]*pack.Tool // by API: the tools of its packs, compiled against the document in Rules

	file        string // that Load read, or ""
	document    yamlconf.Document
	contents    map[string]*Document   // of API documents that are files, by source
	rules       map[string]calls.Rules // the rules in the section apis
	expressions *expression.Compiler
	setBy       map[string]string // by gate: the environment variable that lowered it
}

// A Source is a database, a set of object descriptions, or an HTTP API.
type Source struct {
	Name        string
	URL         string                // "sqlite:path", "postgres://…", "mariadb://…", "mysql://…", "mongodb://…" or "parse+https://…". It may contain a password. "" with Metadata or OpenAPI
	Parse       *ParseServer          // with the URL of a Parse Server, how it is reached, or nil for other sources
	WriteURL    string                // the same for an account that may write. "" uses URL
	ReadOnly    bool                  // never opened for writing
	Metadata    *Metadata             // object descriptions on disk, or nil for other sources
	OpenAPI     *APISource            // an HTTP API, or nil for other sources
	Description string                // for agents
	Collections map[string]Collection // of MongoDB, by name
	LocalRows   int                   // of MongoDB, Parse Server and DuckDB: the most records read to finish a query here. 0 is the source's default
	Schemas     []string              // the PostgreSQL schemas to read, or nil for the default
	Schema      string                // the schema of a principal, a CEL expression: each tenant has one, or "" for a source without such schemas
	Template    string                // with Schema: the schema whose tables become classes, which the others are compared with
	Tables      identity.List         // the tables and views that become classes
	SSH         *SSH                  // the server through which the database is reached, or nil
	Rename      map[string]string     // the names of classes, by table: "orders" or "sales.orders"
}

// SSH is a server through which a database is reached.
type SSH struct {
	Host, User string
	Key        string // a private key, or the path of one
	KnownHosts string // the path of a file in the form of ~/.ssh/known_hosts
}

// Tools selects the tools that are served.
type Tools struct {
	Profile string // of package tool, to save tokens, or "" for all tools
	identity.List
}

// A Form selects the parts of a result that a client is sent.
type Form string

// The forms of a result, with the same names as in package mcp. "" is Text.
const (
	Both       Form = "both"
	Text       Form = "text"
	Structured Form = "structured"
)

// Results selects the parts of a result for each client.
type Results struct {
	Default Form
	Clients map[string]Form // by the client's self-declared name
}

// Auth configures authentication over HTTP.
type Auth struct {
	TokensOff bool                // tokens issued by this server are refused
	TokenLife time.Duration       // default lifetime of a new token. 0 is 90 days
	Anonymous *identity.Principal // the principal for local requests without a credential, ID "anonymous". Nil refuses them
	OIDC      *oidc.Options       // accepted JSON Web Tokens and the meaning of their claims. Nil accepts none
	SignIn    *oidc.SignInOptions // with OIDC: people sign in there, or nil if they don't
	Fresh     time.Duration       // the longest time since a sign-in for breaking the glass, or 0 for the default
	Agents    Agents              // how agents sign in by themselves
	Resource  string              // with OIDC: the URL of /mcp as clients know it. "" publishes none
}

// Agents configures how agents sign in by themselves, with a person's consent. A zero field uses its default.
type Agents struct {
	Off    bool
	Access time.Duration // of an access token
	Idle   time.Duration // after which an agent that wasn't used must ask again
	Life   time.Duration // after which the person is asked again
}

// Server configures the HTTP transport. A zero field uses its default.
type Server struct {
	Origins     []string      // web origins whose pages may call, such as "https://app.example"
	Hosts       []string      // accepted host names of this server
	URL         string        // of this server, as people and agents use it: "https://gate.example", or "" for its address on this machine
	MaxBody     int           // maximum bytes of a request
	Concurrency int           // maximum concurrent calls
	Queue       int           // maximum waiting calls. Negative means none
	Heartbeat   time.Duration // interval of progress notifications. Negative means none
	Drain       time.Duration // from the signal until the listener closes. Negative means none
	Connections Connections
	Sessions    Sessions
	Metrics     Metrics
}

// MCP returns the URL of the MCP endpoint, or "" where that of the server is not configured.
func (s *Server) MCP() string {
	if s.URL == "" {
		return ""
	}
	return s.URL + "/mcp"
}

// Connections limits concurrent connections. A zero field uses the default.
type Connections struct {
	Max  int // of all clients
	Each int // of one address
}

// Sessions limits the sessions of protocol versions before 2026-07-28.
type Sessions struct {
	Idle time.Duration // an idle session ends after this time
	Max  int           // of all principals
	Each int           // of one principal
}

// Log configures the log on standard error.
type Log struct {
	Level slog.Level
	Text  bool // lines for people instead of JSON
	Calls bool // each call is logged, not only those that are refused or fail
	Quiet bool // calls are not logged
}

// A Fault is one fault in a configuration.
type Fault = yamlconf.PositionFault

// An Error holds all faults of a configuration, in file order.
type Error = yamlconf.Error

// Load reads and checks the file at path and the files it includes, with the process environment. Invalid contents are
// reported in an *Error.
func Load(path string) (*Config, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("config: %w", err)
	}
	defer f.Close() //nolint:errcheck // it was only read
	data, err := io.ReadAll(io.LimitReader(f, yamlconf.MaxFile+1))
	if err != nil {
		return nil, fmt.Errorf("config: %w", err)
	}
	c, err := Parse(path, data, os.LookupEnv)
	if c != nil {
		c.file = path
	}
	return c, err
}

// Parse reads and checks the configuration in data. name is the file's path, which starts each fault. Relative paths in
// the configuration are relative to its folder. Those of an included file are relative to that file's folder. env looks
// up an environment variable. Faults are reported in an *Error.
func Parse(name string, data []byte, env func(string) (string, bool)) (*Config, error) {
	c := &Config{}
	document, err := yamlconf.Read(name, data, c.shape(), yamlconf.Options{Env: env, Include: "include"})
	if err != nil {
		return nil, err
	}
	c.document, c.Rules.Version = document, c.version()
	for _, path := range document.WritableByOthers() {
		c.Notes = append(c.Notes, fmt.Sprintf("every user of this machine can write %s: chmod o-w %[1]s", path))
	}
	return c, nil
}

// SecretFiles returns the paths of the files from which secrets were read.
func (c *Config) SecretFiles() []string { return c.document.Secrets() }

// version returns the Digest of the rules, combined with declarations and review settings if there are any.
func (c *Config) version() string {
	digest := Digest(c.Rules)
	if c.Actions == nil && c.Metrics == nil && c.Queries == nil && c.Review == (Review{}) {
		return digest
	}
	actions := make([]any, len(c.Actions))
	for i, a := range c.Actions {
		templates := value.OfArray([]value.Value{a.Input, a.Record, a.Summary, a.Set})
		names, lookups := sortedKeys(a.Lookup), []string{}
		for _, name := range names {
			lookups = append(lookups, name, a.Lookup[name].Class, a.Lookup[name].ID.String())
		}
		a.Input, a.Record, a.Summary, a.Set, a.Lookup = value.Value{}, value.Value{}, value.Value{}, value.Value{}, nil
		actions[i] = []any{a, templates.String(), lookups}
	}
	all := []any{digest, actions, c.Review}
	if c.Metrics != nil {
		all = append(all, c.printedMetrics())
	}
	if c.Queries != nil {
		all = append(all, c.queryDigests())
	}
	b, err := json.Marshal(all)
	if err != nil {
		panic(err) // can't fail for plain data
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16])
}

// Digest returns an identifier of the rules: the first 32 hex digits of a SHA-256 of their contents. Their Version and
// formatting are not included.
func Digest(rules policy.Rules) string {
	type text struct {
		policy.ClassRule
		Canonical json.RawMessage // replaces the field of the same name, which JSON can't encode
	}
	classes := make(map[string]text, len(rules.Classes))
	for name, rule := range rules.Classes {
		t := text{ClassRule: rule}
		if rule.Canonical != nil {
			t.Canonical = query.Print(rule.Canonical).AppendJSON(nil)
		}
		classes[name] = t
	}
	type condition struct {
		change.Rule
		When string // the same
	}
	var review []condition
	for _, r := range rules.Review {
		c := condition{Rule: r}
		if r.When != nil {
			c.When = r.When.String()
		}
		review = append(review, c)
	}
	rules.Version, rules.Classes, rules.Review, rules.Gates = "", nil, nil, rules.Gates.WithDefaults()
	b, err := json.Marshal(struct {
		Rules   policy.Rules
		Classes map[string]text
		Review  []condition `json:",omitempty"`
	}{rules, classes, review})
	if err != nil {
		panic(err) // can't fail for plain data
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16])
}

// Wrong returns a fault at a place of the file, for checks after reading. path lists the keys that lead there, such as
// "classes", "tracker.issues", "visible". If the file lacks that place, the deepest existing one is used.
func (c *Config) Wrong(message string, path ...string) Fault {
	return c.document.Wrong(message, path...)
}

// PlaceOfRule returns the location of the rule of a class. The class is given by its full name or as in the file. A
// key, such as "visible" or "tenant.field", asks for the location of that key of the rule. line starts at 1. It is 0 if
// no file has such a rule. If the rule lacks the key, the location is that of the rule.
func (c *Config) PlaceOfRule(class, key string) (file string, line int) {
	path := []string{"classes", c.classKey(class)}
	if _, ok := c.document.Place(path...); !ok {
		return "", 0
	}
	if key != "" {
		path = append(path, strings.Split(key, ".")...)
	}
	p, _ := c.document.Place(path...)
	return p.File(), p.Line
}

// State identifies everything the configuration was read from: its files, the files of its secrets, and the files that
// its patterns match. Now reads all of it again and returns the current State: if they differ, something has changed.
func (c *Config) State() string { return c.document.State() }

// Now returns the current State. See State.
func (c *Config) Now() string { return c.document.Now() }

// TenantSchemaSources returns the sources, sorted, with one schema per tenant whose expression asks for the tenant. A principal
// without a tenant sees nothing of them.
func (c *Config) TenantSchemaSources() []string {
	var out []string
	for source, text := range c.Rules.Schemas {
		if strings.Contains(text, "principal.tenant") {
			out = append(out, source)
		}
	}
	slices.Sort(out)
	return out
}

// CountTenantClasses counts the classes with a tenant rule, and those of them of which a principal without a tenant sees no record.
func (c *Config) CountTenantClasses() (ruled, closed int) {
	for _, r := range c.Rules.Classes {
		if r.Tenant == nil {
			continue
		}
		ruled++
		if r.Tenant.Bypass == "" && (r.Tenant.Is == "" || r.Tenant.Is == "principal.tenant") {
			closed++
		}
	}
	return ruled, closed
}
