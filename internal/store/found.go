package store

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/change"
)

// common is the number of entries from which a word counts as common, and mostCounted the largest exact count.
const common, mostCounted = 5000, 1000

// A Lexicon is what a store knows about the words of a search: its places, and for each word whether it is common.
type Lexicon struct {
	Places []Place
	Common []bool
}

// rare reports whether a word of the search selects few changes. The index of words then finds the changes. Otherwise
// the changes are read from the newest on, because most of them match.
func (l Lexicon) rare() bool {
	for _, common := range l.Common {
		if !common {
			return true
		}
	}
	return false
}

// Weigh returns the query that tells which words of f.Text are common in the places that f.Sees. It has a row for each
// of them.
func (d ChangeQueries) Weigh(f change.Filter, places []Place) (ChangeLookup, bool) {
	all, ok := terms(f.Text)
	visible := visiblePlaces(f, places)
	if !ok || len(visible) == 0 {
		return ChangeLookup{}, false
	}
	in := ""
	if len(visible) < len(places) {
		in = ` AND w.place IN (` + strings.Join(visible, ", ") + `)`
	}
	var b builder
	for i, t := range all {
		if i > 0 {
			b.add(` UNION ALL `)
		}
		b.add(`SELECT `+strconv.Itoa(i)+` AS n, count(*) >= `+strconv.Itoa(common)+` FROM (SELECT 1 FROM `+d.Schema+`change_word AS w WHERE `+between+in+` LIMIT `+strconv.Itoa(common)+`) AS t`,
			t.whole, t.whole+last)
	}
	b.add(` ORDER BY n`)
	return b.ask(d), true
}

// between selects the entries that begin with a text, and last follows all texts with the same beginning.
const between, last = `w.word >= ? AND w.word < ?`, "\U0010FFFF"

// found adds the FROM and WHERE clauses of the changes that match f with a rare word.
func (d ChangeQueries) found(b *builder, f change.Filter, known Lexicon) {
	b.add(d.Schema + `change AS c WHERE c.state IN ('`)
	for i, state := range states(f) {
		if i > 0 {
			b.add(`', '`)
		}
		b.add(quoted(string(state)))
	}
	b.add(`')`)
	if f.Class != "" {
		b.add(` AND c.id IN (SELECT k.id FROM `+d.Schema+`change_class AS k WHERE k.class = ?)`, d.Bytes(f.Class))
	}
	if len(f.Records) > 0 {
		b.add(` AND c.id IN (SELECT r.id FROM ` + d.Schema + `change_class AS r WHERE `)
		d.records(b, f)
		b.add(`)`)
	}
	d.conditions(b, f, known)
}

// words adds the condition that a change has all words of f.Text, in the places that f.Sees.
func (d ChangeQueries) words(b *builder, f change.Filter, known Lexicon) {
	all, ok := terms(f.Text)
	visible := visiblePlaces(f, known.Places)
	if !ok || len(visible) == 0 || len(known.Common) != len(all) {
		b.add(` AND 1 = 0`)
		return
	}
	in := strings.Join(visible, ", ")
	for i, t := range all {
		switch {
		case !known.Common[i]:
			d.term(b, t, ` AND w.place IN (`+in+`)`)
		case len(visible) == len(known.Places):
			d.commonTerm(b, t, "")
		default:
			d.commonTerm(b, t, in)
		}
	}
}

// commonTerm adds the condition that the text of a change has t, as term does by the index. in are the places in which
// the reviewer sees words, or "" for all. The changes are then read from the newest on, until there are enough.
func (d ChangeQueries) commonTerm(b *builder, t term, in string) {
	b.add(` AND (`)
	d.has(b, t.whole, false, in)
	if t.parts != nil {
		b.add(` OR `)
		for i, part := range t.parts {
			d.has(b, part, i < len(t.parts)-1, in)
			b.add(map[bool]string{true: ` AND `}[i < len(t.parts)-1])
		}
	}
	for _, state := range t.states() {
		b.add(` OR c.state = '` + state + `'`)
	}
	b.add(`)`)
}

// has adds the condition that c.search has a word in the places in, or a word that begins with text unless whole.
func (d ChangeQueries) has(b *builder, text string, whole bool, in string) {
	quoted, err := json.Marshal(text)
	if err != nil { // texts can always be encoded
		quoted = nil
	}
	end := text + last
	if !whole {
		quoted = quoted[:max(len(quoted)-1, 0)]
	} else {
		end = text + "\x01"
	}
	if in == "" {
		b.add(d.Contains+`(c.search, ?) > 0`, string(quoted))
		return
	}
	b.add(`CASE WHEN `+d.Contains+`(c.search, ?) > 0 AND substr(c.search, 1, 1) = '{' THEN EXISTS (SELECT 1 FROM `+d.Words+` WHERE l.place IN (`+in+
		`) AND e.value >= ? AND e.value < ?) ELSE 1 = 0 END`, string(quoted), text, end)
}

// term adds the condition that a change has t: as the beginning of a word, in all of its parts, or as its state.
func (d ChangeQueries) term(b *builder, t term, in string) {
	from := `SELECT w.id FROM ` + d.Schema + `change_word AS w WHERE ` + between + in
	b.add(` AND c.id IN (`+from, t.whole, t.whole+last)
	if t.parts != nil {
		end := t.parts[len(t.parts)-1]
		b.add(` UNION `+from, end, end+last)
		for _, part := range t.parts[:len(t.parts)-1] {
			b.add(` AND EXISTS (SELECT 1 FROM `+d.Schema+`change_word AS x WHERE x.word = ? AND x.id = w.id`+strings.ReplaceAll(in, "w.", "x.")+`)`, part)
		}
	}
	for _, state := range t.states() {
		b.add(` UNION SELECT s.id FROM ` + d.Schema + `change AS s WHERE s.state = '` + state + `'`)
	}
	b.add(`)`)
}

// states returns the states whose names begin with t.
func (t term) states() (out []string) {
	for _, state := range change.States() {
		if strings.HasPrefix(string(state), t.whole) {
			out = append(out, string(state))
		}
	}
	return out
}

// quoted returns the name of a state for use in quotes. Other names match nothing.
func quoted(state string) string {
	for _, r := range state {
		if (r < 'a' || r > 'z') && r != '_' {
			return "none"
		}
	}
	return state
}

// A ChangeCount is a row of ChangeQueries.Counts.
type ChangeCount struct {
	State     string
	All, Mine int
}

// AddTo adds n to the counts of its state.
func (n ChangeCount) AddTo(all, mine map[change.State]int) {
	if n.All > 0 {
		all[change.State(n.State)] = n.All
	}
	if n.Mine > 0 {
		mine[change.State(n.State)] = n.Mine
	}
}
