// Package ending tests reads whose context ends. It is a part of the suite for sources.
//
// It complements package sourcetest. Only tests import it.
package ending

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest"
	"github.com/bailiwick-dev/bailiwick/value"
)

// Run checks that a read stops soon after its context ends, at any moment. The query itself would take minutes.
func Run(t *testing.T, open sourcetest.Open) {
	from := open(t, sourcetest.Dataset{Tables: []sourcetest.Table{busy()}})
	classes, _, err := from.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.New(policy.Rules{Unlisted: true}, classes)
	if err != nil {
		t.Fatal(err)
	}
	read := func(ctx context.Context, q query.Query) ([]value.Row, error) {
		permit, err := p.Read(identity.Principal{ID: "test", Kind: identity.Agent, Scopes: []identity.Scope{identity.Read}}, q)
		if err != nil {
			return nil, err
		}
		return sourcetest.Collect(ctx, from, permit)
	}
	long := &query.Count{Class: "busy", Where: busyWhere()}
	for _, tt := range []struct {
		name  string
		limit func(context.Context) (context.Context, context.CancelFunc)
		want  problem.Code
	}{
		{"cancelled before", func(c context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(c)
			cancel()
			return ctx, cancel
		}, problem.Cancelled},
		{"cancelled meanwhile", func(c context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(c)
			time.AfterFunc(100*time.Millisecond, cancel)
			return ctx, cancel
		}, problem.Cancelled},
		{"deadline", func(c context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(c, 100*time.Millisecond)
		}, problem.Timeout},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := tt.limit(t.Context())
			defer cancel()
			began := time.Now()
			rows, err := read(ctx, long)
			if problem.CodeOf(err) != tt.want {
				t.Errorf("%v, %v (%v) after %v; want %s", rows, err, problem.Of(err).Err, time.Since(began), tt.want)
			}
			if errors.Is(err, context.Canceled) && tt.want == problem.Timeout {
				t.Errorf("%v says the wrong reason", err)
			}
			if took := time.Since(began); took > 3*time.Second {
				t.Errorf("it stopped after %v", took)
			}
		})
	}
	// The source must still work.
	rows, err := read(t.Context(), &query.Find{Class: "busy", Limit: 2, Keys: []query.Path{{"id"}}})
	if err != nil || len(rows) != 3 || rows[2][0].Int() != 3 {
		t.Errorf("after all that: %v, %v", rows, err)
	}
}
