package plan

import (
	"net/netip"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ats returns the forms of the at sign in an address: the sign, its wide form, its escapes in URLs, HTML and JSON, and
// the word.
func ats() []string {
	return []string{"@", "＠", "﹫", "%40", "&#64;", "&#064;", "&#x40;", "&commat;", `\u0040`, "[at]", " [at] ", "(at)", " (at) "}
}

// emails finds e-mail addresses. At each at sign, it looks for a host after the sign and a name before it.
func emails(text string) []span {
	if !strings.ContainsAny(text, "@＠﹫%&[(\\") {
		return nil
	}
	var out []span
	lower := strings.ToLower(text)
	if len(lower) != len(text) { // the lower case of a letter has a different length
		lower = text
	}
	marks, end := ats(), 0
	for i := 0; i < len(text); i++ {
		at := ""
		for _, m := range marks {
			if text[i] == m[0] && strings.HasPrefix(lower[i:], m) && len(m) > len(at) {
				at = m
			}
		}
		if at == "" {
			continue
		}
		to := i + len(at) + host(text[i+len(at):])
		from := i - local(text[end:i])
		if to == i+len(at) || from == i {
			continue
		}
		out = append(out, span{from, to})
		end, i = to, to-1
	}
	return out
}

// host returns the length of the host name at the beginning of text, or 0 if there is none. A host name has at least
// one dot. An IP address in brackets counts as well.
func host(text string) int {
	if strings.HasPrefix(text, "[") {
		if end := strings.IndexByte(text, ']'); end > 0 && end < 64 {
			if _, err := netip.ParseAddr(strings.TrimPrefix(text[1:end], "IPv6:")); err == nil {
				return end + 1
			}
		}
		return 0
	}
	end := strings.IndexFunc(text, func(r rune) bool {
		return !unicode.In(r, unicode.L, unicode.N, unicode.M) && r != '-' && r != '.' && r != '。'
	})
	if end < 0 {
		end = len(text)
	}
	name := strings.TrimRight(text[:end], ".-。")
	if dots := strings.Index(name, ".."); dots >= 0 {
		name = name[:dots]
	}
	dot := strings.LastIndexAny(name, ".。")
	if dot <= 0 || strings.HasPrefix(name, ".") {
		return 0
	}
	_, size := utf8.DecodeRuneInString(name[dot:])
	top := name[dot+size:]
	if _, err := netip.ParseAddr(name); err == nil {
		return len(name)
	}
	if utf8.RuneCountInString(top) < 2 || !strings.ContainsFunc(top, unicode.IsLetter) {
		return 0
	}
	return len(name)
}

// local returns the length of the mailbox name at the end of text, or 0 if there is none.
func local(text string) int {
	if strings.HasSuffix(text, `"`) {
		if open := strings.LastIndexByte(text[:len(text)-1], '"'); open >= 0 && len(text)-open <= 66 {
			return len(text) - open
		}
	}
	from := len(text)
	for from > 0 {
		r, size := utf8.DecodeLastRuneInString(text[:from])
		if !unicode.In(r, unicode.L, unicode.N, unicode.M) && !strings.ContainsRune(".!#$%'*+-=^_`{|}~", r) {
			break
		}
		from -= size
	}
	return len(strings.TrimLeft(text[from:], ".'`*_=|{}~"))
}
