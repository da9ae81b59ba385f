package health

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/edge"
)

const (
	every   = 10 * time.Second // time between two beats
	changes = time.Second      // time between two checks of the own state
	brief   = time.Second      // a beat that takes longer is not used to measure the clock
)

// KeepOptions configure a ReplicaKeeper.
type KeepOptions struct {
	Store ReplicaStore
	Own   func() ReplicaRow // returns the state of this process. The ID, Name and Clock are ignored
	Log   *slog.Logger

	Every time.Duration    // time between two beats. 0 means ten seconds
	Now   func() time.Time // the clock of this process. Nil means time.Now
}

// A ReplicaKeeper stores the row of this process in the ReplicaStore, and compares it with the rows of other
// processes. The State of a nil ReplicaKeeper is zero.
type ReplicaKeeper struct {
	options KeepOptions
	own     ReplicaRow
	state   atomic.Pointer[ReplicaState]
	found   []string // differences of other processes in the last round
	logged  []string // differences that were logged last
	late    bool     // the log reports a clock difference
	failing *edge.OutageLog
	cancel  context.CancelFunc
	done    chan struct{}
}

// KeepReplica starts a ReplicaKeeper. If the store can't be written or read, the keeper logs this and tries again.
func KeepReplica(ctx context.Context, o KeepOptions) *ReplicaKeeper {
	if o.Every == 0 {
		o.Every = every
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	ctx, cancel := context.WithCancel(ctx)
	k := &ReplicaKeeper{options: o, cancel: cancel, done: make(chan struct{}),
		failing: &edge.OutageLog{Log: o.Log, Level: slog.LevelWarn, Fails: "this process can't be compared with its replicas", Works: "this process is compared with its replicas again"}}
	k.own.ID = rand.Text()
	host, _ := os.Hostname() // without a host name, the process ID is enough
	k.own.Name = fmt.Sprintf("%s process %d", host, os.Getpid())
	go k.run(ctx)
	return k
}

// Close stops the keeper and removes the row of this process.
func (k *ReplicaKeeper) Close() {
	k.cancel()
	<-k.done
}

// State returns the result of the last comparison.
func (k *ReplicaKeeper) State() ReplicaState {
	if k == nil {
		return ReplicaState{}
	}
	if s := k.state.Load(); s != nil {
		return *s
	}
	return ReplicaState{}
}

// run makes a round at once, then at regular times, and when the state of this process changes.
func (k *ReplicaKeeper) run(ctx context.Context) {
	defer close(k.done)
	tick := time.NewTicker(min(changes, k.options.Every))
	defer tick.Stop()
	k.failing.Note(ctx, k.beat(ctx)) // so that the first round knows the clock difference
	var last time.Time
	for {
		if now := k.options.Own(); time.Since(last) >= k.options.Every || now.Rules != k.own.Rules || now.Key != k.own.Key {
			last = time.Now()
			k.failing.Note(ctx, k.round(ctx))
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			leaving, cancel := context.WithTimeout(context.WithoutCancel(ctx), brief)
			defer cancel()
			_ = k.options.Store.Leave(leaving, k.own.ID) // on failure, the other processes soon ignore the row
			return
		}
	}
}

// beat stores the row of this process. It also measures the clock difference for the next row.
func (k *ReplicaKeeper) beat(ctx context.Context) error {
	now := k.options.Own()
	k.own.Rules, k.own.Key, k.own.Program = now.Rules, now.Key, now.Program
	before := k.options.Now()
	began := time.Now()
	at, err := k.options.Store.Beat(ctx, k.own)
	took := time.Since(began)
	if err == nil && took < brief {
		k.own.Clock = before.Add(took / 2).Sub(at)
	}
	return err
}

// round stores the row of this process and compares it with all rows.
func (k *ReplicaKeeper) round(ctx context.Context) error {
	err := k.beat(ctx)
	rows, unread := k.options.Store.Replicas(ctx)
	if err = errors.Join(err, unread); err != nil {
		k.state.Store(nil) // the state is unknown
		return err
	}
	s, differ := compare(rows, k.own)
	k.state.Store(&s)
	k.tell(ctx, differ)
	return nil
}

// tell logs differences if two rounds in a row found the same differences. One round is not enough, because replicas
// don't reload a changed configuration at the same moment.
func (k *ReplicaKeeper) tell(ctx context.Context, differ []string) {
	again := slices.Equal(differ, k.found)
	k.found = differ
	log := k.options.Log
	switch {
	case !again || slices.Equal(differ, k.logged):
	case differ == nil:
		log.InfoContext(ctx, "the replicas that share the store agree again")
		k.logged = nil
	default:
		log.WarnContext(ctx, "replicas that share the store differ from this one", "differ", differ)
		k.logged = differ
	}
	if late := k.own.Clock.Abs() > MaxClock; late != k.late {
		k.late = late
		if late {
			log.WarnContext(ctx, "the clock of this machine differs from the clock of the store", "ahead", k.own.Clock.Round(time.Millisecond).String())
		} else {
			log.InfoContext(ctx, "the clock of this machine agrees with the clock of the store again")
		}
	}
}
