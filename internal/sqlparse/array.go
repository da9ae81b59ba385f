package sqlparse

import "strings"

// Elements reads the text of an array, as PostgreSQL writes it: {a,"b c",NULL}. A nil is a NULL. It returns false for another text, and for
// lists in a list.
func Elements(array string) (items []*string, ok bool) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(array), "{")
	if ok && strings.TrimSpace(rest) == "}" {
		return nil, true
	}
	for more := ok; more; {
		var item string
		var isQuoted bool
		if item, isQuoted, rest, ok = element(strings.TrimSpace(rest)); !ok || rest == "" {
			return nil, false
		}
		items = append(items, &item)
		if !isQuoted && strings.EqualFold(item, "null") {
			items[len(items)-1] = nil
		}
		more = rest[0] == ','
		if !more && rest != "}" {
			return nil, false
		}
		rest = rest[1:]
	}
	return items, ok
}

// element reads one element of the text of an array, up to the mark behind it.
func element(s string) (item string, isQuoted bool, rest string, ok bool) {
	if !strings.HasPrefix(s, `"`) {
		n := strings.IndexAny(s, `,}"\{`)
		if n < 0 {
			return "", false, "", false
		}
		item = strings.TrimSpace(s[:n])
		return item, false, s[n:], item != ""
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '"':
			return b.String(), true, strings.TrimSpace(s[i+1:]), true
		case s[i] == '\\' && i+1 < len(s):
			i++
		}
		b.WriteByte(s[i])
	}
	return "", false, "", false
}
