package audit_test

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bailiwick-dev/bailiwick/audit"
)

func keyOf(n byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(append(make([]byte, ed25519.SeedSize-1), n))
}

func trusted(key ed25519.PrivateKey) []ed25519.PublicKey {
	return []ed25519.PublicKey{key.Public().(ed25519.PublicKey)}
}

func signer(t *testing.T, m *audit.Memory, key ed25519.PrivateKey, long bool) *audit.Signer {
	t.Helper()
	s, err := audit.NewSigner(t.Context(), m, m, key, long)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func appendTo(t *testing.T, log audit.Log, n int) {
	t.Helper()
	for i := range n {
		r := audit.Record{Time: time.Now(), Principal: "p", Tool: "count_objects", Outcome: audit.OK, Rows: i}
		if err := log.Append(t.Context(), &r); err != nil {
			t.Fatal(err)
		}
	}
}

// checkpoints returns the positions of checkpoints, and what they cover.
func checkpoints(t *testing.T, m *audit.Memory) string {
	t.Helper()
	var out []string
	if err := m.Records(t.Context(), audit.First, func(r audit.Record) bool {
		if r.Checkpoint != "" {
			seq, _, _ := strings.Cut(r.Checkpoint, ":")
			out = append(out, fmt.Sprintf("%d:%s", r.Seq, seq))
		}
		return true
	}); err != nil {
		t.Fatal(err)
	}
	return strings.Join(out, " ")
}

// TestSigner checks when checkpoints are written.
func TestSigner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &audit.Memory{}
		s := signer(t, m, keyOf(1), true)
		appendTo(t, s, 3)
		time.Sleep(time.Minute - 1)
		synctest.Wait()
		want := func(when, want string) {
			t.Helper()
			if got := checkpoints(t, m); got != want {
				t.Errorf("%s: %s, want %s", when, got, want)
			}
		}
		want("before a minute", "")
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		want("after a minute", "4:3")
		time.Sleep(time.Hour)
		synctest.Wait()
		want("nothing new", "4:3")
		for range 600 {
			appendTo(t, s, 1)
			synctest.Wait()
		}
		want("many", "4:3 504:503")
		if err := errors.Join(s.Close(t.Context()), s.Close(t.Context())); err != nil {
			t.Error(err)
		}
		want("closed", "4:3 504:503 606:605")

		// A long-running process signs what others left. Another one doesn't sign a few records.
		short := signer(t, m, keyOf(1), false)
		appendTo(t, short, 5)
		if err := short.Close(t.Context()); err != nil {
			t.Error(err)
		}
		want("short", "4:3 504:503 606:605")
		for range 2 {
			long := signer(t, m, keyOf(1), true)
			if err := long.Close(t.Context()); err != nil {
				t.Error(err)
			}
			want("long", "4:3 504:503 606:605 612:611")
		}
		for range 2 {
			short = signer(t, m, keyOf(1), false)
			appendTo(t, short, 250)
			if err := short.Close(t.Context()); err != nil {
				t.Error(err)
			}
		}
		want("short, and much", "4:3 504:503 606:605 612:611 1113:1112")
		report, err := audit.VerifyWithKeys(t.Context(), m, trusted(keyOf(1)))
		if err != nil || !report.Whole() || report.Signed.Seq != 1112 || report.Records != 1113 {
			t.Error(report, err)
		}
	})
}

// broken is a log that fails while told to.
type broken struct {
	*audit.Memory
	fails atomic.Bool
}

func (b *broken) Append(ctx context.Context, r *audit.Record) error {
	if b.fails.Load() {
		return errors.New("no")
	}
	return b.Memory.Append(ctx, r)
}

// TestSignerFails checks that a failed checkpoint is written after the next record, and that Close reports a failure.
func TestSignerFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &broken{Memory: &audit.Memory{}}
		s, err := audit.NewSigner(t.Context(), m, m, keyOf(1), true)
		if err != nil {
			t.Fatal(err)
		}
		appendTo(t, s, 1)
		m.fails.Store(true)
		time.Sleep(time.Hour)
		synctest.Wait()
		m.fails.Store(false)
		appendTo(t, s, 1)
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := checkpoints(t, m.Memory); got != "3:2" {
			t.Error(got)
		}
		appendTo(t, s, 1)
		m.fails.Store(true)
		if s.Close(t.Context()) == nil {
			t.Error("no error")
		}
	})
}

// meanwhile is a log that runs a function while a checkpoint is written.
type meanwhile struct {
	*audit.Memory
	do func()
}

func (m *meanwhile) Append(ctx context.Context, r *audit.Record) error {
	if do := m.do; do != nil && r.Checkpoint != "" {
		m.do = nil
		do()
	}
	return m.Memory.Append(ctx, r)
}

// TestSignerMeanwhile checks that a record appended while a checkpoint is written is covered by the next one, without
// further records.
func TestSignerMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &meanwhile{Memory: &audit.Memory{}}
		s, err := audit.NewSigner(t.Context(), m, m, keyOf(1), true)
		if err != nil {
			t.Fatal(err)
		}
		m.do = func() {
			r := audit.Record{Tool: "x"}
			if err := m.Memory.Append(t.Context(), &r); err != nil { // as another process would
				t.Error(err)
			}
			appendTo(t, s, 1)
		}
		appendTo(t, s, 1)
		time.Sleep(3 * time.Minute)
		synctest.Wait()
		if got := checkpoints(t, m.Memory); got != "4:1 5:3" {
			t.Error(got)
		}
	})
}

// TestSignedDamage checks that damage is reported as without checkpoints. A repeated checkpoint proves nothing new.
func TestSignedDamage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := signedLog(t, keyOf(1))
		var first string
		_ = all.Records(t.Context(), audit.First, func(r audit.Record) bool { first = r.Checkpoint; return first == "" })
		again := audit.Record{Tool: audit.CheckpointTool, Checkpoint: first}
		if err := all.Append(t.Context(), &again); err != nil {
			t.Fatal(err)
		}
		for name, tt := range map[string]struct {
			edit func(*audit.Record) bool // applied to records as they are read
			want string
		}{
			"nothing":            {func(*audit.Record) bool { return true }, ""},
			"altered":            {func(r *audit.Record) bool { r.Rows += count(r.Seq == 1000); return true }, "altered 1000-1000"},
			"altered checkpoint": {func(r *audit.Record) bool { r.Rows += count(r.Seq == 1001); return true }, "altered 1001-1001"},
			"missing":            {func(r *audit.Record) bool { return r.Seq != 1000 }, "missing 1000-1000"},
		} {
			report, err := audit.VerifyWithKeys(t.Context(), edited{all, tt.edit}, trusted(keyOf(1)))
			var got []string
			for _, d := range report.Damage {
				got = append(got, fmt.Sprintf("%s %d-%d", d.Kind, d.Seq, d.Last))
			}
			if err != nil || strings.Join(got, " ") != tt.want || report.Signed.Seq != 5010 {
				t.Error(name, got, report.Signed.Seq, err)
			}
		}
	})
}

// edited is a log read with modifications after sealing.
type edited struct {
	*audit.Memory
	edit func(*audit.Record) bool
}

func (e edited) Records(ctx context.Context, from int64, yield func(audit.Record) bool) error {
	return e.Memory.Records(ctx, from, func(r audit.Record) bool { return !e.edit(&r) || yield(r) })
}

// rewrite is an attack by someone who can write to the store but lacks the key. It returns a log with as many copies of
// each record as edit returns, all with valid hashes.
func rewrite(t *testing.T, m *audit.Memory, edit func(*audit.Record) int) *audit.Memory {
	t.Helper()
	out := &audit.Memory{}
	if err := m.Records(t.Context(), audit.First, func(r audit.Record) bool {
		for range edit(&r) {
			if err := out.Append(t.Context(), &r); err != nil {
				t.Error(err)
			}
		}
		return true
	}); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestForged checks that a rewritten history with valid hashes is found and located, although the chain itself is
// intact.
func TestForged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := signedLog(t, keyOf(1))
		other := signedLog(t, keyOf(2))
		first := func(r *audit.Record) int { return count(r.Seq <= 700) } // fewer than may be unsigned
		theirs := map[int64]string{}
		_ = other.Records(t.Context(), audit.First, func(r audit.Record) bool { theirs[r.Seq] = r.Checkpoint; return true })
		eve := func(r *audit.Record) int {
			if r.Seq == 700 {
				r.Owner = "eve"
			}
			return 1
		}
		for name, tt := range map[string]struct {
			edit func(*audit.Record) int
			key  ed25519.PrivateKey
			want string
		}{
			"as it was":         {func(*audit.Record) int { return 1 }, keyOf(1), ""},
			"an edit":           {eve, keyOf(1), "forked 501-5010: the checkpoint at record 1001 was signed over another past"},
			"the first record":  {func(r *audit.Record) int { r.Rows += count(r.Seq == 1); return 1 }, keyOf(1), "forked 1-5010: the checkpoint at record 501 was signed over another past"},
			"one gone":          {func(r *audit.Record) int { return count(r.Seq != 700) }, keyOf(1), "forked 501-5010: the checkpoint at record 1000 was signed over another past"},
			"two gone":          {func(r *audit.Record) int { return count(r.Seq != 700 && r.Seq != 701) }, keyOf(1), "forked 501-5009: the checkpoint at record 999 was signed over another past"},
			"one too many":      {func(r *audit.Record) int { return 1 + count(r.Seq == 700) }, keyOf(1), "forked 501-5010: the checkpoint at record 1002 was signed over another past"},
			"no checkpoints":    {func(r *audit.Record) int { return count(r.Checkpoint == "") }, keyOf(1), "unsigned 1-5000: no checkpoint covers them"},
			"none behind it":    {func(r *audit.Record) int { eve(r); return count(r.Checkpoint == "" || r.Seq < 700) }, keyOf(1), "unsigned 501-5001: no checkpoint covers them"},
			"signed by another": {func(r *audit.Record) int { eve(r); r.Checkpoint = theirs[r.Seq]; return 1 }, keyOf(1), "unsigned 1-5011: no checkpoint covers them that this key has signed. 11 are signed by another or forged"},
			"its end signed by another": {func(r *audit.Record) int {
				if r.Seq > 4000 && r.Checkpoint != "" {
					r.Checkpoint = theirs[r.Seq]
				}
				return 1
			}, keyOf(1), "unsigned 3501-5011: no checkpoint covers them that this key has signed. 4 are signed by another or forged"},
			"a short log":              {first, keyOf(1), ""},
			"a short log, another key": {first, keyOf(2), "unsigned 1-700: no checkpoint covers them that this key has signed. 1 are signed by another or forged"},
			"another key":              {func(*audit.Record) int { return 1 }, keyOf(2), "unsigned 1-5011: no checkpoint covers them that this key has signed. 11 are signed by another or forged"},
		} {
			log := rewrite(t, m, tt.edit)
			report, err := audit.VerifyWithKeys(t.Context(), log, trusted(tt.key))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, d := range report.Damage {
				got = append(got, fmt.Sprintf("%s %d-%d: %s", d.Kind, d.Seq, d.Last, d.Detail))
			}
			if strings.Join(got, "; ") != tt.want {
				t.Errorf("%s:\ngot  %s\nwant %s", name, strings.Join(got, "; "), tt.want)
			}
			if chain, err := audit.Verify(t.Context(), log); err != nil || !chain.Whole() {
				t.Errorf("%s: the chain alone: %v %v", name, chain.Damage, err)
			}
		}
	})
}

// signedLog returns a log of 5,000 calls with checkpoints.
func signedLog(t *testing.T, key ed25519.PrivateKey) *audit.Memory {
	t.Helper()
	m := &audit.Memory{}
	s := signer(t, m, key, true)
	for i := range 5000 {
		r := audit.Record{Time: time.Now(), Principal: "p", Tool: "count_objects", Outcome: audit.OK, Rows: i}
		if err := s.Append(t.Context(), &r); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
	}
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	return m
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TestKeys checks the text form of public keys.
func TestKeys(t *testing.T) {
	public := trusted(keyOf(1))[0]
	if got, err := audit.ParseKey(audit.FormatKey(public)); err != nil || !got.Equal(public) {
		t.Error(got, err)
	}
	for _, text := range []string{"", "ed25519:", "ed25519:AAAA", strings.TrimPrefix(audit.FormatKey(public), "ed25519:"), audit.FormatKey(public) + "A"} {
		if _, err := audit.ParseKey(text); err == nil {
			t.Error(text)
		}
	}
}
