package result

import (
	"bytes"
	"encoding/base64"
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

func cursors(t testing.TB, now *time.Time) *Sealer {
	t.Helper()
	c, err := NewSealer(bytes.Repeat([]byte{7}, 32), func() time.Time { return *now })
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCursor(t *testing.T) {
	now := time.Date(2026, 11, 21, 8, 0, 30, 0, time.UTC)
	c := cursors(t, &now)
	mine, other := [32]byte{1}, [32]byte{2}
	for _, at := range []policy.Position{
		{Skip: 7},
		{Skip: 50, Last: 1<<40 - 1, Run: 3, Now: now},
		{Skip: 1000, Last: 9, Run: 1000},
		{After: []value.Value{}},
		{After: []value.Value{{}, value.OfInt(math.MinInt64), value.OfString("é\"\\"), value.OfBool(true)}},
		{After: []value.Value{value.OfDate(-1), value.OfDay(86400e6), value.OfDecimal("1.10"), value.OfBytes("\x00\xff"), value.OfFloat(math.Inf(-1)), value.OfFloat(0.1)}},
		{After: []value.Value{value.OfString("0c9f4e2a-1b3c-4d5e-8f90-a1b2c3d4e5f6"), value.OfString("0C9F4E2A-1b3c-4d5e-8f90-a1b2c3d4e5f6"), value.OfString("")}},
		{After: []value.Value{value.OfArray([]value.Value{value.OfInt(1)}), value.OfInt(-1)}},
	} {
		sealed := c.Seal(at, mine)
		got, err := c.Open(sealed, mine)
		if err != nil || !reflect.DeepEqual(got, at) {
			t.Errorf("Open(Seal(%v)) = %v, %v", at, got, err)
		}
		if c.Seal(at, mine) != sealed {
			t.Errorf("%v has two cursors within a minute", at)
		}
		if _, err := c.Open(sealed, other); problem.Of(err).Detail != "the cursor does not belong to this call" {
			t.Errorf("a cursor of another call: %v", err)
		}
	}
	sealed := c.Seal(policy.Position{Skip: 7}, mine)
	for i := range sealed {
		changed := []byte(sealed)
		changed[i] ^= 1
		if _, err := c.Open(string(changed), mine); problem.CodeOf(err) != problem.InvalidArgument {
			t.Fatalf("byte %d changed: %v", i, err)
		}
	}
	for _, bad := range []string{"", "x", "====", base64.RawURLEncoding.EncodeToString(make([]byte, 100)), sealed + "A", sealed[:18]} {
		if _, err := c.Open(bad, mine); problem.Of(err).Detail != "the cursor does not belong to this call" {
			t.Errorf("Open(%q): %v", bad, err)
		}
	}
	if n := len(c.Seal(policy.Position{After: []value.Value{value.OfInt(1115)}}, mine)); n > 24 {
		t.Errorf("the cursor behind a number has %d characters", n)
	}
	if n := len(c.Seal(policy.Position{Skip: 2000, Last: 1<<40 - 1, Run: 50, Now: now}, mine)); n > 42 {
		t.Errorf("the cursor of a SELECT has %d characters", n)
	}
	if n := len(c.Seal(policy.Position{After: []value.Value{value.OfString("0c9f4e2a-1b3c-4d5e-8f90-a1b2c3d4e5f6")}}, mine)); n > 43 {
		t.Errorf("the cursor behind a UUID has %d characters", n)
	}
	now = now.Add(life)
	if _, err := c.Open(sealed, mine); err != nil {
		t.Errorf("after an hour: %v", err)
	}
	now = now.Add(2 * time.Minute)
	if _, err := c.Open(sealed, mine); problem.Of(err).Detail != "the cursor has expired" {
		t.Errorf("after an hour and two minutes: %v", err)
	}
	sealed = c.Seal(policy.Position{Skip: 7}, mine)
	for back, good := range map[time.Duration]bool{30 * time.Minute: true, 24 * time.Hour: false, 20 * 24 * time.Hour: false} { // the clock is set back
		now = now.Add(-back)
		if _, err := c.Open(sealed, mine); (err == nil) != good || err != nil && problem.Of(err).Detail != "the cursor has expired" {
			t.Errorf("with the clock set back by %v: %v", back, err)
		}
		now = now.Add(back)
	}
	now = now.Add(1 << 16 * time.Minute) // the last 16 bits of the minute are the same
	if _, err := c.Open(sealed, mine); problem.Of(err).Detail != "the cursor does not belong to this call" {
		t.Errorf("after 46 days: %v", err)
	}
	if _, err := NewSealer(make([]byte, 31), nil); err == nil {
		t.Error("a secret of 31 bytes is taken")
	}
}

// FuzzPlace checks that decoding a place never panics.
func FuzzPlace(f *testing.F) {
	f.Add(appendPlace(nil, policy.Position{After: []value.Value{value.OfInt(1), value.OfDate(5), value.OfString("a"), value.OfFloat(1)}}))
	f.Add([]byte{1, 3, 1})
	f.Add([]byte{1, 5, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})
	f.Add([]byte{1, 2, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, in []byte) {
		if at, ok := readPlace(in); ok && !slices.ContainsFunc(at.After, func(v value.Value) bool { return v.Kind() == value.Cut }) {
			if again, ok := readPlace(appendPlace(nil, at)); !ok || !reflect.DeepEqual(again, at) {
				t.Errorf("%v is read as %v", at, again)
			}
		}
	})
}

func FuzzCursor(f *testing.F) {
	now := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
	c := cursors(f, &now)
	f.Add(c.Seal(policy.Position{After: []value.Value{value.OfInt(1), value.OfDate(5)}}, [32]byte{}))
	f.Add("AAAA")
	f.Fuzz(func(t *testing.T, in string) {
		at, err := c.Open(in, [32]byte{})
		if err != nil {
			return
		}
		if again := c.Seal(at, [32]byte{}); again != in {
			t.Errorf("%q opens as %v, which seals as %q: only Seal makes cursors", in, at, again)
		}
	})
}
