// Package literals checks the constants of queries: values, names of fields and variables, and keys of objects.
//
//	constant, JSON pointer ─check→ value, pattern, search, area or path, or a *problem.Error
//
// Packages query, sqlbind and policy share this package, so all query languages accept the same constants. Value parses
// a value for a comparison. Name, Path and Variable check names. Sane rejects numbers that databases can't store.
//
// CheckPattern accepts regular expressions that every source supports and that no source evaluates in excessive time.
// ExactPattern accepts expressions that have the same matches in every engine.
//
// ParseSearch parses a full-text query: words, "quoted phrases", and -words to exclude. The result contains no
// operators of a database's own query syntax, so no input can make a database fail.
//
// An Area is a part of the earth's surface. Package sqlgen writes the same formula for distances.
package literals

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// Value parses a value for a comparison. {__type: Date, iso} becomes a date. {__type: Pointer, className, objectId}
// stays unchanged, because its meaning depends on the field.
func Value(v value.Value, at string) (value.Value, error) {
	if v.Kind() != value.Object {
		return v, Sane(v, at)
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
		return v, problem.Invalid(at, "%s", `a date is written {"__type": "Date", "iso": "2026-01-31T13:00:00Z"}`)
	case "Pointer":
		class, _ := v.Get("className")
		id, _ := v.Get("objectId")
		if class.Text() != "" && id.Text() != "" && len(v.Members()) == 3 {
			return v, nil
		}
		return v, problem.Invalid(at, "%s", `a pointer is written {"__type": "Pointer", "className": "users", "objectId": "42"}`)
	}
	return v, &problem.Error{Code: problem.InvalidQuery, Pointer: Pointer(at, "__type"),
		Detail: fmt.Sprintf("unknown __type %q", problem.Cut(typ.String())), Near: []string{"Date", "Pointer"}}
}

// plain rejects operators inside a literal object, because a database would read them as names of members.
func plain(v value.Value, at string) error {
	if err := Sane(v, at); err != nil {
		return err
	}
	for _, m := range v.Members() {
		here := Pointer(at, m.Name)
		if strings.HasPrefix(m.Name, "$") {
			return problem.Invalid(here, "%s", "operators and plain keys can't be in one object")
		}
		if err := plain(m.Value, here); err != nil {
			return err
		}
	}
	return nil
}

// Sane rejects numbers that databases can't store: numbers with more than 1,000 digits or an exponent beyond ±999.
func Sane(v value.Value, at string) error {
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
		return problem.Invalid(at, "%s", "the number is out of range: at most 1,000 digits and an exponent within ±999")
	}
	return nil
}

// Finite is Sane for a literal value, which may contain operator names.
func Finite(v value.Value, at string) error {
	for i, e := range v.List() {
		if err := Finite(e, Pointer(at, strconv.Itoa(i))); err != nil {
			return err
		}
	}
	for _, m := range v.Members() {
		if err := Finite(m.Value, Pointer(at, m.Name)); err != nil {
			return err
		}
	}
	if v.Kind() == value.Decimal {
		return Sane(v, at)
	}
	return nil
}

// Pointer returns the JSON pointer (RFC 6901) of a member or an element of the value at at. token is the name or the
// index.
func Pointer(at, token string) string {
	return at + "/" + strings.ReplaceAll(strings.ReplaceAll(token, "~", "~0"), "/", "~1")
}
