package audit

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"slices"
)

// A Kind is a kind of damage to a log.
type Kind string

// Kinds of Damage.
const (
	Altered   Kind = "altered"   // a record has changed since it was sealed, or can't be read
	Missing   Kind = "missing"   // records are missing in the middle or at the beginning
	Truncated Kind = "truncated" // records are missing at the end
	Inserted  Kind = "inserted"  // a record has no place in the chain
	Reordered Kind = "reordered" // a record is not in the place of its number
	Forked    Kind = "forked"    // the chain continues a different history
	Unsigned  Kind = "unsigned"  // no checkpoint covers records that should be covered
	Lost      Kind = "lost"      // a file that may have contained records is missing, or the store was restored while it was used
)

// A Damage is a place where a log has changed since it was written.
type Damage struct {
	Seq    int64  `json:"seq"`  // the first record affected, by its place in the chain
	Last   int64  `json:"last"` // the last one, or Seq for a single record
	Kind   Kind   `json:"kind"`
	Detail string `json:"detail"`
}

// Error returns the kind and the place.
func (d *Damage) Error() string {
	if d.Last > d.Seq {
		return fmt.Sprintf("audit log %s at records %d to %d: %s", d.Kind, d.Seq, d.Last, d.Detail)
	}
	return fmt.Sprintf("audit log %s at record %d: %s", d.Kind, d.Seq, d.Detail)
}

// Losses is implemented by logs that keep records in files besides their tables. It returns a Damage of kind Lost for
// each file that was missing after a process did not end cleanly.
type Losses interface {
	Losses(ctx context.Context) ([]Damage, error)
}

// A Report is the result of Verify.
type Report struct {
	Base    Head     `json:"base,omitzero"` // an unread archive has the records up to this one. The zero Head if there is none
	Records int64    `json:"records"`       // number of read records, without those up to Base
	Head    Head     `json:"head"`          // the end of the read records. Keep it elsewhere if the log is intact
	Signed  Head     `json:"signed"`        // the last head that a valid checkpoint covers, or the zero Head
	Damage  []Damage `json:"damage"`        // sorted by Seq
}

// Whole reports whether the log is undamaged.
func (r Report) Whole() bool { return len(r.Damage) == 0 }

// Verify reads the whole log and reports all changes since it was sealed. kept are heads of this log that were kept
// outside of it. With them, Verify also finds a history that was rewritten and sealed again up to the log's own head.
// Verify may run while the log grows. An error means that the log could not be read, not that it is damaged.
func Verify(ctx context.Context, log Chain, kept ...Head) (Report, error) {
	return VerifyWithKeys(ctx, log, nil, kept...)
}

// VerifyWithKeys is like Verify, and also checks the checkpoints that one of the keys has signed. They reveal a history
// that someone without these keys has rewritten, except for records after the last checkpoint.
func VerifyWithKeys(ctx context.Context, log Chain, keys []ed25519.PublicKey, kept ...Head) (Report, error) {
	const most = 10 // how often the log's beginning may move during the verification
	for n := 1; ; n++ {
		base, err := baseOf(ctx, log)
		if err != nil {
			return Report{}, err
		}
		report, err := verifyFrom(ctx, log, base, keys, kept)
		if err != nil {
			return Report{}, err
		}
		now, err := baseOf(ctx, log)
		if err != nil || now == base {
			return report, err
		}
		if n == most {
			return Report{}, ErrMoved
		}
	}
}

// verifyFrom checks the log from base to its head. It reads the head before and after, because records may be appended
// in the meantime. The earlier head must be in the log.
func verifyFrom(ctx context.Context, log Chain, base Head, keys []ed25519.PublicKey, kept []Head) (Report, error) {
	before, err := log.Head(ctx)
	if err != nil {
		return Report{}, fmt.Errorf("read the head of the audit log: %w", err)
	}
	c := checker{kept: append([]Head{before}, kept...), keys: keys, forged: -1}
	slices.SortFunc(c.kept, func(a, b Head) int { return cmp.Compare(a.Seq, b.Seq) })
	if err := c.begin(ctx, log, base); err != nil {
		return Report{}, err
	}
	if err := c.read(ctx, log); err != nil {
		return Report{}, err
	}
	after, err := log.Head(ctx)
	if err != nil {
		return Report{}, fmt.Errorf("read the head of the audit log: %w", err)
	}
	return c.report(before, after), nil
}

// seen is the part of a record that the checker needs.
type seen struct {
	seq        int64
	prev, hash string
	whole      bool   // the record's hash matches its content
	detail     string // why the record could not be read
	checkpoint string // as Record.Checkpoint
}

// A span is a range of sequence numbers.
type span struct{ first, last int64 }

// A stray is a record found in the place of another one.
type stray struct {
	seen
	place int64 // the expected number there
	fork  bool  // it was sealed onto the same record as its predecessor
}

// A checker reads the records in order, and judges each record when it knows the next one.
type checker struct {
	base    Head   // the log begins after it
	records int64  // read so far
	next    int64  // the expected number
	link    string // the hash that the next record must have as prev
	linked  bool   // link is known: the previous record was intact and in its place
	last    seen   // the last record in its place

	held   seen   // read and not yet judged
	holds  bool   // held is set
	kept   []Head // sorted by Seq
	proven int64  // the Seq of the last kept head or checkpoint that matched

	keys    []ed25519.PublicKey
	recent  recent // the heads of the last intact records, for checkpoints about them
	signed  Head   // the head of the last valid checkpoint
	strange int    // checkpoints since signed that none of the keys has signed
	forged  int    // the index in damage of the checkpoints' finding, or -1

	damage  []Damage
	missing []span
	strays  []stray
}

// read reads all records in order. A record that can't be read ends the log's walk with a Damage, so read starts
// another walk after it. Any other error ends the verification.
func (c *checker) read(ctx context.Context, log Chain) error {
	from := First
	var buf []byte
	for {
		err := log.Records(ctx, from, func(r Record) bool {
			if buf == nil {
				buf = make([]byte, 0, 4096)
			}
			c.lose(&r)
			if c.relic(&r, buf) {
				return true
			}
			c.meet(seen{seq: r.Seq, prev: r.Prev, hash: r.Hash, whole: hashOf(&r, buf) == r.Hash, checkpoint: r.Checkpoint})
			return true
		})
		if err == nil {
			if c.holds {
				c.judge(c.held, nil)
			}
			return nil
		}
		d, ok := errors.AsType[*Damage](err)
		if !ok || d.Seq < from || d.Seq == Last {
			return fmt.Errorf("read the audit log: %w", err)
		}
		if 0 < d.Seq && d.Seq <= c.base.Seq {
			c.alter(d.Seq, d.Detail)
		} else {
			c.meet(seen{seq: d.Seq, detail: d.Detail})
		}
		from = d.Seq + 1
	}
}

func (c *checker) meet(s seen) {
	c.records++
	if c.holds {
		c.judge(c.held, &s)
	}
	c.held, c.holds = s, true
}

// judge decides where s belongs, given the record that follows it, or nil at the end.
func (c *checker) judge(s seen, follows *seen) {
	is := func(n int64) bool { return follows != nil && follows.seq == n }
	doubtful := follows == nil || follows.seq == c.next+1 || follows.seq <= s.seq // if s isn't whole, its number may be wrong
	switch {
	case s.seq == c.next && (s.whole && c.follows(s) || !is(c.next)):
		c.take(s)
	case is(c.next): // the expected record follows, so s is surplus
		c.stray(s)
	case !s.whole && doubtful: // its number was altered
		s.seq = c.next
		c.take(s)
	case is(c.next + 1), s.seq > c.next && follows != nil && follows.seq < s.seq: // it is in the place of another record
		c.stray(s)
		c.miss(c.next, c.next)
	case s.seq > c.next:
		c.miss(c.next, s.seq-1)
		c.take(s)
	default:
		c.stray(s)
	}
}

// follows reports whether s was sealed onto the previous record. It returns true if that record isn't known.
func (c *checker) follows(s seen) bool { return !c.linked || s.prev == c.link }

// take accepts s in its place in the chain and checks it.
func (c *checker) take(s seen) {
	switch {
	case s.detail != "":
		c.alter(s.seq, s.detail)
	case !s.whole:
		c.alter(s.seq, "its content does not have its hash")
	case !c.follows(s) && s.seq == 1:
		c.add(1, 1, Forked, "the first record follows another one")
	case !c.follows(s):
		c.add(s.seq-1, s.seq, Forked, fmt.Sprintf("record %d was sealed onto another record %d than this", s.seq, s.seq-1))
	}
	c.prove(s)
	c.attest(s)
	c.last, c.next = s, s.seq+1
	c.link, c.linked = s.hash, s.whole
}

// prove compares s with the kept heads of the same Seq.
func (c *checker) prove(s seen) {
	met, other := false, false
	for len(c.kept) > 0 && c.kept[0].Seq <= s.seq {
		if h := c.kept[0]; h.Seq == s.seq {
			met, other = true, other || h.Hash != s.hash
		}
		c.kept = c.kept[1:]
	}
	switch {
	case met && !other:
		c.proven = s.seq
	case other && s.whole:
		c.add(c.proven+1, s.seq, Forked, fmt.Sprintf("record %d is not the one whose hash was kept", s.seq))
	}
}

func (c *checker) stray(s seen) {
	twin := s.seq == c.last.seq && s.prev == c.last.prev && s.hash != c.last.hash
	c.strays = append(c.strays, stray{seen: s, place: c.next, fork: twin})
	if twin {
		c.linked = false // the next record may have been sealed onto either
	}
}

// miss notes that the records first to last are not in their place.
func (c *checker) miss(first, last int64) {
	c.missing = append(c.missing, span{first, last})
	c.next, c.linked = last+1, false
}

func (c *checker) alter(seq int64, detail string) {
	if n := len(c.damage); n > 0 && c.damage[n-1].Kind == Altered && c.damage[n-1].Last == seq-1 {
		c.damage[n-1].Last = seq
		return
	}
	c.add(seq, seq, Altered, detail)
}

func (c *checker) add(first, last int64, k Kind, detail string) {
	c.damage = append(c.damage, Damage{Seq: first, Last: last, Kind: k, Detail: detail})
}
