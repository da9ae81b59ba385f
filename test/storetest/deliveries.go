package storetest

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/internal/webhook"
)

func due(hook string, seq int64) webhook.Delivery {
	return webhook.Delivery{Hook: hook, State: webhook.Waiting, Event: change.Event{Seq: seq, Change: fmt.Sprint("c", seq%3), Kind: change.EventCreated, State: change.Pending,
		By: "bot \u202e\"'", Tenant: "acme", Agent: "token:1", At: time.Date(2026, 11, 21, 12, 0, 0, 123456000, time.UTC)}}
}

// brief formats deliveries as hook/seq/state/attempts.
func brief(list []webhook.Delivery) (out []string) {
	for _, d := range list {
		out = append(out, fmt.Sprintf("%s/%d/%s/%d", d.Hook, d.Event.Seq, d.State, d.Attempts))
	}
	return out
}

// feedDeliveries stores deliveries for the events up to the tenth.
func feedDeliveries(t *testing.T, s Store) {
	t.Helper()
	ctx := t.Context()
	if seq, begun, err := s.FedTo(ctx); seq != 0 || begun || err != nil {
		t.Fatal(seq, begun, err)
	}
	if err := s.Feed(ctx, 0, 5, []webhook.Delivery{due("a", 1)}); !errors.Is(err, webhook.ErrMoved) {
		t.Error("fed before it began", err)
	}
	if err := s.Feed(ctx, -1, 7, nil); err != nil {
		t.Fatal(err)
	}
	if err := s.Feed(ctx, -1, 9, nil); !errors.Is(err, webhook.ErrMoved) {
		t.Error("began twice", err)
	}
	later := due("gone", 10)
	later.Due = time.Now().Add(time.Hour)
	if err := s.Feed(ctx, 7, 10, []webhook.Delivery{due("a", 8), due("b", 8), due("a", 9), later}); err != nil {
		t.Fatal(err)
	}
	if none, err := s.Claim(ctx, nil, 1, time.Minute); len(none) != 0 || err != nil {
		t.Error("of no hook:", none, err)
	}
	if early, err := s.Claim(ctx, []string{"gone"}, 1, time.Minute); len(early) != 0 || err != nil {
		t.Error("claimed before it is due:", early, err)
	}
	if err := s.Feed(ctx, 7, 10, []webhook.Delivery{due("a", 8)}); !errors.Is(err, webhook.ErrMoved) {
		t.Error("fed twice", err)
	}
	if seq, begun, err := s.FedTo(ctx); seq != 10 || !begun || err != nil {
		t.Fatal(seq, begun, err)
	}
}

// testDeliveries checks the life of a delivery. It is claimed in the order of its hook, by one caller at a time, with
// a lease. Only the last caller that claimed it can finish it, once. It can be sent again on request.
func testDeliveries(t *testing.T, open Open) {
	ctx := t.Context()
	s := Handle(t, open, t.TempDir())
	feedDeliveries(t, s)
	claim := func(n int, lease time.Duration, want ...string) []webhook.Delivery {
		t.Helper()
		got, err := s.Claim(ctx, []string{"a", "b"}, n, lease)
		if diff := cmp.Diff(want, brief(got)); diff != "" || err != nil {
			t.Fatal(diff, err)
		}
		return got
	}
	first := claim(2, time.Hour, "a/8/waiting/1", "b/8/waiting/1")
	if diff := cmp.Diff(due("a", 8).Event, first[0].Event); diff != "" {
		t.Error(diff)
	}
	last := claim(9, -time.Hour, "a/9/waiting/1")
	again := claim(9, time.Hour, "a/9/waiting/2") // its lease has expired
	claim(9, time.Hour)
	if err := s.Finish(ctx, last[0], 0); !errors.Is(err, webhook.ErrMoved) {
		t.Error("who lost its lease finished", err)
	}
	for i, f := range []struct {
		d      webhook.Delivery
		state  webhook.State
		status int
		text   string
		after  time.Duration
	}{{first[0], webhook.Sent, 204, "", 0}, {first[1], webhook.Dead, 410, "it answered 410 Gone", 0}, {again[0], webhook.Waiting, 0, "it can't be reached", time.Hour}} {
		f.d.State, f.d.Status, f.d.Failure = f.state, f.status, f.text
		if err := s.Finish(ctx, f.d, f.after); err != nil {
			t.Fatal(i, err)
		}
		if err := s.Finish(ctx, f.d, f.after); (f.state != webhook.Waiting) != errors.Is(err, webhook.ErrMoved) {
			t.Error(i, "finished twice", err)
		}
	}
	claim(9, time.Hour)
	listDeliveries(t, s)

	if err := s.Redeliver(ctx, again[0].ID); !errors.Is(err, webhook.ErrNone) {
		t.Error("one that waits", err)
	}
	if err := s.Redeliver(ctx, 1<<40); !errors.Is(err, webhook.ErrNone) {
		t.Error(err)
	}
	if err := s.Redeliver(ctx, first[1].ID); err != nil {
		t.Fatal(err)
	}
	claim(9, time.Hour, "b/8/waiting/1")
	if err := s.Finish(ctx, first[1], 0); !errors.Is(err, webhook.ErrMoved) {
		t.Error("the claim of before finished what is sent again", err)
	}
}

// listDeliveries checks the filters of Deliveries. The next page continues before the last id of the previous page.
func listDeliveries(t *testing.T, s Store) {
	t.Helper()
	for _, c := range []struct {
		f    webhook.Filter
		want []string
		more bool
	}{
		{webhook.Filter{}, []string{"gone/10/waiting/0", "a/9/waiting/2", "b/8/dead/1", "a/8/sent/1"}, false},
		{webhook.Filter{Limit: 2}, []string{"gone/10/waiting/0", "a/9/waiting/2"}, true},
		{webhook.Filter{State: webhook.Dead}, []string{"b/8/dead/1"}, false},
		{webhook.Filter{Hook: "a"}, []string{"a/9/waiting/2", "a/8/sent/1"}, false},
		{webhook.Filter{Change: "c2"}, []string{"b/8/dead/1", "a/8/sent/1"}, false},
		{webhook.Filter{Hook: "a", State: webhook.Sent, Change: "c2"}, []string{"a/8/sent/1"}, false},
		{webhook.Filter{Hook: "x\x00"}, nil, false},
		{webhook.Filter{Before: 1}, nil, false},
	} {
		got, more, err := s.Deliveries(t.Context(), c.f)
		if diff := cmp.Diff(c.want, brief(got)); diff != "" || more != c.more || err != nil {
			t.Errorf("%+v: %s %v %v", c.f, diff, more, err)
		}
		if c.f.State == webhook.Dead && (got[0].Status != 410 || got[0].Failure != "it answered 410 Gone" || time.Since(got[0].Updated).Abs() > time.Minute) {
			t.Error(got[0])
		}
		if c.f.Limit == 2 {
			next, more, err := s.Deliveries(t.Context(), webhook.Filter{Before: got[1].ID, Limit: 2})
			if diff := cmp.Diff([]string{"b/8/dead/1", "a/8/sent/1"}, brief(next)); diff != "" || more || err != nil {
				t.Error(diff, more, err)
			}
		}
	}
}

// testDeliveryHandles checks two handles. Only one of them may feed each event, and only one may claim each delivery.
func testDeliveryHandles(t *testing.T, open Open) {
	ctx := t.Context()
	place := t.TempDir()
	handles := []Store{Handle(t, open, place), Handle(t, open, place)}
	if err := handles[0].Feed(ctx, -1, 0, nil); err != nil {
		t.Fatal(err)
	}
	const events = 40
	var all sync.WaitGroup
	var fed, claimed atomic.Int64
	for _, s := range handles {
		all.Go(func() {
			for {
				at, _, err := s.FedTo(ctx)
				if err != nil || at == events {
					if err != nil {
						t.Error(err)
					}
					return
				}
				switch err := s.Feed(ctx, at, at+1, []webhook.Delivery{due("a", at+1)}); {
				case err == nil:
					fed.Add(1)
				case !errors.Is(err, webhook.ErrMoved):
					t.Error(err)
					return
				}
			}
		})
		all.Go(func() {
			for idle := 0; claimed.Load() < events && idle < 2000; {
				got, err := s.Claim(ctx, []string{"a"}, 3, time.Hour)
				if err != nil {
					t.Error(err)
					return
				}
				claimed.Add(int64(len(got)))
				if len(got) == 0 {
					idle++
					time.Sleep(5 * time.Millisecond)
				}
			}
		})
	}
	all.Wait()
	if fed.Load() != events || claimed.Load() != events {
		t.Errorf("%d fed, %d claimed, want %d of each", fed.Load(), claimed.Load(), events)
	}
}
