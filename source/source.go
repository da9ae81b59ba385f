// Package source defines what an adapter for an application's data must do.
//
// A Source reads only what a Permit of package policy allows. It returns records as columns without a map per record,
// and stops in the database when its context ends. Each adapter is a package below this one. sourcetest is the suite
// that all of them pass.
package source

import (
	"context"
	"errors"
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

// Rows yields records until the end or the first error. A row holds the values of the plan's Columns and then, if the
// plan's order is Unique, the values of its Order. For a count it holds one integer. A row is valid until the next one.
// The errors are those of Source.Read.
type Rows = iter.Seq2[value.Row, error]

// A Source can be described and read.
//
// Describe returns the classes, sorted by name, and warnings about what it had to leave out. Read returns at most one
// record more than the plan's limit. Its errors are problem.Upstream, problem.Timeout, problem.Cancelled or
// problem.Unsupported, and contain no message of the database.
type Source interface {
	Describe(context.Context) ([]schema.Class, []string, error)
	Read(context.Context, policy.Permit) (Rows, error)
}

// ErrChanged is in the chain of the errors of a Source that failed because a table, a column or a type is no longer as
// Describe returned it.
var ErrChanged = errors.New("a class has changed since it was described")

// A Link is how the connections to a database are made. The zero Link connects directly, with the URL as it was given.
type Link struct {
	// Dial connects to an address. Nil connects directly.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Fresh returns the URL that takes the place of the one given, as it is configured now, or "" if it can't be known.
	// Only its user and password are taken, for new connections, and only if all else is the same. Nil keeps the URL.
	Fresh func(url string) string
}

// Current returns url with the user and the password that are configured now. It returns false if they can't be known, or if
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

// Account returns a function that returns the user and the password for new connections to url: those of the last Current that was known.
// It returns false while they are those of url. When something else of the URL changes, the server is still the old one, which may
// have forgotten the password of url. The function is safe for concurrent use.
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

// A Drifting is a Source that can be described again at little cost, to find out whether its classes have changed. If they
// haven't, Describe returns the same classes.
type Drifting interface {
	Drifts() bool
}

// A Chooser is a Source over a database whose tables can be chosen and named. Choose is called before Describe.
type Chooser interface {
	Choose(schema.Choice)
}

// A Divided is a Chooser over a database with one schema per tenant. Divide is called before Describe, with the name of the
// schema that the others are compared with. The choice is asked about its tables as those of the default schema. Describe returns its
// classes with their schema.Spaces: the schemas that have the same classes. It leaves out other schemas, with a warning that says
// how they differ.
type Divided interface {
	Chooser
	Divide(template string)
}

// A NoTemplate is the error of Describe of a Divided source that has no schema of the template's name. Its Detail is for operators.
type NoTemplate struct{ Detail string }

// Error implements error.
func (e *NoTemplate) Error() string { return e.Detail }

// A Partial is a Source that can say what the last Describe left out that should not be missing, such as the schemas
// that differ from a template. It says one sentence each, for operators.
type Partial interface {
	LeftOut() []string
}

// A Pinger is a Source that can report whether it is reachable. The error is for operators.
type Pinger interface {
	Ping(context.Context) error
}

// An Estimator is a Source that can estimate, without counting, how many records its classes hold. The map is by class
// name, without the source. Classes without an estimate are missing from it. Its errors are for operators.
type Estimator interface {
	Estimate(context.Context) (map[string]int64, error)
}

// A Compiler is a Source that can return the text it would run for a permit, with placeholders instead of values. It
// runs nothing. Its errors are those of Read.
type Compiler interface {
	Compile(policy.Permit) (string, error)
}

// An Explainer is a Source that can return its database's explanation of how it would find the records of a permit. The
// text is the database's own: it names tables behind the views, values of rules and estimates. It reads no record of the
// answer. Its errors are those of Read.
type Explainer interface {
	Explain(context.Context, policy.Permit) (string, error)
}

// A Guarded is a Source that has users and permissions of its own: its classes have a schema.Guard. Groups returns what it
// knows of a principal, from memory where that is fresh enough. Its errors may be shown to the principal.
type Guarded interface {
	Groups(context.Context, identity.Principal) (policy.Groups, error)
}

// A Pool is the state of a source's connections at one moment.
type Pool struct {
	Used   int           // with a statement
	Idle   int           // open, without one
	Most   int           // the limit, or 0 if there is none
	Waits  int64         // how often a statement waited for one, since the source was opened
	Waited time.Duration // for how long in total
}

// A Pooled is a Source that keeps a pool of connections.
type Pooled interface {
	Pool() Pool
}

// An Adapter is a Source over a database, with all that the gateway asks one for.
type Adapter interface {
	Source
	Pinger
	Estimator
	Compiler
	Explainer
	Pooled
	io.Closer
}

// A Server is the server of a source, as an operator asks about it.
type Server struct {
	Version  string // "PostgreSQL 16.2". "" if it isn't known
	Writes   bool   // the account may write to a table
	ReadOnly bool   // nothing can be written at all, as to a standby
	Pooled   bool   // a pooler stands before it
}

// A Reporter is a Source that says what its server is. It changes nothing.
type Reporter interface {
	Report(ctx context.Context) (Server, error)
}

// A Caller is a Source that is called, as an HTTP API is. Call sends the request that a permit allows and returns the
// response, whatever its status. It also returns the permit of the call that the response answers, which is another one
// if the API redirected. It refuses a permit that isn't for a read. Its errors are *problem.Error, which may be shown
// to the caller. Whose returns whose credentials calls carry, for the audit: "gateway", "person ana@example.com and
// gateway", or "".
type Caller interface {
	Call(context.Context, calls.Permit) (calls.Permit, *calls.HTTPResponse, error)
	Whose(...calls.Permit) string
}

// Whose returns whose credentials the calls that p allows carry, or "" if it allows none, or s isn't called.
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
	// Writing returns what writes to the source, or nil while it can only be read.
	Writing() Writer
}

// WriterOf returns what writes to s. It returns false while s can only be read.
func WriterOf(s Source) (Writer, bool) {
	if late, ok := s.(Late); ok {
		w := late.Writing()
		return w, w != nil
	}
	w, ok := s.(Writer)
	return w, ok
}

// An Unmarked is a Writer that can't keep a marker of a change together with its effect, as one over an API. A change that
// may have been sent to it is never sent again. Its outcome is unknown until it is settled.
type Unmarked interface {
	Writer
	Unmarked()
}

// A Settler is a Writer that can find out, only by reading, the outcome of a change that an executor left after it had
// begun to send it. Its results are those of Writer.Apply. The error wraps change.ErrUnknown if the outcome can't be
// known.
type Settler interface {
	Writer
	Settle(ctx context.Context, p writes.Permit, left change.Lease) (change.Receipt, error)
}

// Settle returns what became of c, which an executor left after it had begun to send it: unknown, unless w can find out.
func Settle(ctx context.Context, w Writer, p writes.Permit, c *change.Change) (change.EventKind, change.Outcome) {
	if s, ok := w.(Settler); ok {
		event, outcome, ended := change.Ended(s.Settle(ctx, p, c.Lease))
		if ended && event != change.EventUnknown {
			return event, outcome
		}
	}
	return change.EventUnknown, c.Left()
}

// A Writer is a Source that can write.
//
// Preview reports what a draft would do, without leaving any effect. If possible, it runs the draft in a transaction
// that is rolled back, so that defaults, triggers, constraints and cascades show. A record outside of the item's View
// is problem.NotFound. The same holds for a new or changed record that would end outside of it. A refusal by the source
// itself (a constraint) isn't an error but the Preview's Refusal, since it may be due to records that the caller can't
// see.
//
// Apply writes all items or none, and, in the same transaction, a marker. If there is a marker already, it returns the
// earlier receipt. Before it writes it compares the records, locked, with the items' Before. If a concerned field
// differs, the error is a *change.Moved with the current records. It refuses with change.ErrFenced a permit whose fence
// is lower than one that was seen for the change, or that is barred. A violated constraint is problem.Conflict, without
// the database's message. After any other error it is unknown whether the change was written: call Bar.
//
// Bar prevents all permits for a change with a fence up to the given one from being applied. If the change was applied
// already, it returns the receipt and true instead.
type Writer interface {
	Preview(context.Context, writes.Draft) (change.Preview, error)
	Apply(context.Context, writes.Permit) (change.Receipt, error)
	Bar(ctx context.Context, id string, fence int64) (change.Receipt, bool, error)
}
