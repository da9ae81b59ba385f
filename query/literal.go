package query

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// CheckPath splits and checks the dotted path s at the JSON pointer at.
func CheckPath(s, at string) (Path, error) {
	path := ParsePath(s)
	if len(path) > MaxPath {
		return nil, invalid(at, fmt.Sprintf("a path has at most %d parts", MaxPath))
	}
	for _, part := range path {
		switch {
		case part == "":
			return nil, invalid(at, fmt.Sprintf("%q is not a field name: a part of it is empty", problem.Cut(s)))
		case strings.HasPrefix(part, "$"):
			return nil, invalid(at, fmt.Sprintf("%q is not a field name: it begins with $", problem.Cut(s)))
		case len(part) > maxSegment:
			return nil, invalid(at, fmt.Sprintf("%q is not a field name: it is longer than %d bytes", problem.Cut(part), maxSegment))
		}
	}
	return path, nil
}

// literal parses a value to compare with. {__type: Date, iso} becomes a date; {__type: Pointer, className, objectId} is
// unchanged, as its meaning depends on the field.
func literal(v value.Value, at string) (value.Value, error) {
	if v.Kind() != value.Object {
		return v, sane(v, at)
	}
	typ, ok := v.Get("__type")
	if !ok {
		return v, plain(v, at)
	}
	switch typ.Text() {
	case "Date":
		iso, ok := v.Get("iso")
		if date, valid := value.OfDateText(iso.Text()); ok && valid && len(v.Members()) == 2 {
			return date, nil
		}
		return v, invalid(at, `a date is written {"__type": "Date", "iso": "2026-01-31T13:00:00Z"}`)
	case "Pointer":
		class, _ := v.Get("className")
		id, _ := v.Get("objectId")
		if class.Text() != "" && id.Text() != "" && len(v.Members()) == 3 {
			return v, nil
		}
		return v, invalid(at, `a pointer is written {"__type": "Pointer", "className": "users", "objectId": "42"}`)
	}
	return v, &problem.Error{Code: problem.InvalidQuery, Pointer: Pointer(at, "__type"),
		Detail: fmt.Sprintf("unknown __type %q", problem.Cut(typ.String())), Near: []string{"Date", "Pointer"}}
}

// plain rejects operators inside an object to compare with, where they would be taken for member names.
func plain(v value.Value, at string) error {
	if err := sane(v, at); err != nil {
		return err
	}
	for _, m := range v.Members() {
		here := Pointer(at, m.Name)
		if strings.HasPrefix(m.Name, "$") {
			return invalid(here, "operators can't stand beside plain keys in one object")
		}
		if err := plain(m.Value, here); err != nil {
			return err
		}
	}
	return nil
}

// sane rejects numbers that databases can't store: more than 1,000 digits, or an exponent beyond ±999.
func sane(v value.Value, at string) error {
	for i, e := range v.List() {
		if err := plain(e, fmt.Sprintf("%s/%d", at, i)); err != nil {
			return err
		}
	}
	if v.Kind() != value.Decimal {
		return nil
	}
	digits, exponent, _ := strings.Cut(strings.ToLower(v.Text()), "e")
	if exponent = strings.TrimLeft(exponent, "+-0"); len(digits) > 1000 || len(exponent) > 3 {
		return invalid(at, "the number is out of range: at most 1,000 digits and an exponent within ±999")
	}
	return nil
}

// finite is sane for a literal value, which may contain operator names.
func finite(v value.Value, at string) error {
	for i, e := range v.List() {
		if err := finite(e, Pointer(at, strconv.Itoa(i))); err != nil {
			return err
		}
	}
	for _, m := range v.Members() {
		if err := finite(m.Value, Pointer(at, m.Name)); err != nil {
			return err
		}
	}
	if v.Kind() == value.Decimal {
		return sane(v, at)
	}
	return nil
}

// Pointer returns the JSON pointer (RFC 6901) of the member or element token below at.
func Pointer(at, token string) string {
	return at + "/" + strings.ReplaceAll(strings.ReplaceAll(token, "~", "~0"), "/", "~1")
}

func article(noun string) string {
	if noun == "null" {
		return noun
	}
	if strings.ContainsRune("aeiou", rune(noun[0])) {
		return "an " + noun
	}
	return "a " + noun
}
