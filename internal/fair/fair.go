// Package fair bounds what is under way and shares it: among tenants, their owners, and the credentials of these. It knows
// nothing of what it is that is under way.
package fair

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"math"
	"slices"
	"sync"
	"time"
)

// ErrBusy says that a gate is full and so is its queue.
var ErrBusy = errors.New("too many requests at a time")

// Bounds are those of a Gate.
type Bounds struct {
	Slots    int           // that are held at a time
	Tenant   int           // of them by one tenant; 0 is three quarters
	Owner    int           // of them by one owner, at most Tenant; 0 is half
	Each     int           // of them by one credential, at most Owner; 0 is a quarter
	Queue    int           // who waits for a slot; 0 lets nobody wait
	Patience time.Duration // how long one waits
}

// Who asks for a slot. One without a tenant, or without an owner, is its own.
type Who struct{ Tenant, Owner, Credential string }

// shares are the levels on which slots are shared, the widest first.
const shares = 3

// A share is what one tenant, owner or credential has of a Gate.
type share struct{ held, waiting int }

// A Gate gives out slots. A free slot goes to whoever waits of the tenant that holds fewest, then of the owner, then of the
// credential that does; none of them can hold all. Where the queue is full, the newest of those who have most waiting gives
// way. It is safe for use by several goroutines.
type Gate struct {
	bounds Bounds
	most   [shares]int

	mu    sync.Mutex
	held  int
	parts map[string]*share // those that hold or wait, by key
	queue []*turn           // in order of arrival
}

// A turn is one that holds a slot or waits for one.
type turn struct {
	keys   [shares]string
	shares [shares]*share
	done   chan error // receives once, when it waits: nil for a slot
}

// New returns a gate with b.
func New(b Bounds) *Gate {
	part := func(said, quarters int) int { return max(min(cmp.Or(said, b.Slots*quarters/4), b.Slots), 1) }
	g := &Gate{bounds: b, parts: map[string]*share{}}
	g.most[0] = part(b.Tenant, 3)
	g.most[1] = min(part(b.Owner, 2), g.most[0])
	g.most[2] = min(part(b.Each, 1), g.most[1])
	return g
}

// Enter waits for a slot. Who gets nil must call leave, once.
func (g *Gate) Enter(ctx context.Context, who Who) (leave func(), err error) {
	g.mu.Lock()
	t := g.turn(who)
	leave = func() { g.leave(t) }
	if g.held < g.bounds.Slots && g.may(t) {
		g.take(t)
		g.mu.Unlock()
		return leave, nil
	}
	if !g.wait(t) {
		g.forget(t)
		g.mu.Unlock()
		return nil, ErrBusy
	}
	g.mu.Unlock()
	late := time.NewTimer(g.bounds.Patience)
	defer late.Stop()
	select {
	case err = <-t.done:
	case <-late.C:
		err = g.give(t, ErrBusy)
	case <-ctx.Done():
		err = g.give(t, ctx.Err())
	}
	if err != nil {
		return nil, err
	}
	return leave, nil
}

// Reserving returns a gate of slots connections, for which all wait until it is their turn; of 0 it is nil. Part of them is
// nobody's alone, so that whoever comes next finds one, however many slow calls another has under way.
func Reserving(slots int) *Gate {
	if slots <= 0 {
		return nil
	}
	part := max(slots*3/4, 1)
	return New(Bounds{Slots: slots, Tenant: part, Owner: part, Each: part, Queue: math.MaxInt, Patience: math.MaxInt64})
}

// InTurn returns seq, which begins when who has a slot of g and gives it back at its end. Where who gets none, it is what
// failed makes of the error. A nil g has a slot for everyone.
func InTurn[K, V any](ctx context.Context, g *Gate, who Who, seq iter.Seq2[K, V], failed func(error) (K, V)) iter.Seq2[K, V] {
	if g == nil {
		return seq
	}
	return func(yield func(K, V) bool) {
		leave, err := g.Enter(ctx, who)
		if err != nil {
			yield(failed(err))
			return
		}
		defer leave()
		seq(yield)
	}
}

// turn returns that of who, with its shares. g.mu is held.
func (g *Gate) turn(who Who) *turn {
	t := &turn{done: make(chan error, 1)}
	owner := cmp.Or(who.Owner, who.Credential)
	t.keys = [shares]string{"t" + who.Tenant, "o" + who.Tenant + "\x00" + owner, "c" + who.Credential}
	if who.Tenant == "" {
		t.keys[0] = "p" + owner
	}
	for i, k := range t.keys {
		if g.parts[k] == nil {
			g.parts[k] = &share{}
		}
		t.shares[i] = g.parts[k]
	}
	return t
}

// may reports whether the shares of t let it hold one more. g.mu is held.
func (g *Gate) may(t *turn) bool {
	for i, s := range t.shares {
		if s.held >= g.most[i] {
			return false
		}
	}
	return true
}

// take gives t a slot. g.mu is held.
func (g *Gate) take(t *turn) {
	g.held++
	for _, s := range t.shares {
		s.held++
	}
}

// wait puts t into the queue, in place of another where that is full, and reports whether it did. g.mu is held.
func (g *Gate) wait(t *turn) bool {
	if g.bounds.Queue <= 0 {
		return false
	}
	for _, s := range t.shares {
		s.waiting++
	}
	g.queue = append(g.queue, t)
	if len(g.queue) <= g.bounds.Queue {
		return true
	}
	worst := t
	for _, other := range slices.Backward(g.queue) {
		if compare(other, worst, func(s *share) int { return s.waiting }) > 0 {
			worst = other
		}
	}
	g.unqueue(worst)
	if worst == t {
		return false
	}
	g.forget(worst)
	worst.done <- ErrBusy
	return true
}

// compare compares what the shares of two turns have, the widest first.
func compare(a, b *turn, of func(*share) int) int {
	for i := range a.shares {
		if c := cmp.Compare(of(a.shares[i]), of(b.shares[i])); c != 0 {
			return c
		}
	}
	return 0
}

// unqueue takes t out of the queue, and reports whether it was in it. g.mu is held.
func (g *Gate) unqueue(t *turn) bool {
	i := slices.Index(g.queue, t)
	if i < 0 {
		return false
	}
	g.queue = slices.Delete(g.queue, i, i+1)
	for _, s := range t.shares {
		s.waiting--
	}
	return true
}

// give ends the waiting of t with err, unless it has ended already: then with that.
func (g *Gate) give(t *turn, err error) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.unqueue(t) {
		return <-t.done
	}
	g.forget(t)
	return err
}

// leave gives the slot of t back, to whoever is next.
func (g *Gate) leave(t *turn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.held--
	for _, s := range t.shares {
		s.held--
	}
	g.forget(t)
	var next *turn
	for _, other := range g.queue {
		if g.may(other) && (next == nil || compare(other, next, func(s *share) int { return s.held }) < 0) {
			next = other
		}
	}
	if next != nil {
		g.unqueue(next)
		g.take(next)
		next.done <- nil
	}
}

// forget drops the shares of t that hold nothing and wait for nothing. g.mu is held.
func (g *Gate) forget(t *turn) {
	for i, s := range t.shares {
		if *s == (share{}) {
			delete(g.parts, t.keys[i])
		}
	}
}

// Load returns how many are in and how many wait.
func (g *Gate) Load() (in, waiting int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.held, len(g.queue)
}
