package typecheck

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// The notes here report conditions whose meaning may not be the intended one. They are only for callers' filters, not
// for filters of rules. They depend only on the query and on what get_schema documents.

// say adds a note once. "" means no note.
func (b *filters) say(note string) {
	if note != "" && !slices.Contains(b.notes, note) {
		b.notes = append(b.notes, note)
	}
}

// An Allowed is a value that a field may have, as text, with its meaning as documented to the caller, or "".
type Allowed struct{ Value, Meaning string }

// maxListed is the maximum number of allowed values that a note lists.
const maxListed = 12

// noteUnknownValues adds a note for values that are not among the allowed values of a field.
func (b *filters) noteUnknownValues(at string, f *schema.Field, path query.Path, equality bool, values ...value.Value) {
	if !equality || b.relations == nil || len(path) > 1 || f.Type.IsStructured() {
		return
	}
	allowed := b.scope.AllowedValues(path[0])
	for _, v := range values {
		if wrong := UnknownValueNote(f, allowed, v); wrong != "" {
			b.say(at + ": " + wrong)
		}
	}
}

// UnknownValueNote returns a note that v is not an allowed value of a field. The note contains similar allowed values.
// It is "" if v is allowed.
func UnknownValueNote(f *schema.Field, documented []Allowed, v value.Value) string {
	text := v.String()
	var allowed, shown, meant []string
	for _, a := range documented {
		allowed = append(allowed, a.Value)
		if f.Type != schema.String && a.Meaning != "" { // numbers say nothing by themselves
			a.Value += " (" + problem.Cut(a.Meaning) + ")"
		}
		shown = append(shown, a.Value)
		if v.Kind() == value.String && strings.EqualFold(a.Meaning, text) {
			meant = append(meant, allowed[len(allowed)-1])
		}
	}
	if allowed == nil || v.IsNull() || v.Kind() == value.Object || slices.Contains(allowed, text) {
		return ""
	}
	near := alike(text, allowed)
	if near == nil {
		near = problem.Nearest(text, allowed, 3)
	}
	if i := slices.IndexFunc(allowed, func(a string) bool { return strings.EqualFold(a, text) }); i >= 0 {
		near = allowed[i : i+1]
	}
	if meant != nil {
		near = meant[:1]
	}
	known := strings.Join(shown[:min(len(shown), maxListed)], ", ")
	if len(allowed) > maxListed {
		known += ", … (get_schema has all)"
	}
	return fmt.Sprintf("%q is none of the values of %s, which are %s%s", problem.Cut(text), f.Name, known, problem.DidYouMean(near))
}

// noteMixedTypes adds a note for a comparison with a field of several types, because the value matches only values of
// its own type. A text with a date or a number doesn't match the date or the number. The note depends only on the
// field's type and doesn't reveal the values of records.
func (b *filters) noteMixedTypes(at string, f *schema.Field, path query.Path, op query.Op, v value.Value) {
	if b.relations != nil && len(path) == 1 {
		b.say(strays(b.scope, f, at))
	}
	if b.relations == nil || len(path) > 1 || f.Type != schema.Any {
		return
	}
	convert, alone, with := "$toDouble", "numbers alone, not with texts of digits", v.String()
	if v.Kind() == value.String {
		alone = "texts alone, not with dates or numbers"
		if _, dated := value.OfDateText(v.Text()); dated {
			convert, with = "$toDate", fmt.Sprintf(`{"$toDate": %q}`, v.Text())
		} else if !numeral(v.Text()) {
			return
		}
	}
	b.say(fmt.Sprintf(`%s: %s may hold values of several types. This compares it with %s. aggregate compares all of them: {"$match": {"$expr": {%q: [{%q: %q}, %s]}}}`,
		at, f.Name, alone, op, convert, "$"+f.Name, with))
}

// A Whole is a Scope that can report whether its principal sees every record.
type Whole interface{ Whole() bool }

// strays returns a note for a condition on a field with some values of another type. It returns "" for other fields.
// Only a caller who sees every record learns the number of such values, because it depends on all records.
func strays(s Scope, f *schema.Field, at string) string {
	if f.Strays == 0 {
		return ""
	}
	if w, ok := s.(Whole); ok && w.Whole() {
		return fmt.Sprintf("%s: %d of %d values of %s that were looked at are not of type %s. This condition does not compare them", at, f.Strays, f.Looked, f.Name, f.Type)
	}
	return fmt.Sprintf("%s: some values of %s are not of type %s. This condition does not compare them", at, f.Name, f.Type)
}

// numeral reports whether text is a number in JSON syntax.
func numeral(text string) bool {
	v, err := value.Read([]byte(text), 0)
	return err == nil && v.IsNumber()
}

// noteSlashes adds a note for a regular expression written between slashes, which would match the slashes themselves.
func (b *filters) noteSlashes(f query.Regex) {
	end := strings.LastIndexByte(f.Pattern, '/')
	if b.relations == nil || end < 1 || f.Pattern[0] != '/' || strings.Trim(f.Pattern[end+1:], "gimsuxy") != "" {
		return
	}
	instead := fmt.Sprintf(`{"$regex": %q`, f.Pattern[1:end])
	if strings.Contains(f.Pattern[end+1:], "i") {
		instead += `, "$options": "i"`
	}
	b.say(fmt.Sprintf("%s: the slashes of %s are looked for as well. Without them it is %s}", f.At, f.Pattern, instead))
}

// day reports whether a date field is compared with a day. It returns the beginning of the day, midnight UTC.
func (b *filters) day(at string, f *schema.Field, path query.Path, v value.Value) (time.Time, bool) {
	if b.relations == nil || f.Type != schema.Date || len(path) > 1 || v.Kind() != value.String {
		return time.Time{}, false
	}
	day, ok := value.OfDateText(v.Text())
	if !ok || day.Kind() != value.Day {
		return time.Time{}, false
	}
	b.say(fmt.Sprintf("%s: %s is the whole day in UTC", at, v.Text()))
	return time.UnixMicro(day.Micros()).UTC(), true
}

// whole returns the comparison c with all instants of a day.
func whole(c query.Compare, day time.Time) query.Filter {
	begin, end := c, c
	begin.Op, begin.Value = query.Gte, value.OfTime(day)
	end.Op, end.Value = query.Lt, value.OfTime(day.AddDate(0, 0, 1))
	switch c.Op {
	case query.Eq:
		return query.And{begin, end}
	case query.Ne:
		return query.Not{Part: query.And{begin, end}}
	case query.Gt: // after the day
		end.Op = query.Gte
		return end
	case query.Lte:
		return end
	case query.Lt:
		begin.Op = query.Lt
	}
	return begin
}
