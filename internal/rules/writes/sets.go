package writes

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/fieldcheck"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// sets returns the fields that data sets in v's class, in the order of the class, with those that the rules add for a
// new record.
func (w *writer) sets(v *policy.View, data value.Value, op write.Op) ([]Set, error) {
	given := map[string]Set{}
	var faults []fieldcheck.ValueFault
	for _, m := range data.Members() {
		if f := v.Field(m.Name); w.action == Revert && f != nil && f.Generated && !(op == write.OpCreate && returns(v, f)) {
			continue // the source generates it again
		}
		s, fault, err := w.set(v, m, op)
		if err != nil {
			return nil, &Refusal{Field: m.Name, err: err}
		}
		if given[m.Name] = s; fault != nil {
			faults = append(faults, *fault)
		}
	}
	if op == write.OpCreate {
		w.force(v, given)
		faults = append(faults, w.missing(v, func(name string) bool { _, ok := given[name]; return ok })...)
	}
	if faults != nil {
		return nil, fieldcheck.Problem(faults)
	}
	var out []Set
	for i := range v.Class().Fields {
		if s, ok := given[v.Class().Fields[i].Name]; ok {
			out = append(out, s)
		}
	}
	return out, nil
}

// returns reports whether a source takes the former value of a generated field for a record that a revert brings back: of
// an id that the database counts up, or an ObjectId.
func returns(v *policy.View, f *schema.Field) bool {
	return (f.Type == schema.Integer || f.Native == "objectId") && slices.Contains(v.Key(), f.Name)
}

// set checks one member of data. It returns a fault if the value is invalid, and an error if the field may not be set.
func (w *writer) set(v *policy.View, m value.Member, op write.Op) (Set, *fieldcheck.ValueFault, error) {
	at := fieldcheck.Pointer(w.at+"/data", m.Name)
	f, err := v.Setting(m.Name, at)
	if err != nil {
		return Set{}, nil, err
	}
	refuse := func(code problem.Code, kind, format string, args ...any) (Set, *fieldcheck.ValueFault, error) {
		return Set{}, nil, &problem.Error{Code: code, Kind: kind, Pointer: at, Detail: fmt.Sprintf(format, args...)}
	}
	permitted := v.Rule().Permitted
	switch {
	case permitted != nil && w.action == "" && !slices.Contains(permitted, f.Name):
		return refuse(problem.PermissionDenied, "not_permitted", "%s of %s can't be set; those that can are %s", f.Name, v.Name(), cmp.Or(strings.Join(v.Settable(), ", "), "none"))
	case f.Generated && w.action != Revert:
		return refuse(problem.InvalidArgument, "generated", "%s is filled in by the source", f.Name)
	case f.Type == schema.Opaque && f.Form == "":
		return refuse(problem.Unsupported, "opaque", "%s is of a type that can only be read", f.Name)
	case op == write.OpUpdate && slices.Contains(v.Key(), f.Name):
		return refuse(problem.InvalidArgument, "key", "%s identifies the record and stays as it is", f.Name)
	}
	fitted, fault := fieldcheck.Value(f, m.Value, at, fieldcheck.Options{Key: v.ID})
	if fault != nil {
		return Set{}, fault, nil
	}
	s := Set{Field: f, Value: fitted}
	if !fitted.IsNull() {
		s.Points, _ = v.Pointer(f.Name)
	}
	return s, nil, nil
}

// force adds the values that the principal's tenant scope requires of a new record.
func (w *writer) force(v *policy.View, given map[string]Set) {
	for _, l := range v.Layers() {
		c, _ := l.Filter.(query.Compare) // a tenant rule is one equality, or a pointer
		if l.Name != "tenant" || len(c.Path) != 1 {
			continue
		}
		if _, named := given[c.Path[0]]; !named {
			given[c.Path[0]] = Set{Field: v.Class().Field(c.Path[0]), Value: c.Value, Forced: true}
		}
	}
}

// missing returns faults for the required fields that have no value. Required hidden fields are not reported; the
// source reports them to reviewers.
func (w *writer) missing(v *policy.View, given func(string) bool) []fieldcheck.ValueFault {
	settable := slices.DeleteFunc(slices.Clone(v.Fields()), func(f *schema.Field) bool { return v.Mask(f.Name) != nil })
	return fieldcheck.Missing(settable, given, w.at+"/data")
}
