package openapi

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/value"
)

// valueState returns the state for a body that isn't an object, such as a list or a text. The answer has the same kind,
// itself or as the only such value in its envelopes.
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

// lists returns the names that lead to the only value of a kind in an answer and its envelopes, and whether there is one.
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

// partial reports whether the call leaves what it isn't given as it is.
func (f *finder) partial() bool { return f.call.Request.Method != "PUT" || f.call.Partial }

// areRecords reports whether v is a list of objects.
func areRecords(v value.Value) bool {
	return len(v.List()) > 0 && !slices.ContainsFunc(v.List(), func(e value.Value) bool { return e.Kind() != value.Object })
}

// severalIn returns the name of the member of a body that is a list of records. The call updates several records, so
// its path doesn't end with the id of one. It is "" for other calls, and if more of the body could be about records.
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

// listState returns the state for a list of records at in of a body. Each entry has the fields to set and the id of the
// record to set them on. at leads to the list in the answer. Effects of the call on records that it doesn't name, and
// on fields that it doesn't give, aren't part of it. Unless the list that was read has exactly one record for each, the
// present state isn't known.
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
	for _, m := range f.call.Body.Members() { // what else is sent sets no field of a record
		if len(in) > 0 && m.Name != in[0] {
			s.after = value.OfObject(append(slices.Clone(s.after.Members()), m))
			s.gaps = append(s.gaps, m.Name)
		}
	}
	return s
}

// keyNames are names of fields by which a record of a list is known, as plainName has them.
var keyNames = []string{"id", "uuid", "guid", "key", "slug", "sku", "code", "handle", "number", "name", "login", "username", "email"}

// pairRecords returns for each record of body the one of list that has the same key, and whether there is exactly one for each.
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

// indexByKey returns the index of the only record of list that has the key of e, or -1 for none, or several.
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
