package review

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/internal/once"
)

// OpenValues records that a person has opened a long value of the sheet s. review.New must have made s, and w is the
// opened value. The store may delete the record one day after the change has expired.
func OpenValues(ctx context.Context, used once.Store, person string, s *Sheet, w *Whole) error {
	part := w.Side
	if part == "" {
		part = strconv.Itoa(w.Page)
	}
	for _, l := range s.Longs() {
		if l.Item != w.Item || l.Field != w.Field {
			continue
		}
		if _, err := used.UseUp(ctx, l.Mark(person, part), s.Expires.Add(24*time.Hour)); err != nil {
			return err
		}
	}
	return nil
}

// OpenedValues marks the long fields of a sheet that a person has opened completely. It returns a Check that says
// which are still unread, or nil if the sheet shows every value whole.
func OpenedValues(ctx context.Context, usedUp once.Store, person string, s *Sheet) ([]Check, error) {
	longs := s.Longs()
	if longs == nil {
		return nil, nil
	}
	var marks []string
	for _, l := range longs {
		marks = append(marks, l.marks(person, l.Sides)...)
		marks = append(marks, l.marks(person, l.pages())...)
	}
	used, err := usedUp.UsedUp(ctx, marks...)
	if err != nil {
		return nil, err
	}
	opened := func(marks []string) bool {
		return len(marks) > 0 && !slices.ContainsFunc(marks, func(m string) bool { return !slices.Contains(used, m) })
	}
	var left []string
	for _, l := range longs {
		read := opened(l.marks(person, l.Sides)) || opened(l.marks(person, l.pages()))
		if s.Items[l.Item].Fields[l.Field].Opened = read; !read {
			left = append(left, fmt.Sprintf("%s (%d characters more)", l.Path, l.Unread))
		}
	}
	switch {
	case left == nil:
		return []Check{{Name: "opened", OK: true, Detail: "you have opened the long values"}}, nil
	case len(left) > 3:
		left = append(left[:3], fmt.Sprintf("%d more", len(left)-3))
	}
	return []Check{{Name: "opened", Detail: "you haven't opened all that it writes: " + strings.Join(left, ", ")}}, nil
}

// ViewItem records that a person has viewed the i-th record of the sheet s. The store may delete the record one day after
// the change has expired.
func ViewItem(ctx context.Context, used once.Store, person string, s *Sheet, i int) error {
	_, err := used.UseUp(ctx, s.viewMark(person, i), s.Expires.Add(24*time.Hour))
	return err
}

// ViewedItems marks the records of a sheet that a person has viewed. A mark belongs to the digest, so a new version or
// preview has none.
func ViewedItems(ctx context.Context, usedUp once.Store, person string, s *Sheet) error {
	marks := make([]string, len(s.Items))
	for i := range s.Items {
		marks[i] = s.viewMark(person, i)
	}
	used, err := usedUp.UsedUp(ctx, marks...)
	if err != nil {
		return err
	}
	for i, mark := range marks {
		s.Items[i].Viewed = slices.Contains(used, mark)
	}
	return nil
}

// viewMark returns the name of the record that a person has viewed the i-th record of s.
func (s *Sheet) viewMark(person string, i int) string {
	return markOf("viewed:", s.ID, s.Digest, person, strconv.Itoa(i))
}

// markOf returns the name of a record of once.Store for parts. No other parts of this kind have it.
func markOf(kind string, parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return kind + hex.EncodeToString(sum[:])
}

// ReadHistory adds records of the audit log to the sheet s, unless reader is nil. It adds the record that ended the
// change and, if reads is true, the agent's calls before the change.
func ReadHistory(ctx context.Context, reader audit.Reader, found *change.Change, s *Sheet, reads bool) error {
	if reader == nil {
		return nil
	}
	if found.State.IsFinal() {
		if last := found.Last(change.EventApplied, change.EventFailed); last != nil {
			r, _, err := reader.Find(ctx, last.Step)
			if err != nil {
				return fmt.Errorf("find the record of %s: %w", found.ID, err)
			}
			s.Record, s.RecordHash = r.Seq, r.Hash
		}
	}
	if !reads {
		return nil
	}
	return trail(ctx, reader, found, s)
}

// Limits of the trail of calls.
const (
	trailReads  = 20   // maximum calls shown
	trailLooked = 5000 // maximum records read
	trailTime   = 30 * time.Minute
)

// trail adds the agent's calls in the half hour before it proposed the change. It begins at the record of the proposal, so
// later records of others don't matter. If it ends early, TrailSince says where.
func trail(ctx context.Context, reader audit.Reader, found *change.Change, s *Sheet) error {
	from := audit.Last
	if created := found.Last(change.EventCreated); created != nil {
		r, is, err := reader.Find(ctx, created.Step)
		if err != nil {
			return fmt.Errorf("find the proposal of %s: %w", found.ID, err)
		}
		if is {
			from = r.Seq
		}
	}
	looked := 0
	err := reader.Backwards(ctx, from, func(r audit.Record) bool {
		looked++
		before := found.Created.Sub(r.Time)
		if before > trailTime {
			return false
		}
		if r.Step == "" && before >= 0 && r.Principal == found.Agent.Principal && r.Change == "" {
			s.Trail = append(s.Trail, Read{Tool: r.Tool, Class: r.Class, Outcome: r.Outcome, Rows: r.Rows, At: r.Time})
		}
		if len(s.Trail) == trailReads || looked == trailLooked {
			s.TrailSince = r.Time
			return false
		}
		return true
	})
	if err != nil {
		return fmt.Errorf("read the trail of %s: %w", found.ID, err)
	}
	return nil
}
