package endtoend

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/policy"
)

// contact draws a text for partial masks: an address, a number, a text, or a text that is too short to show any part
// of it.
func (m *maker) contact() any {
	return pick(m.Rand, nil, m.alike("jan@mail.org"), m.alike("4111 1111 1111 1234"), m.alike("Ann Smith"), m.alike("short"), m.alike(""))
}

// alike returns another text that looks the same as v under a partial mask. For example, "john" is shown as "j•••".
func (m *maker) alike(v any) any {
	letters := func(least, most int) string {
		var b strings.Builder
		for range least + m.IntN(most-least+1) {
			b.WriteString(pick(m.Rand, "a", "b", "é", "Z", "7", "_", "'", "-"))
		}
		return b.String()
	}
	digits := func(least, most int) string {
		var b strings.Builder
		for range least + m.IntN(most-least+1) {
			b.WriteString(pick(m.Rand, "0", "1", "7", " 9", "-3", "(4"))
		}
		return b.String()
	}
	switch masked(policy.Partial, v) {
	case "j•••@m•••.org":
		return fmt.Sprintf("j%s@m%s.org", letters(2, 9), letters(2, 30))
	case "•••1234":
		return digits(8, 20) + pick(m.Rand, "1234", "12 34", "1-2-34")
	case "A•••":
		return "A" + letters(3, 40)
	case "•••":
	default:
		return v // null
	}
	return pick[any](m.Rand, "", "a", "ab7", "(1) 555", "12345678", "_long text", " x ", "•••", letters(0, 2), "'; --")
}

// about draws a text that contains personal data.
func (m *maker) about() any {
	return m.refill(pick[any](m.Rand, nil, "", "no data", "write to [email]", "[email], [phone] or [phone]; ask for Ann", "paid with [card]", "from [ip]: [iban]", "[ssn]"))
}

// refill returns another text that looks the same as v under a mask of all patterns.
func (m *maker) refill(v any) any {
	text := masked(policy.Inside, v)
	if v == nil {
		return nil
	}
	all := map[string][]string{
		"[email]": {"ann@ex.com", "bob.brown@mail.example.org", "a%40b.test"},
		"[phone]": {"+49 171 1234567", "(555) 234-5678", "030 7654321", "+1 5552345678"},
		"[card]":  {"4111 1111 1111 1111", "378282246310005"},
		"[iban]":  {"DE89 3704 0044 0532 0130 00", "GB82WEST12345698765432"},
		"[ip]":    {"192.0.2.1", "2001:db8::1", "10.20.30.40"},
		"[ssn]":   {"123-45-6789", "078-05-1120"},
	}
	for _, marker := range slices.Sorted(maps.Keys(all)) { // in a fixed order, so that a seed draws the same texts
		for strings.Contains(text, marker) {
			text = strings.Replace(text, marker, pick(m.Rand, all[marker]...), 1)
		}
	}
	return text
}

// remask replaces the masked values of a row by values that look the same to the principal of the worlds.
func (m *maker) remask(t string, r record) {
	switch t {
	case "users":
		r["phone"], r["born"], r["about"] = m.alike(r["phone"]), m.instant(), m.refill(r["about"])
		r["alias"] = m.contact()
	case "issues":
		r["extra"] = m.document()
	case "events":
		r["hint"] = m.text()
	}
}

// unmask removes the mask of one field.
func unmask(class, field string) func(policy.Rules) {
	return func(r policy.Rules) {
		c := r.Classes[class]
		c.Mask = maps.Clone(c.Mask)
		delete(c.Mask, field)
		r.Classes[class] = c
	}
}

// unmasked removes the masks from the rule of a class.
func unmasked(class string) func(policy.Rules) {
	return func(r policy.Rules) {
		c := r.Classes[class]
		c.Mask = nil
		r.Classes[class] = c
	}
}
