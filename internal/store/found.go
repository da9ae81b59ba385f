package store

import (
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/change"
)

// common is the number of entries from which a word counts as common, and mostCounted the largest count of a search.
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

// Weigh returns the query that tells which words of f.Text are common. It has a row for each of them.
func (d ChangeQueries) Weigh(f change.Filter) (ChangeLookup, bool) {
	all, ok := terms(f.Text)
	var b builder
	for i, t := range all {
		if i > 0 {
			b.add(` UNION ALL `)
		}
		b.add(`SELECT `+strconv.Itoa(i)+` AS n, count(*) >= `+strconv.Itoa(common)+` FROM (SELECT 1 FROM `+d.Schema+`change_word AS w WHERE `+between+` LIMIT `+strconv.Itoa(common)+`) AS t`,
			t.whole, t.whole+last)
	}
	b.add(` ORDER BY n`)
	return b.ask(d), ok
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
	in := ` AND w.place IN (` + strings.Join(visible, ", ") + `)`
	for i, t := range all {
		if known.Common[i] && len(visible) == len(known.Places) {
			d.commonTerm(b, t)
			continue
		}
		d.term(b, t, in)
	}
}

// commonTerm adds the condition that the text of a change has t. The text has all places, so the reviewer must see all.
func (d ChangeQueries) commonTerm(b *builder, t term) {
	b.add(` AND (`+d.Contains+`(c.search, ?) > 0`, `"`+t.whole)
	for _, state := range t.states() {
		b.add(` OR c.state = '` + state + `'`)
	}
	b.add(`)`)
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
