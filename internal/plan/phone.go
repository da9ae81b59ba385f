package plan

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// socials finds social security numbers of the United States: 3, 2 and 4 digits in ranges that are in use.
func socials(text string) []span {
	var out []span
	for _, r := range runs(text) {
		for i := 0; i+3 <= len(r.groups); i++ {
			a, b, c := r.groups[i], r.groups[i+1], r.groups[i+2]
			area, group, serial := text[a.from:a.to], text[b.from:b.to], text[c.from:c.to]
			if len(area) != 3 || len(group) != 2 || len(serial) != 4 || area == "000" || area == "666" || area[0] == '9' || group == "00" || serial == "0000" {
				continue
			}
			if between := text[a.to:b.from]; between == text[b.to:c.from] && utf8.RuneCountInString(between) == 1 && !strings.ContainsAny(between, "/()_") && !beside(text, a.from, c.to) {
				out = append(out, span{a.from, c.to})
				i += 2
			}
		}
	}
	return out
}

// telephones are words that announce a telephone number. fillers may be between such a word and the number.
var (
	telephones = words(`tel tél teléfono telefono telefone telefon téléphone telephone phone phones fon fone fax mobile mobil mob móvil movil cell
		cellphone celular cel portable handy handynummer rufnummer telefonnummer whatsapp signal sms call ring dial ph телефон тел 電話 电话 手机`)
	fillers = words(`no nr number num n is me us at on back under unter`)
)

// words returns the set of words in a text.
func words(text string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(text) {
		out[w] = true
	}
	return out
}

// endsWithPhoneWord reports whether text ends with a word that announces a telephone number, perhaps followed by
// fillers.
func endsWithPhoneWord(text string) bool {
	for range 4 {
		rest := strings.TrimRightFunc(text, func(r rune) bool { return !word(r) })
		if utf8.RuneCountInString(text[len(rest):]) > 4 {
			return false
		}
		last := rest[len(strings.TrimRightFunc(rest, unicode.IsLetter)):]
		switch w := strings.ToLower(last); {
		case telephones[w]:
			return true
		case !fillers[w]:
			return false
		}
		text = rest[:len(rest)-len(last)]
	}
	return false
}

// phones finds telephone numbers. A number counts if it begins with + or 00 and a country code, or with 0 and an area
// code. It also counts if it has the North American form, or if a word such as tel precedes it. Numbers in longer
// words, such as order numbers, don't count.
func phones(text string) []span {
	var out []span
	for _, r := range runs(text) {
		for from := 0; from < len(r.groups); from++ {
			if to := phone(text, r, from); to > from {
				out = append(out, span{start(text, r.groups[from].from), r.groups[to-1].to})
				from = to - 1
			}
		}
	}
	return out
}

// start returns the beginning of a telephone number: the position of a plus sign or a bracket before i, the position of
// its first digit.
func start(text string, i int) int {
	for {
		r, size := utf8.DecodeLastRuneInString(text[:i])
		switch {
		case r == '+' || r == '＋' || r == '(':
			i -= size
		case r == ' ' && (strings.HasSuffix(text[:i-size], "+") || strings.HasSuffix(text[:i-size], "＋")):
			i -= size
		default:
			return i
		}
	}
}

// phone returns the end of the telephone number that begins with a group of a run. The argument from is the index of
// that group. If there is no such number, phone returns the argument unchanged. It prefers the longest number that ends
// the run or precedes another number. Otherwise it returns the longest number.
func phone(text string, r run, from int) int {
	ends := numbers(text, r, from)
	for _, to := range ends {
		if to == len(r.groups) || len(numbers(text, r, to)) > 0 {
			return to
		}
	}
	if len(ends) == 0 {
		return from
	}
	return ends[0]
}

// numbers returns the possible ends of telephone numbers that begin with the group of a run at index from. The longest
// number comes first.
func numbers(text string, r run, from int) []int {
	first := r.groups[from]
	if n := 0; !slices.ContainsFunc(r.groups[from:], func(g span) bool { n += g.to - g.from; return n >= 6 }) {
		return nil
	}
	called := endsWithPhoneWord(text[max(0, first.from-60):first.from])
	if !called && isPartOfWord(text, first.from) {
		return nil
	}
	signed := plus(text[max(0, first.from-8):first.from])
	var out []int
	for to := min(len(r.groups), from+8); to > from; to-- {
		digits := r.digits(text, from, to)
		n, surely := len(digits), called && len(digits) >= 6 || signed && len(digits) >= 7 && digits[0] != '0'
		switch groups := r.groups[from:to]; {
		case n > 16:
		case surely:
			out = append(out, to)
		case continues(text, groups[len(groups)-1].to), beginsWithDate(text, groups), decimal(text, groups):
		case strings.HasPrefix(digits, "00"):
			if n >= 11 && digits[2] != '0' {
				out = append(out, to)
			}
		case digits[0] == '0' && n >= 9 && n <= 12, american(text, groups):
			out = append(out, to)
		}
	}
	return out
}

// isPartOfWord reports whether the number at i is part of a longer word. That is the case after a letter, a digit, an
// underscore or a #. It is also the case after a hyphen or a slash that follows one of the first three.
func isPartOfWord(text string, i int) bool {
	before, size := utf8.DecodeLastRuneInString(text[:i])
	if word(before) || before == '#' {
		return true
	}
	if strings.ContainsRune("-–/", before) {
		earlier, _ := utf8.DecodeLastRuneInString(text[:i-size])
		return word(earlier)
	}
	return false
}

// continues reports whether the text after i, the end of a number, makes the number part of a longer word.
func continues(text string, i int) bool {
	behind, size := utf8.DecodeRuneInString(text[i:])
	if word(behind) && !unicode.Is(unicode.Han, behind) {
		return true
	}
	if strings.ContainsRune("-–", behind) {
		later, _ := utf8.DecodeRuneInString(text[i+size:])
		return unicode.IsLetter(later)
	}
	return false
}

// beginsWithDate reports whether groups of digits begin with a date: day, month and year, or year, month and day.
func beginsWithDate(text string, groups []span) bool {
	if len(groups) < 3 {
		return false
	}
	size := func(i int) int { return groups[i].to - groups[i].from }
	a, b := text[groups[0].to:groups[1].from], text[groups[1].to:groups[2].from]
	return a == b && (a == "." || a == "/" || a == "-") && size(1) <= 2 && (size(0) <= 2 && (size(2) == 4 || size(2) == 2 && len(groups) == 3) || size(0) == 4 && size(2) <= 2)
}

// decimal reports whether groups of digits form a decimal number.
func decimal(text string, groups []span) bool {
	return len(groups) >= 2 && text[groups[0].to:groups[1].from] == "." && text[groups[0].from:groups[0].to] == "0"
}

// american reports whether groups of digits have the form of a North American number: 3, 3 and 4 digits, with an
// optional 1 before them.
func american(text string, groups []span) bool {
	if len(groups) == 4 && text[groups[0].from:groups[0].to] == "1" {
		groups = groups[1:]
	}
	if len(groups) != 3 {
		return false
	}
	area, exchange, line := text[groups[0].from:groups[0].to], text[groups[1].from:groups[1].to], text[groups[2].from:groups[2].to]
	return len(area) == 3 && len(exchange) == 3 && len(line) == 4 && area[0] >= '2' && exchange[0] >= '2'
}
