package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/audit"
)

// A table receives the tests' records. It has the same columns as a store's tables.
type table struct {
	mu   sync.Mutex
	rows []RecordRow
	head audit.Head
	fail error
}

func (t *table) end() (audit.Head, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.head, nil
}

func (t *table) keep(rows []RecordRow, end audit.Head) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.fail != nil {
		return t.fail
	}
	for _, r := range rows {
		if r.Seq > t.head.Seq {
			t.rows = append(t.rows, r)
			t.head = audit.Head{Seq: r.Seq, Hash: hex.EncodeToString(r.Hash)}
		}
	}
	t.head = later(t.head, end)
	return nil
}

// direct appends a batch like a store that bypasses the journal.
func (t *table) direct(batch []*audit.Record) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	frame, head, err := appendFrame(nil, t.head, batch)
	if err != nil {
		return err
	}
	rows, _ := journalRead(frame)
	t.rows, t.head = append(t.rows, rows...), head
	return nil
}

// wantChain fails unless the table has an undamaged chain that contains each record in promised exactly once.
func (t *table) wantChain(tb testing.TB, promised []string) {
	tb.Helper()
	prev, seen := []byte{}, map[string]int{}
	for i, r := range t.rows {
		sum := sha256.Sum256(append([]byte(hex.EncodeToString(prev)), r.Body...))
		if r.Seq != int64(i+1) || !bytes.Equal(r.Prev, prev) || !bytes.Equal(sum[:], r.Hash) {
			tb.Fatalf("record %d of %d is %d, after %x not %x", i+1, len(t.rows), r.Seq, r.Prev, prev)
		}
		prev = r.Hash
		record, err := r.Record()
		if err != nil {
			tb.Fatal(err)
		}
		seen[record.Correlation]++
	}
	for _, name := range promised {
		if seen[name] != 1 {
			tb.Fatalf("%s was promised and is there %d times, of %d", name, seen[name], len(t.rows))
		}
	}
	if n := int64(len(t.rows)); t.head.Seq != n {
		tb.Fatalf("%d records end at %d", n, t.head.Seq)
	}
}

func batchOf(names ...string) (out []*audit.Record) {
	for _, name := range names {
		out = append(out, &audit.Record{Time: time.Unix(1, 0), Principal: "p", Correlation: name, Tool: "query_class", Outcome: audit.OK})
	}
	return out
}

func open(t testing.TB, dir string, to *table, o JournalOptions) *Journal {
	t.Helper()
	o.Head, o.Keep = to.end, to.keep
	j, err := OpenJournal(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// segmentOf returns the path and the content of the only segment in dir.
func segmentOf(t testing.TB, dir string) (string, []byte) {
	t.Helper()
	names, err := (&Journal{dir: dir}).segments()
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	path := filepath.Join(dir, names[0])
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return path, data
}

// TestCut cuts the segment at every byte, as a crash can. The earlier frames must exist, and another process must
// continue behind them. If a process recorded that more was synced, the head must show the loss.
func TestCut(t *testing.T) {
	dir, to := filepath.Join(t.TempDir(), "audit"), &table{}
	j := open(t, dir, to, JournalOptions{})
	var ends []int64
	for i := range 4 {
		if err := j.Append(batchOf(fmt.Sprint(i), fmt.Sprint(i, "b"))); err != nil {
			t.Fatal(err)
		}
		ends = append(ends, j.end)
	}
	path, data := segmentOf(t, dir)
	marked, err := os.ReadFile(filepath.Join(dir, "lock"))
	if err != nil {
		t.Fatal(err)
	}
	for cut := int64(0); cut <= ends[3]; cut++ {
		// The part that was not written may contain old bytes.
		for _, zeros := range []bool{false, true} {
			here, to := filepath.Join(t.TempDir(), "audit"), &table{}
			content := data[:cut:cut]
			if zeros {
				content = append(content, make([]byte, len(data)-int(cut))...)
			}
			plant(t, here, filepath.Base(path), content, nil)
			again := open(t, here, to, JournalOptions{})
			var promised []string
			for i, end := range ends {
				if end <= cut {
					promised = append(promised, fmt.Sprint(i), fmt.Sprint(i, "b"))
				}
			}
			if len(to.rows) != len(promised) {
				t.Fatalf("cut at %d: %d records, want %d", cut, len(to.rows), len(promised))
			}
			if cut%16 == 0 {
				if err := again.Append(batchOf("after")); err != nil {
					t.Fatal(err)
				}
				promised = append(promised, "after")
			}
			if err := again.Close(); err != nil {
				t.Fatal(err)
			}
			to.wantChain(t, promised)
		}
	}
	for _, cut := range []int64{0, ends[1], ends[3] - 1} {
		here, to := filepath.Join(t.TempDir(), "audit"), &table{}
		plant(t, here, filepath.Base(path), data[:cut], marked)
		again := open(t, here, to, JournalOptions{})
		if to.head != j.head || len(to.rows) == 8 {
			t.Errorf("cut at %d with a mark: %d records and the head %d, want the head to be 8", cut, len(to.rows), to.head.Seq)
		}
		if err := errors.Join(again.Append(batchOf("after")), again.Close()); err != nil || to.head.Seq != 9 {
			t.Error(to.head, err)
		}
	}
}

// plant writes a folder in the state that a killed process leaves.
func plant(t testing.TB, dir, name string, segment, marked []byte) {
	t.Helper()
	if err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(dir, name), segment, 0o600), os.WriteFile(filepath.Join(dir, "lock"), marked, 0o600)); err != nil {
		t.Fatal(err)
	}
}

// TestDamaged changes each byte of a frame in the middle. The other frames must be kept, with a gap that audit.Verify
// finds. The file must be kept, too.
func TestDamaged(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "audit")
	j := open(t, dir, &table{}, JournalOptions{})
	var ends []int64
	for i := range 3 {
		if err := j.Append(batchOf(fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
		ends = append(ends, j.end)
	}
	path, data := segmentOf(t, dir)
	for at := ends[0]; at < ends[1]; at++ {
		changed := slices.Clone(data)
		changed[at] ^= 1
		here, to := filepath.Join(t.TempDir(), "audit"), &table{}
		plant(t, here, filepath.Base(path), changed, nil)
		again := open(t, here, to, JournalOptions{})
		if len(to.rows) != 2 || to.rows[0].Seq != 1 || to.rows[1].Seq != 3 {
			t.Fatalf("byte %d changed: %+v", at, to.rows)
		}
		if _, err := os.Stat(filepath.Join(here, filepath.Base(path)+".damaged")); err != nil {
			t.Fatalf("byte %d changed: %v", at, err)
		}
		if err := again.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// A disk creates segments on which writes and syncs fail. It loses bytes that were not synced when the power fails.
type disk struct {
	rand   *rand.Rand
	rate   float64           // the rate of failures
	synced map[string][]byte // by path
}

type unsafeFile struct {
	segment
	disk *disk
}

func (d *disk) open(path string, create bool) (file, error) {
	if d.rand.Float64() < d.rate {
		return nil, syscall.ENOSPC
	}
	f, err := openSegment(path, create)
	if err != nil {
		return nil, err
	}
	if create {
		d.synced[path] = nil
	}
	return &unsafeFile{segment: f.(segment), disk: d}, nil
}

func (f *unsafeFile) WriteAt(p []byte, off int64) (int, error) {
	if f.disk.rand.Float64() < f.disk.rate {
		n, err := f.segment.WriteAt(p[:f.disk.rand.IntN(len(p)+1)], off)
		return n, errors.Join(syscall.ENOSPC, err)
	}
	return f.segment.WriteAt(p, off)
}

func (f *unsafeFile) Truncate(size int64) error {
	if f.disk.rand.Float64() < f.disk.rate {
		return syscall.EIO
	}
	return f.segment.Truncate(size)
}

func (f *unsafeFile) Sync() error {
	if f.disk.rand.Float64() < f.disk.rate {
		return syscall.EIO
	}
	data, err := os.ReadFile(f.Name())
	f.disk.synced[f.Name()] = data
	return err
}

// powerFails restores the synced bytes of each file, with some of the sectors that were written later.
func (d *disk) powerFails(t testing.TB) {
	t.Helper()
	for _, path := range slices.Sorted(maps.Keys(d.synced)) {
		now, err := os.ReadFile(path)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		const sector = 512
		left := slices.Clone(d.synced[path])
		for at := 0; at < len(now); at += sector {
			end := min(at+sector, len(now))
			if d.rand.IntN(2) == 0 {
				if len(left) < end {
					left = append(left, make([]byte, end-len(left))...)
				}
				copy(left[at:end], now[at:end])
			}
		}
		if err := os.WriteFile(path, left, 0o600); err != nil {
			t.Fatal(err)
		}
		d.synced[path] = left
	}
}

// TestFaults appends from two processes on a disk that fails at random, and cuts the power. Each promised record must
// exist once, and the chain must be undamaged.
func TestFaults(t *testing.T) {
	for seed := range uint64(120) {
		random := rand.New(rand.NewPCG(seed, 1))
		dir, to := filepath.Join(t.TempDir(), "audit"), &table{}
		d := &disk{rand: random, rate: float64(seed%4) / 10, synced: map[string][]byte{}}
		var promised []string
		for life := range 3 {
			rate := d.rate
			d.rate = 0
			handles := []*Journal{open(t, dir, to, JournalOptions{open: d.open}), open(t, dir, to, JournalOptions{open: d.open})}
			d.rate = rate
			for i := range 12 {
				j, names := handles[random.IntN(2)], []string{fmt.Sprint(life, ".", i), fmt.Sprint(life, ".", i, "b")}
				batch := batchOf(names...)
				err := j.Append(batch)
				if errors.Is(err, ErrDirect) {
					err = j.Exclusive(func() error { return to.direct(batchOf(names...)) })
				}
				if err == nil {
					promised = append(promised, names...)
				} else if !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EIO) {
					t.Fatalf("seed %d: %v", seed, err)
				}
				if n := random.IntN(12); n < 3 {
					again := []func() error{handles[random.IntN(2)].Fold, handles[0].Fold, handles[1].Try}[n]
					if err := again(); err != nil && !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EIO) {
						t.Fatalf("seed %d: %v", seed, err)
					}
				}
			}
			d.powerFails(t)
			if random.IntN(2) == 0 { // the mark isn't synced either
				if err := os.WriteFile(filepath.Join(dir, "lock"), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
		d.rate = 0
		if err := open(t, dir, to, JournalOptions{}).Close(); err != nil {
			t.Fatal(err)
		}
		t.Run(fmt.Sprint(seed), func(t *testing.T) { to.wantChain(t, promised) })
	}
}

// TestKilledBetween checks that a frame of a process that was killed before it could write the mark is kept, and not
// overwritten.
func TestKilledBetween(t *testing.T) {
	dir, to := filepath.Join(t.TempDir(), "audit"), &table{}
	j := open(t, dir, to, JournalOptions{})
	if err := j.Append(batchOf("a")); err != nil {
		t.Fatal(err)
	}
	path, _ := segmentOf(t, dir)
	frame, head, err := appendFrame(nil, j.head, batchOf("killed"))
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(frame, j.end); err != nil {
		t.Fatal(err)
	}
	f.Close()
	if err := j.Append(batchOf("b")); err != nil || j.head.Seq != head.Seq+1 {
		t.Fatal(j.head, err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	to.wantChain(t, []string{"a", "killed", "b"})
}

// TestFoldedMeanwhile checks a process that searches for the end of the chain, without a mark, while another process
// folds the segments. It must find the end in the tables.
func TestFoldedMeanwhile(t *testing.T) {
	dir, to := filepath.Join(t.TempDir(), "audit"), &table{}
	j, other := open(t, dir, to, JournalOptions{}), open(t, dir, to, JournalOptions{})
	if err := j.Append(batchOf("a")); err != nil {
		t.Fatal(err)
	}
	unlock, err := other.lock()
	if err != nil {
		t.Fatal(err)
	}
	names, end, err := other.seal()
	unlock()
	if err := errors.Join(err, os.Truncate(filepath.Join(dir, "lock"), 0)); err != nil {
		t.Fatal(err)
	}
	j.options.Head = func() (audit.Head, error) {
		head, err := to.end()
		return head, errors.Join(err, other.drain(names, end))
	}
	if err := errors.Join(j.Append(batchOf("b")), other.Close(), j.Close()); err != nil {
		t.Fatal(err)
	}
	to.wantChain(t, []string{"a", "b"})
}

// TestTry checks that Try fails when Append fails, leaves nothing, and succeeds when the disk has room again.
func TestTry(t *testing.T) {
	dir, to := filepath.Join(t.TempDir(), "audit"), &table{}
	d := &disk{rand: rand.New(rand.NewPCG(1, 1)), synced: map[string][]byte{}}
	j := open(t, dir, to, JournalOptions{open: d.open})
	for _, rate := range []float64{0, 1, 0} {
		d.rate = rate
		if err := j.Try(); (err != nil) != (rate > 0) {
			t.Errorf("rate %v: %v", rate, err)
		}
	}
	if names, err := os.ReadDir(dir); err != nil || len(names) != 1 {
		t.Errorf("%v, %v; want the lock alone", names, err)
	}
	if err := j.Append(batchOf("a")); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(j.Try(), j.Append(batchOf("b")), j.Close()); err != nil {
		t.Fatal(err)
	}
	to.wantChain(t, []string{"a", "b"})
}

// TestEvery checks that records of an interval are synced at its end, and that folding repairs a failed sync.
func TestEvery(t *testing.T) {
	dir, to := filepath.Join(t.TempDir(), "audit"), &table{}
	d := &disk{rand: rand.New(rand.NewPCG(1, 1)), synced: map[string][]byte{}}
	j := open(t, dir, to, JournalOptions{Every: time.Millisecond, open: d.open})
	if err := j.Append(batchOf("a")); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool {
		j.mu.Lock()
		defer j.mu.Unlock()
		return len(d.synced) == 1 && d.synced[j.current.(*unsafeFile).Name()] != nil
	})
	j.mu.Lock()
	d.rate = 1
	j.current.Sync()
	j.syncing = nil
	j.mu.Unlock()
	j.sync()
	if err := j.Append(batchOf("b")); !errors.Is(err, ErrDirect) {
		t.Fatal("behind a failed sync:", err)
	}
	d.rate = 0
	if err := errors.Join(j.Exclusive(func() error { return to.direct(batchOf("b")) }), j.Append(batchOf("c")), j.Close()); err != nil {
		t.Fatal(err)
	}
	to.wantChain(t, []string{"a", "b", "c"})
}

// waitFor waits until is returns true.
func waitFor(t *testing.T, is func() bool) {
	t.Helper()
	for late := time.Now().Add(time.Minute); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(late) {
			t.Fatal("it doesn't happen")
		}
	}
}

// TestOthers checks folders that belong to another store, are missing, or are locked.
func TestOthers(t *testing.T) {
	dir, to := filepath.Join(t.TempDir(), "audit"), &table{}
	j := open(t, dir, to, JournalOptions{})
	if err := errors.Join(j.Append(batchOf("a", "b")), j.Fold(), j.Append(batchOf("c"))); err != nil {
		t.Fatal(err)
	}
	older := &table{}
	if _, err := OpenJournal(dir, JournalOptions{Head: older.end, Keep: older.keep}); !errors.Is(err, ErrForeign) || !strings.Contains(err.Error(), dir) {
		t.Error("a folder of another store:", err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := j.Append(batchOf("d")); !errors.Is(err, ErrMoved) {
		t.Error("a folder that is gone:", err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("the folder is there after Close")
	}
	if err := j.Append(batchOf("d")); !errors.Is(err, errJournalClosed) {
		t.Error("closed:", err)
	}
}

// TestTablesWentBack checks that the journal detects tables that end before their former end, or with another record.
// It must detect that at the next start, and in a process that continues. The tables got their records from the
// journal, or directly.
func TestTablesWentBack(t *testing.T) {
	for name, last := range map[string]func(j *Journal, to *table) error{
		"folded":   func(j *Journal, _ *table) error { return errors.Join(j.Append(batchOf("b")), j.Fold()) },
		"directly": func(j *Journal, to *table) error { return j.Exclusive(func() error { return to.direct(batchOf("b")) }) },
	} {
		t.Run(name, func(t *testing.T) {
			dir, to := filepath.Join(t.TempDir(), "audit"), &table{}
			j := open(t, dir, to, JournalOptions{})
			if err := errors.Join(j.Append(batchOf("a")), j.Fold()); err != nil {
				t.Fatal(err)
			}
			older := table{rows: slices.Clone(to.rows), head: to.head}
			beside := table{rows: slices.Clone(to.rows), head: to.head}
			if err := errors.Join(last(j, to), beside.direct(batchOf("other"))); err != nil {
				t.Fatal(err)
			}
			for what, wrong := range map[string]*table{"before": &older, "beside": &beside} {
				if _, err := OpenJournal(dir, JournalOptions{Head: wrong.end, Keep: wrong.keep}); !errors.Is(err, ErrForeign) || !strings.Contains(err.Error(), dir) {
					t.Errorf("a start with tables that end %s: %v", what, err)
				}
			}
			same := open(t, dir, to, JournalOptions{}) // no process ended cleanly, and nothing is missing
			if err := same.Append(batchOf("c")); err != nil {
				t.Fatal(err)
			}
			if err := same.Fold(); err != nil {
				t.Fatal(err)
			}
			to.wantChain(t, []string{"a", "b", "c"})
			to.rows, to.head = older.rows, older.head
			for what, err := range map[string]error{"append": j.Append(batchOf("d")), "fold": j.Fold(), "exclusive": j.Exclusive(func() error { return to.direct(batchOf("d")) }), "try": j.Try()} {
				if !errors.Is(err, ErrForeign) {
					t.Errorf("%s while the tables went back: %v", what, err)
				}
			}
		})
	}
}

// TestTogether appends, folds and closes from several handles at the same time.
func TestTogether(t *testing.T) {
	dir, to := filepath.Join(t.TempDir(), "audit"), &table{}
	var promised []string
	var mu sync.Mutex
	var all sync.WaitGroup
	for who := range 4 {
		all.Go(func() {
			for life := range 5 {
				j := open(t, dir, to, JournalOptions{})
				for i := range 20 {
					name := fmt.Sprint(who, ".", life, ".", i)
					append := func() error { return j.Append(batchOf(name)) }
					if i%7 == 3 {
						append = func() error { return j.Exclusive(func() error { return to.direct(batchOf(name)) }) }
					}
					if err := append(); err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					promised = slices.Concat(promised, []string{name})
					mu.Unlock()
					if i%5 == 4 {
						if err := j.Fold(); err != nil {
							t.Error(err)
						}
					}
				}
				if err := j.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	to.wantChain(t, promised)
}

// TestOpenedWhileClosed opens the folder from several handles while others close it. Closing removes an empty folder.
func TestOpenedWhileClosed(t *testing.T) {
	dir, to := filepath.Join(t.TempDir(), "audit"), &table{}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 100 {
				j, err := OpenJournal(dir, JournalOptions{Head: to.end, Keep: to.keep})
				if err == nil {
					err = j.Close()
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
}
