package database

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/source"
)

// A deadline is a context that has a deadline but never ends. It simulates a process that is gone when the deadline
// passes.
type deadline struct {
	context.Context
	at time.Time
}

func (d deadline) Deadline() (time.Time, bool) { return d.at, true }
func (deadline) Done() <-chan struct{}         { return nil }
func (deadline) Err() error                    { return nil }

func within(t *testing.T, d time.Duration) context.Context {
	return deadline{context.WithoutCancel(t.Context()), time.Now().Add(d)}
}

// readPermit returns the permit to read all records of a class.
func readPermit(t *testing.T, src source.Source, class string) policy.Permit {
	t.Helper()
	classes, _, err := src.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.New(policy.Rules{Unlisted: true}, classes)
	if err != nil {
		t.Fatal(err)
	}
	permit, err := p.Read(identity.Principal{ID: "t", Scopes: []identity.Scope{identity.Read}}, &query.Find{Class: class, Limit: 5})
	if err != nil {
		t.Fatal(err)
	}
	return permit
}

// readAll returns all records of a class as texts.
func readAll(t *testing.T, ctx context.Context, src source.Source, class string) (string, error) {
	t.Helper()
	rows, err := src.Read(ctx, readPermit(t, src, class))
	if err != nil {
		return "", err
	}
	var out []string
	for row, err := range rows {
		if err != nil {
			return "", err
		}
		out = append(out, row[0].String())
	}
	return strings.Join(out, " "), nil
}

// TestTimeouts checks the statement timeout of sessions, and runs one statement into its timeout. The view setting
// returns the timeout, and the view slow is slow.
func (d *Database) TestTimeouts(t *testing.T, settings map[time.Duration]string, statements ...string) {
	src := d.OpenWith(t, statements...)
	// Run twice: on a connection without the limit, and on one that already has it.
	for range 2 {
		for after, want := range settings {
			ctx := t.Context()
			if after != 0 {
				ctx = within(t, after)
			}
			for range 2 {
				if got, err := readAll(t, ctx, src, "setting"); got != want || err != nil {
					t.Errorf("%v before the deadline: %q, %v; want %q", after, got, err, want)
				}
			}
		}
	}
	start := time.Now()
	_, err := readAll(t, within(t, 500*time.Millisecond), src, "slow")
	if took := time.Since(start); problem.CodeOf(err) != problem.Timeout || took < 2*time.Second || took > 5*time.Second {
		t.Errorf("the server ended the statement after %v with %v; want %s after 2 s", took, err, problem.Timeout)
	}
	if _, err := readAll(t, within(t, -time.Minute), src, "slow"); problem.CodeOf(err) != problem.Timeout {
		t.Errorf("after the deadline: %v", err)
	}
	if got, err := readAll(t, t.Context(), src, "setting"); got != settings[0] || err != nil {
		t.Errorf("at the end: %q, %v; want %q", got, err, settings[0])
	}
}

// StopEarly cancels reads of a slow view within their first 4 ms.
func StopEarly(t *testing.T, src source.Source, times int) {
	permit := readPermit(t, src, "slow")
	for i := range times {
		ctx, stop := context.WithCancel(t.Context())
		time.AfterFunc(time.Duration(i)*4*time.Millisecond/time.Duration(times), stop)
		rows, err := src.Read(ctx, permit)
		if err == nil {
			for _, e := range rows {
				err = e
			}
		}
		if problem.CodeOf(err) != problem.Cancelled {
			t.Errorf("cancelled after %d of %d parts of 4 ms: %v", i, times, err)
		}
	}
}
