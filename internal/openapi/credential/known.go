package credential

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
)

// Masked stands for a credential in what an API answered.
const Masked = "[masked]"

// Known are credentials, to the byte, and finds them in what APIs answer: any nine bytes in sequence of one, as they are
// or in base64, in hexadecimal, or escaped for URLs, JSON or HTML, up to three times over. One of fewer than nine bytes is
// found where it is a word, and one of fewer than four not at all. It is safe for use by several goroutines.
type Known struct {
	mu    sync.RWMutex
	fixed grams
	fresh grams // of tokens that were got while the program runs: those since the last turn
	past  grams // and those before
}

// A Holder is a Credential that can say what is secret of it.
type Holder interface {
	Secrets() []string
}

const (
	gram     = 9      // bytes of a credential that tell of it
	least    = 4      // bytes of the shortest that is looked for
	maxFresh = 50_000 // pieces of tokens until the oldest are forgotten
)

// Add makes texts known for good.
func (k *Known) Add(secrets ...string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, s := range secrets {
		k.fixed.add(s)
	}
}

// Learn makes known what a credential put on a request, and returns it: before is what the request was. What is learnt is
// forgotten when there is much of it; who has it gives it to Hide.
func (k *Known) Learn(before, after *http.Request) (own []string) {
	for name, values := range after.Header {
		if !slices.Equal(values, before.Header[name]) {
			for _, v := range values {
				own = append(own, secretOf(v))
			}
		}
	}
	was := strings.Split(before.URL.RawQuery, "&")
	for pair := range strings.SplitSeq(after.URL.RawQuery, "&") {
		if _, v, _ := strings.Cut(pair, "="); !slices.Contains(was, pair) {
			if plain, err := url.QueryUnescape(v); err == nil {
				own = append(own, plain)
			}
		}
	}
	for _, s := range own {
		k.learn(s)
	}
	return own
}

// secretOf returns a header's value without the scheme that begins it.
func secretOf(value string) string {
	scheme, rest, ok := strings.Cut(value, " ")
	if ok && !strings.ContainsFunc(scheme, func(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') }) {
		return strings.TrimSpace(rest)
	}
	return value
}

func (k *Known) learn(s string) {
	k.mu.RLock()
	known := k.fixed.seen[s] || k.fresh.seen[s]
	k.mu.RUnlock()
	if known {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.fresh.pieces) >= maxFresh {
		k.past, k.fresh = k.fresh, grams{}
	}
	k.fresh.add(s)
}

// grams are the pieces of texts by which they are found.
type grams struct {
	seen    map[string]bool // whole texts
	pieces  map[string]bool // whether one must be a word
	lengths []int           // of pieces
	first   []uint64        // a bit for each hash of a piece's first bytes
}

// hash returns a number below 1<<20 for four bytes.
func hash(b []byte) uint32 { return binary.LittleEndian.Uint32(b) * 2654435761 >> 12 }

func (g *grams) piece(text string, word bool) {
	if g.pieces == nil {
		g.pieces, g.first = map[string]bool{}, make([]uint64, 1<<14)
	}
	g.pieces[text] = word
	h := hash([]byte(text[:least]))
	g.first[h/64] |= 1 << (h % 64)
	if !slices.Contains(g.lengths, len(text)) {
		g.lengths = append(g.lengths, len(text))
	}
}

// windows adds all pieces of n bytes of text.
func (g *grams) windows(text string, n int) {
	for i := 0; i+n <= len(text); i++ {
		g.piece(text[i:i+n], false)
	}
}

func (g *grams) add(s string) {
	if len(s) < least || g.seen[s] {
		return
	}
	if g.seen == nil {
		g.seen = map[string]bool{}
	}
	g.seen[s] = true
	if strings.Contains(s, " ") {
		g.add(strings.ReplaceAll(s, " ", "+")) // as forms have it
	}
	short := len(s) < gram
	if short {
		g.piece(s, true)
	} else {
		g.windows(s, gram)
	}
	for shift := range 3 {
		for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			text := encoding.EncodeToString([]byte(strings.Repeat("\x00", shift) + s))
			text = text[(8*shift+5)/6 : 8*(shift+len(s))/6] // the letters that s alone decides
			switch {
			case !short:
				g.windows(text, 11) // as many of those as nine bytes decide
			case len(text) > 6:
				g.piece(text, false)
			}
		}
	}
	if text := hex.EncodeToString([]byte(s)); short {
		g.piece(text, false)
		g.piece(strings.ToUpper(text), false)
	} else {
		g.windows(text, 2*gram)
		g.windows(strings.ToUpper(text), 2*gram)
	}
}

// A stretch is a part of a text.
type stretch struct{ from, to int }

// find adds the parts of b that are pieces.
func (g *grams) find(b []byte, found []stretch) []stretch {
	if len(g.pieces) == 0 {
		return found
	}
	for i := 0; i+least <= len(b); i++ {
		if h := hash(b[i:]); g.first[h/64]&(1<<(h%64)) == 0 {
			continue
		}
		for _, n := range g.lengths {
			if i+n > len(b) {
				continue
			}
			if word, ok := g.pieces[string(b[i:i+n])]; ok && (!word || (i == 0 || !isWord(b[i-1])) && (i+n == len(b) || !isWord(b[i+n]))) {
				found = append(found, stretch{i, i + n})
			}
		}
	}
	return found
}

func isWord(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c >= 0x80
}

// A text is unescaped in parts, so that where each byte comes from takes little memory.
const (
	chunk   = 1 << 18
	overlap = 1 << 13
)

// Hide returns b with Masked in place of what is known, and of own; b itself where nothing is.
func (k *Known) Hide(b []byte, own ...string) []byte {
	var forgotten grams
	k.mu.RLock()
	defer k.mu.RUnlock()
	for _, s := range own {
		if !k.fixed.seen[s] && !k.fresh.seen[s] && !k.past.seen[s] {
			forgotten.add(s)
		}
	}
	all := func(b []byte) []stretch {
		return forgotten.find(b, k.past.find(b, k.fresh.find(b, k.fixed.find(b, nil))))
	}
	found := all(b)
	if len(k.fixed.pieces)+len(k.fresh.pieces)+len(k.past.pieces)+len(forgotten.pieces) > 0 && bytes.ContainsAny(b, `%\&`) {
		for start := 0; start < len(b); start += chunk - overlap {
			in := unescaped{text: b[start:min(len(b), start+chunk)]}
			for range 3 {
				if in = in.again(); in.text == nil {
					break
				}
				for _, s := range all(in.text) {
					found = append(found, stretch{start + int(in.at[s.from]), start + int(in.at[s.to])})
				}
			}
		}
	}
	return replace(b, found)
}

// Text is Hide for a text.
func (k *Known) Text(s string, own ...string) string { return string(k.Hide([]byte(s), own...)) }

// replace puts Masked in the place of the stretches found.
func replace(b []byte, found []stretch) []byte {
	if len(found) == 0 {
		return b
	}
	slices.SortFunc(found, func(a, b stretch) int { return cmp.Compare(a.from, b.from) })
	var out []byte
	done := 0
	for i := 0; i < len(found); {
		s := found[i]
		for i++; i < len(found) && found[i].from <= s.to; i++ {
			s.to = max(s.to, found[i].to)
		}
		s, quoted := number(b, s)
		if s.from < done {
			continue
		}
		out = append(out, b[done:s.from]...)
		if quoted {
			out = append(out, '"')
		}
		out = append(out, Masked...)
		if quoted {
			out = append(out, '"')
		}
		done = s.to
	}
	return append(out, b[done:]...)
}

// number makes s the whole of a number of JSON that it is a part of, and reports whether it is one: in the place of a
// number, a text needs quotes.
func number(b []byte, s stretch) (stretch, bool) {
	isNumber := func(c byte) bool { return '0' <= c && c <= '9' || strings.IndexByte("+-.eE", c) >= 0 }
	for _, c := range b[s.from:s.to] {
		if !isNumber(c) {
			return s, false
		}
	}
	whole := s
	for whole.from > 0 && isNumber(b[whole.from-1]) {
		whole.from--
	}
	for whole.to < len(b) && isNumber(b[whole.to]) {
		whole.to++
	}
	before, after := bytes.TrimRight(b[:whole.from], " \t\r\n"), bytes.TrimLeft(b[whole.to:], " \t\r\n")
	if len(before) > 0 && bytes.IndexByte([]byte(":,["), before[len(before)-1]) >= 0 && len(after) > 0 && bytes.IndexByte([]byte(",]}"), after[0]) >= 0 {
		return whole, true
	}
	return s, false
}
