package client

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

// masked replaces a credential in a response.
const masked = "[masked]"

// KnownSecrets is a set of credentials to find in responses. It finds any nine consecutive bytes of a credential,
// unchanged or in lower or upper case. It also finds them in base64 or hexadecimal, or escaped for URLs, JSON or HTML
// up to three times. A credential of four to eight bytes is found only as a whole word. A shorter credential is not
// found. It is safe for concurrent use.
type KnownSecrets struct {
	mu    sync.RWMutex
	fixed grams
	fresh grams // tokens added at run time since the last rotation
	past  grams // tokens added before that rotation
}

// A CredentialHolder is a Credential that lists its secrets.
type CredentialHolder interface {
	Secrets() []string
}

const (
	gram     = 9      // number of bytes of a credential that identify it
	least    = 4      // length of the shortest credential that is searched for, in bytes
	maxFresh = 50_000 // number of pieces of tokens before the oldest tokens are dropped
)

// Add adds permanent secrets.
func (k *KnownSecrets) Add(secrets ...string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, s := range secrets {
		k.fixed.add(s)
	}
}

// Learn adds the secrets that a credential added to a request, and returns them as own. before is the request without
// the credential. Learnt secrets are dropped when there are too many, so the caller must also pass own to Hide.
func (k *KnownSecrets) Learn(before, after *http.Request) (own []string) {
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

// secretOf returns a header's value without its authentication scheme.
func secretOf(value string) string {
	scheme, rest, ok := strings.Cut(value, " ")
	if ok && !strings.ContainsFunc(scheme, func(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') }) {
		return strings.TrimSpace(rest)
	}
	return value
}

// learn adds a secret that was seen at run time. When the current set is full, it becomes the past set, which is
// searched until the next rotation.
func (k *KnownSecrets) learn(s string) {
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

// grams contains the pieces of secrets to search for.
type grams struct {
	seen    map[string]bool // whole secrets
	pieces  map[string]bool // true if the piece must be a whole word
	lengths []int           // distinct lengths of pieces
	first   []uint64        // a bitmap of the hashes of the first bytes of the pieces
}

// hash returns a hash below 1<<20 of the first four bytes of b.
func hash(b []byte) uint32 { return binary.LittleEndian.Uint32(b) * 2654435761 >> 12 }

// piece adds one text to search for. The text has at least least bytes. If word is true, it counts only as a whole
// word.
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

// windows adds all substrings of text with n bytes.
func (g *grams) windows(text string, n int) {
	for i := 0; i+n <= len(text); i++ {
		g.piece(text[i:i+n], false)
	}
}

// add adds the pieces that identify s. These are windows of nine bytes of s, and of s in lower and upper case because
// APIs write hexadecimal keys in either case. They are also windows of the hexadecimal form of s, and of its base64
// form at each of the three alignments. In base64, only characters that depend only on s count. A short s is searched
// as a whole.
func (g *grams) add(s string) {
	if len(s) < least || g.seen[s] {
		return
	}
	if g.seen == nil {
		g.seen = map[string]bool{}
	}
	g.seen[s] = true
	if strings.Contains(s, " ") {
		g.add(strings.ReplaceAll(s, " ", "+")) // as form encoding writes it
	}
	short := len(s) < gram
	for _, text := range []string{s, strings.ToLower(s), strings.ToUpper(s)} {
		switch {
		case !short:
			g.windows(text, gram)
		case len(text) >= least: // a text with few letters is shorter in another case
			g.piece(text, true)
		}
	}
	for shift := range 3 {
		for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			text := encoding.EncodeToString([]byte(strings.Repeat("\x00", shift) + s))
			text = text[(8*shift+5)/6 : 8*(shift+len(s))/6] // the characters that depend only on s
			switch {
			case !short:
				g.windows(text, 11) // the characters determined by nine bytes
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

// A stretch is a byte range of a text.
type stretch struct{ from, to int }

// find appends the ranges of b that match a piece.
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

// A text is unescaped in overlapping chunks. This limits the memory for the positions of bytes.
const (
	chunk   = 1 << 18
	overlap = 1 << 13
)

// Hide returns b with known secrets and own replaced by masked. It returns b itself if it contains none.
func (k *KnownSecrets) Hide(b []byte, own ...string) []byte {
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

// Text does the same as Hide for a string.
func (k *KnownSecrets) Text(s string, own ...string) string { return string(k.Hide([]byte(s), own...)) }

// replace replaces the ranges in found with masked.
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
		out = append(out, masked...)
		if quoted {
			out = append(out, '"')
		}
		done = s.to
	}
	return append(out, b[done:]...)
}

// number extends s to the whole JSON number that contains it, and reports whether there is one. In place of a number,
// masked needs quotes.
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
