package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
)

// ErrMoved means that another process has moved the beginning of a log since its caller read it.
var ErrMoved = errors.New("audit: the beginning of the log has moved")

// An Archived log can begin after its first record. An archive has the earlier records.
type Archived interface {
	// Base returns the last record that was moved to an archive, or the zero Head. Of the records up to it, the log has
	// only those of steps.
	Base(context.Context) (Head, error)
}

// ArchiveTool is the Tool of the records about moves of old records to an archive.
const ArchiveTool = "audit.archive"

// ArchiveStep returns the Step of the record about the move of all records up to base to an archive. The Digest of that
// record is the Hash of base.
func ArchiveStep(base Head) string { return "archive:" + strconv.FormatInt(base.Seq, 10) }

// ParseLine parses the result of AppendJSON and, like Parse, refuses all other input. It doesn't check the hash: Verify
// does.
func ParseLine(line []byte) (Record, error) {
	p := parser{rest: string(line)}
	seq := p.integer(`{"seq":`)
	prev, hash := p.text(`,"prev":`), p.text(`,"hash":`)
	if p.bad {
		return Record{}, errForm
	}
	r, err := Parse(append(strconv.AppendInt([]byte(`{"seq":`), seq, 10), p.rest...))
	if err != nil {
		return Record{}, err
	}
	r.Prev, r.Hash = prev, hash
	if !bytes.Equal(r.AppendJSON(nil), line) {
		return Record{}, errForm
	}
	return r, nil
}

// Follows reports whether r was sealed onto h and has the right hash.
func (r *Record) Follows(h Head) bool {
	return r.Seq == h.Seq+1 && r.Prev == h.Hash && hashOf(r, nil) == r.Hash
}

// baseOf returns the base of a log, or the zero Head.
func baseOf(ctx context.Context, log Chain) (Head, error) {
	a, ok := log.(Archived)
	if !ok {
		return Head{}, nil
	}
	base, err := a.Base(ctx)
	if err != nil {
		return Head{}, fmt.Errorf("read the beginning of the audit log: %w", err)
	}
	return base, nil
}

// begin makes c expect the records after base, which a record of log must name.
func (c *checker) begin(ctx context.Context, log Chain, base Head) error {
	c.base, c.next, c.link, c.linked, c.proven = base, base.Seq+1, base.Hash, true, base.Seq
	c.last = seen{seq: base.Seq, hash: base.Hash}
	if base.Seq == 0 {
		return nil
	}
	c.recent.put(base)
	said, ok, err := log.Find(ctx, ArchiveStep(base))
	if err != nil {
		return fmt.Errorf("read the audit log: %w", err)
	}
	if !ok || said.Digest != base.Hash {
		c.add(1, base.Seq, Missing, "no record says that they were moved to an archive")
	}
	for len(c.kept) > 0 && c.kept[0].Seq <= base.Seq {
		switch h := c.kept[0]; {
		case h.Seq == base.Seq && h.Hash != base.Hash:
			c.add(1, h.Seq, Forked, fmt.Sprintf("record %d is not the one whose hash was kept", h.Seq))
		case h.Seq < base.Seq && h.Seq > 0:
			c.add(h.Seq, h.Seq, Missing, "it is the end that was kept, and in an archive that was not read")
		}
		c.kept = c.kept[1:]
	}
	return nil
}

// relic checks a record from before the beginning, where only records of steps remain. It returns false for any other
// record.
func (c *checker) relic(r *Record, buf []byte) bool {
	if r.Seq < 1 || r.Seq > c.base.Seq {
		return false
	}
	switch {
	case hashOf(r, buf) != r.Hash:
		c.alter(r.Seq, "its content does not have its hash")
	case r.Step == "":
		c.add(r.Seq, r.Seq, Inserted, fmt.Sprintf("the log begins behind record %d", c.base.Seq))
	}
	return true
}
