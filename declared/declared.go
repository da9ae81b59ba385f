// Package declared defines queries that the owner declares once, and that agents call by name with arguments.
//
//	Declaration ─Compile, against the catalogue→ Query ─Ask, with the arguments of a call→ query.Query
//
// A query has one form: a SELECT over views, a find, a pipeline, or a statement in the database's own SQL. The first
// three are parsed when the configuration is read, and no call parses them. Arguments become values of the parsed query.
// They never become text, a name or an operator.
//
// A statement in the database's own SQL reads tables and not views. Only its owner answers for what it reads. Its text is
// in the rules (see Natives), the database runs it read-only, and callers can't see it.
//
// The package reads nothing. Ask returns a query like one that an agent writes, and policy narrows it to the caller's
// views. A query that names something outside of the caller's views does not exist for this caller: see Set.Of.
package declared

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/expression"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// RunTool is the tool that runs any query by its name. A query with Tool has a tool of its own name.
const RunTool = "run_query"

// Arguments of calls besides those of the query.
const (
	LimitArgument  = "limit"
	CursorArgument = "cursor"
	FormatArgument = "format"
	DryRunArgument = "dry_run"
)

// DefaultLimit is the number of records in a page if the declaration has no limit, and MaxLimit the largest one.
const (
	DefaultLimit = 200
	MaxLimit     = 1000
)

// A Declaration is a query as its owner declares it. It has one of SQL, Find, Pipeline and Native.
type Declaration struct {
	Name        string
	Title       string // for people. "" means Name
	Description string // for agents

	Input    value.Value // the JSON Schema of the arguments, an Object, or Null for none
	SQL      string      // a SELECT over views, with :name for each argument
	Source   string      // with SQL: the source of a statement without classes, or "" for the first one. With Native: the source
	Find     value.Value // an Object with class, where, keys, include, order and skip, or Null
	Pipeline value.Value // an Object with class and stages, or Null

	Native     string                  // a statement in the database's own SQL, with :name for each argument and parameter
	Returns    []policy.ReturnedColumn // with Native: the columns of its result, in order
	Parameters value.Value             // with Native: an Object of expressions over principal, by name, or Null

	Limit   int         // the most records of a page, or 0 for DefaultLimit
	Tool    bool        // it is a tool of its own name. Otherwise RunTool runs it
	When    string      // a CEL expression over principal. Who doesn't satisfy it has no such query. "" means everybody
	Example value.Value // arguments with which it can be tried, an Object, or Null
}

// A DeclarationFault is a fault in a declaration.
type DeclarationFault struct {
	Query   string
	Key     []string // the path below the query: "input", "properties", "since"
	Line    int      // inside of the text of Key, from 1, or 0 for all of it
	Column  int      // likewise
	Message string
}

// Error returns the place and the message.
func (f *DeclarationFault) Error() string {
	return "queries." + strings.Join(append([]string{f.Query}, f.Key...), ".") + ": " + f.Message
}

// A Query is a compiled Declaration. It is immutable and safe for use by several goroutines.
type Query struct {
	Declaration

	arguments *expression.Arguments
	input     *expression.InputSchema
	when      *expression.Expression

	form   query.Query                // with placeholders for arguments, or a *query.SQL or *query.Native without parameters
	own    []expression.NamedTemplate // the Parameters
	sample value.Value                // arguments that fit Input
	lists  []string                   // the arguments that are lists
	class  string                     // see Class
}

// Schema returns the JSON Schema of the query's arguments with more properties, compact.
func (q *Query) Schema(more ...value.Member) json.RawMessage {
	return q.input.With(more...).AppendJSON(nil)
}

// Arguments returns the names of its arguments.
func (q *Query) Arguments() []string { return q.arguments.Names() }

// Class returns the full name of the class that q is about: the one of find and pipeline, or the first one in FROM. It is ""
// for a statement in the database's own SQL.
func (q *Query) Class() string { return q.class }

// Rows returns the most records of a page.
func (q *Query) Rows() int {
	if q.Limit > 0 {
		return q.Limit
	}
	return DefaultLimit
}

// Pages reports whether an answer can be followed by a next page.
func (q *Query) Pages() bool {
	_, pipeline := q.form.(*query.Pipeline)
	return !pipeline
}

// Signature returns the name with the names of the arguments. Optional ones have a question mark.
func (q *Query) Signature() string {
	required, _ := q.Input.Get("required")
	names := slices.Clone(q.Arguments())
	for i, name := range names {
		if !slices.ContainsFunc(required.List(), func(r value.Value) bool { return r.Text() == name }) {
			names[i] += "?"
		}
	}
	return q.Name + "(" + strings.Join(names, ", ") + ")"
}

// may reports whether a query can be asked by who under rules: if its condition holds and all that it names is in the
// views of who.
func (q *Query) may(rules *policy.Policy, metrics Measures, who identity.Principal) bool {
	if q.when != nil {
		if yes, err := q.when.Eval(who); err != nil || !yes.Bool() {
			return false
		}
	}
	asked, err := q.ask(who, q.sample, Page{Limit: 1})
	if err != nil {
		return false
	}
	_, err = read(asked, rules, metrics, who, false)
	return err == nil
}

// Measures puts the definitions of metrics in the place of MEASURE(name) in a statement, for who under rules. With open, who
// may use each metric, whatever its condition. A *metric.Set implements it.
type Measures interface {
	Inline(q *query.SQL, rules *policy.Policy, who identity.Principal, open bool) (out *query.SQL, definitions []string, err error)
}

// read returns the permit to read what a query asks. MEASURE in a statement has the definitions of metrics.
func read(asked query.Query, rules *policy.Policy, metrics Measures, who identity.Principal, open bool) (permit policy.Permit, err error) {
	if q, ok := asked.(*query.SQL); ok && metrics != nil {
		if asked, _, err = metrics.Inline(q, rules, who, open); err != nil {
			return permit, err
		}
	}
	return rules.Read(who, asked)
}

// A Set is a set of compiled queries under the rules against which they were compiled. The zero Set is empty.
type Set struct {
	queries []*Query       // sorted by name
	metrics Measures       // those that statements name, or nil if they aren't known
	open    *policy.Policy // for a principal that sees everything. See Try
	guarded bool           // some source decides by groups that can change at any time: nothing is remembered

	mu     sync.Mutex
	recent []verdict
}

// A verdict is which queries one principal may ask.
type verdict struct {
	who identity.Principal
	may []*Query
}

// mostRecent is the number of principals whose queries a Set remembers.
const mostRecent = 64

// Try returns the permit to read what q answers to its example, for a check by the owner. The rules hide and mask fields,
// and select no records. The arguments are those of the example. They are Null if q has no example and needs arguments, or
// if q needs values of a principal. Then Try returns no permit.
func (s *Set) Try(q *Query) (in value.Value, permit policy.Permit, err error) {
	if len(q.own) > 0 {
		return in, permit, nil
	}
	if in = q.Example; in.IsNull() {
		if required, _ := q.Input.Get("required"); len(required.List()) > 0 {
			return in, permit, nil
		}
		in = value.OfObject(nil)
	}
	asked, err := q.Ask(checker(), in, Page{Limit: 1})
	if err == nil {
		permit, err = s.openly(asked)
	}
	return in, permit, err
}

// openly returns the permit to read what a query asks of a principal that sees everything and may use each metric.
func (s *Set) openly(asked query.Query) (policy.Permit, error) {
	return read(asked, s.open, s.metrics, checker(), true)
}

// checker returns a principal that can read everything.
func checker() identity.Principal {
	return identity.Principal{ID: "check", Scopes: []identity.Scope{identity.Read, identity.Operator}}
}

// All returns all queries, sorted by name.
func (s *Set) All() []*Query {
	if s == nil {
		return nil
	}
	return slices.Clone(s.queries)
}

// Of returns the queries that who may ask under rules, sorted by name. To who, no others exist. rules are those against
// which s was compiled.
func (s *Set) Of(rules *policy.Policy, who identity.Principal) []*Query {
	if s == nil || len(s.queries) == 0 {
		return nil
	}
	if may, ok := s.remembered(who); ok {
		return may
	}
	var may []*Query
	for _, q := range s.queries {
		if q.may(rules, s.metrics, who) {
			may = append(may, q)
		}
	}
	if !s.guarded {
		s.mu.Lock()
		defer s.mu.Unlock()
		if len(s.recent) == mostRecent {
			s.recent = s.recent[1:]
		}
		s.recent = append(s.recent, verdict{who, may})
	}
	return may
}

// remembered returns the queries of a principal that asked before.
func (s *Set) remembered(who identity.Principal) ([]*Query, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := len(s.recent) - 1; i >= 0; i-- {
		if v := &s.recent[i]; v.who.ID == who.ID && reflect.DeepEqual(v.who, who) {
			return v.may, true
		}
	}
	return nil, false
}

// Find returns the query of that name that who may ask under rules. Otherwise it returns the error of a query that
// doesn't exist, with near names of queries that who may ask. at is the JSON pointer of the name.
func (s *Set) Find(rules *policy.Policy, who identity.Principal, name, at string) (*Query, error) {
	var names []string
	for _, q := range s.Of(rules, who) {
		if q.Name == name {
			return q, nil
		}
		names = append(names, q.Name)
	}
	near := problem.Nearest(name, names, 3)
	return nil, &problem.Error{Code: problem.NotFound, Kind: "unknown_query", Pointer: at, Near: near,
		Detail: "there is no query \"" + problem.Cut(name) + "\"" + problem.DidYouMean(near), Suggestion: "the description of " + RunTool + " names your queries"}
}
