// Package config reads and strictly checks the configuration file.
//
//	YAML ─yamlconf: shapes→ Config: options of transports, policy.Rules, sources → app
//
// It opens no source, no store and no listener. Besides the configuration, it reads packs, API documents that are
// files, and the files in ${file:…} and file:. Its caller fetches documents at URLs. All faults in a file are
// reported in one error, with line, column and excerpt. It rejects unknown and duplicate keys, keys without a value,
// features that this version lacks, and ambiguous values.
//
// For an HTTP API, it returns the address, the credential, the rules of package calls and the options of a client. An
// invalid document is reported at the key that names it. Other sections configure how the audit and people's accounts
// at APIs are stored. JSONSchema describes the whole file for editors.
//
// Package app builds the running parts, and package scaffold writes first configurations.
package config

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"log/slog"
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

// These are the defaults of Listen and Store.
const (
	DefaultListen = "127.0.0.1:8420"
	DefaultStore  = "sqlite:bailiwick.db"
)

// An Open opens a source whose driver only some programs contain. It returns nil without an error for an unknown kind
// of source.
type Open func(context.Context, Source) (source.Adapter, error)

// A Config is a configuration. The zero value has the defaults, grants access to no principal and contains no source.
type Config struct {
	Listen  string   // host:port. "" means DefaultListen
	Store   string   // "sqlite:path" or "postgres://…". "" means DefaultStore
	Sources []Source // in the order of the file
	Open    Open     // opens sources that the program itself can't open, or nil. Set by the program, not by a file

	// Credential returns the program's own credential for an HTTP API, which replaces the configured one, or nil. It
	// is set by the program, not by a file.
	Credential func(source string) client.Credential
	Rules      policy.Rules // Version is set to the Digest of the rules
	Tools      Tools
	Results    Results
	Prompts    []Prompt // in the order of the file
	Budget     int      // maximum bytes of a shaped result. 0 means the default
	Limits     Limits
	Auth       Auth
	Stdio      identity.Principal // the principal over stdio, with ID "stdio". Without scopes, stdio is refused
	Server     Server
	Log        Log
	Audit      Audit
	Accounts   Accounts

	Unsampled bool     // values are not sampled to find credentials
	Lenient   bool     // unknown names in lists of principals and tokens are warnings instead of faults
	Notes     []string // settings without effect, for the operator

	Telemetry     Telemetry
	Notifications Notifications
	Actions       []action.Declaration   // in the order of the file, with those of classes first
	Metrics       []metric.Declaration   // in the order of the file
	Queries       []declared.Declaration // likewise
	Review        Review
	Packs         map[string][]*pack.Tool // by API: the tools of its packs, compiled against the document in Rules

	file        string // the file that Load read, or ""
	document    yamlconf.Document
	contents    map[string]*Document   // the contents of API documents that are files, by source
	rules       map[string]calls.Rules // the rules in the section apis
	expressions *expression.Compiler
	teams       []change.Reviewer
	setBy       map[string]string // by gate: the environment variable that lowered it
}

// A Source is a database, a set of object descriptions, or an HTTP API.
type Source struct {
	Name string
	// "sqlite:path", "postgres://…", "mariadb://…", "mysql://…", "mongodb://…" or "parse+https://…". It may contain a
	// password. "" with Metadata or OpenAPI.
	URL         string
	Parse       *ParseServer          // how to connect to a Parse Server, or nil for other sources
	WriteURL    string                // the URL for an account that may write. "" means URL
	ReadOnly    bool                  // never opened for writing
	Metadata    *Metadata             // object descriptions on disk, or nil for other sources
	OpenAPI     *APISource            // an HTTP API, or nil for other sources
	Description string                // for agents
	Collections map[string]Collection // for MongoDB: facts about collections, by name
	// For MongoDB, Parse Server and DuckDB: maximum records read to complete a query in the gateway. 0 means the
	// source's default.
	LocalRows int
	Schemas   []string // the PostgreSQL schemas to read, or nil for the default
	// A CEL expression that yields a principal's schema if each tenant has its own. "" for other sources.
	Schema string
	// With Schema: the schema whose tables become classes, and with which other schemas are compared.
	Template string
	Tables   identity.List     // the tables and views that become classes
	SSH      *SSH              // the server through which the database is connected, or nil
	Rename   map[string]string // the names of classes, by table: "orders" or "sales.orders"
}

// SSH is a server through which a database is connected.
type SSH struct {
	Host, User string
	Key        string // a private key, or the path of one
	KnownHosts string // the path of a file in the form of ~/.ssh/known_hosts
}

// Tools selects the tools that are served.
type Tools struct {
	Profile string // a profile of package tool, to save tokens, or "" for all tools
	identity.List
}

// A Form selects the parts of a result that a client receives.
type Form string

// These are the forms of a result, with the same names as in package mcp. "" means Text.
const (
	Both       Form = "both"
	Text       Form = "text"
	Structured Form = "structured"
)

// Results selects the parts of a result for each client.
type Results struct {
	Default Form
	Clients map[string]Form // by the name that the client declares
}

// Auth configures authentication over HTTP.
type Auth struct {
	TokensOff bool          // tokens issued by this server are refused
	TokenLife time.Duration // default lifetime of a new token. 0 means 90 days
	// The principal of local requests without a credential, with ID "anonymous". Nil refuses them.
	Anonymous *identity.Principal
	OIDC      *oidc.Options       // accepted JSON Web Tokens and the meaning of their claims. Nil accepts none
	SignIn    *oidc.SignInOptions // with OIDC: sign-in of people at the issuer, or nil
	Fresh     time.Duration       // maximum time since a sign-in to break the glass, or 0 for the default
	Agents    Agents              // how agents sign in by themselves
	Resource  string              // with OIDC: the public URL of /mcp. "" publishes none
}

// Agents configures how agents sign in by themselves, with a person's consent. A zero field uses its default.
type Agents struct {
	Off    bool
	Access time.Duration // lifetime of an access token
	Idle   time.Duration // time after which an unused agent must ask again
	Life   time.Duration // time after which the person is asked again
}

// Server configures the HTTP transport. A zero field uses its default.
type Server struct {
	Origins     []string      // web origins whose pages may call, such as "https://app.example"
	Hosts       []string      // accepted host names of this server
	URL         string        // public URL of this server: "https://gate.example". "" means its address on this machine
	MaxBody     int           // maximum bytes of a request
	Concurrency int           // maximum concurrent calls
	Queue       int           // maximum waiting calls. Negative means none
	Streams     int           // maximum open event streams of MCP
	Heartbeat   time.Duration // interval of progress notifications. Negative means none
	Drain       time.Duration // from the signal until the listener closes. Negative means none
	Connections Connections
	Sessions    Sessions
	Metrics     Metrics
}

// MCP returns the URL of the MCP endpoint, or "" if the URL of the server is not configured.
func (s *Server) MCP() string {
	if s.URL == "" {
		return ""
	}
	return s.URL + "/mcp"
}

// Connections limits concurrent connections. A zero field uses the default.
type Connections struct {
	Max  int // for all clients together
	Each int // for one address
}

// Sessions limits the sessions of protocol versions before 2026-07-28.
type Sessions struct {
	Idle time.Duration // an idle session ends after this time
	Max  int           // for all principals together
	Each int           // for one principal
}

// Log configures the log on standard error.
type Log struct {
	Level slog.Level
	Text  bool // lines for people instead of JSON
	Calls bool // each call is logged, not only refused and failed calls
	Quiet bool // calls are not logged
}

// A Fault is one fault in a configuration.
type Fault = yamlconf.PositionFault

// An Error contains all faults of a configuration, in file order.
type Error = yamlconf.Error

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
		panic(err) // never fails for plain data
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16])
}

// Digest returns an identifier of the rules: the first 32 hex digits of a SHA-256 of their contents. It doesn't
// depend on their Version and formatting.
func Digest(rules policy.Rules) string {
	type text struct {
		policy.ClassRule
		Canonical json.RawMessage // replaces the field with the same name, which JSON can't encode
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
		When string // replaces the field with the same name, which JSON can't encode
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
		panic(err) // never fails for plain data
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16])
}

// Wrong returns a fault at a position in the file, for checks after reading. path lists the keys that lead to the
// position, such as "classes", "tracker.issues", "visible". If the file lacks the last keys, the position is that of
// the deepest existing key.
func (c *Config) Wrong(message string, path ...string) Fault {
	return c.document.Wrong(message, path...)
}

// PlaceOfRule returns the position of the rule of a class. The class is given by its full name or as in the file. If
// key is not "", such as "visible" or "tenant.field", the position is that of the key in the rule. line starts at 1.
// It is 0 if no file has a rule for the class. If the rule lacks the key, the position is that of the rule.
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

// State identifies everything from which the configuration was read: its files, the files of its secrets, and the
// files that its patterns match. Now reads all of it again and returns the current State. If the two differ,
// something has changed.
func (c *Config) State() string { return c.document.State() }

// Now returns the current State. See State.
func (c *Config) Now() string { return c.document.Now() }

// TenantSchemaSources returns the sources with one schema per tenant whose expression uses the tenant, sorted. A
// principal without a tenant sees nothing of them.
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

// CountTenantClasses returns two numbers. ruled counts the classes with a tenant rule. closed counts those ruled
// classes that show no record to a principal without a tenant.
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
