package audit

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
)

// report compares the end of the chain with the heads read before and after, and returns all damage found.
func (c *checker) report(before, after Head) Report {
	end := c.next - 1
	tail := max(end, before.Seq) // all records up to the head at the beginning must exist
	if tail > end {
		c.missing = append(c.missing, span{end + 1, tail})
	}
	if end > after.Seq {
		c.add(after.Seq+1, end, Inserted, fmt.Sprintf("the log's head says that it ends at record %d", after.Seq))
	}
	if after != before && after.Seq == end && c.linked && after.Hash != c.link {
		c.add(c.proven+1, end, Forked, fmt.Sprintf("record %d is not the one in the log's head", end))
	}
	c.settle(max(before.Seq, after.Seq))
	if n := len(c.kept); n > 0 && c.kept[n-1].Seq > tail {
		c.add(tail+1, c.kept[n-1].Seq, Truncated, "a head that was kept lies beyond the end")
	}
	c.reportUnsignedEnd(end)
	slices.SortStableFunc(c.damage, func(a, b Damage) int { return cmp.Compare(a.Seq, b.Seq) })
	return Report{Base: c.base, Records: c.records, Head: Head{Seq: c.last.seq, Hash: c.last.hash}, Signed: c.signed, Damage: c.damage}
}

// settle pairs surplus records with missing numbers, up to the number most. A pair is a reordered record. The rest is
// inserted or missing.
func (c *checker) settle(most int64) {
	found := map[int64]bool{}
	for _, s := range c.strays {
		switch {
		case s.whole && !found[s.seq] && c.misses(s.seq):
			found[s.seq] = true
			c.add(s.seq, s.seq, Reordered, fmt.Sprintf("it is in the place of record %d", s.place))
		case s.fork && s.whole:
			c.add(s.seq, s.seq, Forked, "two records were sealed onto the same one")
		default:
			c.add(s.place, s.place, Inserted, fmt.Sprintf("a record too many, which calls itself %d", s.seq))
		}
	}
	elsewhere := make([]int64, 0, len(found))
	for seq := range found {
		elsewhere = append(elsewhere, seq)
	}
	slices.Sort(elsewhere)
	for _, m := range c.missing {
		for first := m.first; first <= min(m.last, most); {
			last := min(m.last, most)
			i, _ := slices.BinarySearch(elsewhere, first)
			if i < len(elsewhere) {
				last = min(last, elsewhere[i]-1)
			}
			c.reportMissing(first, last)
			first = last + 2
		}
	}
}

// reportMissing reports the records first to last, if any, as missing or truncated.
func (c *checker) reportMissing(first, last int64) {
	switch {
	case first > last:
	case first > c.last.seq:
		c.add(first, last, Truncated, "the end of the log is gone")
	default:
		c.add(first, last, Missing, "no record has this number")
	}
}

// misses reports whether there was no record in the place of seq.
func (c *checker) misses(seq int64) bool {
	i := sort.Search(len(c.missing), func(i int) bool { return c.missing[i].last >= seq })
	return i < len(c.missing) && c.missing[i].first <= seq
}
