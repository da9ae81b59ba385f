package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/bailiwick-dev/bailiwick/audit"
)

const (
	// perFile is the number of records in a file, and the number of records that a store deletes in one transaction.
	perFile = 10_000

	unfinished = "writing-" // the prefix of files that are not complete
)

// An ArchiveStore is a log that can delete its oldest records.
type ArchiveStore interface {
	audit.Log
	audit.Chain
	audit.Archived
	// Prune changes the base of the log, which must be from, to the value to. It deletes the records between them,
	// except records of steps. If the base is not from any more, the error is audit.ErrMoved.
	Prune(ctx context.Context, from, to audit.Head) error
}

// ArchiveOptions are options of MoveRecords.
type ArchiveOptions struct {
	Dir    string    // the folder of the files. It is created if it doesn't exist
	Before time.Time // the first record that is not older stays, and so do all later records
	By     string    // the principal in the log's records of the move

	PerFile int // the number of records in a file. 0 means 10,000
}

// MovedRecords is the result of MoveRecords.
type MovedRecords struct {
	Records int64      `json:"records"`
	Files   []string   `json:"files"`
	Base    audit.Head `json:"base"` // the last record that is now in an archive, or the zero Head
}

// MoveRecords writes the oldest records of s into files and deletes them from the store, file by file. If it fails,
// the result contains the records that were already moved. If another process moves records at the same time, one of
// the two fails with audit.ErrMoved.
func MoveRecords(ctx context.Context, s ArchiveStore, o ArchiveOptions) (MovedRecords, error) {
	if o.PerFile == 0 {
		o.PerFile = perFile
	}
	o.sweep()
	base, err := s.Base(ctx)
	done := MovedRecords{Base: base, Files: []string{}}
	if err != nil {
		return done, err
	}
	for {
		n, err := o.moveFile(ctx, s, &done)
		if err != nil || n < o.PerFile {
			return done, err
		}
	}
}

// sweep removes incomplete files of processes that were killed long ago. A file that can't be removed does no harm.
func (o ArchiveOptions) sweep() {
	left, _ := filepath.Glob(filepath.Join(o.Dir, unfinished+"*"))
	for _, name := range left {
		if info, err := os.Stat(name); err == nil && time.Since(info.ModTime()) > time.Hour {
			_ = os.Remove(name)
		}
	}
}

// moveFile moves the records of one file, if there are any. It returns their number.
func (o ArchiveOptions) moveFile(ctx context.Context, s ArchiveStore, done *MovedRecords) (int, error) {
	body, end, err := o.collect(ctx, s, done.Base)
	if err != nil {
		// If another process has pruned the log, records are missing although the log is undamaged.
		if base, berr := s.Base(ctx); berr == nil && base != done.Base {
			return 0, audit.ErrMoved
		}
		return 0, err
	}
	n := int(end.Seq - done.Base.Seq)
	if n == 0 {
		return 0, nil
	}
	name := filepath.Join(o.Dir, fmt.Sprintf("audit-%012d-%012d.jsonl", done.Base.Seq+1, end.Seq))
	if err := put(name, body); err != nil {
		return 0, fmt.Errorf("write the archive of the audit: %w", err)
	}
	said := audit.Record{Time: time.Now(), Principal: o.By, Tool: audit.ArchiveTool, Outcome: audit.OK, Rows: n, Bytes: len(body), Step: audit.ArchiveStep(end), Digest: end.Hash}
	if err := s.Append(ctx, &said); err != nil {
		return 0, err
	}
	if said.Digest != end.Hash {
		return 0, fmt.Errorf("record %d says that another record %d was archived: run audit verify", said.Seq, end.Seq)
	}
	if err := s.Prune(ctx, done.Base, end); err != nil {
		return 0, err
	}
	done.Records, done.Base, done.Files = done.Records+int64(n), end, append(done.Files, name)
	return n, nil
}

// collect returns the lines of records after base that are old enough, for one file, and the last of these records.
// Each record must follow the previous one. An altered record stays in the store, where verify finds it.
func (o ArchiveOptions) collect(ctx context.Context, s ArchiveStore, base audit.Head) ([]byte, audit.Head, error) {
	var body []byte
	var broken error
	end := base
	err := s.Records(ctx, base.Seq+1, func(r audit.Record) bool {
		if !r.Time.Before(o.Before) || end.Seq-base.Seq == int64(o.PerFile) {
			return false
		}
		if !r.Follows(end) {
			broken = fmt.Errorf("record %d doesn't follow record %d: nothing from there on is archived. Run audit verify", r.Seq, end.Seq)
			return false
		}
		body = append(r.AppendJSON(body), '\n')
		end = audit.Head{Seq: r.Seq, Hash: r.Hash}
		return true
	})
	return body, end, errors.Join(err, broken)
}

// put writes a file that only its owner can read, and returns after it is on the disk under its name. If a file of
// that name exists, it must have the same text.
func put(name string, body []byte) error {
	dir := filepath.Dir(name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	there, err := os.ReadFile(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = write(dir, name, body)
	case err == nil && !bytes.Equal(there, body):
		err = fmt.Errorf("%s is there, with other records: move it away, and run audit verify", name)
	}
	if err != nil {
		return err
	}
	return syncFolder(dir)
}

// write writes a file that is complete or doesn't exist under name. It writes another file, syncs it, reads it back
// and renames it, because the store will delete the records of the file.
func write(dir, name string, body []byte) (err error) {
	f, err := os.CreateTemp(dir, unfinished+"*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	if _, err = f.Write(body); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if back, rerr := os.ReadFile(f.Name()); rerr != nil || !bytes.Equal(back, body) {
		return errors.Join(rerr, fmt.Errorf("%s reads back otherwise than it was written", f.Name()))
	}
	return os.Rename(f.Name(), name)
}
