package store

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/value"
)

// Limits of the words by which a change is found.
const (
	maxEntries = 1500 // for one change
	maxEntry   = 32   // characters of one entry
	maxValue   = 4000 // bytes of one value
	shortValue = 80   // bytes of an unchanged value that may be the name of a record
	maxTerms   = 16   // of one search
)

// placeEnd separates the class and the field in the name of a place. It occurs in no name. placeBegin begins the name of
// a place. No word begins with it.
const placeEnd, placeBegin = "\x1f", "="

// wordsOf returns the words by which c is found, as JSON: an object from the name of a place to its words. The place "="
// has what every reviewer of c sees. The place of a value is its class and its field. A search finds a word only in
// places that the reviewer sees.
func wordsOf(c *change.Change) string {
	w := wordSet{places: map[string][]string{}, seen: map[string]bool{}}
	w.add(placeBegin, c.ID, string(c.Op), string(c.Risk), c.Source, c.Tool, c.Action, c.Reverts, c.Agent.Name, c.Agent.Owner, c.Agent.Principal, c.Reason, c.Says)
	if c.Asker != nil {
		w.add(placeBegin, c.Asker.Owner, c.Asker.Name)
	}
	for _, d := range c.Decisions {
		w.add(placeBegin, cmp.Or(d.By.Owner, d.By.Name), d.Comment)
	}
	for _, step := range c.History {
		w.add(placeBegin, step.By, step.Comment)
	}
	for _, o := range c.Origins {
		w.add(placeBegin, o.Action)
	}
	for i, class := range c.Classes {
		if w.add(place(class, ""), class); i == 0 {
			w.add(place(class, ""), c.Title)
		}
		for _, field := range c.Fields {
			w.add(place(class, field), field)
		}
	}
	for i, e := range c.Effects {
		w.add(place(e.Class, ""), e.Class)
		w.add(place(e.Class, "#"), e.Key)
		if c.Outcome != nil && c.Outcome.Receipt != nil && i < len(c.Outcome.Receipt.Keys) {
			w.add(place(e.Class, "#"), c.Outcome.Receipt.Keys[i])
		}
		w.effect(e)
	}
	for _, n := range c.Named {
		for _, m := range n.Record.Members() {
			w.add(place(n.Class, m.Name), m.Value.String())
		}
	}
	out, err := json.Marshal(w.places)
	if err != nil { // texts can always be encoded
		return "{}"
	}
	return string(out)
}

func place(class, field string) string { return word(placeBegin + class + placeEnd + field) }

// A wordSet collects words by place.
type wordSet struct {
	places map[string][]string
	seen   map[string]bool
}

// effect adds the values of an effect: those that change, and short ones, which may name the record.
func (w *wordSet) effect(e change.Effect) {
	for _, side := range [][2]value.Value{{e.Before, e.After}, {e.After, e.Before}, {e.About, e.About}} {
		for _, m := range side[0].Members() {
			other, _ := side[1].Get(m.Name)
			if text := m.Value.String(); len(text) > shortValue && !side[1].IsNull() && text == other.String() {
				continue
			}
			w.value(e, m.Name, m.Value)
		}
	}
}

// value adds the texts of a value. For a call, the place of a text has the names of all members on the way to it.
func (w *wordSet) value(e change.Effect, path string, v value.Value) {
	for _, m := range v.Members() {
		if e.Op == "call" {
			w.value(e, path+"/"+m.Name, m.Value)
			continue
		}
		w.add(place(e.Class, path), m.Name)
		w.value(e, path, m.Value)
	}
	for _, one := range v.List() {
		w.value(e, path, one)
	}
	if v.Kind() != value.Object && v.Kind() != value.Array && !v.IsNull() {
		w.add(place(e.Class, path), v.String())
	}
}

// add adds the words of texts to a place.
func (w *wordSet) add(place string, texts ...string) {
	for _, text := range texts {
		for _, entry := range entries(text[:min(len(text), maxValue)]) {
			if known := place + "\x00" + entry; !w.seen[known] && len(w.seen) < maxEntries {
				w.seen[known] = true
				w.places[place] = append(w.places[place], entry)
			}
		}
	}
}

// entries returns what a search can find of a text: each word, together with what follows it without a space. "PAY-377"
// has the entries pay-377 and 377.
func entries(text string) (out []string) {
	for _, chunk := range strings.FieldsFunc(word(text), isSpace) {
		last := rune(0)
		for i, r := range chunk {
			if isPart(r) && (!isPart(last) || unicode.IsLower(last) && unicode.IsUpper(r) || unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)) {
				out = append(out, entryOf(chunk[i:]))
			}
			last = r
		}
	}
	return out
}

// A term is a word of a search.
type term struct {
	whole string   // it, as the beginning of an entry
	parts []string // if it has several parts, such as 377 of PAY-377: the parts, all of which may be found instead
}

// terms returns the words of a search. ok is false if it has none, or more than review.CheckSearch allows.
func terms(text string) (out []term, ok bool) {
	for _, chunk := range strings.FieldsFunc(word(text), isSpace) {
		t := term{whole: entryOf(strings.TrimFunc(chunk, func(r rune) bool { return !isPart(r) }))}
		if t.whole == "" {
			continue // a dash or another sign is found nowhere
		}
		if len(out) == maxTerms {
			return nil, false
		}
		if parts := strings.FieldsFunc(t.whole, func(r rune) bool { return !isPart(r) }); len(parts) > 1 {
			t.parts = parts
		}
		out = append(out, t)
	}
	return out, len(out) > 0
}

func isSpace(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }

// isPart reports whether r belongs to a word.
func isPart(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.M, r)
}

// entryOf returns the beginning of text without case, accents and punctuation at its end.
func entryOf(text string) string {
	var out strings.Builder
	n := 0
	for _, r := range norm.NFKD.String(strings.ReplaceAll(text[:min(len(text), 8*maxEntry)], "ß", "ss")) {
		if unicode.Is(unicode.Mn, r) {
			continue
		}
		if n++; n > maxEntry {
			break
		}
		out.WriteRune(unicode.ToLower(r))
	}
	return strings.TrimRightFunc(word(out.String()), func(r rune) bool { return !isPart(r) })
}

// A Place is a place with words of changes, and its number in the store.
type Place struct {
	Number int64
	Name   string
}

// visiblePlaces returns the numbers of the places in which f finds words.
func visiblePlaces(f change.Filter, all []Place) []string {
	var out []string
	for _, p := range all {
		class, field, valued := strings.Cut(strings.TrimPrefix(p.Name, placeBegin), placeEnd)
		if !valued && p.Name == placeBegin || valued && f.Sees != nil && f.Sees(class, field) {
			out = append(out, strconv.FormatInt(p.Number, 10))
		}
	}
	return out
}

// WordsOf returns the words of the change with a body, for a change that an older program stored.
func WordsOf(body string) string {
	c, err := decodeChange(body)
	if err != nil {
		return "{}" // it is not found, and readers of it get the error
	}
	return wordsOf(c)
}
