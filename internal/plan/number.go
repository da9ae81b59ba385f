package plan

import (
	"net/netip"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A run is a number in the form in which people write it: groups of digits with separators between them.
type run struct {
	groups []span // the groups of digits
	plus   bool   // a + precedes the first group
}

// digits returns the digits of a range of groups. The argument to is the index after the last group.
func (r run) digits(text string, from, to int) string {
	var b strings.Builder
	for _, g := range r.groups[from:to] {
		b.WriteString(text[g.from:g.to])
	}
	return b.String()
}

// separators are the characters, besides white space, that may be between groups of digits.
const separators = "-.()/·‐‑‒–—_"

// widest is the maximum number of characters between two groups of digits.
const widest = 4

// runs returns the numbers in a text. Groups of digits belong to one number if there are only separators between them.
func runs(text string) []run {
	var out []run
	var now run
	for i := 0; i < len(text); {
		if !digit(text[i]) {
			i++
			continue
		}
		to := i
		for to < len(text) && digit(text[to]) {
			to++
		}
		if n := len(now.groups); n == 0 || !separates(text[now.groups[n-1].to:i]) {
			if n > 0 {
				out = append(out, now)
			}
			now = run{plus: plus(text[:i])}
		}
		now.groups = append(now.groups, span{i, to})
		i = to
	}
	if len(now.groups) > 0 {
		out = append(out, now)
	}
	return out
}

// digit reports whether c is a digit.
func digit(c byte) bool { return c >= '0' && c <= '9' }

// separates reports whether text consists of at most widest separators.
func separates(text string) bool {
	n := 0
	for _, r := range text {
		if n++; n > widest || !unicode.IsSpace(r) && !strings.ContainsRune(separators, r) {
			return false
		}
	}
	return true
}

// plus reports whether text ends with a plus sign. White space and opening brackets may follow the sign.
func plus(text string) bool {
	text = strings.TrimRight(text, " (\u00a0")
	return strings.HasSuffix(text, "+") || strings.HasSuffix(text, "＋") || strings.HasSuffix(text, "%2B") || strings.HasSuffix(text, "%2b")
}

// cards finds the numbers of payment cards: 13 to 19 digits with a valid check digit and a beginning that cards have.
// The digits form one group, or several groups of at least four digits. The last group may be shorter. If two such
// numbers overlap, the result covers both.
func cards(text string) []span {
	var out []span
	for _, r := range runs(text) {
		for from := range r.groups {
			n := 0
			for to := from; to < len(r.groups); to++ {
				size := r.groups[to].to - r.groups[to].from
				if n += size; n > 19 {
					break
				}
				if n >= 13 && isCard(r.digits(text, from, to+1)) {
					out = join(out, span{r.groups[from].from, r.groups[to].to})
				}
				if size < 4 {
					break // only the last group may be short
				}
			}
		}
	}
	return out
}

// join adds s to list, which is in order of the beginnings. If s overlaps the last span of list, join merges the two.
func join(list []span, s span) []span {
	if n := len(list); n > 0 && s.from < list[n-1].to {
		list[n-1].to = max(list[n-1].to, s.to)
		return list
	}
	return append(list, s)
}

// isCard reports whether digits have the beginning, the length and the check digit of a payment card.
func isCard(digits string) bool {
	n, two, four := len(digits), digits[:2], digits[:4]
	switch {
	case digits[0] == '4' && (n == 13 || n == 16 || n == 19):
	case (two >= "51" && two <= "55" || four >= "2221" && four <= "2720") && n == 16:
	case (two == "34" || two == "37") && n == 15:
	case (two == "36" || two == "38" || two == "39" || four >= "3000" && four <= "3059") && n >= 14:
	case four >= "3528" && four <= "3589" && n >= 16:
	case digits[0] == '6' && n >= 16, two == "50" && n >= 13, two >= "56" && two <= "58" && n >= 13:
	default:
		return false
	}
	return luhn(digits)
}

// luhn reports whether the last digit is the check digit of the preceding digits.
func luhn(digits string) bool {
	sum := 0
	for i := range len(digits) {
		d := int(digits[len(digits)-1-i] - '0')
		if i%2 == 1 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return sum%10 == 0
}

// ibanLengths are the lengths of IBANs by country.
var ibanLengths = accounts()

// accounts returns the lengths of IBANs by country code.
func accounts() map[string]int {
	out := map[string]int{}
	for _, countries := range []struct {
		length int
		codes  string
	}{{15, "NO"}, {16, "BE"}, {18, "DK FK FI FO GL NL SD"}, {19, "MK SI"}, {20, "AT BA EE KZ LT LU MN XK"}, {21, "CH HR LI LV"},
		{22, "BG BH CR DE GB GE IE ME RS VA"}, {23, "AE GI IL IQ OM SO TL"}, {24, "AD CZ ES MD PK RO SA SE SK TN VG DZ"},
		{25, "LY PT ST AO CV GW MZ"}, {26, "IS TR IR"}, {27, "BI DJ FR GR IT MC MR SM BF CF CG CM GA GQ KM MG TD TG"},
		{28, "AL AZ BY CY DO GT HU LB NI PL SV BJ CI HN MA ML NE SN"}, {29, "BR EG PS QA UA"}, {30, "JO KW YE MU"}, {31, "MT SC"}, {32, "LC"}, {33, "RU"}} {
		for _, code := range strings.Fields(countries.codes) {
			out[code] = countries.length
		}
	}
	return out
}

// ibans finds IBANs: a country code, two check digits and the number of characters that the country has. Separators are
// optional.
func ibans(text string) []span {
	var out []span
	for i := 0; i+15 <= len(text); i++ {
		if !letter(text[i]) || !letter(text[i+1]) || !digit(text[i+2]) && !digit(next(text, i+2)) {
			continue
		}
		length := ibanLengths[strings.ToUpper(text[i:i+2])]
		if length == 0 {
			continue
		}
		account, to := alphanumerics(text, i, length)
		if len(account) == length && digit(account[2]) && digit(account[3]) && mod97(account) {
			out = append(out, span{i, to})
			i = to - 1
		}
	}
	return out
}

// next returns the first byte of text after a separator at i, or 0.
func next(text string, i int) byte {
	if rest := strings.TrimLeftFunc(text[i:], func(r rune) bool { return unicode.IsSpace(r) || r == '-' }); rest != "" && len(text)-i-len(rest) <= 3 {
		return rest[0]
	}
	return 0
}

// letter reports whether c is a letter.
func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// alphanumerics returns n letters and digits of text from position i, in upper case, and the position after them. There
// may be a few separators between them.
func alphanumerics(text string, i, n int) (string, int) {
	var b strings.Builder
	last := i
	for i < len(text) && b.Len() < n {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r < utf8.RuneSelf && (digit(byte(r)) || letter(byte(r))):
			b.WriteByte(byte(unicode.ToUpper(r)))
			last = i + size
		case i-last > widest || !unicode.IsSpace(r) && !strings.ContainsRune(separators, r):
			return "", 0
		}
		i += size
	}
	return b.String(), last
}

// mod97 reports whether the check digits of an IBAN are valid.
func mod97(account string) bool {
	rest := 0
	for _, c := range account[4:] + account[:4] {
		if c >= 'A' {
			rest = (rest*100 + int(c-'A') + 10) % 97
		} else {
			rest = (rest*10 + int(c-'0')) % 97
		}
	}
	return rest == 1
}

var (
	ipv4 = regexp.MustCompile(`[0-9]{1,3}(?:\.[0-9]{1,3}){3}`)
	ipv6 = regexp.MustCompile(`[0-9A-Fa-f:]*:[0-9A-Fa-f:]*:[0-9A-Fa-f:.]*`)
)

// addresses finds the addresses of PatternIP.
func addresses(text string) []span {
	var out []span
	if strings.Count(text, ":") >= 2 {
		for _, at := range ipv6.FindAllStringIndex(text, -1) {
			found := strings.TrimRight(text[at[0]:at[1]], ".")
			if !strings.HasSuffix(found, "::") {
				found = strings.TrimSuffix(found, ":")
			}
			a, err := netip.ParseAddr(found)
			if err == nil && strings.ContainsAny(found, "0123456789") && a.Is6() && !beside(text, at[0], at[0]+len(found)) {
				out = append(out, span{at[0], at[0] + len(found)})
			}
		}
	}
	var other []span
	for _, at := range ipv4.FindAllStringIndex(text, -1) {
		inV6 := false
		for _, s := range out {
			inV6 = inV6 || at[0] >= s.from && at[1] <= s.to
		}
		if isIPv4(text[at[0]:at[1]]) && !inV6 && !beside(text, at[0], at[1]) && !strings.HasSuffix(text[:at[0]], ".") {
			other = append(other, span{at[0], at[1]})
		}
	}
	return merge(out, other)
}

// isIPv4 reports whether text, four numbers with dots, is an address. Leading zeros are accepted.
func isIPv4(text string) bool {
	for part := range strings.SplitSeq(text, ".") {
		if len(part) == 3 && part > "255" {
			return false
		}
	}
	return true
}

// merge merges two lists of spans that don't overlap, in their order.
func merge(a, b []span) []span {
	out := make([]span, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if a[0].from < b[0].from {
			out, a = append(out, a[0]), a[1:]
		} else {
			out, b = append(out, b[0]), b[1:]
		}
	}
	return append(append(out, a...), b...)
}

// beside reports whether a letter, a digit or an underscore precedes or follows a range of text.
func beside(text string, from, to int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:from])
	behind, _ := utf8.DecodeRuneInString(text[to:])
	return word(before) || word(behind)
}

// word reports whether r is part of a word.
func word(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' }
