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
	// flushEvery is how long use is gathered before the ledger is told, and so what a crash forgets at most.
	flushEvery = 500 * time.Millisecond
	// stale is how old what the ledger said may be: longer than flushEvery, so that who calls often need not ask.
	stale = time.Second
	// patience is how long a ledger may take to answer.
	patience = 2 * time.Second
	// tries is how often a call asks for what others let go meanwhile.
	tries = 3
)

// budgets keep what owners and tokens use a day. What the calls of this process use is known at once; what those of
// others use is known when the ledger is asked, at most the time stale later and what the ledger takes to answer.
type budgets struct {
	owner, token Use // the most
	ledger       Ledger
	now          func() time.Time
	asking       chan struct{} // holds one while the ledger is asked

	mu       sync.Mutex
	accounts map[Account]*tally // those that were used a short time ago, and those with something to tell the ledger
	timer    *time.Timer        // runs while there is something to tell
	closed   bool
	failed   time.Time // when the ledger failed last, by the machine's clock
	failure  error
}

// A tally is what is known of an account: the sum of known, told and pending is what was used.
type tally struct {
	Account
	known   Use       // what the ledger said
	told    Use       // what it is being told
	pending Use       // what it is to be told
	asked   time.Time // when it was asked for known; zero for never
	heard   time.Time // when it answered, by the machine's clock
	running int       // calls that will still add to pending
}

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

// A spending is a call that draws from up to two accounts.
type spending struct {
	budgets       *budgets
	owner, tokens *tally // nil where nothing bounds it
}

// begin counts a call of k, or refuses it because a budget is used up or can't be known.
func (b *budgets) begin(ctx context.Context, k keys) (spending, error) {
	if b == nil {
		return spending{}, nil
	}
	for try := 0; ; try++ {
		b.mu.Lock()
		now := b.now()
		s := b.find(DayOf(now), k)
		old := s.old(now)
		// What was just asked for is good, however long the answer took; what was forgotten meanwhile is not.
		if len(old) == 0 || try > 0 && s.known() {
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
			return spending{}, ended(ctx)
		case err != nil || try == tries:
			return spending{}, refusal("limit_store", 0, err)
		}
	}
}

// known reports whether the ledger has told of all accounts. b.mu is held.
func (s spending) known() bool {
	known := true
	s.each(func(t *tally) { known = known && !t.asked.IsZero() })
	return known
}

// find returns the accounts of k that are bounded. b.mu is held.
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

// each gives the accounts to do. b.mu is held.
func (s spending) each(do func(*tally)) {
	for _, t := range [2]*tally{s.owner, s.tokens} {
		if t != nil {
			do(t)
		}
	}
}

// old returns the accounts of which what is known is too old. b.mu is held.
func (s spending) old(now time.Time) (old []*tally) {
	s.each(func(t *tally) {
		if age := now.Sub(t.asked); t.asked.IsZero() || age > stale || age < 0 {
			old = append(old, t)
		}
	})
	return old
}

// refuse returns the refusal of a call whose budget is used up, and nil for none. b.mu is held.
func (s spending) refuse(now time.Time) error {
	if t := s.owner; t != nil {
		if what := t.used().over(s.budgets.owner); what != "" {
			return spent("owner", what, now)
		}
	}
	if t := s.tokens; t != nil {
		if what := t.used().over(s.budgets.token); what != "" {
			return spent("token", what, now)
		}
	}
	return nil
}

// spent refuses until the day ends, and some seconds more, so that those who wait for it don't all come at once.
func spent(whose, what string, now time.Time) error {
	p := refusal(whose+"_daily_"+what, 0, nil).(*problem.Error)
	p.Code, p.RetryAfter = problem.BudgetExceeded, (DayOf(now)+1).start().Sub(now).Truncate(time.Millisecond)+p.RetryAfter
	p.Detail = "The daily budget of " + what + " is spent"
	p.Suggestion = "The next day begins at 00:00 UTC; an operator can allow more"
	if whose == "token" {
		p.Detail = "The daily budget of " + what + " of this token is spent"
	}
	return p
}

// add adds to what is to be told of the accounts, and to the calls that run. b.mu is held.
func (s spending) add(u Use, running int) {
	s.each(func(t *tally) { t.pending, t.running = t.pending.Plus(u), t.running+running })
}

// end adds what a call has used.
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

func (t *tally) used() Use { return t.known.Plus(t.told).Plus(t.pending) }

// arm has the ledger told in a while. b.mu is held.
func (b *budgets) arm() {
	if b.timer == nil && !b.closed {
		b.timer = time.AfterFunc(flushEvery, func() {
			b.flush(context.Background()) // what fails stays pending; who calls then is refused and tries again
		})
	}
}

// ask asks the ledger for accounts of which what is known is too old. Those who ask at once ask one after the other,
// and take an answer or a failure that came meanwhile for theirs. Who stops waiting leaves the answer to the others.
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
		return exchange() // it answers at once
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

// flush tells the ledger all that is to be told. What it can't be told stays for the next time.
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

// exchange tells the ledger what is pending of tallies, and notes what it knows of them. The caller has asking.
// When it fails the ledger may have been told nevertheless: then some use is counted twice, and none is lost.
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

// spend tells the ledger. One that panics, in a goroutine of ours, must not end the process.
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

// forget lets the tallies go that have nothing to tell and are too old to be taken as they are. b.mu is held.
func (b *budgets) forget() {
	now := b.now()
	for a, t := range b.accounts {
		age := now.Sub(t.asked)
		if t.pending == (Use{}) && t.running == 0 && (age > stale || age < 0) {
			delete(b.accounts, a)
		}
	}
}

// close tells the ledger what is pending.
func (b *budgets) close(ctx context.Context) error {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	return b.flush(ctx)
}
