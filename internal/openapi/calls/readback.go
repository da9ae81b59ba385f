package calls

import (
	"fmt"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/validate"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A ReadBack names the read for some calls. The values of its maps are places in the arguments of a call: body.name,
// path.team, query.kind. The values of Path and Query may also be constant texts after an equals sign: =open.
type ReadBack struct {
	Operations  []string          // the calls, as in spec.ClassRule
	By          string            // the id of the operation that reads
	Path, Query map[string]string // its parameters, or nil
	Match       map[string]string // fields of a record, at least one, as dotted paths. Together they identify the result of a call

	one bool // the read has only the result of the call. See Linked
}

// ReadBackFromLink returns the rule from a link of op in the document. The link must lead to a read of a single thing, and the
// request must have all path parameters of that read. A link that requires the answer can't be used, because the answer
// was lost.
func ReadBackFromLink(d *spec.Document, op *spec.Operation) (ReadBack, bool) {
	for _, link := range op.Links {
		by := d.FindOperation(link.To)
		if by == nil || by.Method != "GET" || !strings.HasSuffix(strings.TrimSuffix(by.Path, "/"), "}") {
			continue
		}
		rule := ReadBack{By: by.ID, Path: map[string]string{}, one: true}
		for _, p := range by.Parameters {
			place, ok := requestPlace(link.Parameters[p.Name])
			switch {
			case p.In == "path" && ok:
				rule.Path[p.Name] = place
			case p.Required:
				rule.one = false
			}
		}
		if rule.one && len(rule.Path) > 0 {
			return rule, true
		}
	}
	return ReadBack{}, false
}

// requestPlace returns the place in a call to which a runtime expression of OpenAPI refers, if it refers to the request.
func requestPlace(expression string) (string, bool) {
	rest, ok := strings.CutPrefix(expression, "$request.")
	if !ok {
		return "", false
	}
	if pointer, ok := strings.CutPrefix(rest, "body#/"); ok {
		return "body." + strings.ReplaceAll(pointer, "/", "."), pointer != ""
	}
	return rest, strings.HasPrefix(rest, "path.") || strings.HasPrefix(rest, "query.")
}

// Check returns the fault of r, or nil. at is its pointer.
func (r ReadBack) Check(d *spec.Document, classes *spec.Classifier, at string) error {
	wrong := func(key, format string, args ...any) error {
		return &problem.Error{Code: problem.InvalidArgument, Pointer: at + key, Detail: fmt.Sprintf(format, args...)}
	}
	if err := (spec.ClassRule{Operations: r.Operations}).Names(d, at); err != nil {
		return err
	}
	by := d.FindOperation(r.By)
	if by == nil {
		var ids []string
		for _, op := range d.Operations {
			ids = append(ids, op.ID)
		}
		return wrong("/By", "the document has no operation %q%s", problem.Cut(r.By), problem.DidYouMean(problem.Nearest(r.By, ids, 2)))
	}
	if classes != nil && classes.Of(by).Class != spec.ClassRead {
		return wrong("/By", "%s doesn't read", r.By)
	}
	if len(r.Match) == 0 {
		return wrong("/Match", "is empty: it names the fields that tell what a call made")
	}
	for key, places := range map[string]map[string]string{"/Path": r.Path, "/Query": r.Query, "/Match": r.Match} {
		for name, place := range places {
			if _, own := strings.CutPrefix(place, "="); own && key != "/Match" {
				continue
			}
			if in, _, ok := strings.Cut(place, "."); !ok || in != "body" && in != "path" && in != "query" {
				or := map[bool]string{false: ", or =text for a text of its own"}[key == "/Match"]
				return wrong(key+"/"+name, "%q is no place in a call. Write body.name, path.name or query.name%s", problem.Cut(place), or)
			}
		}
	}
	return nil
}

// A Look finds out from a read whether the API has processed a call.
type Look struct {
	Arguments validate.Arguments
	want      map[string]value.Value // by dotted path
	one       bool                   // the body is the record, whatever it has
}

// Of returns the Look for a call with arguments, or false if the call lacks a value that r requires.
func (r ReadBack) Of(args validate.Arguments) (Look, bool) {
	l := Look{want: map[string]value.Value{}, one: r.one}
	pick := func(places map[string]string) (value.Value, bool) {
		var members []value.Member
		for name, place := range places {
			own, constant := strings.CutPrefix(place, "=")
			if constant {
				members = append(members, value.Member{Name: name, Value: value.OfString(own)})
				continue
			}
			v, ok := at(value.OfObject([]value.Member{{Name: "body", Value: args.Body}, {Name: "path", Value: args.Path}, {Name: "query", Value: args.Query}}), place)
			if !ok {
				return value.Value{}, false
			}
			members = append(members, value.Member{Name: name, Value: v})
		}
		if members == nil {
			return value.Value{}, true
		}
		return value.OfObject(members), true
	}
	match, ok := pick(r.Match)
	for _, m := range match.Members() {
		l.want[m.Name] = m.Value
	}
	if ok {
		l.Arguments.Path, ok = pick(r.Path)
	}
	if ok {
		l.Arguments.Query, ok = pick(r.Query)
	}
	return l, ok
}

// MatchingRecords returns the records of a body that match l. The body is one record, a list, or an object with one list.
func (l Look) MatchingRecords(body value.Value) []value.Value {
	list := []value.Value{body}
	if l.one && !body.IsNull() {
		return list
	}
	switch body.Kind() {
	case value.Array:
		list = body.List()
	case value.Object:
		var lists []value.Value
		for _, m := range body.Members() {
			if m.Value.Kind() == value.Array {
				lists = append(lists, m.Value)
			}
		}
		if len(lists) == 1 && !l.matches(body) {
			list = lists[0].List()
		}
	}
	var out []value.Value
	for _, record := range list {
		if l.matches(record) {
			out = append(out, record)
		}
	}
	return out
}

func (l Look) matches(record value.Value) bool {
	for path, want := range l.want {
		if v, ok := at(record, path); !ok || v.String() != want.String() {
			return false
		}
	}
	return len(l.want) > 0
}

// at returns the value at a dotted path. Null is not a value.
func at(v value.Value, path string) (value.Value, bool) {
	for name := range strings.SplitSeq(path, ".") {
		next, ok := v.Get(name)
		if !ok {
			return value.Value{}, false
		}
		v = next
	}
	return v, !v.IsNull()
}
