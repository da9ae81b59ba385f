package store

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/bailiwick-dev/bailiwick/audit"
)

const (
	// JournalFull is the size of a segment, in bytes, from which it should be folded. mostBehind is the total size of
	// all segments from which Append fails.
	JournalFull, mostBehind = 4 << 20, 256 << 20

	// A segment grows by zeros beyond the written frames. A sync that needn't change the file's size takes half the
	// time.
	leastAhead, mostAhead = 16 << 10, 256 << 10
)

// Errors of a Journal.
var (
	// ErrDirect is returned by Append if the caller must write the records to the tables itself, with Exclusive.
	// Either the journal could not be synced, or too many records are not folded yet.
	ErrDirect        = errors.New("the journal can't be appended to before it is folded")
	ErrMoved         = errors.New("the audit's journal was removed or replaced while it was in use. Put it back and restart")
	errJournalClosed = errors.New("the audit's journal is closed")
	ErrLocked        = errors.New("another process has kept the audit's journal locked for 10 s")
	// ErrForeign is returned if the tables lack records that they had when the journal was last used. So records are
	// missing, and perhaps the changes that were stored with them.
	ErrForeign = errors.New("the store lacks records that the audit's journal shows. Its -wal file was removed, or it was replaced by a copy, or the journal is another store's. Put the right one back. " +
		"To go on without these records, move the journal's folder away, and audit verify reports the loss")
)

// JournalOptions configure a Journal.
type JournalOptions struct {
	Head func() (audit.Head, error)                   // returns the end of the chain in the tables
	Keep func(rows []RecordRow, end audit.Head) error // moves new rows into the tables. See Fold
	// Claim stores in the tables that the folder id may contain records, until Release. It may be called again for
	// the same folder. If the folder already has records that the tables don't know about, Claim returns ErrForeign.
	// If Claim is nil, a missing folder is not detected.
	Claim   func(id string, records bool) error
	Release func() error // not nil with Claim
	// Every is the maximum time until a record is synced to the disk. 0 means that Append syncs before it returns.
	Every time.Duration

	open func(path string, create bool) (file, error) // for tests. Nil means openSegment
}

// A Journal is an open journal folder. It is safe for use by several goroutines.
type Journal struct {
	dir     string
	options JournalOptions

	mu        sync.Mutex // held together with the lock of the folder
	closed    bool
	lockFile  *os.File
	folder    *os.File // its lock decides which process takes the lock of lockFile next
	unordered bool     // whether some process keeps the lock of the folder
	claimed   bool     // whether the folder of lockFile is claimed
	mark      []byte   // the mark that this process wrote last
	current   file     // nil if there is no current segment
	name      string   // the name of current
	end       int64    // the end of the last frame in current
	ahead     int64    // the size of current
	head      audit.Head
	own       audit.Head  // the last record that this process appended
	fault     bool        // whether a write or a sync failed. Fold repairs that
	behind    int64       // the size in bytes of the segments that are not folded
	syncing   *time.Timer // nil when everything is synced
	buf       []byte
}

// A file is a segment that is being written.
type file interface {
	io.ReaderAt
	io.WriterAt
	Truncate(size int64) error
	Sync() error
	HasName() bool // reports whether the file still has a name
	Close() error
}

// OpenJournal opens the folder dir, and creates it if it doesn't exist. It folds the records of processes that have
// ended.
func OpenJournal(dir string, o JournalOptions) (*Journal, error) {
	j := &Journal{dir: dir, options: o}
	if o.open == nil {
		j.options.open = openSegment
	}
	table, err := o.Head()
	if err != nil {
		return nil, err
	}
	unlock, err := j.lock()
	if err != nil {
		return nil, err
	}
	names, err := j.segments()
	unlock()
	if err != nil {
		return nil, err
	}
	if len(names) > 0 && first(names[0]) > table.Seq+1 {
		// Meanwhile another process may have folded earlier segments.
		if table, err = o.Head(); err != nil || first(names[0]) > table.Seq+1 {
			return nil, cmp.Or(err, fmt.Errorf("%s: %w", dir, ErrForeign))
		}
	}
	return j, j.Fold()
}

// SyncEvery sets JournalOptions.Every.
func (j *Journal) SyncEvery(interval time.Duration) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.options.Every = interval
}

// Append seals the records onto the chain. It returns after they are on the disk. With JournalOptions.Every, it
// returns after they are written. After ErrDirect, none of them is in the chain. After another error, that is
// unknown.
func (j *Journal) Append(batch []*audit.Record) error {
	unlock, err := j.lock()
	if err != nil {
		return err
	}
	defer unlock()
	if err := j.follow(); err != nil {
		return err
	}
	if j.hasMoved() {
		return ErrMoved
	}
	if j.fault || j.behind > mostBehind {
		return ErrDirect
	}
	buf, head, err := appendFrame(j.buf[:0], j.head, batch)
	if err != nil {
		return err
	}
	j.buf = buf[:0]
	if err := j.write(buf); err != nil {
		j.fail()
		return err
	}
	j.head, j.own = head, head
	return j.setMark(journalMark{name: j.name, end: j.end, head: head})
}

// hasMoved reports whether the chain ends before the last record that this process appended, or has another record in
// its place. The caller holds the lock.
func (j *Journal) hasMoved() bool {
	return j.head.Seq < j.own.Seq || j.head.Seq == j.own.Seq && j.head != j.own
}

// write appends a frame to the current segment and syncs the segment.
func (j *Journal) write(frame []byte) error {
	begins := j.current == nil
	if begins {
		var random [8]byte
		rand.Read(random[:])
		name := fmt.Sprintf("%016x-%x", j.head.Seq+1, random)
		f, err := j.options.open(filepath.Join(j.dir, name), true)
		if err != nil {
			return err
		}
		j.current, j.name, j.end, j.ahead = f, name, 0, 0
	}
	size := int64(len(frame))
	if j.end+size > j.ahead {
		step := int64(1) << bits.Len64(uint64(min(max(j.end, leastAhead), mostAhead)-1))
		j.ahead = (j.end + size + step) / step * step
		frame = append(frame, make([]byte, j.ahead-j.end-size)...)
		j.buf = frame[:0]
	}
	if _, err := j.current.WriteAt(frame, j.end); err != nil {
		return err
	}
	switch {
	case j.options.Every == 0:
		if err := j.current.Sync(); err != nil {
			return err
		}
	case j.syncing == nil:
		j.syncing = time.AfterFunc(j.options.Every, j.sync)
	}
	if begins {
		if err := syncDir(j.dir); err != nil {
			return err
		}
	}
	j.end += size
	j.behind += size
	return nil
}

// sync syncs the frames that Append has not synced.
func (j *Journal) sync() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.syncing = nil
	if j.current != nil && j.current.Sync() != nil {
		j.fault = true // Append fails until the records are in the tables
	}
}

// fail removes the bytes that a failed write may have left. If that fails too, the frame may be incomplete, or in the
// chain but not on the disk. Then no process appends until all records are in the tables.
func (j *Journal) fail() {
	j.fault = true
	if j.current == nil {
		return
	}
	_ = j.current.Truncate(j.end) // the write has already failed, with a more useful error
	j.release()
	_ = j.setMark(journalMark{end: faulty, head: j.head})
}

// release closes the current segment, because it is sealed or another process appends to it now.
func (j *Journal) release() {
	if j.current != nil {
		_ = j.current.Close() // everything important was synced
		j.current, j.name = nil, ""
	}
}
