package session

import (
	"testing"
	"time"
)

func keeper(t *testing.T, key byte, now *time.Time) *Keeper {
	t.Helper()
	secret := make([]byte, 32)
	secret[0] = key
	k, err := New(Options{Key: secret, Now: func() time.Time { return *now }})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// TestOpen tells which texts are a session.
func TestOpen(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	k, replica, stranger := keeper(t, 1, &now), keeper(t, 1, &now), keeper(t, 2, &now)
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
		got, _, ok := row.keeper.Open(row.text, row.cookie)
		if ok != row.ok || ok && got.Credential != "bw_secret" || !ok && got != (Session{}) {
			t.Errorf("%s: %v %v", row.name, got, ok)
		}
	}
	if k.Seal(s, "cookie") == text {
		t.Error("two seals are the same")
	}
	now = now.Add(2 * time.Minute)
	if got, renewed, ok := k.Open(text, "cookie"); !ok || !renewed || !got.Seen.Equal(now) {
		t.Error("a use isn't noted:", got, renewed, ok)
	}
	k.End(s)
	if _, _, ok := k.Open(text, "cookie"); ok || k.Holds(s) {
		t.Error("signed out of, and opened")
	}
	now = now.Add(Life)
	k.End(Session{ID: "x", Began: now}) // forgets those that have ended by themselves
	if len(k.ended) != 1 {
		t.Error("remembered:", len(k.ended))
	}
	if _, err := New(Options{Key: make([]byte, 31)}); err == nil {
		t.Error("a short key")
	}
}

func TestMark(t *testing.T) {
	now := time.Now()
	k := keeper(t, 1, &now)
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
	k := keeper(t, 1, &now)
	code := k.Offer("bw_secret", time.Hour)
	if got, ok := k.Redeem(code); !ok || got != "bw_secret" {
		t.Error(got, ok)
	}
	if _, ok := k.Redeem(code); ok {
		t.Error("twice")
	}
	late := k.Offer("bw_secret", time.Hour)
	now = now.Add(time.Hour)
	if _, ok := k.Redeem(late); ok {
		t.Error("late")
	}
}
