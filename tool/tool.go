// Package tool has the tools that an agent can call, one per file.
//
//	arguments ─argcheck→ input ─Handler, Call→ gateway → page ─notes→ Result
//
// A Tool parses its arguments, calls the gateway and returns a Result. It does not join the gateway's steps and does
// not depend on MCP. Package mcp maps a Tool to the protocol and a Result to a response. A Set is the tools of one
// gateway. Data returns the built-in tools that read, and Typed makes a tool from a Go function. Package internal/tools
// adds the tools for changes, packs and HTTP APIs.
//
// After a call, a tool may add notes about data that the answer doesn't show. For example, a note explains why an
// answer is empty, or counts the records that tie with the last one. It can also count records that a condition
// excludes because a field is null, or values that a join repeats. Notes come from a few additional queries within a
// time limit. The caller could make the same queries, so a note reveals no other data. If such a query fails, the note
// is omitted. Notes never change an answer.
//
// The description of a class in get_schema contains only the fields and pointers that the caller sees. A call can be
// offered as a resource, whose URI contains the call.
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

// The categories.
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

// Categories returns a one-line description of each category.
func Categories() map[Category]string {
	return map[Category]string{
		Schema:    "which classes and fields there are",
		Query:     "find and read records. A field can be a path through a pointer (assignee_id.name). $inQuery and $select in where ask about another class",
		Aggregate: "count, group and compute over records. Paths as in query. $lookup in a pipeline joins another class",
		Mutation:  "propose writes, which a person approves",
		Export:    "records as CSV, Markdown or lines of JSON",
		Discovery: "find tools",
		API:       "search and call HTTP APIs",
		Platform:  "operations of a platform, each as a tool",
		Changes:   "follow what was proposed",
		Custom:    "tools of this application",
	}
}

// Annotations describe the effect of a tool to clients and to the scope check. All four are always sent.
type Annotations struct {
	ReadOnly    bool
	Destructive bool
	Idempotent  bool
	OpenWorld   bool
}

// A Tool is an operation that an agent can call.
type Tool struct {
	Name        string
	Title       string
	Description string
	Input       json.RawMessage // JSON Schema: a closed object without composition, references or type lists
	Output      json.RawMessage // JSON Schema of Result.Structured. It may be nil
	Annotations Annotations
	Writes      policy.Write   // selects its gates. "" means WriteAction if the annotations say that it writes
	Scope       identity.Scope // the required scope, or "" to derive it from the annotations
	Proposes    bool           // its writes wait for review, so a gate set to review lets it through
	Category    Category
	Timeout     time.Duration // timeout of a call. 0 means 30 s
	Handle      Handler
	Unlisted    bool // tools/list omits it, but list_tools lists it, and agents with the same rights can call it by name

	// Meant is called before the arguments are checked. It converts arguments in another form to the form of Input if
	// their meaning is clear, or refuses them. Nil changes nothing.
	Meant func(call *bailiwick.Call, args value.Value) (value.Value, error)

	// Offered reports whether the tool is offered to the principal, besides scopes, gates and lists. To other
	// principals it does not exist. Nil offers it to all.
	Offered func(who identity.Principal) bool

	queries bool // it reads data: see CallSpec.Queries

	own    json.RawMessage                       // Input as Data made it, or nil for other tools
	takes  json.RawMessage                       // the schema for calls if they may have arguments that Input doesn't list, or nil for Input
	fault  error                                 // the reason why Typed could not describe it
	offers func(*Set, identity.Principal) bool   // as Offered, for a tool that depends on its set
	adapt  func(*Set, identity.Principal, *Tool) // changes the listed copy of the tool for a principal, or nil
	bind   func(*Set) Handler                    // makes Handle for a tool that depends on its set, or nil for other tools
}

// Summary returns the first sentence of t's description.
func (t *Tool) Summary() string {
	if i := strings.Index(t.Description, ". "); i >= 0 {
		return t.Description[:i+1]
	}
	return t.Description
}

// A Handler answers one call. args is an Object that satisfies the tool's Input.
type Handler func(ctx context.Context, call *bailiwick.Call, args value.Value) (Result, error)

// A Result is the result of a tool.
type Result struct {
	Structured json.RawMessage // one JSON object
	Text       string          // a short rendering of the same content for the model
	Class      string          // the source of its data, as "source.Class" or a source, or "" if it contains none
	Failed     bool            // another system refused the work, for example an API a write. The result has the reason
	Links      []Link          // resources with more of the answer
	Images     []Image         // pictures of the answer
	json       bool            // Text must be the same as Structured, with all notes
}

// An Image is a picture that a model can look at.
type Image struct {
	MediaType string // image/png, image/jpeg, image/gif or image/webp
	Bytes     []byte
}

// A Link names a resource that the caller can read.
type Link struct {
	URI, Name, MediaType string
	Size                 int64 // in bytes, or 0 if not known
}
