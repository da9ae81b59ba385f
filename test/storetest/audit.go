package storetest

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bailiwick-dev/bailiwick/audit"
)

func record(who string, n int) audit.Record {
	return audit.Record{
		Time: noon, Principal: who, Owner: "ana\"\\\n\u2028", Tenant: "acme", TokenID: "t1", Correlation: fmt.Sprint(n),
		Tool: "query_class", Class: "tracker.issues", ArgKeys: []string{"class", "where"}, ArgHash: "ab", Outcome: audit.OK,
		Policy: "p1", Rows: n, Bytes: math.MaxInt64, Tokens: math.MinInt64, Micros: math.MaxInt64 - int64(n),
		Parent: "token:p", Depth: 1, Scopes: []string{"explain", "read"}, Uses: []string{"tracker.issues", "tracker.issues.title"}, Cost: math.MaxInt64, Change: "01j", Checkpoint: "1:ab:cd", Digest: "d1", Person: n%2 == 1,
	}
}

// readAll returns the records of a read function, starting at a sequence number.
func readAll(t *testing.T, walk func(context.Context, int64, func(audit.Record) bool) error, from int64) []audit.Record {
	t.Helper()
	var out []audit.Record
	if err := walk(t.Context(), from, func(r audit.Record) bool { out = append(out, r); return true }); err != nil {
		t.Fatal(err)
	}
	return out
}

// wantWhole fails unless the log is undamaged and contains n records.
func wantWhole(t *testing.T, s Store, n int64) {
	t.Helper()
	report, err := audit.Verify(t.Context(), s)
	if err != nil || !report.Whole() || report.Records != n || report.Head.Seq != n {
		t.Fatalf("%+v, %v; want a whole log of %d records", report, err, n)
	}
}

// many is the number of records that writeMany appends: more than two pages.
const many = 1203

// writeMany appends three records one after another and then 1,200 by twelve goroutines, and returns them sorted by
// Seq.
func writeMany(t *testing.T, s Store) []audit.Record {
	t.Helper()
	ctx := t.Context()
	var wrote []audit.Record
	for len(wrote) < 3 {
		r := record("one", len(wrote))
		if err := s.Append(ctx, &r); err != nil {
			t.Fatal(err)
		}
		wrote = append(wrote, r)
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	for who := range 12 {
		wg.Go(func() {
			for i := range 100 {
				r := record(fmt.Sprint(who), i)
				if err := s.Append(ctx, &r); err != nil {
					t.Error(err)
				}
				mu.Lock()
				wrote = append(wrote, r)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	slices.SortFunc(wrote, func(a, b audit.Record) int { return int(a.Seq - b.Seq) })
	return wrote
}

// testAudit checks that records are read as they were written, forwards and backwards and from any position. The
// records of each writer must be in order. A read must stop when yield returns false.
func testAudit(t *testing.T, open Open) {
	s, ctx := Handle(t, open, t.TempDir()), t.Context()
	wantWhole(t, s, 0)
	wrote := writeMany(t, s)
	if diff := cmp.Diff(wrote, readAll(t, s.Records, audit.First)); diff != "" {
		t.Fatal("read otherwise than written (-want +got):\n", diff)
	}
	wantWhole(t, s, many)
	wantOrder(t, wrote)
	back := readAll(t, s.Backwards, audit.Last)
	slices.Reverse(back)
	if !cmp.Equal(back, wrote) {
		t.Error("backwards is not the reverse of forwards")
	}
	for _, tt := range []struct {
		name string
		got  []audit.Record
		want []audit.Record
	}{
		{"forwards from the middle", readAll(t, s.Records, 1000), wrote[999:]},
		{"forwards from behind the end", readAll(t, s.Records, many+1), nil},
		{"backwards from the middle", readAll(t, s.Backwards, 2), []audit.Record{wrote[1], wrote[0]}},
		{"backwards from before the beginning", readAll(t, s.Backwards, 0), nil},
	} {
		if !cmp.Equal(tt.got, tt.want) {
			t.Errorf("%s: %d records, want %d", tt.name, len(tt.got), len(tt.want))
		}
	}
	for _, stop := range []int{1, 500, 1100} { // the third page is read ahead
		calls := 0
		if err := s.Records(ctx, 1, func(audit.Record) bool { calls++; return calls < stop }); err != nil || calls != stop {
			t.Error("the walk went on after false:", calls, err)
		}
	}
	if head, err := s.Head(ctx); err != nil || head != (audit.Head{Seq: many, Hash: wrote[many-1].Hash}) {
		t.Error(head, err)
	}
	// A reader may append to the log that it is reading.
	err := s.Records(ctx, many, func(audit.Record) bool { r := record("inner", 1); return s.Append(ctx, &r) == nil })
	if err != nil {
		t.Error(err)
	}
}

// wantOrder fails unless each writer's records are in the order in which it wrote them.
func wantOrder(t *testing.T, all []audit.Record) {
	t.Helper()
	last := map[string]int{}
	for _, r := range all {
		if r.Rows < last[r.Principal] {
			t.Fatalf("record %d of %s stands behind a later one", r.Rows, r.Principal)
		}
		last[r.Principal] = r.Rows
	}
}

// testAuditHandles appends through two handles concurrently while the log is being verified.
func testAuditHandles(t *testing.T, open Open) {
	place, ctx := t.TempDir(), t.Context()
	handles := []Store{Handle(t, open, place), Handle(t, open, place)}
	const writers, each = 6, 60
	var wg sync.WaitGroup
	for who := range writers {
		wg.Go(func() {
			for i := range each {
				r := record(fmt.Sprint(who), i)
				if err := handles[who%2].Append(ctx, &r); err != nil {
					t.Error(err)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		if report, err := audit.Verify(ctx, handles[0]); err != nil || !report.Whole() {
			t.Fatalf("while it grows: %+v, %v", report, err)
		}
	}
	for _, s := range handles {
		wantWhole(t, s, writers*each)
	}
	wantOrder(t, readAll(t, handles[1].Records, 1))
}

// testAuditEnds checks that Append returns an error if a record is not stored, and that Close loses no records.
func testAuditEnds(t *testing.T, open Open) {
	place := t.TempDir()
	s := open(t, place)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	r := record("x", 1)
	if err := s.Append(gone, &r); !errors.Is(err, context.Canceled) {
		t.Error("append with a cancelled context:", err)
	}
	if r.Seq != 0 {
		t.Error("a record that was not appended has a number")
	}
	if err := s.Records(gone, 1, func(audit.Record) bool { return true }); !errors.Is(err, context.Canceled) {
		t.Error("read with a cancelled context:", err)
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	kept := map[int64]bool{}
	for who := range 8 {
		wg.Go(func() {
			for i := 0; ; i++ {
				r := record(fmt.Sprint(who), i)
				if s.Append(t.Context(), &r) != nil {
					return
				}
				mu.Lock()
				kept[r.Seq] = true
				mu.Unlock()
			}
		})
	}
	for some := false; !some; {
		mu.Lock()
		some = len(kept) > 50
		mu.Unlock()
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	wg.Wait()
	if err := s.Close(); err != nil {
		t.Error("a second close:", err)
	}
	again := Handle(t, open, place)
	all := readAll(t, again.Records, 1)
	wantWhole(t, again, int64(len(all)))
	for seq := range kept {
		if seq > int64(len(all)) {
			t.Errorf("record %d was promised and is gone", seq)
		}
	}
}

// testAuditSigned signs a log. It then copies the log to another store with one record changed, so that all hashes of
// the copy are valid.
func testAuditSigned(t *testing.T, open Open) {
	ctx := t.Context()
	s, forged := Handle(t, open, t.TempDir()), Handle(t, open, t.TempDir())
	seed, err := s.Secret(ctx, "audit checkpoints")
	if err != nil {
		t.Fatal(err)
	}
	key := ed25519.NewKeyFromSeed(seed)
	for range 2 {
		signer, err := audit.NewSigner(ctx, s, s, key, true)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 20 {
			r := record("one", i)
			r.Checkpoint = ""
			if err := signer.Append(ctx, &r); err != nil {
				t.Fatal(err)
			}
		}
		if err := signer.Close(ctx); err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range readAll(t, s.Records, audit.First) {
		if r.Seq == 30 {
			r.Owner = "eve"
		}
		if err := forged.Append(ctx, &r); err != nil {
			t.Fatal(err)
		}
	}
	wantWhole(t, s, 42)
	wantWhole(t, forged, 42)
	trusted := []ed25519.PublicKey{key.Public().(ed25519.PublicKey)}
	if report, err := audit.VerifyWithKeys(ctx, s, trusted); err != nil || !report.Whole() || report.Signed.Seq != 41 {
		t.Errorf("%+v %v", report, err)
	}
	want := []audit.Damage{{Seq: 21, Last: 41, Kind: audit.Forked, Detail: "the checkpoint at record 42 was signed over another past"}}
	if report, err := audit.VerifyWithKeys(ctx, forged, trusted); err != nil || !cmp.Equal(report.Damage, want) || report.Signed.Seq != 20 {
		t.Errorf("%+v %v", report, err)
	}
}

// testSecrets checks goroutines of two handles that request a new key concurrently. For the same name they must
// receive the same key, and for another name another key.
func testSecrets(t *testing.T, open Open) {
	place, ctx := t.TempDir(), t.Context()
	handles := []Store{Handle(t, open, place), Handle(t, open, place)}
	var wg sync.WaitGroup
	keys := make([][]byte, 8)
	for i := range keys {
		wg.Go(func() {
			var err error
			if keys[i], err = handles[i%2].Secret(ctx, "cursor"); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, k := range keys {
		if len(k) != 32 || !bytes.Equal(k, keys[0]) {
			t.Fatalf("keys of one name differ: %x and %x", k, keys[0])
		}
	}
	other, err := handles[0].Secret(ctx, "audit arguments")
	if err != nil || bytes.Equal(other, keys[0]) || bytes.Equal(other, make([]byte, 32)) {
		t.Errorf("%x, %v: want another key for another name", other, err)
	}
}
