package fair

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"
)

type work struct {
	Turn
	n    int
	kind string
}

// TestRounds checks that work that arrives during a round is in the next round, in its order. A round must contain
// only one kind of work, and no more than Most. The work of a caller that no longer waits must be in no round.
func TestRounds(t *testing.T) {
	begun, free := make(chan bool), make(chan bool)
	var mu sync.Mutex
	var rounds []string
	refused := errors.New("refused")
	q := &Queue[*work]{Most: 3, Alike: func(first, next *work) bool { return first.kind == next.kind }}
	q.Round = func(round []*work) {
		said := ""
		for _, w := range round {
			said += fmt.Sprint(w.kind, w.n, " ")
		}
		mu.Lock()
		rounds = append(rounds, said)
		mu.Unlock()
		if round[0].n == 0 {
			close(begun)
			<-free
		}
		for _, w := range round {
			if w.n%2 == 1 {
				w.End(refused)
			} else {
				w.End(nil)
			}
		}
	}
	var callers sync.WaitGroup
	do := func(ctx context.Context, w *work, wantLate bool, want error) {
		callers.Go(func() {
			if late, err := q.Do(ctx, w); late != wantLate || !errors.Is(err, want) {
				t.Errorf("%s%d: %v %v", w.kind, w.n, late, err)
			}
		})
	}
	leaving, leave := context.WithCancel(t.Context())
	do(t.Context(), &work{}, false, nil)
	<-begun
	for i, w := range []*work{{n: 1, kind: "a"}, {n: 2, kind: "b"}, {n: 3, kind: "a"}, {n: 4, kind: "a"}, {n: 5, kind: "a"}, {n: 6, kind: "a"}, {n: 7, kind: "b"}} {
		want := error(nil)
		if w.n%2 == 1 {
			want = refused
		}
		if w.n == 4 {
			do(leaving, w, true, context.Canceled)
		} else {
			do(t.Context(), w, false, want)
		}
		for q.Waiting() <= i {
			time.Sleep(time.Millisecond)
		}
	}
	leave()
	for gone := false; !gone; time.Sleep(time.Millisecond) {
		q.mu.Lock()
		gone = q.waiting[3].claimed.Load()
		q.mu.Unlock()
	}
	close(free)
	callers.Wait()
	if want := []string{"0 ", "a1 a3 a5 ", "b2 b7 ", "a6 "}; !slices.Equal(rounds, want) {
		t.Errorf("%q, want %q", rounds, want)
	}
	for running := true; running; time.Sleep(time.Millisecond) {
		q.mu.Lock()
		running = q.running
		q.mu.Unlock()
	}
	if q.Waiting() != 0 || slices.ContainsFunc(q.waiting[:cap(q.waiting)], func(w *work) bool { return w != nil }) {
		t.Error("work is kept after its round")
	}
}

// TestEndsInItsRound checks a caller whose context ends during its round. The caller must wait for the end of the
// round.
func TestEndsInItsRound(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	q := &Queue[*work]{Most: 1, Round: func(round []*work) {
		cancel()
		round[0].End(nil)
	}}
	if late, err := q.Do(ctx, &work{}); late || err != nil {
		t.Error(late, err)
	}
}
