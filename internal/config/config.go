// Package config reads and checks the configuration file, strictly.
//
// It stands before the way: what it makes are the options of the doors and the rules of policy. It opens no
// source, no store and no listener; besides the configuration it reads only the files that ${file:…} and file:
// name, and the documents of APIs that are files. It refuses unknown and duplicate keys, keys without a value, what this version can't do yet, and values it
// would have to guess about; every fault of a file is told in one error, with line, column and excerpt.
package config

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick/action"
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/config/apis"
	"github.com/bailiwick-dev/bailiwick/internal/oidc"
	"github.com/bailiwick-dev/bailiwick/internal/pack"
	"github.com/bailiwick-dev/bailiwick/internal/rules/calls"
	"github.com/bailiwick-dev/bailiwick/internal/rules/expression"
	"github.com/bailiwick-dev/bailiwick/internal/yamlconf"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// What an empty Listen and an empty Store stand for.
const (
	DefaultListen = "127.0.0.1:8420"
	DefaultStore  = "sqlite:bailiwick.db"
)

// A Config is a configuration. In the zero value everything is the default, nothing is open to anybody and there
// is no source.
type Config struct {
	Listen  string       // host:port; "" takes DefaultListen
	Store   string       // "sqlite:path"; "" takes DefaultStore
	Sources []Source     // in the order of the file
	Rules   policy.Rules // with Version set to their Digest
	Tools   Tools
	Results Results
	Prompts []Prompt // in the order of the file
	Budget  int      // most bytes of a result after shaping; 0 takes the default
	Limits  Limits
	Auth    Auth
	Stdio   identity.Principal // who speaks over stdio, ID "stdio"; without a scope nobody does
	Server  Server
	Log     Log

	AuditKey []byte // the seed of the key that signs checkpoints of the audit; nil takes the one in the store

	Lenient bool     // names in lists of principals and tokens that name nothing are warnings, not faults
	Notes   []string // what is right and has no effect, for the operator

	Telemetry     Telemetry
	Notifications Notifications
	Actions       []action.Declaration // in the order of the file, those of classes first
	Review        Review
	Packs         map[string][]*pack.Tool // by API: the tools of its packs, compiled over the document in Rules

	document    yamlconf.Document
	contents    map[string]*apis.Contents // of the documents of APIs that are files, by source
	rules       map[string]calls.Rules    // what the section apis says
	expressions *expression.Compiler
}

// A Source is a database to serve, descriptions of objects, or an HTTP API.
type Source struct {
	Name        string
	URL         string        // "sqlite:path", "postgres://…", "mariadb://…" or "mysql://…"; it may hold a password. "" with Metadata and OpenAPI
	WriteURL    string        // likewise, of an account that may write; "" where that is the one of URL
	ReadOnly    bool          // it is never opened for writing
	Metadata    *Metadata     // descriptions of objects on disk; nil for a database
	OpenAPI     *apis.Source  // an HTTP API; nil for a database
	Description string        // for agents
	Schemas     []string      // of PostgreSQL: the schemas to look into; nil for the default
	Tables      identity.List // which tables and views become classes
}

// Tools says which tools are served to anybody.
type Tools struct {
	Lean bool // short descriptions, for clients that pay for every token
	identity.List
}

// A Form says which parts of a result a client is sent.
type Form string

// The forms of a result, as of the same names in package server. "" is Text.
const (
	Both       Form = "both"
	Text       Form = "text"
	Structured Form = "structured"
)

// Results says which parts of a result clients are sent.
type Results struct {
	Default Form
	Clients map[string]Form // by the name that a client gives
}

// Auth says who is let in over HTTP.
type Auth struct {
	TokensOff bool                // tokens of our own are not accepted
	TokenLife time.Duration       // how long a new token lasts when nothing else is said; 0 takes 90 days
	Anonymous *identity.Principal // who comes from this machine without a credential, ID "anonymous"; nil lets none in
	OIDC      *oidc.Options       // whose JSON Web Tokens are good and what they mean; nil takes none
	Resource  string              // with OIDC: the URL of /mcp as clients know it; "" tells them none
}

// Server tunes the HTTP door. A zero field takes the door's default.
type Server struct {
	Origins     []string      // web origins whose pages may call: "https://app.example"
	Hosts       []string      // names by which this server is called
	MaxBody     int           // bytes of a request
	Concurrency int           // calls at a time
	Queue       int           // calls that wait for their turn; negative for none
	Heartbeat   time.Duration // between progress notifications; negative for none
	Connections Connections
	Sessions    Sessions
	Metrics     Metrics
}

// Connections bounds what is connected at a time. A zero field takes the default.
type Connections struct {
	Max  int // of all clients
	Each int // of one address
}

// Sessions bounds the sessions of the protocols before 2026-07-28.
type Sessions struct {
	Idle time.Duration // an idle one ends after this
	Max  int           // of all principals
	Each int           // of one principal
}

// Log says what is logged, on standard error.
type Log struct {
	Level slog.Level
	Text  bool // lines for people instead of JSON
	Quiet bool // calls are no lines
}

// A Fault is one thing that is wrong in a configuration.
type Fault = yamlconf.PositionFault

// An Error is what is wrong in a configuration, in its order.
type Error = yamlconf.Error

// Load reads and checks the file at path and those that it includes, with the process environment. What is wrong with
// its contents is in an *Error.
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
	return Parse(path, data, os.LookupEnv)
}

// Parse reads and checks the configuration in data. name is the file's path: it begins each fault, and relative
// paths in the configuration start at its folder, those of an included file at that file's. env looks up an
// environment variable. What is wrong is in an *Error.
func Parse(name string, data []byte, env func(string) (string, bool)) (*Config, error) {
	c := &Config{}
	document, err := yamlconf.Read(name, data, c.shape(), yamlconf.Options{Env: env, Include: "include"})
	if err != nil {
		return nil, err
	}
	c.document, c.Rules.Version = document, c.version()
	return c, nil
}

// version returns the Digest of the rules, with what actions and reviews say where there are any.
func (c *Config) version() string {
	digest := Digest(c.Rules)
	if c.Actions == nil && c.Review == (Review{}) {
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
	b, err := json.Marshal([]any{digest, actions, c.Review})
	if err != nil {
		panic(err) // plain data always encodes
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16])
}

// Digest returns what identifies rules: the first 32 hex digits of a SHA-256 over what they say. Their Version, and
// how a file writes them, make no difference.
func Digest(rules policy.Rules) string {
	type text struct {
		policy.ClassRule
		Canonical json.RawMessage // stands for the field of the same name, which JSON can't show
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
		When string // likewise
	}
	var review []condition
	for _, r := range rules.Review {
		c := condition{Rule: r}
		if r.When != nil {
			c.When = r.When.String()
		}
		review = append(review, c)
	}
	rules.Version, rules.Classes, rules.Review, rules.Gates = "", nil, nil, rules.Gates.Filled()
	b, err := json.Marshal(struct {
		Rules   policy.Rules
		Classes map[string]text
		Review  []condition `json:",omitempty"`
	}{rules, classes, review})
	if err != nil {
		panic(err) // plain data always encodes
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16])
}

// Wrong returns a fault at a place of the file, for what is found out after reading: path are the keys that lead
// there, like "classes", "tracker.issues", "visible"; where the file has no such place, the deepest one it has.
func (c *Config) Wrong(message string, path ...string) Fault {
	return c.document.Wrong(message, path...)
}

// PlaceOfRule returns where the rule of a class stands, named in full or as the file does, or the key of it: "visible",
// "tenant.field". line is from 1, and 0 where no file has such a rule; without the key it is that of the rule.
func (c *Config) PlaceOfRule(class, key string) (file string, line int) {
	path := []string{"classes", c.written(class)}
	if _, ok := c.document.Place(path...); !ok {
		return "", 0
	}
	if key != "" {
		path = append(path, strings.Split(key, ".")...)
	}
	p, _ := c.document.Place(path...)
	return p.File(), p.Line
}

// State identifies all that the configuration was read from: its files, those that secrets are in, and which files its
// patterns match. Now reads all of it again and says what State would be: where they differ, something has changed.
func (c *Config) State() string { return c.document.State() }

// Now is described at State.
func (c *Config) Now() string { return c.document.Now() }
