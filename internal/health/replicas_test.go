package health_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/health"
)

// memory is a ReplicaStore in memory that uses the clock of the test.
type memory struct {
	mu    sync.Mutex
	rows  map[string]health.ReplicaRow
	fails error
	beats int
}

func (m *memory) Beat(_ context.Context, r health.ReplicaRow) (time.Time, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fails != nil {
		return time.Time{}, m.fails
	}
	m.beats++
	m.rows[r.ID] = r
	return time.Now(), nil
}

func (m *memory) Replicas(context.Context) ([]health.ReplicaRow, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.SortedFunc(maps.Values(m.rows), func(a, b health.ReplicaRow) int { return strings.Compare(a.ID, b.ID) }), m.fails
}

func (m *memory) Leave(_ context.Context, id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.rows, id)
	return m.fails
}

func (m *memory) breaks(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fails = err
}

// A place is a process in a test, with its state, clock and log.
type place struct {
	mu   sync.Mutex
	row  health.ReplicaRow
	off  time.Duration
	log  bytes.Buffer
	keep *health.ReplicaKeeper
}

func (p *place) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.Write(b)
}

func (p *place) said() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.String()
}

func (p *place) set(change func(*place)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change(p)
}

// begin starts a ReplicaKeeper for a row.
func begin(t *testing.T, s health.ReplicaStore, row health.ReplicaRow) *place {
	t.Helper()
	p := &place{row: row}
	p.keep = health.KeepReplica(t.Context(), health.KeepOptions{Store: s, Log: slog.New(slog.NewTextHandler(p, nil)),
		Own: func() health.ReplicaRow { p.mu.Lock(); defer p.mu.Unlock(); return p.row },
		Now: func() time.Time { p.mu.Lock(); defer p.mu.Unlock(); return time.Now().Add(p.off) }})
	return p
}

// later waits while the processes make their rounds.
func later(by time.Duration) {
	time.Sleep(by)
	synctest.Wait()
}

// TestKeep compares three processes. The log of each process must name the processes that differ. The public notes
// must count them until all agree.
func TestKeep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &memory{rows: map[string]health.ReplicaRow{}}
		same := health.ReplicaRow{Rules: "r1", Key: "k1", Program: "v1"}
		a, b := begin(t, s, same), begin(t, s, same)
		later(time.Second)
		c := begin(t, s, health.ReplicaRow{Rules: "r2", Key: "k2", Program: "v1"})
		later(time.Second)
		if got := c.keep.State(); got.Replicas != 3 || got.Differ != 2 {
			t.Errorf("at once: %+v", got)
		}
		later(25 * time.Second)
		if got := a.keep.State(); got.Replicas != 3 || got.Differ != 1 || got.Kinds[health.DifferentRules] != 1 || got.Kinds[health.DifferentKey] != 1 || got.Kinds[health.DifferentProgram] != 0 {
			t.Errorf("%+v", got)
		}
		notes := strings.Join(a.keep.State().Notes(), "\n")
		if want := "replicas: 1 of 3 differ from this one, in rules, audit_key. The log names them"; notes != want {
			t.Errorf("%q, want %q", notes, want)
		}
		for _, p := range []*place{a, b} {
			if got := p.said(); strings.Count(got, "differ from this one") != 1 || !strings.Contains(got, "audit key k2, not k1; rules r2, not r1") || !strings.Contains(got, "process ") {
				t.Error(got)
			}
		}
		c.set(func(p *place) { p.row = same })
		later(25 * time.Second)
		for _, p := range []*place{a, b, c} {
			if got := p.said(); strings.Count(got, "agree again") != 1 {
				t.Error(got)
			}
			if got := p.keep.State(); got.Differ != 0 || got.Notes() != nil {
				t.Errorf("%+v", got)
			}
		}
		c.keep.Close()
		if got := len(s.rows); got != 2 {
			t.Errorf("%d rows after one has left", got)
		}
		a.keep.Close()
		b.keep.Close()
	})
}

// TestReload checks that the log reports no difference if replicas reload one after the other within seconds.
func TestReload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &memory{rows: map[string]health.ReplicaRow{}}
		a, b := begin(t, s, health.ReplicaRow{Rules: "r1"}), begin(t, s, health.ReplicaRow{Rules: "r1"})
		for range 20 {
			later(9500 * time.Millisecond)
			for _, p := range []*place{a, b} {
				p.set(func(p *place) { p.row.Rules += "x" })
				later(2 * time.Second)
			}
		}
		for _, p := range []*place{a, b} {
			if got := p.said(); got != "" {
				t.Error(got)
			}
			p.keep.Close()
		}
	})
}

// TestClock checks a process whose clock differs from the clock of the store. Both this process and the others must
// report it.
func TestClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &memory{rows: map[string]health.ReplicaRow{}}
		a, b := begin(t, s, health.ReplicaRow{}), begin(t, s, health.ReplicaRow{})
		b.set(func(p *place) { p.off = -5 * time.Second })
		later(40 * time.Second)
		if got := b.keep.State(); got.Clock != -5*time.Second || got.Differ != 0 || strings.Join(got.Notes(), "") != "clock: this machine and the store differ by more than 2 s" {
			t.Errorf("%+v %v", got, got.Notes())
		}
		if got := b.said(); strings.Count(got, "the clock of this machine differs from the clock of the store") != 1 || !strings.Contains(got, "ahead=-5s") {
			t.Error(got)
		}
		if got := a.keep.State(); got.Clock != 0 || got.Kinds[health.DifferentClock] != 1 {
			t.Errorf("%+v", got)
		}
		if got := a.said(); strings.Count(got, "clock behind the store's") != 1 {
			t.Error(got)
		}
		b.set(func(p *place) { p.off = 2 * time.Second })
		later(40 * time.Second)
		if got := b.said(); !strings.Contains(got, "agrees with the clock of the store again") {
			t.Error(got)
		}
		a.keep.Close()
		b.keep.Close()
	})
}

// TestStoreFails checks a store that can't be written. The failure must be logged once a minute, the state must be
// unknown, and the keeper must try again.
func TestStoreFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &memory{rows: map[string]health.ReplicaRow{}}
		s.breaks(errors.New("read-only"))
		p := begin(t, s, health.ReplicaRow{Rules: "r1"})
		later(30 * time.Second)
		if got := p.keep.State(); got.Replicas != 0 || got.Notes() != nil {
			t.Errorf("%+v", got)
		}
		if got := p.said(); strings.Count(got, "can't be compared") != 1 || !strings.Contains(got, "read-only") {
			t.Error(got)
		}
		s.breaks(nil)
		later(15 * time.Second)
		if got := p.keep.State(); got.Replicas != 1 {
			t.Errorf("%+v", got)
		}
		s.breaks(errors.New("gone"))
		p.keep.Close() // it ends, although it can't remove its row
	})
	var none *health.ReplicaKeeper
	if got := none.State(); got.Replicas != 0 || got.Notes() != nil {
		t.Errorf("%+v", got)
	}
}

// TestBeats checks that an idle process writes one row every ten seconds.
func TestBeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &memory{rows: map[string]health.ReplicaRow{}}
		p := begin(t, s, health.ReplicaRow{})
		later(time.Minute)
		if s.beats > 8 || s.beats < 6 {
			t.Errorf("%d beats in a minute", s.beats)
		}
		p.keep.Close()
	})
}

// TestKeyID checks that different keys have different identifiers, which contain nothing of the private key.
func TestKeyID(t *testing.T) {
	seed := bytes.Repeat([]byte{7}, ed25519.SeedSize)
	private := ed25519.NewKeyFromSeed(seed)
	other := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{8}, ed25519.SeedSize))
	a, b := health.KeyID(private.Public().(ed25519.PublicKey)), health.KeyID(other.Public().(ed25519.PublicKey))
	if a == b || len(a) != 12 || strings.Contains(a, "0707") {
		t.Error(a, b)
	}
}
