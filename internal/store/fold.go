package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/bailiwick-dev/bailiwick/audit"
)

// Fold moves all present records of the journal into the tables. It passes them to JournalOptions.Keep in order, and
// then the end of the chain without rows. If the tables end before that end, records were lost.
func (j *Journal) Fold() error {
	unlock, err := j.lock()
	if err != nil {
		return err
	}
	names, end, err := j.seal()
	size := j.behind
	unlock()
	if err == nil {
		err = j.drain(names, end)
	}
	if err != nil {
		return err
	}
	if unlock, err = j.lock(); err != nil {
		return err
	}
	defer unlock()
	return j.recordFold(size)
}

// Exclusive folds the journal and then calls do. Meanwhile no process can append. do may append to the tables.
func (j *Journal) Exclusive(do func() error) error {
	unlock, err := j.lock()
	if err != nil {
		return err
	}
	defer unlock()
	names, end, err := j.seal()
	if err == nil {
		err = j.drain(names, end)
	}
	if err == nil {
		err = j.recordFold(j.behind)
	}
	if err != nil {
		return err
	}
	if err := do(); err != nil {
		return err
	}
	if head, err := j.options.Head(); err == nil && head.Seq > 0 {
		_ = j.setMark(journalMark{end: journalSettled, head: head}) // an older mark is also true
	}
	return nil
}

// Try returns nil if Append would succeed. It folds the journal. Then it writes and removes a file that is larger
// than the growth of a segment, because a full disk may have room only for folding.
func (j *Journal) Try() error {
	return j.Exclusive(func() (err error) {
		if j.hasMoved() {
			return ErrMoved
		}
		path := filepath.Join(j.dir, "try")
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		f, err := j.options.open(path, true)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, f.Close(), os.Remove(path)) }()
		if _, err := f.WriteAt(make([]byte, 2*mostAhead), 0); err != nil {
			return err
		}
		return f.Sync()
	})
}

// seal ensures that nothing more is appended to the present segments. It returns the segments and the end of the
// chain, or nothing if there is nothing to fold. The caller holds the lock.
func (j *Journal) seal() (names []string, end audit.Head, err error) {
	if err := j.follow(); err != nil {
		return nil, end, err
	}
	if names, err = j.segments(); err != nil {
		return nil, end, err
	}
	if _, m := j.getMark(); len(names) == 0 && (m.head.Seq == 0 || m.end == journalSettled) {
		return nil, end, nil
	}
	j.release()
	m := journalMark{head: j.head}
	if j.fault {
		m.end = faulty // until the records are in the tables
	}
	return names, j.head, j.setMark(m)
}

// drain passes the records of sealed segments to Keep, and removes the files. If seal found nothing, it does nothing.
func (j *Journal) drain(names []string, end audit.Head) error {
	if end.Seq == 0 {
		return nil
	}
	damaged := map[string]bool{}
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join(j.dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue // another process has folded it
		} else if err != nil {
			return err
		}
		rows, whole := journalRead(data)
		damaged[name] = !whole
		if err := j.options.Keep(rows, audit.Head{}); err != nil {
			return err
		}
	}
	if err := j.options.Keep(nil, end); err != nil {
		return err
	}
	for _, name := range names {
		path := filepath.Join(j.dir, name)
		err := error(nil)
		if damaged[name] {
			err = os.Rename(path, path+".damaged") // kept for inspection
		} else {
			err = os.Remove(path)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// recordFold records that segments with a total size in bytes were folded. If no segments are left, it also marks
// that the tables have all records. The caller holds the lock.
func (j *Journal) recordFold(size int64) error {
	j.fault, j.behind = false, max(j.behind-size, 0)
	names, err := j.segments()
	if err != nil || len(names) > 0 {
		return err
	}
	_, m := j.getMark()
	if m.head.Seq == 0 || m.end == journalSettled {
		return nil
	}
	return j.setMark(journalMark{end: journalSettled, head: m.head})
}

// Rows returns the records in the journal, in order. Readers use it when the journal can't be folded. The tables may
// already contain some of these records.
func (j *Journal) Rows() (out []RecordRow, err error) {
	names, err := j.segments()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join(j.dir, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		rows, _ := journalRead(data)
		out = append(out, rows...)
	}
	return out, nil
}

// Size returns the size in bytes of the records that are not folded yet.
func (j *Journal) Size() int64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.behind
}

// Close folds the journal and closes it. It removes the folder if no process has started another segment.
func (j *Journal) Close() error {
	err := j.Exclusive(func() error {
		names, err := os.ReadDir(j.dir)
		if err != nil || slices.ContainsFunc(names, func(e fs.DirEntry) bool { return e.Name() != lockName && e.Name() != idFile }) {
			return err
		}
		if j.options.Release != nil {
			if err := j.options.Release(); err != nil {
				return err
			}
			if err := os.Remove(filepath.Join(j.dir, idFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		// Other processes notice that the lock file is gone when they take it, or create another one before the
		// folder is removed. Such a process may also end meanwhile, and remove the folder first.
		err = os.Remove(j.lockFile.Name())
		if gone := os.Remove(j.dir); !errors.Is(gone, fs.ErrExist) && !errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, gone)
		}
		return err
	})
	j.mu.Lock()
	defer j.mu.Unlock()
	j.closed = true
	j.release()
	j.forget()
	return err
}
