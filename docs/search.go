package docs

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
)

// A section is a heading of a page with the text up to the next heading.
type section struct {
	Page    string // the file's name
	Heading string
	Anchor  string // the id of the heading
	text    string // as plain text, in one line
	level   int    // 1 for the title of a page
	start   int    // of the heading, in bytes of the file
}

// sectionsOf returns the sections of a parsed page. Its headings must have their ids.
func sectionsOf(name string, doc ast.Node, source []byte) (all []section) {
	var b strings.Builder
	end := func() {
		if len(all) > 0 {
			all[len(all)-1].text = strings.Join(strings.Fields(b.String()), " ")
		}
		b.Reset()
	}
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		h, ok := n.(*ast.Heading)
		if !ok {
			writePlain(&b, n, source)
			b.WriteByte(' ')
			continue
		}
		end()
		id, _ := h.AttributeString("id")
		anchor, _ := id.([]byte)
		at := h.Lines().At(0).Start
		at = strings.LastIndexByte(string(source[:at]), '\n') + 1
		all = append(all, section{Page: name, Heading: plainText(h, source), Anchor: string(anchor), level: h.Level, start: at})
	}
	end()
	return all
}

// plainText returns the text of n without markup.
func plainText(n ast.Node, source []byte) string {
	var b strings.Builder
	writePlain(&b, n, source)
	return strings.TrimSpace(b.String())
}

// writePlain writes the text of n without markup. Comments and other raw HTML are left out.
func writePlain(b *strings.Builder, n ast.Node, source []byte) {
	switch n := n.(type) {
	case *ast.Text:
		b.Write(n.Segment.Value(source))
		if n.SoftLineBreak() || n.HardLineBreak() {
			b.WriteByte(' ')
		}
		return
	case *ast.HTMLBlock, *ast.RawHTML:
		return
	case *ast.FencedCodeBlock, *ast.CodeBlock:
		for i := range n.Lines().Len() {
			line := n.Lines().At(i)
			b.Write(line.Value(source))
		}
		return
	}
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		writePlain(b, c, source)
		if c.Type() == ast.TypeBlock {
			b.WriteByte(' ')
		}
	}
}

// anchor returns the id that GitHub gives to a heading.
func anchor(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, strings.TrimSpace(heading))
}

// headingWeight is how many times a word of a heading counts, and titleWeight one of the title of the section's page.
const headingWeight, titleWeight = 8, 3

// inside weighs what is for engineers of the product, such as decisions, against pages for its users.
const inside = 0.5

// An index finds sections by their words.
type index struct {
	sections []section
	words    []map[string]float64 // of each section, its words and how often they occur, weighted
	sizes    []float64            // the sums of words
	holders  map[string]int       // the number of sections that hold a word
	total    float64              // of sizes
}

// add adds the sections of p.
func (x *index) add(p *page) {
	if x.holders == nil {
		x.holders = map[string]int{}
	}
	for _, s := range p.sections {
		counts, size := map[string]float64{}, 0.0
		for weight, text := range map[float64]string{1: s.text, headingWeight: s.Heading, titleWeight: p.title} {
			for _, w := range words(text) {
				counts[w] += weight
				size++
			}
		}
		for w := range counts {
			x.holders[w]++
		}
		x.sections, x.words, x.sizes = append(x.sections, s), append(x.words, counts), append(x.sizes, size)
		x.total += size
	}
}

// words returns the words of text in lower case. A name such as search_path is one word, and so is each of its parts.
func words(text string) (out []string) {
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		out = append(out, w)
		if parts := strings.FieldsFunc(w, func(r rune) bool { return r == '_' }); len(parts) > 1 {
			out = append(out, parts...)
		}
	}
	return out
}

// A Found is a section that a search found.
type Found struct {
	Page    string `json:"page"`    // the file's name, "policy.md"
	Title   string `json:"title"`   // of the page
	Heading string `json:"heading"` // of the section, the title in the first one
	Anchor  string `json:"anchor"`  // of the heading, for "policy.md#tests"
	Excerpt string `json:"excerpt"` // plain text around the first match, at most 200 characters and two …
}

// Search returns the sections that hold every word of query, or words that begin with it, best first by BM25, and at
// most the given number. If no section holds every word, it returns those that hold some of them, and all is false.
func (s *Site) Search(query string, most int) (found []Found, all bool) {
	asked := words(query)
	slices.Sort(asked)
	asked = slices.Compact(asked)
	if len(asked) == 0 {
		return nil, true
	}
	type hit struct {
		section, matched int
		score            float64
	}
	var hits []hit
	for i := range s.index.sections {
		matched, score := s.index.score(i, asked)
		if strings.Contains(s.index.sections[i].Page, "/") && !strings.HasPrefix(s.index.sections[i].Page, "guides/") {
			score *= inside
		}
		if matched > 0 {
			hits = append(hits, hit{i, matched, score})
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(b.matched, a.matched), cmp.Compare(b.score, a.score))
	})
	all = len(hits) > 0 && hits[0].matched == len(asked)
	for _, h := range hits {
		if len(found) == most || all && h.matched < len(asked) {
			break
		}
		sec := s.index.sections[h.section]
		found = append(found, Found{Page: sec.Page, Title: s.pages[sec.Page].title, Heading: sec.Heading, Anchor: sec.Anchor, Excerpt: excerpt(sec.text, asked)})
	}
	return found, all
}

// score returns how many of the words section i matches, and its score by BM25. A word of at least three letters matches
// the words that begin with it, for less than itself.
func (x *index) score(i int, asked []string) (matched int, score float64) {
	const k, b, prefix = 1.5, 0.75, 0.5
	norm := k * (1 - b + b*x.sizes[i]*float64(len(x.sizes))/x.total)
	for _, w := range asked {
		count, holders := x.words[i][w], x.holders[w]
		if count == 0 && len(w) >= 3 {
			for held, n := range x.words[i] {
				if strings.HasPrefix(held, w) {
					count, holders = count+prefix*n, max(holders, x.holders[held])
				}
			}
		}
		if count > 0 {
			matched++
			score += math.Log(1+(float64(len(x.sizes))-float64(holders)+0.5)/(float64(holders)+0.5)) * count * (k + 1) / (count + norm)
		}
	}
	return matched, score
}

// excerptBefore and excerptLength bound an excerpt, in characters.
const excerptBefore, excerptLength = 60, 200

// excerpt returns the part of text around the first of the words.
func excerpt(text string, asked []string) string {
	lower := strings.ToLower(text)
	at := len(lower)
	for _, w := range asked {
		if i := strings.Index(lower, w); i >= 0 {
			at = min(at, i)
		}
	}
	if at == len(lower) || len(lower) != len(text) {
		at = 0
	}
	runes, from := []rune(text), max(len([]rune(text[:at]))-excerptBefore, 0)
	for from > 0 && from < len(runes) && runes[from-1] != ' ' {
		from--
	}
	to := min(from+excerptLength, len(runes))
	for to < len(runes) && to > from+excerptLength/2 && runes[to] != ' ' {
		to--
	}
	cut := string(runes[from:to])
	if from > 0 {
		cut = "… " + cut
	}
	if to < len(runes) {
		cut += " …"
	}
	return cut
}
