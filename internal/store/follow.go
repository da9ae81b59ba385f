package store

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/audit"
)

// segments returns the names of all segments in the order of their records.
func (j *Journal) segments() ([]string, error) {
	entries, err := os.ReadDir(j.dir)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range entries {
		if first(e.Name()) > 0 {
			out = append(out, e.Name())
		}
	}
	return out, nil
}

// first returns the number of a segment's first record from the segment's name. It returns 0 for other names.
func first(name string) int64 {
	seq, random, ok := strings.Cut(name, "-")
	n, err := strconv.ParseInt(seq, 16, 64)
	if _, strange := hex.DecodeString(random); !ok || err != nil || strange != nil || len(seq) != 16 {
		return 0
	}
	return n
}

// follow updates j's end of the chain with the records of other processes. The caller holds the lock.
func (j *Journal) follow() error {
	now, m := j.getMark()
	j.fault = j.fault || m.end == faulty
	if m.head.Seq > 0 && m.end != journalSettled && bytes.Equal(now, j.mark) && (j.current == nil || j.isUntouched()) {
		return nil
	}
	j.release()
	names, err := j.segments()
	if err != nil {
		return err
	}
	found, behind := m.head, int64(0)
	var last audit.Head // the last record of the mark's segment, if that segment is the last one
	var end, size int64 // the end of the frames, and the size, of that segment
	for i, name := range names {
		path := filepath.Join(j.dir, name)
		data, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // it was folded
		} else if err != nil {
			return err
		}
		from, head := int64(0), audit.Head{}
		if name == m.name && m.end <= int64(len(data)) {
			from, head = m.end, m.head
		}
		to, further := ends(data, from)
		if further.Seq > m.head.Seq {
			// A process ended without recording that it has synced this. Later frames must not survive without it.
			if err := j.syncSegment(path); err != nil {
				return err
			}
		}
		head = later(head, further)
		found, behind = later(found, head), behind+to
		if name == m.name && i == len(names)-1 {
			last, end, size = head, to, int64(len(data))
		}
	}
	// This comes after the segments, because others fold without the lock. Records that have left the segments are in
	// the tables now.
	table, err := j.options.Head()
	if err != nil {
		return err
	}
	if m.end == journalSettled && (table.Seq < m.head.Seq || table.Seq == m.head.Seq && table != m.head) {
		return fmt.Errorf("%s: %w", j.dir, ErrForeign)
	}
	if found = later(table, found); last == found && size > 0 {
		if j.current, err = j.options.open(filepath.Join(j.dir, m.name), false); err != nil {
			return err
		}
		j.name, j.end, j.ahead = m.name, end, size
	}
	j.head, j.behind, j.mark = found, behind, now
	return nil
}

// syncSegment syncs a segment that another process has written. A missing segment was folded, so its records are
// already on the disk.
func (j *Journal) syncSegment(path string) error {
	f, err := j.options.open(path, false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it was folded
	}
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// isUntouched reports whether the current segment is still in its place. It returns false if a process ended after it
// wrote a frame behind the end, but before it recorded that.
func (j *Journal) isUntouched() bool {
	var next [len(magic)]byte
	n, _ := j.current.ReadAt(next[:], j.end) // there may be no bytes
	return string(next[:n]) != magic && j.current.HasName()
}

func later(a, b audit.Head) audit.Head {
	if b.Seq > a.Seq {
		return b
	}
	return a
}
