package store

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/audit"
)

// maxLine is the maximum size in bytes of a record in a file.
const maxLine = 16 << 20

// An ArchivedLog combines the files of an archive with their store into one log that can be verified.
type ArchivedLog struct {
	store interface {
		audit.Chain
		audit.Archived
	}
	dirs  []string
	files []archiveFile // in the order of their first records
	base  audit.Head
}

// An archiveFile contains records from the number first on.
type archiveFile struct {
	path  string
	first int64
	prev  string // the previous hash of the first record
	last  int64  // the number of the last record after a walk has read all records, or 0
}

// OpenArchive returns the archive in some folders, combined with the store. If the first files are missing, kept must
// contain the record before the first remaining file. Otherwise the missing files are damage. Files end with .jsonl
// or, if compressed, .jsonl.gz.
func OpenArchive(store interface {
	audit.Chain
	audit.Archived
}, kept []audit.Head, dirs ...string) (*ArchivedLog, error) {
	l := &ArchivedLog{store: store, dirs: dirs}
	if err := l.list(); err != nil {
		return nil, err
	}
	if len(l.files) > 0 {
		if before := (audit.Head{Seq: l.files[0].first - 1, Hash: l.files[0].prev}); slices.Contains(kept, before) {
			l.base = before
		}
	}
	return l, nil
}

// list adds the files in the folders that l doesn't know yet.
func (l *ArchivedLog) list() error {
	for _, dir := range l.dirs {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return fmt.Errorf("read the archive of the audit: %w", err)
		}
		for _, e := range entries {
			f := archiveFile{path: filepath.Join(dir, e.Name())}
			if !strings.HasSuffix(e.Name(), ".jsonl") && !strings.HasSuffix(e.Name(), ".jsonl.gz") ||
				slices.ContainsFunc(l.files, func(have archiveFile) bool { return have.path == f.path }) {
				continue
			}
			if err := f.look(); err != nil {
				return fmt.Errorf("read the archive of the audit: %w", err)
			}
			l.files = append(l.files, f)
		}
	}
	slices.SortStableFunc(l.files, func(a, b archiveFile) int { return int(a.first - b.first) })
	return nil
}

// look reads the first record number of f. If the first line is not a record, the name of the file determines the
// number.
func (f *archiveFile) look() error {
	for r, err := range f.records() {
		if err == nil {
			f.first, f.prev = r.Seq, r.Prev
			return nil
		}
		if _, ok := errors.AsType[*audit.Damage](err); !ok {
			return err
		}
		break
	}
	if n, _ := fmt.Sscanf(filepath.Base(f.path), "audit-%d-", &f.first); n != 1 {
		return fmt.Errorf("%s is not a file of an archive", f.path)
	}
	return nil
}

// records returns the records of f. At the first line that is not a record, it yields an *audit.Damage with the
// number that the record should have.
func (f *archiveFile) records() iter.Seq2[audit.Record, error] {
	return func(yield func(audit.Record, error) bool) {
		in, err := os.Open(f.path)
		if err != nil {
			yield(audit.Record{}, err)
			return
		}
		defer in.Close()
		var text io.Reader = in
		if strings.HasSuffix(f.path, ".gz") {
			if text, err = gzip.NewReader(in); err != nil {
				yield(audit.Record{}, fmt.Errorf("%s: %w", f.path, err))
				return
			}
		}
		next := f.first
		lines := bufio.NewScanner(text)
		lines.Buffer(nil, maxLine)
		for lines.Scan() {
			r, err := audit.ParseLine(lines.Bytes())
			if err != nil {
				err = &audit.Damage{Seq: next, Last: next, Kind: audit.Altered, Detail: "a line of " + filepath.Base(f.path) + " is not a record"}
			}
			if !yield(r, err) {
				return
			}
			next = max(next, r.Seq) + 1
		}
		if err := lines.Err(); err != nil {
			yield(audit.Record{}, fmt.Errorf("%s: %w", f.path, err))
		}
	}
}

// Base implements audit.Archived. It returns the record before the first file, if that record was in kept.
func (l *ArchivedLog) Base(context.Context) (audit.Head, error) { return l.base, nil }

// Head implements audit.Chain.
func (l *ArchivedLog) Head(ctx context.Context) (audit.Head, error) { return l.store.Head(ctx) }

// Find implements audit.Chain.
func (l *ArchivedLog) Find(ctx context.Context, step string) (audit.Record, bool, error) {
	return l.store.Find(ctx, step)
}

// Records implements audit.Chain. It reads records up to the store's base from the files, and later ones from the
// store. A record that is in the store and in a file, or in two files, must be equal in both. If the store deletes
// records meanwhile, Records reads them from their new files.
func (l *ArchivedLog) Records(ctx context.Context, from int64, yield func(audit.Record) bool) error {
	for gone := true; gone; {
		var err error
		if from, gone, err = l.pass(ctx, from, yield); err != nil {
			return err
		}
	}
	return nil
}

// pass passes the records from the number from on to yield. If the store deletes some of them before pass has read
// them, gone is true and next is the number of the first deleted record.
func (l *ArchivedLog) pass(ctx context.Context, from int64, yield func(audit.Record) bool) (next int64, gone bool, err error) {
	base, err := l.store.Base(ctx)
	if err == nil {
		err = l.list() // after the base, because a file is complete before the store deletes its records
	}
	if err != nil {
		return 0, false, err
	}
	if more, err := l.walkArchive(ctx, from, base, yield); err != nil || !more {
		return 0, false, err
	}
	next = max(from, base.Seq+1)
	ended := false
	err = l.store.Records(ctx, next, func(r audit.Record) bool {
		if gone = r.Seq != next && l.hasPruned(ctx, next); gone {
			return false
		}
		next = max(next, r.Seq+1)
		ended = !yield(r)
		return !ended
	})
	return next, gone || !ended && l.hasPruned(ctx, next), err
}

// hasPruned reports whether the store has deleted a record.
func (l *ArchivedLog) hasPruned(ctx context.Context, seq int64) bool {
	base, err := l.store.Base(ctx)
	return err == nil && base.Seq >= seq
}

// walkArchive passes the records up to the store's base to yield. It returns false when the walk has ended.
func (l *ArchivedLog) walkArchive(ctx context.Context, from int64, base audit.Head, yield func(audit.Record) bool) (bool, error) {
	w := archiveWalk{from: from, base: base.Seq, yield: yield}
	if more, err := w.strange(ctx, l.store); err != nil || !more {
		return false, err
	}
	next, stop := iter.Pull2(recordsFrom(ctx, l.store, max(from, 1)))
	defer stop()
	w.relic = next
	for i := range l.files {
		if f := &l.files[i]; f.last > 0 && f.last < from {
			continue
		}
		if more, err := w.file(&l.files[i]); err != nil || !more {
			return false, err
		}
	}
	return true, nil
}

// recordsFrom returns the records of a store from the number from on.
func recordsFrom(ctx context.Context, store audit.Chain, from int64) iter.Seq2[audit.Record, error] {
	return func(yield func(audit.Record, error) bool) {
		ended := false
		err := store.Records(ctx, from, func(r audit.Record) bool {
			ended = !yield(r, nil)
			return !ended
		})
		if err != nil && !ended {
			yield(audit.Record{}, err)
		}
	}
}

// An archiveWalk passes the records of files to yield.
type archiveWalk struct {
	from, base int64
	yield      func(audit.Record) bool
	relic      func() (audit.Record, error, bool) // returns the store's next record
	kept       audit.Record                       // the last record that relic returned
	last       int64                              // the number of the last record that was passed to yield
	seen       [2 * perFile]audit.Head
}

// strange passes a record to yield that the store has before record 1, which verify reports. One such record is
// enough. It returns false when the walk has ended.
func (w *archiveWalk) strange(ctx context.Context, store audit.Chain) (bool, error) {
	if w.from > 0 {
		return true, nil
	}
	var first [2]audit.Record // the first record of all, and the first from record 1 on
	for i, from := range []int64{audit.First, 1} {
		err := store.Records(ctx, from, func(r audit.Record) bool {
			first[i] = r
			return false
		})
		if d, ok := errors.AsType[*audit.Damage](err); err != nil && (!ok || d.Seq < 1) {
			return false, err
		}
	}
	if first[0].Seq == first[1].Seq && first[0].Hash == first[1].Hash {
		return true, nil
	}
	return w.yield(first[0]), nil
}

// file passes the records of one file to yield. It returns false when the walk has ended.
func (w *archiveWalk) file(f *archiveFile) (bool, error) {
	last := f.first
	for r, err := range f.records() {
		if d, ok := errors.AsType[*audit.Damage](err); ok && (d.Seq < w.from || d.Seq <= w.last) {
			continue // already reported
		}
		if err != nil {
			return false, err
		}
		if r.Seq > w.base {
			return true, nil // the store still has it
		}
		at := &w.seen[uint64(r.Seq)%uint64(len(w.seen))]
		switch {
		case r.Seq <= w.last && *at == (audit.Head{Seq: r.Seq, Hash: r.Hash}):
			continue
		case r.Seq <= w.last && r.Seq >= w.from:
			return false, &audit.Damage{Seq: r.Seq, Last: r.Seq, Kind: audit.Forked, Detail: "two files of the archive have another record of this number"}
		}
		*at, w.last = audit.Head{Seq: r.Seq, Hash: r.Hash}, max(w.last, r.Seq)
		if same, err := w.matchesStore(&r); err != nil {
			return false, err
		} else if r.Seq < w.from {
			continue
		} else if !same {
			return false, &audit.Damage{Seq: r.Seq, Last: r.Seq, Kind: audit.Altered, Detail: "the store has another record of this number than the archive"}
		}
		if !w.yield(r) {
			return false, nil
		}
		last = r.Seq
	}
	f.last = max(last, w.from-1)
	return true, nil
}

// matchesStore reports whether the store's copy of a record is equal. It returns true if the store has no copy.
func (w *archiveWalk) matchesStore(r *audit.Record) (bool, error) {
	for w.kept.Seq < r.Seq {
		next, err, more := w.relic()
		if d, ok := errors.AsType[*audit.Damage](err); ok {
			next, err = audit.Record{Seq: d.Seq}, nil
		}
		if err != nil {
			return false, err
		}
		if !more {
			next.Seq = audit.Last
		}
		w.kept = next
	}
	return w.kept.Seq != r.Seq || w.kept.Hash == r.Hash, nil
}
