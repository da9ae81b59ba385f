package audit_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/audit"
	"pgregory.net/rapid"
)

// A tape is a possibly damaged log: its records in reading order, and its head.
type tape struct {
	records []audit.Record
	head    audit.Head
}

func (l *tape) Records(_ context.Context, from int64, yield func(audit.Record) bool) error {
	for _, r := range l.records {
		if r.Seq >= from && !yield(r) {
			break
		}
	}
	return nil
}

func (l *tape) Backwards(context.Context, int64, func(audit.Record) bool) error { panic("not used") }
func (l *tape) Find(context.Context, string) (audit.Record, bool, error)        { panic("not used") }
func (l *tape) Head(context.Context) (audit.Head, error)                        { return l.head, nil }

func record(n int) audit.Record {
	return audit.Record{
		Time: time.Date(2026, 7, 28, 12, 0, n, n*1000, time.UTC), Principal: "token:t1", Owner: "ana", Tenant: "acme",
		TokenID: "t1", Correlation: fmt.Sprint("c", n), Tool: "query_class", Class: "tracker.issues",
		ArgKeys: []string{"class", "where"}, ArgHash: "ab12", Outcome: audit.Refused, Code: "not_found",
		Kind: "hidden_class", Policy: "p1", Rows: n, Bytes: 10 * n, Tokens: n, Micros: int64(n),
		Parent: "token:p", Depth: 1, Scopes: []string{"read"}, Uses: []string{"tracker.issues", "tracker.issues.title"}, Cost: 10, Change: "01j", Checkpoint: "1:ab:cd", Digest: "d1",
	}
}

// written returns an undamaged log of n records.
func written(n int) *tape {
	l := new(tape)
	l.seal(n)
	return l
}

// seal appends n more records.
func (l *tape) seal(n int) {
	for range n {
		r := record(len(l.records) + 1)
		l.head = audit.Seal(l.head, &r)
		l.records = append(l.records, r)
	}
}

// reseal modifies record seq, and seals it and the records up to last again.
func (l *tape) reseal(seq, last int) {
	h := audit.Head{}
	if seq > 1 {
		h = audit.Head{Seq: int64(seq - 1), Hash: l.records[seq-2].Hash}
	}
	l.records[seq-1].Owner = "mallory"
	for i := seq - 1; i < last; i++ {
		h = audit.Seal(h, &l.records[i])
	}
	if last == len(l.records) {
		l.head = h
	}
}

func verify(t interface{ Fatal(...any) }, l audit.Reader, kept ...audit.Head) []string {
	report, err := audit.Verify(context.Background(), l, kept...)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, d := range report.Damage {
		s := fmt.Sprintf("%s %d", d.Kind, d.Seq)
		if d.Last != d.Seq {
			s += fmt.Sprintf("-%d", d.Last)
		}
		out = append(out, s)
	}
	return out
}

func TestVerify(t *testing.T) {
	tests := []struct {
		name   string
		tamper func(*tape)
		want   string
	}{
		{"nothing", func(l *tape) {}, ""},
		{"an empty log", func(l *tape) { *l = tape{} }, ""},
		{"the content of one", func(l *tape) { l.records[4].Owner = "bob" }, "altered 5"},
		{"the content of three in a row", func(l *tape) {
			for i := range 3 {
				l.records[4+i].Rows++
			}
		}, "altered 5-7"},
		{"the hash of one", func(l *tape) { l.records[4].Hash = strings.Repeat("0", 64) }, "altered 5"},
		{"the link of one", func(l *tape) { l.records[4].Prev = l.records[1].Hash }, "altered 5"},
		{"the number of one", func(l *tape) { l.records[4].Seq = 77 }, "altered 5"},
		{"the number of the last", func(l *tape) { l.records[9].Seq = 77 }, "altered 10"},
		{"the first", func(l *tape) { l.records[0].Tool = "x" }, "altered 1"},
		{"the last", func(l *tape) { l.records[9].Tool = "x" }, "altered 10"},
		{"one gone", func(l *tape) { l.records = slices.Delete(l.records, 4, 5) }, "missing 5"},
		{"four gone", func(l *tape) { l.records = slices.Delete(l.records, 2, 6) }, "missing 3-6"},
		{"the first gone", func(l *tape) { l.records = l.records[1:] }, "missing 1"},
		{"the tail gone", func(l *tape) { l.records = l.records[:7] }, "truncated 8-10"},
		{"all gone", func(l *tape) { l.records = nil }, "truncated 1-10"},
		{"the tail and the head's memory of it gone", func(l *tape) {
			l.records = l.records[:7]
			l.head = audit.Head{Seq: 7, Hash: l.records[6].Hash}
		}, ""}, // undetectable without a kept head: see TestVerifyKept
		{"the head forgotten", func(l *tape) { l.head = audit.Head{} }, "inserted 1-10"},
		{"neighbours swapped", func(l *tape) { l.records[4], l.records[5] = l.records[5], l.records[4] }, "reordered 6"},
		{"two swapped", func(l *tape) { l.records[1], l.records[7] = l.records[7], l.records[1] }, "reordered 2 reordered 8"},
		{"a block moved", func(l *tape) {
			l.records = slices.Concat(l.records[:2], l.records[6:9], l.records[2:6], l.records[9:])
		}, "reordered 3 reordered 4 reordered 5 reordered 6"},
		{"a copy of an old one inserted", func(l *tape) { l.records = slices.Insert(l.records, 6, l.records[2]) }, "inserted 7"},
		{"a forged one inserted", func(l *tape) {
			r := record(99)
			audit.Seal(audit.Head{Seq: 6, Hash: "00"}, &r)
			l.records = slices.Insert(l.records, 6, r)
		}, "inserted 7"},
		{"a forged one with a large number inserted", func(l *tape) {
			r := record(99)
			audit.Seal(audit.Head{Seq: 1 << 60, Hash: "00"}, &r)
			l.records = slices.Insert(l.records, 6, r)
		}, "inserted 7"},
		{"one put behind the head", func(l *tape) { h := l.head; l.seal(1); l.head = h }, "inserted 11"},
		{"a copy in the place of another", func(l *tape) { l.records[6] = l.records[2] }, "inserted 7 missing 7"},
		{"a twin", func(l *tape) {
			r := record(99)
			audit.Seal(audit.Head{Seq: 6, Hash: l.records[5].Hash}, &r)
			l.records = slices.Insert(l.records, 7, r)
		}, "forked 7"},
		{"one replaced and sealed", func(l *tape) { l.reseal(5, 5) }, "forked 5-6"},
		{"three replaced and sealed", func(l *tape) { l.reseal(3, 5) }, "forked 5-6"},
		{"the first replaced and sealed", func(l *tape) { l.reseal(1, 1) }, "forked 1-2"},
		{"rewritten to the end, not the head", func(l *tape) { h := l.head; l.reseal(5, 10); l.head = h }, "forked 1-10"},
		{"gone here and altered there", func(l *tape) {
			l.records[7].Class = "x"
			l.records = slices.Delete(l.records, 2, 4)
		}, "missing 3-4 altered 8"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := written(10)
			tt.tamper(l)
			if got := strings.Join(verify(t, l), " "); got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

// Kept heads reveal a history rewritten together with the log's own head.
func TestVerifyKept(t *testing.T) {
	at := func(l *tape, seq int) audit.Head { return audit.Head{Seq: int64(seq), Hash: l.records[seq-1].Hash} }
	tests := []struct {
		name   string
		tamper func(*tape)
		want   string
	}{
		{"nothing", func(l *tape) {}, ""},
		{"grown since", func(l *tape) { l.seal(3) }, ""},
		{"rewritten from 5", func(l *tape) { l.reseal(5, 10) }, "forked 4-8 forked 4-10"},
		{"rewritten from 9", func(l *tape) { l.reseal(9, 10) }, "forked 9-10"},
		{"cut", func(l *tape) { l.records = l.records[:9]; l.head = at(l, 9) }, "truncated 10"},
		{"emptied", func(l *tape) { *l = tape{} }, "truncated 1-10"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := written(10)
			kept := []audit.Head{at(l, 8), l.head, at(l, 3)}
			tt.tamper(l)
			if got := strings.Join(verify(t, l, kept...), " "); got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

// A mover is a log whose head moves while it is read.
type mover struct {
	tape
	heads []audit.Head
}

func (m *mover) Head(context.Context) (audit.Head, error) {
	h := m.heads[0]
	m.heads = m.heads[1:]
	return h, nil
}

func TestVerifyHeadMoves(t *testing.T) {
	l := *written(10)
	at := func(seq int) audit.Head { return audit.Head{Seq: int64(seq), Hash: l.records[seq-1].Hash} }
	for _, tt := range []struct {
		name          string
		before, after audit.Head
		want          string
	}{
		{"with the records", at(8), at(10), ""},
		{"beyond what was read", at(8), audit.Head{Seq: 12, Hash: "00"}, ""},
		{"to another hash", at(8), audit.Head{Seq: 10, Hash: "00"}, "[forked 9-10]"},
		{"back", at(10), at(8), "[inserted 9-10]"},
	} {
		got := verify(t, &mover{tape: l, heads: []audit.Head{tt.before, tt.after}})
		if s := strings.TrimPrefix(fmt.Sprint(got), "[]"); s != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, s, tt.want)
		}
	}
}

// TestVerifyGrowing appends while Verify reads.
func TestVerifyGrowing(t *testing.T) {
	var l audit.Memory
	done := make(chan struct{})
	go func() {
		defer close(done)
		for n := range 2000 {
			r := record(n)
			l.Append(context.Background(), &r)
		}
	}()
	for growing := true; growing; {
		select {
		case <-done:
			growing = false
		default:
		}
		if got := verify(t, &l); got != nil {
			t.Fatal(got)
		}
	}
}

// TestTampering makes one random modification to a random log: Verify must find and locate it.
func TestTampering(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "records")
		l := written(n)
		at := rapid.IntRange(0, n-1).Draw(t, "at")
		other := rapid.IntRange(0, n-1).Draw(t, "other")
		forged := record(1000)
		lo, hi := int64(at+1), int64(at+1) // the range in which it may be located
		do := rapid.SampledFrom([]string{"alter", "delete", "swap", "move", "copy", "forge", "cut", "reseal", "rewrite"}).Draw(t, "do")
		switch do {
		case "alter":
			alter(t, &l.records[at])
		case "delete":
			last := rapid.IntRange(at, n-1).Draw(t, "last")
			l.records = slices.Delete(l.records, at, last+1)
			hi = int64(last + 1)
		case "swap", "move":
			if at == other {
				t.Skip("no change")
			}
			r := l.records[at]
			if do == "swap" {
				l.records[at], l.records[other] = l.records[other], r
			} else {
				l.records = slices.Insert(slices.Delete(l.records, at, at+1), other, r)
			}
			lo, hi = int64(min(at, other)+1), int64(max(at, other)+1)
		case "copy":
			l.records = slices.Insert(l.records, at, l.records[other])
			hi++
		case "forge":
			seq := rapid.Int64Range(0, int64(n)+3).Draw(t, "seq")
			hash := rapid.SampledFrom(append([]audit.Record{{Hash: "00"}}, l.records...)).Draw(t, "onto").Hash
			audit.Seal(audit.Head{Seq: seq, Hash: hash}, &forged)
			l.records = slices.Insert(l.records, at, forged)
			lo, hi = min(lo, forged.Seq), max(hi, forged.Seq)+1
		case "cut":
			l.records = l.records[:at]
			hi = int64(n)
		case "reseal": // up to other, which contradicts the next record or the head
			h := l.head
			l.reseal(at+1, max(at, other)+1)
			l.head = h
			hi = int64(n)
		case "rewrite": // with the head. Only a kept head reveals it
			kept := audit.Head{Seq: int64(n), Hash: l.head.Hash}
			l.reseal(at+1, n)
			wantBetween(t, verify(t, l, kept), 1, int64(n))
			return
		}
		wantBetween(t, verify(t, l), lo, hi)
	})
}

// wantBetween fails unless there is damage and all of it overlaps lo to hi.
func wantBetween(t *rapid.T, damage []string, lo, hi int64) {
	if len(damage) == 0 {
		t.Fatal("not found")
	}
	for _, d := range damage {
		var kind string
		var first, last int64
		if n, _ := fmt.Sscanf(d, "%s %d-%d", &kind, &first, &last); n < 3 {
			last = first
		}
		if first > hi || last < lo {
			t.Fatalf("%v: not between %d and %d", damage, lo, hi)
		}
	}
}

// alter changes a random field of r.
func alter(t *rapid.T, r *audit.Record) {
	texts := []*string{&r.Prev, &r.Hash, &r.Principal, &r.Owner, &r.Tenant, &r.TokenID, &r.Correlation, &r.Tool, &r.Class,
		&r.ArgHash, &r.Outcome, &r.Code, &r.Kind, &r.Policy, &r.ArgKeys[0], &r.ArgKeys[1],
		&r.Parent, &r.Scopes[0], &r.Uses[0], &r.Uses[1]}
	ints := []*int{&r.Rows, &r.Bytes, &r.Tokens, &r.Depth}
	switch i := rapid.IntRange(0, len(texts)+len(ints)+3).Draw(t, "field"); {
	case i < len(texts):
		s := texts[i]
		if *s == "" { // the first record's Prev
			*s = "x"
			return
		}
		b := []byte(*s)
		b[rapid.IntRange(0, len(b)-1).Draw(t, "byte")] ^= byte(rapid.IntRange(1, 255).Draw(t, "bits"))
		*s = string(b)
	case i < len(texts)+len(ints):
		*ints[i-len(texts)] += rapid.SampledFrom([]int{-1, 1, 1 << 53}).Draw(t, "by")
	case i == len(texts)+len(ints):
		r.Micros++
	case i == len(texts)+len(ints)+1:
		r.Time = r.Time.Add(time.Microsecond)
	case i == len(texts)+len(ints)+2:
		r.Cost++
	default:
		r.Seq = rapid.Int64().Filter(func(n int64) bool { return n != r.Seq }).Draw(t, "seq")
	}
}
