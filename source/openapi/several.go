package openapi

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/value"
)

// valueState returns the state for a body that isn't an object, such as a list or a text. The answer must be a value
// of the same kind, or contain only one such value in its envelopes.
func (f *finder) valueState(is answer, none state) state {
	if !changesRecord(f.call.Operation) {
		none.read = value.Value{}
		return none
	}
	at, ok := f.lists(is.whole, f.call.Body.Kind())
	if !ok {
		return none
	}
	if f.partial() && areRecords(f.call.Body) {
		return f.listState(is, at, nil, none)
	}
	s := state{seen: object(reach(is.seen, at)), raw: object(reach(is.raw, at)), whole: object(reach(is.whole, at)), read: marks(is.seen, at)}
	s.before, s.after, s.record = s.whole, object(f.call.Body), s.whole
	return s
}

// lists returns the path to the only value of a kind in an answer and its envelopes. It returns false if there is
// none or more than one.
func (f *finder) lists(answer value.Value, kind value.Kind) (at []string, ok bool) {
	for v := answer; v.Kind() != kind; {
		var next []value.Member
		for _, m := range v.Members() {
			if m.Value.Kind() == kind && kind == value.Array || m.Value.Kind() == value.Object && f.wraps(v, m.Name) {
				next = append(next, m)
			}
		}
		if len(next) != 1 {
			return nil, false
		}
		at, v = append(at, next[0].Name), next[0].Value
	}
	return at, true
}

// partial reports whether the call keeps the fields that it doesn't contain.
func (f *finder) partial() bool { return f.call.Request.Method != "PUT" || f.call.Partial }

// areRecords reports whether v is a list of objects.
func areRecords(v value.Value) bool {
	return len(v.List()) > 0 && !slices.ContainsFunc(v.List(), func(e value.Value) bool { return e.Kind() != value.Object })
}

// severalIn returns the name of the member of a body that is a list of records, if the call updates several records.
// The path of such a call doesn't end with the id of a record. It returns "" for other calls, and if another member
// could also contain records.
func (f *finder) severalIn(body value.Value) string {
	path, _ := f.call.Operation.Target()
	if f.call.Request.Method != "PATCH" || strings.HasSuffix(strings.TrimSuffix(path, "/"), "}") {
		return ""
	}
	found := ""
	for _, m := range body.Members() {
		switch {
		case found == "" && areRecords(m.Value):
			found = m.Name
		case m.Value.Kind() == value.Object || m.Value.Kind() == value.Array:
			return ""
		}
	}
	return found
}

// listState returns the state for a list of records. The argument in is the path to the list in the body. The
// argument at is the path to the list in the answer. Each entry contains the fields to set, and the id of their
// record. Effects on records and fields that the call doesn't name aren't part of the state. The present state is
// known only if the list in the answer has exactly one record for each entry.
func (f *finder) listState(is answer, at, in []string, none state) state {
	body := reach(f.call.Body, in).List()
	whole, ok := pairRecords(reach(is.whole, at).List(), body)
	seen, sees := pairRecords(reach(is.seen, at).List(), body)
	raw, has := pairRecords(reach(is.raw, at).List(), body)
	if !ok || !sees || !has {
		return none
	}
	form := func(list []value.Value) value.Value {
		if in == nil {
			return object(value.OfArray(list))
		}
		return nest(in, value.OfArray(list))
	}
	var before, after []value.Value
	s := state{seen: form(seen), raw: form(raw), whole: form(whole), read: marks(is.seen, at)}
	for i, e := range body {
		before = append(before, keep(whole[i], e))
		after = append(after, merge(before[i], e))
		for _, gap := range f.gaps(whole[i], match{at: append(slices.Clone(at), "0")}, e) {
			s.gaps = append(s.gaps, fmt.Sprintf("%s/%d/%s", strings.Join(append(slices.Clone(in), map[bool]string{true: "body"}[in == nil]), ""), i, gap))
		}
	}
	s.before, s.after, s.record = form(before), form(after), s.whole
	for _, m := range f.call.Body.Members() { // other members set no field of a record
		if len(in) > 0 && m.Name != in[0] {
			s.after = value.OfObject(append(slices.Clone(s.after.Members()), m))
			s.gaps = append(s.gaps, m.Name)
		}
	}
	return s
}

// keyNames are names of fields that identify a record in a list, in the form of plainName.
var keyNames = []string{"id", "uuid", "guid", "key", "slug", "sku", "code", "handle", "number", "name", "login", "username", "email"}

// pairRecords returns the record in list with the same key, for each record in body. It returns false unless there is
// exactly one such record for each.
func pairRecords(list, body []value.Value) ([]value.Value, bool) {
	for _, key := range keyNames {
		var out []value.Value
		taken := map[int]bool{}
		for _, e := range body {
			if i := indexByKey(list, e, key); i >= 0 && !taken[i] {
				taken[i] = true
				out = append(out, list[i])
			}
		}
		if len(out) == len(body) {
			return out, true
		}
	}
	return nil, false
}

// indexByKey returns the index of the only record in list that has the key of e. It returns -1 if there is none or
// more than one.
func indexByKey(list []value.Value, e value.Value, key string) int {
	found := -1
	for _, m := range e.Members() {
		if plainName(m.Name) != key {
			continue
		}
		for i, r := range list {
			if v, has := r.Get(m.Name); has && !v.IsNull() && v.String() == m.Value.String() {
				if found >= 0 {
					return -1
				}
				found = i
			}
		}
	}
	return found
}
