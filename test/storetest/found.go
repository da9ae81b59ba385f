package storetest

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/internal/store"
)

// foundRecord returns the n-th record of an audit. All properties vary by which records are found, and all that are
// summed up.
func foundRecord(n int) *audit.Record {
	at := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(n)*time.Minute - time.Duration(n%7)*5*time.Minute)
	r := &audit.Record{Time: at, Principal: fmt.Sprint("token:T", n%5), Owner: fmt.Sprint("Änne", n%3), Tenant: []string{"acme", "zen"}[n%2], TokenID: fmt.Sprint(n % 5),
		Correlation: fmt.Sprint("Conv-", n/50), Tool: []string{"query_class", "aggregate", "get_object"}[n%3], Class: fmt.Sprint("tracker.issues", n%4), Outcome: audit.OK,
		Depth: n % 2, Rows: n % 11, Bytes: n, Tokens: n / 4, Micros: int64(n) * 3, Cost: int64(n % 13), Person: n%17 == 0}
	switch {
	case n%1900 == 7: // in some blocks only
		r.Principal, r.Outcome, r.Code, r.Kind = "token:rare", audit.Refused, "not_found", "Hidden_Class"
	case n%500 == 3:
		r.Step, r.Change, r.Outcome = fmt.Sprintf("01CH%d:1", n), fmt.Sprint("01CH", n), audit.Applied
	case n%500 == 4:
		r.Tool = strings.Repeat("long", 100) + fmt.Sprint(n) + Strange
	}
	return r
}

// testFound compares searches of the audit with all records: without summaries, with them, with one that is out of date,
// and after records were moved to an archive.
func testFound(t *testing.T, open Open) {
	s, ctx := Handle(t, open, t.TempDir()), t.Context()
	const n = 2*store.BlockSize + 300
	for from := 0; from < n; from += 20 { // together, because each waits for the disk, and nearly in order
		var wg sync.WaitGroup
		for i := from; i < min(from+20, n); i++ {
			wg.Go(func() {
				if err := s.Append(ctx, foundRecord(i)); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	}
	all := compareFound(t, s, 0)
	if err := store.FillBlocks(ctx, s); err != nil {
		t.Fatal(err)
	}
	compareFound(t, s, 2*store.BlockSize)

	// A block with another last record is not used, and is written again.
	if err := s.AddBlock(ctx, store.NewBlock(1, all[:3], []byte("another")), audit.Head{}); err != nil {
		t.Fatal(err)
	}
	compareFound(t, s, store.BlockSize)
	if err := store.FillBlocks(ctx, s); err != nil {
		t.Fatal(err)
	}
	compareFound(t, s, 2*store.BlockSize)

	// A block that was read before records were moved to an archive is not stored.
	moved, err := store.MoveRecords(ctx, s, store.ArchiveOptions{Dir: t.TempDir(), Before: all[300].Time, By: "test"})
	if err != nil || moved.Records < 200 || moved.Records > 400 {
		t.Fatal(moved, err)
	}
	if err := s.AddBlock(ctx, store.NewBlock(0, all[:store.BlockSize], nil), audit.Head{}); err != nil {
		t.Fatal(err)
	}
	compareFound(t, s, store.BlockSize)
	if err := store.FillBlocks(ctx, s); err != nil {
		t.Fatal(err)
	}
	compareFound(t, s, 2*store.BlockSize-int(moved.Records))
}

// compareFound compares what searches find with all records, which it returns in order. Of all records, at least
// summaries must come from blocks, and none if it is 0.
func compareFound(t *testing.T, s Store, summaries int) []audit.Record {
	t.Helper()
	ctx := t.Context()
	var all []audit.Record
	if err := s.Records(ctx, audit.First, func(r audit.Record) bool { all = append(all, r); return true }); err != nil {
		t.Fatal(err)
	}
	day := func(n int) time.Time { return time.Date(2026, 11, 1+n, 1, 0, 0, 0, time.UTC) }
	for i, q := range []store.RecordQuery{
		{From: day(0).Add(-2 * time.Hour)}, {From: day(1), To: day(2)}, {From: day(0).Add(-2 * time.Hour), Before: 2100}, {From: day(2), Before: all[len(all)-1].Seq},
		{From: day(0), Words: map[string]string{"agent": "RARE"}}, {From: day(0), Words: map[string]string{"agent": "änne1", "tool": "aggregate", "outcome": audit.OK, "tenant": "zen"}},
		{From: day(0), Words: map[string]string{"text": "hidden"}}, {From: day(0), Words: map[string]string{"text": "01ch2"}}, {From: day(0), Words: map[string]string{"text": "CONV-1"}},
		{From: day(0), Words: map[string]string{"class": "issues3", "tool": foundRecord(2004).Tool}}, {From: day(0), Words: map[string]string{"tool": "QUERY"}}, {From: day(0), Words: map[string]string{"agent": Strange}},
	} {
		var want, got []audit.Record
		for _, r := range slices.Backward(all) {
			if isFound(&q, &r) {
				want = append(want, r)
			}
		}
		fromBlocks := 0
		var numbers []int64
		err := s.Search(ctx, [2]time.Time{q.From, q.To}, q.Before, q.Words, func(r *audit.Record) bool {
			if r.Hash == "" {
				fromBlocks++
			}
			if isFound(&q, r) {
				got, numbers = append(got, *r), append(numbers, r.Seq)
			}
			return true
		})
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 && (fromBlocks < summaries || summaries == 0 && fromBlocks > 0) {
			t.Errorf("%d records come from blocks, want %d", fromBlocks, summaries)
		}
		for i := range got {
			if got[i].Hash == "" && i < len(want) {
				want[i] = summaryOf(&want[i])
			}
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", q, diff)
		}
		whole, err := s.RecordsAt(ctx, append(numbers, 1<<40))
		slices.SortFunc(whole, func(a, b audit.Record) int { return int(a.Seq - b.Seq) })
		var kept []audit.Record
		for _, r := range all {
			if slices.Contains(numbers, r.Seq) {
				kept = append(kept, r)
			}
		}
		if diff := cmp.Diff(kept, whole, cmpopts.EquateEmpty()); i > 0 && (diff != "" || err != nil) {
			t.Errorf("%+v: %v, records (-want +got):\n%s", q, err, diff)
		}
	}
	return all
}

// summaryOf returns what a block has of w.
func summaryOf(w *audit.Record) audit.Record {
	return audit.Record{Seq: w.Seq, Time: w.Time, Principal: w.Principal, Owner: w.Owner, Tenant: w.Tenant, TokenID: w.TokenID, Correlation: w.Correlation, Tool: w.Tool, Class: w.Class,
		Outcome: w.Outcome, Code: w.Code, Kind: w.Kind, Change: w.Change, Depth: w.Depth, Rows: w.Rows, Bytes: w.Bytes, Tokens: w.Tokens, Micros: w.Micros, Cost: w.Cost, Person: w.Person,
		Step: strings.Repeat("-", min(len(w.Step), 1)), Checkpoint: strings.Repeat("-", min(len(w.Checkpoint), 1))}
}

// isFound reports whether q selects r. It implements store.RecordQuery in Go.
func isFound(q *store.RecordQuery, r *audit.Record) bool {
	lower := strings.ToLower
	has := func(text, part string) bool { return strings.Contains(lower(text), lower(part)) }
	for kind, text := range q.Words {
		ok := false
		switch kind {
		case "agent":
			ok = has(r.Principal, text) || has(r.Owner, text)
		case "class":
			ok = has(r.Class, text)
		case "tool":
			ok = r.Tool == text
		case "outcome":
			ok = r.Outcome == text
		case "tenant":
			ok = r.Tenant == text
		case "text":
			ok = has(r.Code, text) || has(r.Kind, text) || strings.HasPrefix(lower(r.Correlation), lower(text)) || strings.HasPrefix(lower(r.Change), lower(text))
		}
		if !ok {
			return false
		}
	}
	return !r.Time.Before(q.From) && (q.To.IsZero() || r.Time.Before(q.To)) && (q.Before == 0 || r.Seq < q.Before)
}
