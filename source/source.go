// Package source defines the interface of adapters for an application's data.
//
// A Source reads only data that a Permit of package policy allows. It returns records as columns without a map per
// record. When its context ends, it stops the query in the database. Each adapter is a package below this one.
// sourcetest is the test suite that all adapters pass.
package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"sync"
	"time"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/connstring"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/internal/writes"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// Rows yields records until the end or the first error. A row has the values of the plan's Columns and then, if the
// plan's order is Unique, the values of its Order. For a count it has one integer. A row is valid until the next one.
// The errors are those of Source.Read.
type Rows = iter.Seq2[value.Row, error]

// A Source can be described and read.
//
// Describe returns the classes, sorted by name, and warnings about skipped parts. Read returns at most one record more
// than the plan's limit. Its errors are problem.Upstream, problem.Timeout, problem.Cancelled or problem.Unsupported,
// and contain no message of the database.
type Source interface {
	Describe(context.Context) ([]schema.Class, []string, error)
	Read(context.Context, policy.Permit) (Rows, error)
}

// ErrChanged is in the error chain of a Source if it failed because a table, a column or a type has changed since
// Describe.
var ErrChanged = errors.New("a class has changed since it was described")

// A Link defines how to connect to a database. The zero Link connects directly, with the given URL.
type Link struct {
	// Dial connects to an address. Nil connects directly.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Fresh returns the currently configured URL for a given one, or "" if it isn't known. Only its user and password
	// are used, for new connections, and only if the rest is the same. Nil keeps the URL.
	Fresh func(url string) string
}

// Current returns old with the currently configured user and password. It returns false if they aren't known, or if
// anything else has changed. A password must not be sent to another server than its own.
func (l Link) Current(old string) (string, bool) {
	if l.Fresh == nil {
		return "", false
	}
	now := l.Fresh(old)
	before, _ := connstring.Split(old)
	place, user := connstring.Split(now)
	if before == nil || user == nil || before.String() != place.String() {
		return "", false
	}
	return now, true
}

// Account returns a function that returns the user and the password for new connections to url. They are from the last
// known Current. The function returns false while they are the same as in url. If another part of the URL changes,
// connections still go to the old server, which may no longer accept the password in url. The function is safe for
// concurrent use.
func (l Link) Account(url string) func() (user, password string, ok bool) {
	var mu sync.Mutex
	last := url
	return func() (user, password string, ok bool) {
		mu.Lock()
		defer mu.Unlock()
		if now, ok := l.Current(url); ok {
			last = now
		}
		if last == url {
			return "", "", false
		}
		_, account := connstring.Split(last)
		password, _ = account.Password()
		return account.Username(), password, true
	}
}

// A Drifting is a Source with a cheap Describe, which shows whether its classes have changed. If they haven't, Describe
// returns the same classes.
type Drifting interface {
	Drifts() bool
}

// A Chooser is a Source over a database whose tables the owner can select and rename. Choose is called before Describe.
type Chooser interface {
	Choose(schema.Choice)
}

// A Divided is a Chooser over a database with one schema per tenant. Divide is called before Describe, with the name of
// the template: the schema with which the others are compared. The choice treats the template's tables as tables of the
// default schema. Describe returns the template's classes with their schema.Spaces, which are the schemas with the same
// classes. It skips other schemas with a warning about the differences.
type Divided interface {
	Chooser
	Divide(template string)
}

// A NoTemplate is the error of Describe if a Divided source has no schema with the template's name. Its Detail is for
// operators.
type NoTemplate struct{ Detail string }

// Error implements error.
func (e *NoTemplate) Error() string { return e.Detail }

// A Partial is a Source that can report parts that the last Describe skipped although they should not be missing, such
// as schemas that differ from a template. It returns one sentence for each, for operators.
type Partial interface {
	LeftOut() []string
}

// A Pinger is a Source that can report whether it is reachable. The error is for operators.
type Pinger interface {
	Ping(context.Context) error
}

// An Estimator is a Source that can estimate the numbers of records in its classes without counting. The map is by
// class name without the source, and omits classes without an estimate. Its errors are for operators.
type Estimator interface {
	Estimate(context.Context) (map[string]int64, error)
}

// A Compiler is a Source that can return the statement for a permit, with placeholders instead of values, without
// running it. Its errors are those of Read.
type Compiler interface {
	Compile(policy.Permit) (string, error)
}

// A NativeReader is a Source that can run a statement in its database's own SQL: policy.Plan.Native. CheckNative returns
// the names of the parameters in such a statement. Its error is a sentence for the owner: the statement is several, or
// does something else than read.
type NativeReader interface {
	Source
	CheckNative(statement string) (parameters []string, err error)
}

// CheckNative returns the parameters of a statement in the own SQL of s, which is called name. The error is a sentence
// for the owner. s is nil if there is no such source.
func CheckNative(s Source, name, statement string) ([]string, error) {
	if s == nil {
		return nil, fmt.Errorf("there is no source %q", name)
	}
	reader, ok := s.(NativeReader)
	if !ok {
		return nil, fmt.Errorf("the source %s has no SQL of its own. Only SQL databases can run such a statement", name)
	}
	return reader.CheckNative(statement)
}

// An Explainer is a Source that can return its database's query plan for a permit. The text is the database's own: it
// names tables behind the views, values of rules and estimates. Explain doesn't read the records of the answer. Its
// errors are those of Read.
type Explainer interface {
	Explain(context.Context, policy.Permit) (string, error)
}

// A Guarded is a Source with its own users and permissions: its classes have a schema.Guard. Groups returns a
// principal's groups, from a cache if that is new enough. The principal may see its errors.
type Guarded interface {
	Groups(context.Context, identity.Principal) (policy.Groups, error)
}

// A Pool is the state of a source's connections at one moment.
type Pool struct {
	Used   int           // connections with a statement
	Idle   int           // open connections without a statement
	Most   int           // the limit, or 0 if there is none
	Waits  int64         // how often a statement waited for a connection since the source was opened
	Waited time.Duration // the total time of these waits
}

// A Pooled is a Source that keeps a pool of connections.
type Pooled interface {
	Pool() Pool
}

// An Adapter is a Source over a database, with everything that the gateway requires from one.
type Adapter interface {
	Source
	Pinger
	Estimator
	Compiler
	Explainer
	Pooled
	io.Closer
}

// A Server describes the server of a source for an operator.
type Server struct {
	Version  string // "PostgreSQL 16.2". "" if it isn't known
	Writes   bool   // the account may write to a table
	ReadOnly bool   // nothing can be written, for example to a standby
	Pooled   bool   // connections go through a pooler
}

// A Reporter is a Source that can describe its server. It changes nothing.
type Reporter interface {
	Report(ctx context.Context) (Server, error)
}

// A Caller is a Source for calls, such as an HTTP API. Call sends the request that a permit allows and returns the
// response with any status. It also returns the permit of the answered call, which is a different one if the API
// redirected. It refuses a permit that isn't for a read. Its errors are *problem.Error, and the caller may see them.
// Whose returns the owners of the credentials in calls, for the audit: "gateway", "person ana@example.com and gateway",
// or "".
type Caller interface {
	Call(context.Context, calls.Permit) (calls.Permit, *calls.HTTPResponse, error)
	Whose(...calls.Permit) string
}

// Whose returns the owners of the credentials in the calls that p allows. It returns "" if p allows no calls or s isn't
// a Caller.
func Whose(s Source, p writes.Permit) string {
	caller, ok := s.(Caller)
	plan, err := p.Plan()
	if !ok || err != nil {
		return ""
	}
	var all []calls.Permit
	for i := range plan.Items {
		all = append(all, plan.Items[i].Call)
	}
	return caller.Whose(all...)
}

// A Late is a Source that can be opened for writing while a gateway uses it.
type Late interface {
	Source
	// Writing returns the Writer of the source, or nil while it can only be read.
	Writing() Writer
}

// WriterOf returns the Writer of s. It returns false while s can only be read.
func WriterOf(s Source) (Writer, bool) {
	if late, ok := s.(Late); ok {
		w := late.Writing()
		return w, w != nil
	}
	w, ok := s.(Writer)
	return w, ok
}

// An Unmarked is a Writer that can't store a marker of a change together with its effect, such as one over an API. A
// change that may have been sent to it is never sent again. Then its outcome is unknown until a person settles it.
type Unmarked interface {
	Writer
	Unmarked()
}

// A Settler is a Writer that can find out the outcome of a change only by reading, if its executor left after it had
// begun to send it. Its results are those of Writer.Apply. The error wraps change.ErrUnknown if the outcome remains
// unknown.
type Settler interface {
	Writer
	Settle(ctx context.Context, p writes.Permit, left change.Lease) (change.Receipt, error)
}

// Settle returns the outcome of c, whose executor left after it had begun to send it. The outcome is unknown unless w
// can find it out.
func Settle(ctx context.Context, w Writer, p writes.Permit, c *change.Change) (change.EventKind, change.Outcome) {
	if s, ok := w.(Settler); ok {
		event, outcome, ended := change.ApplyOutcome(s.Settle(ctx, p, c.Lease))
		if ended && event != change.EventUnknown {
			return event, outcome
		}
	}
	return change.EventUnknown, c.AbandonedOutcome()
}

// A Writer is a Source that can write.
//
// Preview returns the effect of a draft without a lasting effect. If possible, it runs the draft in a transaction that
// is rolled back, so that the result shows defaults, triggers, constraints and cascades. It fails with problem.NotFound
// if a record is outside of the item's View, or if a new or changed record would be outside of it. A refusal by the
// source itself (a constraint) isn't an error but the Preview's Refusal, because the reason may be records that the
// caller can't see.
//
// Apply writes all items and a marker in one transaction, or nothing. If there is already a marker, it returns the
// earlier receipt. Before it writes, it locks the records and compares them with the items' Before. If a concerned
// field differs, the error is a *change.Moved with the current records. It fails with change.ErrFenced if the permit's
// fence is barred or lower than a fence that it has seen for the change. For a violated constraint it fails with
// problem.Conflict, without the database's message. After any other error it isn't known whether the change was
// written: call Bar.
//
// Bar blocks the apply of all permits for a change with a fence up to the given one. If the change was already applied,
// it returns the receipt and true instead.
type Writer interface {
	Preview(context.Context, writes.Draft) (change.Preview, error)
	Apply(context.Context, writes.Permit) (change.Receipt, error)
	Bar(ctx context.Context, id string, fence int64) (change.Receipt, bool, error)
}
