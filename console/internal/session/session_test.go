package session

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/once"
)

var errDown = errors.New("the disk is on fire")

// broken is a store that always fails.
type broken struct{}

func (broken) UseUp(context.Context, string, time.Time) (bool, error) { return false, errDown }
func (broken) UsedUp(context.Context, string) (bool, error)           { return false, errDown }

func keeper(t *testing.T, key byte, now *time.Time, used once.Store) *Keeper {
	t.Helper()
	secret := make([]byte, 32)
	secret[0] = key
	k, err := New(Options{Key: secret, Used: used, Now: func() time.Time { return *now }})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// TestOpen: which texts contain a session.
func TestOpen(t *testing.T) {
	now, ctx := time.Now().UTC(), t.Context()
	used := &once.Memory{} // shared by replicas
	k, replica, stranger := keeper(t, 1, &now, used), keeper(t, 1, &now, used), keeper(t, 2, &now, used)
	s := k.Begin("bw_secret")
	text := k.Seal(s, "cookie")
	changed := []byte(text)
	changed[10] ^= 1
	for _, row := range []struct {
		name   string
		keeper *Keeper
		text   string
		cookie string
		ok     bool
	}{
		{"itself", k, text, "cookie", true}, {"a replica", replica, text, "cookie", true}, {"another key", stranger, text, "cookie", false},
		{"another cookie", k, text, "other", false}, {"changed", k, string(changed), "cookie", false}, {"cut", k, text[:20], "cookie", false}, {"nothing", k, "", "cookie", false},
	} {
		got, _, err := row.keeper.Open(ctx, row.text, row.cookie)
		if ok := err == nil; ok != row.ok || ok && got.Credential != "bw_secret" || !ok && (got != (Session{}) || !errors.Is(err, ErrNone)) {
			t.Errorf("%s: %v %v", row.name, got, err)
		}
	}
	if k.Seal(s, "cookie") == text {
		t.Error("two seals are the same")
	}
	now = now.Add(2 * time.Minute)
	if got, renewed, err := k.Open(ctx, text, "cookie"); err != nil || !renewed || !got.Seen.Equal(now) {
		t.Error("a use isn't noted:", got, renewed, err)
	}
	down := keeper(t, 1, &now, broken{})
	if _, _, err := down.Open(ctx, text, "cookie"); !errors.Is(err, errDown) || down.End(ctx, s) == nil {
		t.Error("a store that is down:", err)
	}
	if err := k.End(ctx, s); err != nil {
		t.Fatal(err)
	}
	for name, one := range map[string]*Keeper{"here": k, "at a replica": replica, "after a restart": keeper(t, 1, &now, used)} {
		if _, _, err := one.Open(ctx, text, "cookie"); !errors.Is(err, ErrNone) || !errors.Is(one.Holds(ctx, s), ErrNone) {
			t.Errorf("signed out of, and opened %s: %v", name, err)
		}
	}
	if _, err := New(Options{Key: make([]byte, 31)}); err == nil {
		t.Error("a short key")
	}
}

func TestMark(t *testing.T) {
	now := time.Now()
	k := keeper(t, 1, &now, nil)
	mark := k.Mark("a")
	for id, want := range map[string]bool{"a": true, "b": false, "": false} {
		if k.Genuine(id, mark) != want {
			t.Error(id)
		}
	}
	if k.Genuine("", k.Mark("")) || k.Genuine("a", "") {
		t.Error("nobody's mark is genuine")
	}
}

func TestOffer(t *testing.T) {
	now := time.Now()
	used := &once.Memory{}
	k, replica, other := keeper(t, 1, &now, used), keeper(t, 1, &now, used), keeper(t, 2, &now, used)
	code := k.Offer("bw_secret", time.Hour)
	if strings.Contains(code, "bw_secret") {
		t.Error("the code shows the credential")
	}
	if _, err := other.Redeem(t.Context(), code); !errors.Is(err, ErrNone) {
		t.Error("with another key:", err)
	}
	if got, err := replica.Redeem(t.Context(), code); err != nil || got != "bw_secret" {
		t.Error(got, err)
	}
	for _, again := range []*Keeper{k, replica} {
		if _, err := again.Redeem(t.Context(), code); !errors.Is(err, ErrNone) {
			t.Error("twice:", err)
		}
	}
	late := k.Offer("bw_secret", time.Hour)
	now = now.Add(time.Hour)
	if _, err := k.Redeem(t.Context(), late); !errors.Is(err, ErrNone) {
		t.Error("late:", err)
	}
	// A session is no offer, an offer no session, and no store means no sign-in.
	if _, err := k.Redeem(t.Context(), k.Seal(k.Begin("bw_secret"), "cookie")); !errors.Is(err, ErrNone) {
		t.Error("a session:", err)
	}
	if _, _, err := k.Open(t.Context(), k.Offer("bw_secret", time.Hour), "cookie"); !errors.Is(err, ErrNone) {
		t.Error("an offer as a session:", err)
	}
	down := keeper(t, 1, &now, broken{})
	if got, err := down.Redeem(t.Context(), down.Offer("bw_secret", time.Hour)); !errors.Is(err, errDown) || got != "" {
		t.Error("without a store:", got, err)
	}
}
