// Package source is the door to an application's data: what an adapter must do.
//
// It stands between compile and redact. A Source accepts nothing that policy has not passed, gives records as
// columns without a map per record, and stops in the database when its context ends. Each adapter is a package
// below this one; sourcetest is the suite that all of them pass.
package source

import (
	"context"
	"iter"
	"time"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/client"
	"github.com/bailiwick-dev/bailiwick/internal/rules/calls"
	"github.com/bailiwick-dev/bailiwick/internal/rules/writes"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// Rows yields records until the end or the first error. A row holds the values of the plan's Columns and then, when
// the plan's order is Unique, the values of its Order; for a count, one integer. A row is good until the next one.
type Rows = iter.Seq2[value.Row, error]

// A Source can be described and read.
//
// Describe returns the classes, ordered by name, and warnings about what it had to leave out. Read gives at most
// one record more than the plan's limit. Its errors are problem.Upstream, problem.Timeout, problem.Cancelled or
// problem.Unsupported, and show nothing of what the database said.
type Source interface {
	Describe(context.Context) ([]schema.Class, []string, error)
	Read(context.Context, policy.Permit) (Rows, error)
}

// A Pinger is a Source that can tell whether it is reachable.
type Pinger interface {
	Ping(context.Context) error
}

// An Estimator is a Source that knows without counting about how many records its classes hold. Classes that it
// knows nothing of are missing from the map.
type Estimator interface {
	Estimate(context.Context) (map[string]int64, error)
}

// A Compiler is a Source that can tell what it would run for a permit: a text with places instead of values. It runs
// nothing. Its errors are those of Read.
type Compiler interface {
	Compile(policy.Permit) (string, error)
}

// An Explainer is a Source that can tell how its database would find the records of a permit, in the database's own
// words: it names what views are made of, values of rules and estimates. It reads no record of the answer. Its errors are
// those of Read.
type Explainer interface {
	Explain(context.Context, policy.Permit) (string, error)
}

// A Pool is the connections of a source at a moment.
type Pool struct {
	Used   int           // with a statement
	Idle   int           // open, without one
	Most   int           // that there can be; 0 where there is no bound
	Waits  int64         // how often a statement waited for one, since the source was opened
	Waited time.Duration // how long, all together
}

// A Pooled is a Source that keeps connections.
type Pooled interface {
	Pool() Pool
}

// A Caller is a Source that is called, as an HTTP API is. Call sends what a permit lets be sent and returns what was
// answered, whatever its status, with the permit of the call that it answers: another one where the API redirected. It
// refuses a permit of what isn't a read. Its errors are those of send.Sender.
type Caller interface {
	Call(context.Context, calls.Permit) (calls.Permit, *client.Response, error)
}

// A Writer is a Source that can write.
//
// Preview says what a draft would do and leaves nothing of it: where it can, it runs the draft in a transaction that is
// rolled back, so that defaults, triggers, constraints and cascades show. A record outside of the item's View is
// problem.NotFound, also where a new or changed one would end outside of it. What the source itself would refuse
// (a constraint) is no error but the Preview's Refusal, for it may be because of records that the asker doesn't see.
//
// Apply writes all items or none, and in the same transaction a marker that it has: it returns the earlier receipt where
// there is a marker already. Before it writes it compares the records, locked, with the items' Before: where a concerned
// field differs it is a *change.Moved with the records as they are. It refuses with change.ErrFenced a permit whose fence
// is lower than one that was seen for the change, or barred. A constraint is problem.Conflict, in our words. After any
// other error, whether it was written is not known: Bar tells.
//
// Bar keeps all permits for a change with a fence up to the given one from being applied from now on, unless it was
// applied already: then it returns the receipt and true.
type Writer interface {
	Preview(context.Context, writes.Draft) (change.Preview, error)
	Apply(context.Context, writes.Permit) (change.Receipt, error)
	Bar(ctx context.Context, id string, fence int64) (change.Receipt, bool, error)
}
