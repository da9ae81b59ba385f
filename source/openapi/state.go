package openapi

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/response"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/validate"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// An answer is the answer of a read in three forms: as the caller sees it, as a reviewer with all permissions sees
// it, and raw. Reviewers must see if a PUT drops fields that are hidden from the caller.
type answer struct {
	seen, whole, raw value.Value
	listed           *change.Listed // the list in the state as the caller sees it, or nil if there is no list
	list             []string       // the path to that list
}

// A state is the current state of the object that a call would change, in the form of the call's body.
type state struct {
	seen, raw     value.Value // as the caller sees it, and in full for masked values
	whole         value.Value // as a reviewer with all permissions sees it
	record        value.Value // the object that the call changes, without envelopes
	before, after value.Value // the fields that the call changes
	read          value.Value // see change.Effect
	present       change.Present
	gaps          []string // see change.Effect.NotKnown
	listed        *change.Listed
}

// before reads the current state of the object that a call would change. If the call is a PUT or a POST that creates
// the object, there may be no object yet. Otherwise a missing resource is an error of the API.
func (a *API) before(ctx context.Context, call *calls.Plan) (state, error) {
	none := state{present: change.PresentUnread, after: object(call.Body)}
	if changesRecord(call.Operation) {
		none.present = change.PresentUnknown
	}
	if call.Request.Method == "DELETE" {
		none.after = value.Value{}
	}
	if call.Before == nil {
		return none, nil
	}
	is, reads, err := a.read(ctx, call.Before, bytes.Contains(call.Body.AppendJSON(nil), []byte(response.Masked)))
	switch {
	case problem.CodeOf(err) == problem.NotFound && (makes(call.Operation) || call.Request.Method == "POST"):
		return state{after: object(call.Body)}, nil
	case err != nil && call.Request.Method == "POST" && !changesRecord(call.Operation):
		return none, nil // the read may return something else
	case err != nil:
		return state{}, err
	}
	s := stateFrom(call, reads, is, none)
	if newFinder(call, reads).collection(is) {
		s.listed = is.listed
	}
	return s, nil
}

// collection reports whether a call that deletes or patches acts on the records of a list. An answer may be only one
// page of such a list. A list inside of a record has a name that is not typical of envelopes.
func (f *finder) collection(is answer) bool {
	path, _ := f.call.Operation.Target()
	if is.list == nil || strings.HasSuffix(strings.TrimSuffix(path, "/"), "}") || f.call.Request.Method != "DELETE" && (f.call.Request.Method != "PATCH" || f.call.Body.Kind() == value.Array) {
		return false
	}
	return !slices.ContainsFunc(is.list, func(name string) bool { return !slices.Contains(f.words, plainName(name)) })
}

// changesRecord reports whether op changes an existing record, as far as its method and path show. It returns false
// only for a POST to a path that doesn't end with a parameter. Such a POST creates a record or runs an action.
func changesRecord(op *spec.Operation) bool {
	path, _ := op.Target()
	return op.Method != "POST" || strings.HasSuffix(strings.TrimSuffix(path, "/"), "}")
}

// stateFrom returns the state of the object that a call changes, from the answer of its read. If the call and the
// answer can't be matched, it returns none with that answer.
func stateFrom(call *calls.Plan, reads *spec.Operation, is answer, none state) state {
	f := newFinder(call, reads)
	none.read = marks(is.seen, nil)
	body := call.Body
	if call.Request.Method == "DELETE" {
		m, _ := f.find(is.whole, value.Value{})
		whole := object(reach(is.whole, m.at))
		return state{seen: object(reach(is.seen, m.at)), raw: object(reach(is.raw, m.at)), whole: whole, record: whole, before: whole, read: marks(is.seen, m.at)}
	}
	if patches(call) {
		m, ok := f.find(is.whole, value.OfObject(nil))
		was := reach(is.whole, m.at)
		became, err := applyPatch(was, body)
		if !ok && len(is.whole.Members()) == 0 || err != nil {
			return none
		}
		before, after := differing(was, became)
		return state{seen: none.seen, whole: was, record: was, before: before, after: after, read: marks(is.seen, m.at)}
	}
	if body.IsNull() { // the call runs an action, and sets no field
		m, _ := f.find(is.whole, value.Value{})
		none.record = object(reach(is.whole, m.at))
		none.present = ""
		return none
	}
	if body.Kind() != value.Object {
		return f.valueState(is, none)
	}
	if in := f.severalIn(body); in != "" {
		if at, ok := f.lists(is.whole, value.Array); ok {
			return f.listState(is, at, []string{in}, none)
		}
	}
	m, ok := f.find(is.whole, body)
	if !changesRecord(call.Operation) && (!ok || m.given == 0 || slices.Contains(m.at, "0")) {
		none.read = value.Value{} // the answer doesn't contain the new record
		return none
	}
	if !ok {
		return none
	}
	record := reach(is.whole, m.at)
	s := state{seen: nest(m.in, reach(is.seen, m.at)), raw: nest(m.in, reach(is.raw, m.at)), whole: nest(m.in, record), record: record, read: marks(is.seen, m.at)}
	s.gaps = f.gaps(record, m, body)
	if s.before, s.after = keep(s.whole, body), merge(keep(s.whole, body), body); call.Request.Method == "PUT" && !call.Partial {
		declared, _ := f.declaredFields(f.belowAll(f.takes(), m.in))
		s.before, s.after = nest(m.in, f.replacedFields(record, reach(body, m.in), declared)), body
	}
	return s
}

// belowAll returns the schema of the value at the path names, from the schema raw.
func (f *finder) belowAll(raw spec.Raw, names []string) spec.Raw {
	for _, name := range names {
		raw = f.below(raw, name)
	}
	return raw
}

// gaps returns the names in a body whose present value is unknown although the record was read. The answer doesn't
// contain them, and the document doesn't declare them for the answer.
func (f *finder) gaps(record value.Value, m match, body value.Value) []string {
	var out []string
	names, closed := f.declaredFields(f.belowAll(f.gives(), m.at))
	takes, _ := f.declaredFields(f.belowAll(f.takes(), m.in))
	outer := body
	for i, name := range m.in {
		for _, o := range outer.Members() {
			if o.Name != name {
				out = append(out, strings.Join(append(slices.Clone(m.in[:i]), o.Name), "/"))
			}
		}
		outer, _ = outer.Get(name)
	}
	for _, field := range outer.Members() {
		if _, has := record.Get(field.Name); has {
			continue
		}
		said, declares := names[field.Name]
		unsent := f.call.Whole.Schema(said).WriteOnly || f.call.Whole.Schema(takes[field.Name]).WriteOnly
		if closed && !declares || unsent {
			out = append(out, strings.Join(append(slices.Clone(m.in), field.Name), "/"))
		}
	}
	return out
}

// patches reports whether the body of a call is a JSON Patch.
func patches(call *calls.Plan) bool {
	return validate.IsPatch(call.Request.Header.Get("Content-Type")) && call.Body.Kind() == value.Array
}

// differing returns the members in which two objects differ, from each object.
func differing(was, is value.Value) (before, after value.Value) {
	other := func(of, than value.Value) value.Value {
		members := []value.Member{}
		for _, m := range of.Members() {
			if v, ok := than.Get(m.Name); !ok || !change.Same(v, m.Value) {
				members = append(members, m)
			}
		}
		return value.OfObject(members)
	}
	return other(was, is), other(is, was)
}

// maxMarks is the maximum number of places in an answer whose state is stored separately. All further places count as
// one place.
const maxMarks = 500

// marks returns the state of a whole answer, as the caller sees it, to check later that it hasn't changed. It
// contains a digest for each place. Outside of the record, whose path is record, it omits facts about the answer
// itself, such as its time and id.
func marks(v value.Value, record []string) value.Value {
	var out []value.Member
	var walk func(v value.Value, at []string, inside bool, depth int)
	walk = func(v value.Value, at []string, inside bool, depth int) {
		if depth < 2+len(record) && v.Kind() == value.Object && len(out)+len(v.Members()) < maxMarks && len(v.Members()) > 0 {
			for _, m := range v.Members() {
				in := append(slices.Clone(at), m.Name)
				within := inside || slices.Equal(in, record)
				if within || !slices.Contains(ofAnswer, plainName(m.Name)) {
					walk(m.Value, in, within, depth+1)
				}
			}
			return
		}
		if list := v.List(); len(list) == 1 && len(at) < len(record) && record[len(at)] == "0" {
			in := append(slices.Clone(at), "0")
			walk(list[0], in, inside || slices.Equal(in, record), depth)
			return
		}
		out = append(out, value.Member{Name: strings.Join(at, "/"), Value: value.OfString(change.Digest(v))})
	}
	if v.IsNull() {
		return v
	}
	walk(v, nil, len(record) == 0, 0)
	return value.OfObject(out)
}

// ofAnswer are names of members that describe an answer instead of its object, in the form of plainName.
var ofAnswer = []string{"requestid", "requestuuid", "traceid", "correlationid", "transactionid", "timestamp", "time", "now", "servertime", "generatedat", "took", "tookms",
	"duration", "durationms", "elapsed", "elapsedms", "executiontime", "responsetime", "date", "nonce", "ratelimit", "expiresin", "cached", "etag"}

// makes reports whether op is a PUT that may create its object, as far as the document shows. Such an operation can
// return status 201, or it has a name for creation.
func makes(op *spec.Operation) bool {
	if op.Method != "PUT" {
		return false
	}
	called := strings.ToLower(op.ID + " " + op.Summary)
	return strings.Contains(called, "create") || strings.Contains(called, "upsert") ||
		slices.ContainsFunc(op.Responses, func(r spec.Response) bool { return r.Status == "201" })
}

// read makes a read call and returns its resource. It keeps the raw form only if restores is set, because the raw
// form may be as large as the response.
func (a *API) read(ctx context.Context, permit *calls.Permit, restores bool) (answer, *spec.Operation, error) {
	answered, r, err := a.Call(ctx, *permit)
	if err != nil {
		return answer{}, nil, err
	}
	defer r.Close()
	plan, err := answered.Plan()
	if err != nil {
		return answer{}, nil, err
	}
	seen, err := response.Make(plan.View, plan.Operation, r, response.Options{Budget: maxBefore})
	if err != nil {
		return answer{}, nil, err
	}
	whole, err := response.Make(plan.Whole, plan.Operation, r, response.Options{Budget: maxBefore})
	if err != nil {
		return answer{}, nil, err
	}
	is := answer{seen: seen.Body, whole: whole.Body, raw: whole.Body}
	if restores {
		is.raw, _ = response.Raw(r) // without it no masked value can be restored
	}
	if seen.List != nil {
		is.listed, is.list = &change.Listed{Rows: int64(seen.Of), Total: seen.Counts}, seen.List
	}
	return is, plan.Operation, nil
}

// object returns v as an object. Any other value becomes the field "body".
func object(v value.Value) value.Value {
	if v.IsNull() || v.Kind() == value.Object {
		return v
	}
	return value.OfObject([]value.Member{{Name: "body", Value: v}})
}

// replacedFields returns the fields of a record that a PUT of body would replace. These are the fields that the body
// may contain. The API maintains the other fields itself.
func (f *finder) replacedFields(was, body value.Value, declared map[string]spec.Raw) value.Value {
	members := []value.Member{}
	for _, m := range was.Members() {
		raw, takes := declared[m.Name]
		if _, sent := body.Get(m.Name); sent || takes && !f.call.Whole.Schema(raw).ReadOnly {
			members = append(members, m)
		}
	}
	return value.OfObject(members)
}

// keep returns the fields of was that are in body.
func keep(was, body value.Value) value.Value {
	var members []value.Member
	for _, m := range was.Members() {
		if _, named := body.Get(m.Name); named {
			members = append(members, m)
		}
	}
	return value.OfObject(members)
}

// merge returns was with patch applied. Objects are merged as in RFC 7396, which most APIs follow, except that a null
// is kept.
func merge(was, patch value.Value) value.Value {
	if patch.Kind() != value.Object {
		return patch
	}
	var members []value.Member
	for _, m := range was.Members() {
		if _, named := patch.Get(m.Name); !named {
			members = append(members, m)
		}
	}
	for _, m := range patch.Members() {
		old, _ := was.Get(m.Name)
		members = append(members, value.Member{Name: m.Name, Value: merge(old, m.Value)})
	}
	return value.OfObject(members)
}
