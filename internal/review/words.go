package review

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bailiwick-dev/bailiwick/value"
)

// Limits of the comparison by words. A cell is one comparison of a word of one text with a word of the other.
const (
	maxFieldCells = 250_000
	maxCells      = 4_000_000 // for all fields of a sheet
	maxSame       = 80        // characters shown at each end of an unchanged part
)

// words compares two texts word by word. It returns nil if that adds nothing to the texts themselves: if one isn't a
// text, or they have nothing in common.
func (d *differ) words(before, after value.Value) []Word {
	if before.Kind() != value.String || after.Kind() != value.String || before.Text() == after.Text() {
		return nil
	}
	a, b := before.Text(), after.Text()
	head, tail := ends(a, b)
	a, b, last := a[head:len(a)-tail], b[head:len(b)-tail], a[len(a)-tail:]
	parts := []run{{before.Text()[:head], "same"}}
	x, y := split(a), split(b)
	if cells := len(x) * len(y); cells <= maxFieldCells && cells <= d.cells {
		d.cells -= cells
		parts = append(parts, compare(x, y)...)
	} else {
		parts = append(parts, run{a, "removed"}, run{b, "added"})
	}
	parts = merge(append(parts, run{last, "same"}))
	if !slices.ContainsFunc(parts, func(r run) bool { return r.kind == "same" && strings.TrimSpace(r.text) != "" }) {
		return nil
	}
	var out []Word
	for i, p := range parts {
		out = append(out, p.shown(i > 0, i < len(parts)-1)...)
	}
	return out
}

// A run is a part of two compared texts, uncut.
type run struct{ text, kind string }

// shown returns the run as displayed: an unchanged run is cut to the parts next to its neighbours, any other run to
// its beginning.
func (r run) shown(before, after bool) []Word {
	head, tail := "", ""
	most := MaxShown
	if r.kind == "same" {
		most = maxSame
	}
	switch {
	case r.kind != "same" || before:
		head = first(r.text, most)
	}
	if r.kind == "same" && after {
		tail = end(r.text[len(head):], most)
	}
	left := r.text[len(head) : len(r.text)-len(tail)]
	if utf8.RuneCountInString(left) <= 20 && r.kind == "same" {
		return []Word{{Visible(r.text), r.kind}}
	}
	var out []Word
	if head != "" {
		out = append(out, Word{Visible(head), r.kind})
	}
	if left != "" {
		out = append(out, Word{strconv.Itoa(utf8.RuneCountInString(left)), "cut"})
	}
	if tail != "" {
		out = append(out, Word{Visible(tail), r.kind})
	}
	return out
}

// end returns the last most characters of text.
func end(text string, most int) string {
	at := len(text)
	for range most {
		_, n := utf8.DecodeLastRuneInString(text[:at])
		at -= n
	}
	return text[at:]
}

// ends returns the number of bytes a and b have in common at their beginning and at their end, moved back to a
// boundary between words.
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

// maxWordBytes is the maximum length of a word. Longer ones are split.
const maxWordBytes = 64

// inside reports whether at is within a character or a word of text.
func inside(text string, at int) bool {
	if at <= 0 || at >= len(text) {
		return false
	}
	if !utf8.RuneStart(text[at]) {
		return true
	}
	last, _ := utf8.DecodeLastRuneInString(text[:at])
	next, _ := utf8.DecodeRuneInString(text[at:])
	return letter(last) && letter(next) && at%maxWordBytes != 0
}

func letter(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.M, r) || r == '_'
}

// split splits text into words, runs of spaces and single other characters.
func split(text string) []string {
	var out []string
	from := 0
	var last rune
	for i, r := range text {
		together := letter(last) && letter(r) || last == ' ' && r == ' '
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

// compare finds the longest common subsequence of words of a and b, and the runs between them.
func compare(a, b []string) []run {
	width := len(b) + 1
	longest := make([]uint32, (len(a)+1)*width) // of a[i:] and b[j:]
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

// merge joins neighbours of one kind, and counts spaces between changed words as changed, since they read as one.
// Between two unchanged runs, removed text comes before added text.
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
