package endtoend

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/change"
)

// TestStuck checks a source that can't tell whether it has written a change. The executor must report that in each
// round until the change has ended, even while it waits for the lease to expire. Otherwise the log would suggest that
// all is well.
func TestStuck(t *testing.T) {
	o := newOffice(t, func(_ *bailiwick.Options, changes *change.Options) { changes.Lease = time.Second })
	bot, ben := o.bot(), o.person("ben")
	one, err := o.propose(bot, `{"op": "update", "class": "issues", "id": "1", "data": {"n": 5}}`)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ben.Approve(t.Context(), one.ID, one.Digest, ""); err != nil { // the source has created its table of markers by now
		t.Fatal(err)
	}
	if _, err := o.db.Exec(`CREATE TRIGGER no BEFORE INSERT ON bailiwick_applied BEGIN SELECT RAISE(ABORT, 'no'); END`); err != nil {
		t.Fatal(err)
	}
	two, err := o.propose(bot, `{"op": "update", "class": "issues", "id": "2", "data": {"n": 5}}`)
	if err != nil {
		t.Fatal(err)
	}
	if s, err := ben.Approve(t.Context(), two.ID, two.Digest, ""); err == nil && s.State.IsFinal() {
		t.Fatal("it has ended:", s.State)
	}
	var mu sync.Mutex
	var failed, well int // number of rounds since the first failed round
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		o.gateway.Execute(ctx, func(err error) {
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				failed++
			} else if failed > 0 {
				well++
			}
		})
	}()
	defer func() { stop(); <-ended }()
	rounds := func() (int, int) { mu.Lock(); defer mu.Unlock(); return failed, well }
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		bad, good := rounds()
		if good > 0 || time.Now().After(end) {
			t.Fatalf("%d rounds failed, and then %d did not, while the change is stuck", bad, good)
		}
		if bad > 3 {
			break
		}
	}
	if _, err := o.db.Exec(`DROP TRIGGER no`); err != nil {
		t.Fatal(err)
	}
	o.until(two.ID, change.Applied)
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if _, good := rounds(); good > 0 {
			break
		}
		if time.Now().After(end) {
			t.Fatal("no round is well after the change was applied")
		}
	}
}
