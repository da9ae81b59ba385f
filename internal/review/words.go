package review

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bailiwick-dev/bailiwick/value"
)

// Limits of the word-by-word comparison. A cell is one comparison of a word of one text with a word of the other
// text.
const (
	maxFieldCells = 250_000
	maxCells      = 4_000_000 // for all fields of a sheet
	maxSame       = 80        // characters shown at each end of an unchanged part
)

// words compares two texts word by word. It returns nil if the comparison would not help: if a value isn't a text, or
// the texts have nothing in common. The result unread is the number of characters of changed parts that are cut.
func (d *differ) words(before, after value.Value) (out []Word, unread int) {
	if before.Kind() != value.String || after.Kind() != value.String || before.Text() == after.Text() {
		return nil, 0
	}
	parts := d.runs(before.Text(), after.Text())
	if isRewritten(parts, min(utf8.RuneCountInString(before.Text()), utf8.RuneCountInString(after.Text()))) {
		return nil, 0
	}
	for i, p := range parts {
		if p.kind == "same" {
			out = append(out, p.ends(i > 0, i < len(parts)-1)...)
			continue
		}
		head := d.extent().of(p.text)
		d.room -= len(head)
		out = append(out, Word{Visible(head), p.kind})
		if left := utf8.RuneCountInString(p.text[len(head):]); left > 0 {
			out, unread = append(out, Word{strconv.Itoa(left), "cut"}), unread+left
		}
	}
	return out, unread
}

// isRewritten reports whether two texts have less than a fifth of the shorter one in common. Marks on almost every
// word would hide both texts, so they are shown as two plain blocks. shorter is the length of that text in characters.
func isRewritten(parts []run, shorter int) bool {
	common := 0
	for _, r := range parts {
		if r.kind == "same" {
			common += utf8.RuneCountInString(strings.TrimSpace(r.text))
		}
	}
	return common*5 < shorter || common == 0
}

// runs returns the unchanged and changed parts of two texts, in order.
func (d *differ) runs(a, b string) []run {
	head, tail := ends(a, b)
	parts := []run{{a[:head], "same"}}
	parts = append(parts, d.compare(split(a[head:len(a)-tail]), split(b[head:len(b)-tail]))...)
	return merge(append(parts, run{a[len(a)-tail:], "same"}))
}

// A run is a part of two compared texts, uncut.
type run struct{ text, kind string }

// ends returns an unchanged run in the form that is shown: only the parts next to its neighbours.
func (r run) ends(before, after bool) []Word {
	head, tail := "", ""
	if before {
		head = first(r.text, maxSame)
	}
	if after {
		tail = end(r.text[len(head):], maxSame)
	}
	left := r.text[len(head) : len(r.text)-len(tail)]
	if utf8.RuneCountInString(left) <= 20 {
		return []Word{{Visible(r.text), r.kind}}
	}
	var out []Word
	if head != "" {
		out = append(out, Word{Visible(head), r.kind})
	}
	out = append(out, Word{strconv.Itoa(utf8.RuneCountInString(left)), "cut"})
	if tail != "" {
		out = append(out, Word{Visible(tail), r.kind})
	}
	return out
}

// end returns at most the given number of characters from the end of text.
func end(text string, most int) string {
	at := len(text)
	for range most {
		_, n := utf8.DecodeLastRuneInString(text[:at])
		at -= n
	}
	return text[at:]
}

// ends returns the numbers of bytes that a and b share at their beginning and at their end. Both numbers are reduced
// to a boundary between words.
func ends(a, b string) (head, tail int) {
	for head < min(len(a), len(b)) && a[head] == b[head] {
		head++
	}
	for head > 0 && (inside(a, head) || inside(b, head)) {
		head--
	}
	for tail < min(len(a), len(b))-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	for tail > 0 && (inside(a, len(a)-tail) || inside(b, len(b)-tail)) {
		tail--
	}
	return head, tail
}

// maxWordBytes is the maximum length of a word. Longer words are split.
const maxWordBytes = 64

// inside reports whether the byte offset at is within a character or a word of text.
func inside(text string, at int) bool {
	if at <= 0 || at >= len(text) {
		return false
	}
	if !utf8.RuneStart(text[at]) {
		return true
	}
	last, _ := utf8.DecodeLastRuneInString(text[:at])
	next, _ := utf8.DecodeRuneInString(text[at:])
	return (letter(last) && letter(next) || joinsRunes(last, next)) && at%maxWordBytes != 0
}

func letter(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.M, r) || r == '_'
}

// split splits text into words, runs of spaces, emoji and single other characters.
func split(text string) []string {
	var out []string
	from := 0
	var last rune
	for i, r := range text {
		together := letter(last) && letter(r) || last == ' ' && r == ' ' || joinsRunes(last, r)
		if i > from && !(together && i-from < maxWordBytes) {
			out = append(out, text[from:i])
			from = i
		}
		last = r
	}
	if from < len(text) {
		out = append(out, text[from:])
	}
	return out
}

// compare returns the runs of two lists of words. It compares short lists by their longest common subsequence. It
// divides long lists at the words that occur once in both.
func (d *differ) compare(a, b []string) []run {
	if cells := len(a) * len(b); cells <= maxFieldCells && cells <= d.cells {
		d.cells -= cells
		return common(a, b)
	}
	var out []run
	i, j := 0, 0
	for _, at := range anchors(a, b) {
		out = append(append(out, d.section(a[i:at.a], b[j:at.b])...), run{a[at.a], "same"})
		i, j = at.a+1, at.b+1
	}
	if i == 0 {
		return []run{{strings.Join(a, ""), "removed"}, {strings.Join(b, ""), "added"}}
	}
	return append(out, d.section(a[i:], b[j:])...)
}

// section compares two lists of words after removing the common words at both ends.
func (d *differ) section(a, b []string) []run {
	head, tail := 0, 0
	for head < min(len(a), len(b)) && a[head] == b[head] {
		head++
	}
	for tail < min(len(a), len(b))-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	out := []run{{strings.Join(a[:head], ""), "same"}}
	out = append(out, d.compare(a[head:len(a)-tail], b[head:len(b)-tail])...)
	return append(out, run{strings.Join(a[len(a)-tail:], ""), "same"})
}

// An anchor contains the positions of a word that occurs exactly once in each of two lists.
type anchor struct{ a, b int }

// anchors returns the longest series of anchors that are in the same order in both lists.
func anchors(a, b []string) []anchor {
	count := func(words []string) map[string]int { // the index of each word, or -1 if it occurs more than once
		at := make(map[string]int, len(words))
		for i, w := range words {
			if _, again := at[w]; again {
				i = -1
			}
			at[w] = i
		}
		return at
	}
	inA, inB := count(a), count(b)
	// Patience sorting puts a word on the leftmost pile whose top is behind it. The word keeps a link to the top of
	// the previous pile.
	var piles []anchor // the last anchor of the best series of each length, by b
	var ends []int     // its index in all
	type link struct {
		anchor
		before int
	}
	var all []link
	for i, w := range a {
		j, there := inB[w]
		if inA[w] < 0 || !there || j < 0 {
			continue
		}
		n, _ := slices.BinarySearchFunc(piles, j, func(p anchor, j int) int { return p.b - j })
		before := -1
		if n > 0 {
			before = ends[n-1]
		}
		all = append(all, link{anchor{i, j}, before})
		if n == len(piles) {
			piles, ends = append(piles, anchor{}), append(ends, 0)
		}
		piles[n], ends[n] = anchor{i, j}, len(all)-1
	}
	// The number of piles is the length of the longest series. The series is read from its end.
	out := make([]anchor, len(piles))
	at := -1
	if len(ends) > 0 {
		at = ends[len(ends)-1]
	}
	for i := len(out) - 1; i >= 0; i-- {
		out[i], at = all[at].anchor, all[at].before
	}
	return out
}

// common finds the longest common subsequence of words of a and b, and the runs between them.
func common(a, b []string) []run {
	width := len(b) + 1
	longest := make([]uint32, (len(a)+1)*width) // of the words a[i:] and b[j:]
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				longest[i*width+j] = longest[(i+1)*width+j+1] + 1
			} else {
				longest[i*width+j] = max(longest[(i+1)*width+j], longest[i*width+j+1])
			}
		}
	}
	var out []run
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			out = append(out, run{a[i], "same"})
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && longest[(i+1)*width+j] >= longest[i*width+j+1]:
			out = append(out, run{a[i], "removed"})
			i++
		default:
			out = append(out, run{b[j], "added"})
			j++
		}
	}
	return out
}

// merge joins adjacent runs of one kind. It counts spaces between changed words as changed, because the words read as
// one change. Between two unchanged runs, removed text comes before added text.
func merge(parts []run) []run {
	var out []run
	var removed, added strings.Builder
	flush := func() {
		if removed.Len() > 0 {
			out = append(out, run{removed.String(), "removed"})
		}
		if added.Len() > 0 {
			out = append(out, run{added.String(), "added"})
		}
		removed.Reset()
		added.Reset()
	}
	for i, p := range parts {
		switch {
		case p.text == "":
		case p.kind == "removed":
			removed.WriteString(p.text)
		case p.kind == "added":
			added.WriteString(p.text)
		case strings.TrimSpace(p.text) == "" && removed.Len()+added.Len() > 0 && i+1 < len(parts) && parts[i+1].kind != "same":
			removed.WriteString(p.text)
			added.WriteString(p.text)
		default:
			flush()
			if last := len(out) - 1; last >= 0 && out[last].kind == "same" {
				out[last].text += p.text
			} else {
				out = append(out, p)
			}
		}
	}
	flush()
	return out
}
