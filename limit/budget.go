package limit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/bailiwick-dev/bailiwick/problem"
)

const (
	// flushEvery is the time between two writes of use to the ledger. A crash loses at most the use of this time.
	flushEvery = 500 * time.Millisecond
	// stale is the maximum age of a ledger's answer. It is longer than flushEvery, so that frequent callers needn't
	// request an answer themselves.
	stale = time.Second
	// patience is the maximum time that a ledger may take to answer.
	patience = 2 * time.Second
	// tries is how often a call requests accounts again that forget dropped in the meantime.
	tries = 3
)

// budgets tracks the daily use of owners and tokens. It knows the use of this process at once. It learns the use of
// other processes from the ledger, at most stale plus the ledger's response time later.
type budgets struct {
	owner, token Use // the daily limits
	ledger       Ledger
	now          func() time.Time
	asking       chan struct{} // a semaphore, acquired while the ledger is called

	mu       sync.Mutex
	accounts map[Account]*tally // recently used accounts, and accounts with pending use
	timer    *time.Timer        // runs while an account has pending use
	closed   bool
	failed   time.Time // when the ledger last failed, by the machine's clock
	failure  error
}

// A tally is the known use of an account. The use is the sum of known, told and pending.
type tally struct {
	Account
	known   Use       // the ledger's last answer
	told    Use       // being written to the ledger now
	pending Use       // not yet written
	asked   time.Time // when known was requested, or zero for never
	heard   time.Time // when the ledger answered, by the machine's clock
	running int       // number of calls that will still add to pending
}

// newBudgets returns the budgets of o, or nil if o has no daily limit. Without a ledger, the use is counted in this
// process only.
func newBudgets(o Options) *budgets {
	if o.Daily == (Use{}) && o.TokenDaily == (Use{}) {
		return nil
	}
	b := &budgets{owner: o.Daily, token: o.TokenDaily, ledger: o.Ledger, now: o.Now,
		asking: make(chan struct{}, 1), accounts: map[Account]*tally{}}
	if b.ledger == nil {
		b.ledger = &memory{spent: map[Account]Use{}}
	}
	if b.now == nil {
		b.now = time.Now
	}
	return b
}

// A spending is the accounts, at most two, whose budgets a call uses.
type spending struct {
	budgets       *budgets
	owner, tokens *tally // nil if unlimited
}

// begin counts a call of k. It returns an error if a budget is used up or unknown.
func (b *budgets) begin(ctx context.Context, k keys) (spending, error) {
	if b == nil {
		return spending{}, nil
	}
	for try := 0; ; try++ {
		b.mu.Lock()
		now := b.now()
		s := b.find(DayOf(now), k)
		old := s.old(now)
		// A value that was just requested is valid, however long the answer took. An account that was dropped
		// meanwhile has no valid value.
		if len(old) == 0 || try > 0 && s.hasAnswers() {
			err := s.refuse(now)
			if err == nil {
				s.add(Use{Calls: 1}, +1)
				b.arm()
			}
			b.mu.Unlock()
			return s, err
		}
		b.mu.Unlock()
		err := b.ask(ctx, old)
		switch {
		case err != nil && ctx.Err() != nil:
			return spending{}, contextError(ctx)
		case err != nil || try == tries:
			return spending{}, refusal("limit_store", 0, err)
		}
	}
}

// hasAnswers reports whether the ledger has answered for all accounts. The caller holds b.mu.
func (s spending) hasAnswers() bool {
	known := true
	s.each(func(t *tally) { known = known && !t.asked.IsZero() })
	return known
}

// find returns the accounts of k that have a limit. The caller holds b.mu.
func (b *budgets) find(day Day, k keys) spending {
	s := spending{budgets: b}
	at := func(key string) *tally {
		a := Account{day, key}
		t := b.accounts[a]
		if t == nil {
			t = &tally{Account: a}
			b.accounts[a] = t
		}
		return t
	}
	if b.owner != (Use{}) {
		s.owner = at(k.owner)
	}
	if b.token != (Use{}) && k.token != "" {
		s.tokens = at(k.token)
	}
	return s
}

// each calls do for each account. The caller holds b.mu.
func (s spending) each(do func(*tally)) {
	for _, t := range [2]*tally{s.owner, s.tokens} {
		if t != nil {
			do(t)
		}
	}
}

// old returns the accounts whose known use is too old. The caller holds b.mu.
func (s spending) old(now time.Time) (old []*tally) {
	s.each(func(t *tally) {
		if age := now.Sub(t.asked); t.asked.IsZero() || age > stale || age < 0 {
			old = append(old, t)
		}
	})
	return old
}

// refuse returns an error if a budget of the call is used up, or nil. The caller holds b.mu.
func (s spending) refuse(now time.Time) error {
	if t := s.owner; t != nil {
		if what := t.totalUse().over(s.budgets.owner); what != "" {
			return budgetError("owner", what, now)
		}
	}
	if t := s.tokens; t != nil {
		if what := t.totalUse().over(s.budgets.token); what != "" {
			return budgetError("token", what, now)
		}
	}
	return nil
}

// budgetError returns the error for a call over a budget. Its RetryAfter ends some seconds after the end of the day,
// chosen at random, so that callers don't all return at once.
func budgetError(whose, what string, now time.Time) error {
	p := refusal(whose+"_daily_"+what, 0, nil).(*problem.Error)
	p.Code, p.RetryAfter = problem.BudgetExceeded, (DayOf(now)+1).start().Sub(now).Truncate(time.Millisecond)+p.RetryAfter
	p.Detail = "The daily budget of " + what + " is spent"
	p.Suggestion = "The next day begins at 00:00 UTC. An operator can allow more"
	if whose == "token" {
		p.Detail = "The daily budget of " + what + " of this token is spent"
	}
	return p
}

// add adds u to the pending use of the accounts, and running to their running calls. The caller holds b.mu.
func (s spending) add(u Use, running int) {
	s.each(func(t *tally) { t.pending, t.running = t.pending.Plus(u), t.running+running })
}

// end adds the use of a call that has ended.
func (s spending) end(used Use) {
	b := s.budgets
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	s.add(used, -1)
	b.arm()
}

func (t *tally) totalUse() Use { return t.known.Plus(t.told).Plus(t.pending) }

// arm starts the timer of the next flush. The caller holds b.mu.
func (b *budgets) arm() {
	if b.timer == nil && !b.closed {
		b.timer = time.AfterFunc(flushEvery, func() {
			b.flush(context.Background()) // on failure the use stays pending, and the next calls try again
		})
	}
}

// ask requests the accounts from the ledger whose known use is too old. Concurrent callers wait for each other. They
// share an answer or a failure that arrived while they waited. If a caller stops waiting, the others still get its
// answer.
func (b *budgets) ask(ctx context.Context, old []*tally) error {
	since := time.Now()
	select {
	case b.asking <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	b.mu.Lock()
	old = slices.DeleteFunc(old, func(t *tally) bool { return t.heard.After(since) })
	failed, failure := b.failed.After(since), b.failure
	b.mu.Unlock()
	switch {
	case len(old) == 0:
		<-b.asking
		return nil
	case failed:
		<-b.asking
		return failure
	}
	exchange := func() error {
		defer func() { <-b.asking }()
		return b.exchange(context.WithoutCancel(ctx), old)
	}
	if _, here := b.ledger.(*memory); here {
		return exchange() // it doesn't block
	}
	done := make(chan error, 1)
	go func() { done <- exchange() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// flush writes all pending use to the ledger. If the ledger fails, the use stays pending.
func (b *budgets) flush(ctx context.Context) error {
	select {
	case b.asking <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-b.asking }()
	b.mu.Lock()
	if b.timer != nil {
		b.timer.Stop()
		b.timer = nil
	}
	var tell []*tally
	for _, t := range b.accounts {
		if t.pending != (Use{}) {
			tell = append(tell, t)
		}
	}
	b.mu.Unlock()
	var err error
	if len(tell) > 0 {
		err = b.exchange(ctx, tell)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.forget()
	return err
}

// exchange writes the pending use of tallies to the ledger, and stores the totals that the ledger returns. The caller
// holds asking. The ledger may have counted the use even if it failed. Then some use is counted twice, but none is
// lost.
func (b *budgets) exchange(ctx context.Context, tallies []*tally) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	b.mu.Lock()
	began := b.now()
	entries := make([]Entry, len(tallies))
	for i, t := range tallies {
		t.told, t.pending = t.pending, Use{}
		entries[i] = Entry{t.Account, t.told}
	}
	b.mu.Unlock()
	known, err := b.spend(ctx, entries)
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, t := range tallies {
		if err == nil {
			t.known, t.asked, t.heard = known[i], began, time.Now()
		} else {
			t.pending = t.pending.Plus(t.told)
		}
		t.told = Use{}
	}
	if err != nil {
		b.failed, b.failure = time.Now(), err
		b.arm()
	}
	return err
}

// spend calls the ledger. It may run in a goroutine of this package, where a panic would end the process. So it turns
// a panic of the ledger into an error.
func (b *budgets) spend(ctx context.Context, entries []Entry) (known []Use, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the ledger panicked: %v", r)
		}
	}()
	known, err = b.ledger.Spend(ctx, entries)
	if err == nil && len(known) != len(entries) {
		err = errors.New("the ledger did not answer for each account")
	}
	return known, err
}

// forget drops the tallies whose known use is too old, unless they have pending use or running calls. The caller
// holds b.mu.
func (b *budgets) forget() {
	now := b.now()
	for a, t := range b.accounts {
		age := now.Sub(t.asked)
		if t.pending == (Use{}) && t.running == 0 && (age > stale || age < 0) {
			delete(b.accounts, a)
		}
	}
}

// close writes all pending use to the ledger and stops the timer.
func (b *budgets) close(ctx context.Context) error {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	return b.flush(ctx)
}
