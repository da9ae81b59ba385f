// Package tool is what an agent can call: one file a tool, each one value.
//
// A tool decodes its arguments, calls the gateway and returns; it joins no steps and knows nothing of MCP. The door
// that serves it (package server) maps a Tool to the protocol and a Result to an answer.
package tool

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A Category groups tools for discovery.
type Category string

// The categories (design 04).
const (
	Schema    Category = "schema"
	Query     Category = "query"
	Aggregate Category = "aggregate"
	Mutation  Category = "mutation"
	Export    Category = "export"
	Discovery Category = "discovery"
	API       Category = "api"
	Platform  Category = "platform"
	Changes   Category = "changes"
	Custom    Category = "custom"
)

// Categories returns what the tools of each category are for, in one line each.
func Categories() map[Category]string {
	return map[Category]string{
		Schema:    "which classes and fields there are",
		Query:     "find and read records",
		Aggregate: "count, group and compute over records",
		Mutation:  "propose writes, which a person approves",
		Export:    "records as CSV, Markdown or lines of JSON",
		Discovery: "find tools",
		API:       "search and call HTTP APIs",
		Platform:  "operations of a platform, each as a tool",
		Changes:   "follow what was proposed",
		Custom:    "tools of this application",
	}
}

// Annotations tell a client, and our own scope check, what a tool does. All four are always sent.
type Annotations struct {
	ReadOnly    bool
	Destructive bool
	Idempotent  bool
	OpenWorld   bool
}

// A Tool is one thing that an agent can call.
type Tool struct {
	Name        string
	Title       string
	Description string
	Input       json.RawMessage // JSON Schema: a closed object without composition, references or type lists
	Output      json.RawMessage // JSON Schema of Result.Structured; nil when there is none
	Annotations Annotations
	Writes      policy.Write   // which gates it passes; "" takes WriteAction where the annotations say that it writes
	Scope       identity.Scope // that it needs, where the annotations don't tell; "" takes what they do
	Proposes    bool           // what it writes waits for people, so that a gate of review lets it through
	Category    Category
	Timeout     time.Duration // most time that a call may take; 0 takes 30 s
	Handle      Handler

	// Offered reports whether the tool has anything for who, besides what scopes, gates and lists say. For whom it hasn't,
	// there is no such tool. Nil offers it to all.
	Offered func(who identity.Principal) bool

	fault  error                               // why Typed could not describe it
	offers func(*Set, identity.Principal) bool // as Offered, for a tool that looks at the set it is in
	bind   func(*Set) Handler                  // makes Handle for a tool that works on the set it is in; nil for all others
}

// Summary returns the first sentence of t's description.
func (t *Tool) Summary() string {
	if i := strings.Index(t.Description, ". "); i >= 0 {
		return t.Description[:i+1]
	}
	return t.Description
}

// A Handler answers one call. args is an Object that fits the tool's Input.
type Handler func(ctx context.Context, call *bailiwick.Call, args value.Value) (Result, error)

// A Result is what a tool gives back.
type Result struct {
	Structured json.RawMessage // one JSON object
	Text       string          // a short rendering of the same for the model to read
	Class      string          // where its data came from, as "source.Class" or a source; "" when it holds none
}
