package response

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A cutter shortens values to a number of bytes of JSON and records the losses.
type cutter struct {
	was     []loss // losses of an earlier cut of the same value
	cuts    []loss
	scratch []byte
	begin   string // the path of the list or text whose first items or characters were skipped
	skip    int    // the number of skipped items or characters
}

// A loss is the omitted part of one list, object or string.
type loss struct {
	path      string
	kind      value.Kind
	kept, had int
	names     []string // for an object: the omitted names
}

// least is the minimum number of bytes given to a value. A value that would get less is omitted.
const least = 32

// maxLosses is the maximum number of losses with a note each. keptLosses is the maximum number of losses that are
// stored.
const (
	maxLosses  = 8
	keptLosses = 2000
)

func (c *cutter) size(v value.Value) int {
	c.scratch = v.AppendJSON(c.scratch[:0])
	return len(c.scratch)
}

// lose records the loss l. It adds an earlier loss of the same value to l, and removes losses inside the part that is
// now omitted.
func (c *cutter) lose(l loss) {
	c.was = slices.DeleteFunc(c.was, func(w loss) bool {
		if w.path == l.path {
			l.had, l.names = max(l.had, w.had), append(slices.Clone(w.names), l.names...)
			return true
		}
		return l.kept == 0 && l.kind != value.Object && strings.HasPrefix(w.path, l.path) || slices.ContainsFunc(l.names, func(name string) bool {
			in, ok := strings.CutPrefix(w.path, join(l.path, name))
			return ok && (in == "" || in[0] == '.' || in[0] == '[')
		})
	})
	if len(c.cuts) < keptLosses {
		c.cuts = append(c.cuts, l)
	}
}

// all returns the losses of this cut and the remaining losses of an earlier cut.
func (c *cutter) all() []loss { return append(slices.Clone(c.was), c.cuts...) }

// base returns the number of skipped items or characters of the value at path.
func (c *cutter) base(path string) int {
	if path == c.begin {
		return c.skip
	}
	return 0
}

// fit returns v in at most budget bytes of JSON. The budget must not be below least. Lists keep as many whole items
// as fit. Only if that is not enough, strings are cut and members are omitted.
func (c *cutter) fit(v value.Value, budget int, path string) value.Value {
	if c.size(v) <= budget {
		return v
	}
	switch v.Kind() {
	case value.Array:
		return c.list(v.List(), budget, path)
	case value.Object:
		return c.object(v.Members(), budget, path)
	case value.String:
		return c.text(v.Text(), budget, path)
	}
	c.lose(loss{path: path, kind: v.Kind()})
	return value.Value{}
}

// list keeps as many whole items of list as fit into budget bytes. If not even the first item fits, a cut form of it
// is kept, so that the answer shows a part of the item.
func (c *cutter) list(list []value.Value, budget int, path string) value.Value {
	used, n := 2, 0
	for ; n < len(list); n++ {
		size := c.size(list[n]) + min(n, 1)
		if used+size > budget {
			break
		}
		used += size
	}
	first := n == 0 && budget-2 >= least
	if first {
		n = 1
	}
	c.lose(loss{path: path, kind: value.Array, kept: n, had: len(list)})
	if first {
		return value.OfArray([]value.Value{c.fit(list[0], budget-2, fmt.Sprintf("%s[%d]", path, c.base(path)))})
	}
	return value.OfArray(list[:n:n])
}

// object keeps all members if each can get least bytes, and distributes the remaining bytes. A value below the common
// limit keeps its size. If there are too many members, whole members are omitted.
func (c *cutter) object(members []value.Member, budget int, path string) value.Value {
	sizes, lows := make([]int, len(members)), make([]int, len(members))
	room, needs, low := budget-2, 0, 0
	for i, m := range members {
		sizes[i], lows[i] = c.size(m.Value), c.low(m.Value)
		room -= nameSize(m.Name)
		needs += min(sizes[i], least)
		low += lows[i]
	}
	if needs > room {
		return c.names(members, sizes, budget, path)
	}
	// This shortens lists first. If that is not enough, it shortens strings too, the longest first.
	if low > room {
		lows = make([]int, len(members))
	}
	level := fill(sizes, lows, room)
	out := make([]value.Member, len(members))
	for i, m := range members {
		out[i] = value.Member{Name: m.Name, Value: c.fit(m.Value, min(sizes[i], max(lows[i], level)), join(path, m.Name))}
	}
	return value.OfObject(out)
}

// nameSize returns the size of a member's name with its quotes, colon and comma, in bytes.
func nameSize(name string) int { return len(value.AppendQuote(nil, name)) + 2 }

// fill returns the largest limit on the size of each value with which all values need at most room bytes.
func fill(sizes, lows []int, room int) int {
	low, high := 0, room
	for low < high {
		level, sum := (low+high+1)/2, 0
		for i, size := range sizes {
			sum += min(size, max(lows[i], level))
		}
		if sum <= room {
			low = level
		} else {
			high = level - 1
		}
	}
	return low
}

// names keeps the members of an object that fit whole. It treats an object with many names like a list.
func (c *cutter) names(members []value.Member, sizes []int, budget int, path string) value.Value {
	used := 2
	var out []value.Member
	l := loss{path: path, kind: value.Object, had: len(members)}
	for i, m := range members {
		if size := nameSize(m.Name) + sizes[i]; used+size <= budget {
			used += size
			out = append(out, m)
		} else {
			l.names = append(l.names, m.Name)
		}
	}
	l.kept = len(out)
	c.lose(l)
	return value.OfObject(out)
}

// low returns the size of v if each of its lists is cut to one item.
func (c *cutter) low(v value.Value) int {
	switch v.Kind() {
	case value.Array:
		if list := v.List(); len(list) > 0 {
			return 2 + c.low(list[0])
		}
	case value.Object:
		size := 2
		for _, m := range v.Members() {
			size += nameSize(m.Name) + c.low(m.Value)
		}
		return size
	}
	return c.size(v)
}

// text cuts s between characters and adds a mark with the original length. Quoting can make a character six bytes
// long, so n shrinks by a sixth of the excess until the text fits.
func (c *cutter) text(s string, budget int, path string) value.Value {
	had := utf8.RuneCountInString(s)
	if i := slices.IndexFunc(c.was, func(w loss) bool { return w.path == path && w.kind == value.String }); i >= 0 {
		had, s = c.was[i].had, s[:len(s)-len(after(s, c.was[i].kept))] // without the mark of the earlier cut
	}
	mark := fmt.Sprintf("… [%d characters]", had+c.base(path))
	n := min(budget-2-len(mark), len(s)) // the minimum budget has room for the mark
	for {
		for n > 0 && n < len(s) && !utf8.RuneStart(s[n]) {
			n--
		}
		kept := s[:n] + mark
		over := len(value.AppendQuote(c.scratch[:0], kept)) - budget
		if over <= 0 || n == 0 {
			c.lose(loss{path: path, kind: value.String, kept: utf8.RuneCountInString(s[:n]), had: had})
			return value.OfString(kept)
		}
		n = max(n-max(over/6, 1), 0)
	}
}

// correctKeptCount corrects the number of kept items in the loss of the list at path.
func (c *cutter) correctKeptCount(path string, n int) {
	for i := range c.cuts {
		if c.cuts[i].kind == value.Array && c.cuts[i].path == path {
			c.cuts[i].kept = n
		}
	}
}

// notes returns a sentence for each loss. The sentence describes how to get the rest, unless the next call returns
// it.
func (c *cutter) notes(k *cutting, a *Answer) []string {
	var out []string
	all := c.all()
	for _, l := range all[:min(len(all), maxLosses)] {
		out = append(out, c.note(l, k, a))
	}
	if len(all) > maxLosses {
		out = append(out, fmt.Sprintf("%d more places are cut", len(all)-maxLosses))
	}
	if len(all) > 0 {
		out = append(out, "fields picks what you need, and more of it fits")
	}
	return out
}

// note returns the sentence for a loss.
func (c *cutter) note(l loss, k *cutting, a *Answer) string {
	at, base := cmp.Or(l.path, "the answer"), c.base(l.path)
	shown := func(what string) string {
		if base > 0 {
			return fmt.Sprintf("%s: %s %d to %d of %d are shown", at, what, base+1, base+l.kept, base+l.had)
		}
		return fmt.Sprintf("%s: the first %d of %d %s are shown", at, l.kept, l.had, what)
	}
	said := ""
	switch l.kind {
	case value.Array:
		what := "items"
		if k.where && l.path == k.begin() {
			what = "matching items"
		}
		said = shown(what) + ", for more is too long"
	case value.Object:
		said = fmt.Sprintf("%s: %d of %d names are shown, for more is too long. Left out: %s", at, l.kept, l.had, some(l.names))
	case value.String:
		said = shown("characters")
	default:
		return fmt.Sprintf("%s: a number is too long to be shown", at)
	}
	if l.path == k.begin() && k.l.is && !k.text {
		if a.Rest == nil {
			return said
		}
		return said + ". " + a.Rest.words(k.at)
	}
	if r := c.after(l, a.Body, k); r != nil {
		return said + ". " + r.words(k.at)
	}
	return said
}

// words describes how to get the rest of an answer that was requested at a path.
func (r *Rest) words(at string) string {
	var with []string
	if r.At != at || at != "" {
		with = append(with, "at: "+string(value.AppendQuote(nil, r.At)))
	}
	if r.From > 0 {
		with = append(with, fmt.Sprintf("from: %d", r.From))
	}
	return "Continue with " + strings.Join(with, ", ")
}

// join returns the path of a member of the value at path.
func join(path, name string) string {
	name = problem.Cut(oneLine(name))
	if path == "" {
		return name
	}
	return path + "." + name
}
