package rewrite

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/hint"
	"github.com/bailiwick-dev/bailiwick/internal/literals"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// Query returns v, a where object or a pipeline, rewritten for the query language. at is the JSON pointer of v. The
// notes describe changes that a reader may not expect. The argument now is the instant of $$NOW. The contents of
// $literal stay unchanged.
func Query(v value.Value, at string, now time.Time) (out value.Value, notes []string, err error) {
	w := &writing{now: now.UTC()}
	out = w.value(v, at)
	return out, w.notes, w.err
}

// Where is Query for a where object, which may also be written as a list of {"field": "total", "op": ">", "value": 5}.
func Where(v value.Value, at string, now time.Time) (out value.Value, notes []string, err error) {
	w := &writing{now: now.UTC()}
	if out = w.whereFromList(v, at); w.err == nil {
		out = w.value(out, at)
	}
	return out, w.notes, w.err
}

// A writing rewrites one document. now is the same for the whole document. err is the first error.
type writing struct {
	now   time.Time
	notes []string
	err   error
}

// value returns v in the form of the query language. It replaces forms that models write, such as "$$NOW" and extended
// JSON, and adds notes. It doesn't change the contents of a $literal.
func (w *writing) value(v value.Value, at string) value.Value {
	switch v.Kind() {
	case value.String:
		if v.Text() == "$$NOW" {
			return date(w.now)
		}
		if plain, ok := literals.ParseMongoLiteral(v); ok { // ObjectId("…"), ISODate("…")
			w.note(fmt.Sprintf("%s: %s was taken as %s", at, problem.Cut(v.Text()), plain))
			if plain.Kind() == value.Date || plain.Kind() == value.Day {
				return date(time.UnixMicro(plain.Micros()).UTC())
			}
			return plain
		}
	case value.Array:
		return value.OfArray(each(v.List(), func(i int, e value.Value) value.Value { return w.value(e, query.Pointer(at, strconv.Itoa(i))) }))
	case value.Object:
		if related, ok := v.Get("$relatedTo"); ok {
			v = w.rewriteRelatedTo(v, related, query.Pointer(at, "$relatedTo"))
		}
		var notes []string
		v, notes = hint.Rewrite(v, at)
		w.notes = append(w.notes, notes...)
		if members := v.Members(); len(members) == 1 && strings.HasPrefix(members[0].Name, "$") {
			if out, ok := w.unwrapValue(members[0], query.Pointer(at, members[0].Name)); ok {
				return out
			}
		}
		return value.OfObject(each(v.Members(), func(_ int, m value.Member) value.Member {
			if m.Name != "$literal" {
				m.Value = w.value(m.Value, query.Pointer(at, m.Name))
			}
			return m
		}))
	}
	return v
}

// rewriteRelatedTo replaces {"$relatedTo": {"object": pointer, "key": field}} in v by a condition over the class of the
// relation. On Parse Server, this operator matches the records in the relation field of another record.
func (w *writing) rewriteRelatedTo(v, related value.Value, at string) value.Value {
	object, _ := related.Get("object")
	class, _ := object.Get("className")
	id, _ := object.Get("objectId")
	key, _ := related.Get("key")
	if class.Text() == "" || id.Kind() != value.String || key.Text() == "" || len(related.Members()) != 2 {
		w.refuse(at, `$relatedTo takes {"object": {"__type": "Pointer", "className": "Product", "objectId": "x"}, "key": "related"}`)
		return v
	}
	source, name, ok := strings.Cut(class.Text(), ".")
	if ok {
		source += "."
	} else {
		source, name = "", source
	}
	pairs := value.OfObject([]value.Member{{Name: "className", Value: value.OfString(source + "_Join:" + key.Text() + ":" + name)}, {Name: "where", Value: only("owningId", id)}})
	parts := []value.Value{only("objectId", only("$select", value.OfObject([]value.Member{{Name: "query", Value: pairs}, {Name: "key", Value: value.OfString("relatedId")}})))}
	for _, m := range v.Members() {
		if m.Name != "$relatedTo" {
			parts = append(parts, only(m.Name, m.Value))
		}
	}
	if len(parts) == 1 {
		return parts[0]
	}
	return only("$and", value.OfArray(parts))
}

// unwrapValue returns the plain value of an object with a single known operator, and whether m is the member of such an
// object.
func (w *writing) unwrapValue(m value.Member, at string) (value.Value, bool) {
	inner := m.Value
	switch m.Name {
	case "$oid", "$uuid", "$objectId":
		return inner, inner.Kind() == value.String
	case "$numberLong", "$numberInt", "$numberDouble", "$numberDecimal":
		return number(inner)
	case "$date":
		if n, ok := inner.Get("$numberLong"); ok && len(inner.Members()) == 1 {
			inner = n
		}
		if millis, ok := number(inner); ok {
			n, whole := millis.AsInt()
			return date(time.UnixMilli(n).UTC()), whole
		}
		_, ok := value.OfDateText(inner.Text())
		return dateObject(inner), ok && inner.Kind() == value.String
	case "$relativeTime":
		t, ok := relative(w.now, inner.Text())
		if !ok {
			w.refuse(at, "$relativeTime takes a text such as \"7 days ago\", \"in 2 weeks\" or \"now\"")
			return inner, true
		}
		w.note(fmt.Sprintf("%s: %q is %s", at, inner.Text(), t.Format(time.RFC3339)))
		return date(t), true
	}
	return value.Value{}, false
}

func (w *writing) refuse(at, detail string) {
	if w.err == nil {
		w.err = &problem.Error{Code: problem.InvalidQuery, Pointer: at, Detail: detail}
	}
}

func (w *writing) note(text string) { w.notes = append(w.notes, text) }

// relative parses "7 days ago", "in 2 hours", "2 hours from now", "now", "today", "yesterday" and "tomorrow". A day
// begins at midnight UTC.
func relative(now time.Time, text string) (time.Time, bool) {
	midnight := now.Truncate(24 * time.Hour)
	text = strings.ToLower(strings.Join(strings.Fields(text), " "))
	switch text {
	case "now":
		return now.Truncate(time.Second), true
	case "today":
		return midnight, true
	case "yesterday":
		return midnight.AddDate(0, 0, -1), true
	case "tomorrow":
		return midnight.AddDate(0, 0, 1), true
	}
	sign := 1
	amount, past := strings.CutSuffix(text, " ago")
	if past {
		sign = -1
	} else if after, ok := strings.CutPrefix(amount, "in "); ok {
		amount = after
	} else if amount, ok = strings.CutSuffix(amount, " from now"); !ok {
		return now, false
	}
	many, unit, _ := strings.Cut(amount, " ")
	n, err := strconv.Atoi(many)
	if many == "a" || many == "an" {
		n, err = 1, nil
	}
	if err != nil || n < 0 || n > 100_000 {
		return now, false
	}
	n *= sign
	now = now.Truncate(time.Second)
	switch strings.TrimSuffix(unit, "s") {
	case "second":
		return now.Add(time.Duration(n) * time.Second), true
	case "minute":
		return now.Add(time.Duration(n) * time.Minute), true
	case "hour":
		return now.Add(time.Duration(n) * time.Hour), true
	case "day":
		return now.AddDate(0, 0, n), true
	case "week":
		return now.AddDate(0, 0, 7*n), true
	case "month":
		return now.AddDate(0, n, 0), true
	case "year":
		return now.AddDate(n, 0, 0), true
	}
	return now, false
}

// number returns a number, which may also be written as text.
func number(v value.Value) (value.Value, bool) {
	if v.Kind() == value.String {
		read, err := value.Read([]byte(v.Text()), 0)
		if err != nil {
			return v, false
		}
		v = read
	}
	return v, v.IsNumber()
}

// date encodes an instant in the form that both where objects and expressions accept.
func date(t time.Time) value.Value { return dateObject(value.OfString(value.OfTime(t).String())) }

func dateObject(iso value.Value) value.Value {
	return value.OfObject([]value.Member{{Name: "__type", Value: value.OfString("Date")}, {Name: "iso", Value: iso}})
}

func each[T any](list []T, do func(int, T) T) []T {
	out := make([]T, len(list))
	for i, e := range list {
		out[i] = do(i, e)
	}
	return out
}
