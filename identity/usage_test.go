package identity_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/bailiwick-dev/bailiwick/identity"
)

// TestUses checks when uses are stored, on a fake clock: a minute after the first pending one.
func TestUses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t, identity.TokenOptions{Touch: time.Minute})
		_, a := r.create(identity.Token{})
		_, b := r.create(identity.Token{})
		use := func(secrets ...string) {
			for _, s := range secrets {
				if _, err := r.Authenticate(t.Context(), s, nowhere); err != nil {
					t.Fatal(err)
				}
			}
		}
		must := func(err error) {
			if err != nil {
				t.Fatal(err)
			}
		}
		start := time.Now()
		for _, s := range []struct {
			at     time.Duration
			what   string
			do     func()
			writes int64
		}{
			{0, "the first uses", func() { use(a, b) }, 0},
			{20 * time.Second, "one more", func() { use(a) }, 0},
			{40 * time.Second, "all are stored at once", func() { must(r.Flush(t.Context())) }, 1},
			{50 * time.Second, "one after it", func() { use(a) }, 1},
			{109 * time.Second, "which waits for a minute of its own", func() {}, 1},
			{111 * time.Second, "and no longer", func() {}, 2},
			{112 * time.Second, "nothing is to be stored", func() { must(r.Flush(t.Context())) }, 2},
			{113 * time.Second, "nor at the end", func() { must(r.Close(t.Context())) }, 2},
			{114 * time.Second, "a use after the end", func() { use(b) }, 2},
			{time.Hour, "isn't stored by itself", func() {}, 2},
			{time.Hour, "but by a second end", func() { must(r.Close(t.Context())) }, 3},
		} {
			time.Sleep(time.Until(start.Add(s.at)))
			synctest.Wait()
			s.do()
			if n := r.store.touches.Load(); n != s.writes {
				t.Fatalf("%v, %s: %d writes, want %d", s.at, s.what, n, s.writes)
			}
			all, err := r.List(t.Context(), operator, identity.TokenFilter{})
			if err != nil || len(all) != 2 || s.writes > 0 == all[0].LastUsed.IsZero() || s.writes > 0 == all[1].LastUsed.IsZero() {
				t.Fatalf("%v, %s: %v, %v", s.at, s.what, all, err)
			}
		}
	})
}

// TestUseWhileStoring checks that a use recorded during a failing store call takes precedence over the older one.
func TestUseWhileStoring(t *testing.T) {
	r := newRoom(t, identity.TokenOptions{Touch: time.Hour})
	_, secret := r.create(identity.Token{})
	use := func() {
		r.now.Add(time.Second.Microseconds())
		if _, err := r.Authenticate(t.Context(), secret, nowhere); err != nil {
			t.Fatal(err)
		}
	}
	use()
	r.store.touch = func() {
		use()
		r.store.broken.Store(true)
	}
	if err := r.Flush(t.Context()); err == nil {
		t.Fatal("stored on a broken store")
	}
	r.store.touch = nil
	r.store.broken.Store(false)
	if err := r.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if all, err := r.List(t.Context(), operator, identity.TokenFilter{}); err != nil || !all[0].LastUsed.Equal(noon.Add(2*time.Second)) {
		t.Error(all, err)
	}
}
