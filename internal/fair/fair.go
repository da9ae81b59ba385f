// Package fair limits concurrent work and memory, and shares them fairly.
//
//	work of Who ─Semaphore→ slot
//	request ─Budget.Read→ Body ─Parse→ memory to parse it
//	response of an HTTP API ─Answers→ Answer
//	callers at the same time ─Queue→ one round of work
//
// Slots are shared between tenants, then between the owners of a tenant, then between the credentials of an owner.
// The package does not depend on the kind of work.
//
// A Budget bounds the memory of all request bodies in one process. A body stays unread on its connection until there
// is memory for its bytes. Then the Budget reads the body, which stays unparsed until there is memory for its parsed
// form. Small bodies have separate memory, so large bodies don't delay them. Answers does the same for responses of
// HTTP APIs.
//
// A Queue combines the work of several callers into rounds, such as one transaction for several writes. Callers that
// arrive during a round share the next round. If no round is running, the work of a caller is done at once, in its
// own goroutine.
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

var (
	// ErrBusy means that a semaphore and its queue are full.
	ErrBusy = errors.New("too many requests at a time")
	// ErrTooMany means that a request needs more slots than one credential may hold.
	ErrTooMany = errors.New("more than one caller may have")
)

// Bounds are the limits of a Semaphore.
type Bounds struct {
	Slots    int           // total number
	Tenant   int           // maximum for one tenant. 0 means three quarters of Slots
	Owner    int           // maximum for one owner, at most Tenant. 0 means half of Slots
	Each     int           // maximum for one credential, at most Owner. 0 means a quarter of Slots
	Queue    int           // maximum number of waiting requests. 0 means none
	Patience time.Duration // maximum wait for a slot
}

// A Who identifies the requester of a slot. If it has no tenant, its owner counts as a tenant. If it has no owner,
// its credential counts as an owner.
type Who struct{ Tenant, Owner, Credential string }

// shares is the number of levels on which slots are shared. The levels are tenant, owner and credential, in this
// order.
const shares = 3

// A share counts the slots that one tenant, owner or credential holds, and the requests that wait for slots.
type share struct{ held, waiting int }

// A Semaphore distributes slots. A free slot goes to a waiting request of the tenant with the fewest slots. Within that
// tenant, the owner with the fewest slots is first, and then the credential with the fewest. None of them can hold all
// slots. If the queue is full, the Semaphore refuses the newest request of the tenant, owner and credential with the
// most waiting requests. A Semaphore is safe for concurrent use.
type Semaphore struct {
	bounds Bounds
	most   [shares]int

	mu    sync.Mutex
	held  int
	parts map[key]*share // the shares that hold or wait for slots
	queue []*turn        // in order of arrival
}

// A key names one tenant, owner or credential. An owner without a tenant counts as a tenant too, but it has a
// different key on each level.
type key struct {
	level        int
	alone        bool // the name is that of an owner without a tenant
	within, name string
}

// A turn is a request that holds a slot or waits for one.
type turn struct {
	slots  int
	keys   [shares]key
	shares [shares]*share
	done   chan error // receives nil for a slot, or an error. It is nil if the request doesn't wait
}

// New returns a semaphore with the bounds b.
func New(b Bounds) *Semaphore {
	part := func(said, quarters int) int { return max(min(cmp.Or(said, b.Slots*quarters/4), b.Slots), 1) }
	g := &Semaphore{bounds: b, parts: map[key]*share{}}
	g.most[0] = part(b.Tenant, 3)
	g.most[1] = min(part(b.Owner, 2), g.most[0])
	g.most[2] = min(part(b.Each, 1), g.most[1])
	return g
}

// Enter waits for a slot. If it returns no error, the caller must call leave once. The errors are ErrBusy and errors
// of ctx.
func (g *Semaphore) Enter(ctx context.Context, who Who) (leave func(), err error) {
	return g.EnterMany(ctx, who, 1)
}

// Each returns the maximum number of slots for one credential.
func (g *Semaphore) Each() int { return g.most[shares-1] }

// Slots returns the total number of slots.
func (g *Semaphore) Slots() int { return g.bounds.Slots }

// EnterMany is like Enter, but waits for several slots, which leave releases together. A request for few slots may be
// served before a waiting request for many slots. EnterMany fails with ErrTooMany if slots is more than Each.
func (g *Semaphore) EnterMany(ctx context.Context, who Who, slots int) (leave func(), err error) {
	if slots > g.Each() {
		return nil, ErrTooMany
	}
	g.mu.Lock()
	t := g.turn(who)
	t.slots = max(slots, 1)
	leave = func() { g.leave(t) }
	if g.may(t) {
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

// Reserving returns a semaphore for a number of connections, or nil if slots is 0. Any number of requests may wait,
// without a time limit. However many slow calls a credential makes, connections remain for other owners of the same
// tenant and for other tenants.
func Reserving(slots int) *Semaphore {
	if slots <= 0 {
		return nil
	}
	return New(Bounds{Slots: slots, Queue: math.MaxInt, Patience: math.MaxInt64}.Wide())
}

// Wide returns b with the maximum shares that leave something to others on every level. A tenant has at most three
// quarters of the slots, and an owner less than its tenant. A credential has less than its owner, unless that would
// be less than half of the tenant's slots.
func (b Bounds) Wide() Bounds {
	b.Tenant = max(b.Slots*3/4, 1)
	b.Owner = max(b.Tenant-1, 1)
	b.Each = min(max(b.Owner-1, (b.Tenant+1)/2), b.Owner)
	return b
}

// InTurn returns a sequence that acquires a slot of g for who, yields the elements of seq, and releases the slot at
// its end. If there is no slot, the sequence yields only the result of failed for the error. If g is nil, InTurn
// returns seq.
func InTurn[K, V any](ctx context.Context, g *Semaphore, who Who, seq iter.Seq2[K, V], failed func(error) (K, V)) iter.Seq2[K, V] {
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

// turn returns a request of who with its shares. The caller holds g.mu.
func (g *Semaphore) turn(who Who) *turn {
	t := &turn{}
	owner := cmp.Or(who.Owner, who.Credential)
	t.keys = [shares]key{{name: who.Tenant}, {level: 1, within: who.Tenant, name: owner}, {level: 2, name: who.Credential}}
	if who.Tenant == "" {
		t.keys[0] = key{alone: true, name: owner}
	}
	for i, k := range t.keys {
		if t.shares[i] = g.parts[k]; t.shares[i] == nil {
			t.shares[i] = &share{}
			g.parts[k] = t.shares[i]
		}
	}
	return t
}

// may reports whether there are enough free slots for t, and whether the limits of its shares allow them. The caller
// holds g.mu.
func (g *Semaphore) may(t *turn) bool {
	if g.held+t.slots > g.bounds.Slots {
		return false
	}
	for i, s := range t.shares {
		if s.held+t.slots > g.most[i] {
			return false
		}
	}
	return true
}

// take assigns t its slots. The caller holds g.mu.
func (g *Semaphore) take(t *turn) {
	g.held += t.slots
	for _, s := range t.shares {
		s.held += t.slots
	}
}

// wait adds t to the queue, and reports whether t is queued. If the queue is full, it refuses another request or t.
// The caller holds g.mu.
func (g *Semaphore) wait(t *turn) bool {
	if g.bounds.Queue <= 0 {
		return false
	}
	t.done = make(chan error, 1)
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

// compare compares the counts of two turns, starting with the tenants.
func compare(a, b *turn, of func(*share) int) int {
	for i := range a.shares {
		if c := cmp.Compare(of(a.shares[i]), of(b.shares[i])); c != 0 {
			return c
		}
	}
	return 0
}

// unqueue removes t from the queue, and reports whether it was queued. The caller holds g.mu.
func (g *Semaphore) unqueue(t *turn) bool {
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

// give removes t from the queue and returns err. If t no longer waits, give returns the result that t has received.
func (g *Semaphore) give(t *turn, err error) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.unqueue(t) {
		return <-t.done
	}
	g.forget(t)
	return err
}

// leave releases the slots of t, and gives free slots to the next requests.
func (g *Semaphore) leave(t *turn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.held -= t.slots
	for _, s := range t.shares {
		s.held -= t.slots
	}
	g.forget(t)
	for g.held < g.bounds.Slots {
		var next *turn
		for _, other := range g.queue {
			if g.may(other) && (next == nil || compare(other, next, func(s *share) int { return s.held }) < 0) {
				next = other
			}
		}
		if next == nil {
			return
		}
		g.unqueue(next)
		g.take(next)
		next.done <- nil
	}
}

// forget removes the shares of t that hold no slots and have no waiting requests. The caller holds g.mu.
func (g *Semaphore) forget(t *turn) {
	for i, s := range t.shares {
		if *s == (share{}) {
			delete(g.parts, t.keys[i])
		}
	}
}

// Load returns the number of held slots and the number of waiting requests.
func (g *Semaphore) Load() (in, waiting int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.held, len(g.queue)
}
