package writes

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/internal/argcheck"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// sets returns the fields that data sets in v's class, in the order of the class. It includes the fields that the
// rules add to a new record.
func (w *writer) sets(v *policy.View, data value.Value, op write.Op) ([]Set, error) {
	given := map[string]Set{}
	var faults []argcheck.Fault
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
	if err := w.checkTenantLists(v, given, op); err != nil {
		return nil, err
	}
	if op == write.OpCreate {
		w.force(v, given)
		faults = append(faults, w.missing(v, func(name string) bool { _, ok := given[name]; return ok })...)
	}
	if faults != nil {
		return nil, argcheck.Refuse(faults[0].Rule, faults, "")
	}
	var out []Set
	for i := range v.Class().Fields {
		if s, ok := given[v.Class().Fields[i].Name]; ok {
			out = append(out, s)
		}
	}
	return out, nil
}

// returns reports whether a source accepts the former value of a generated field when a revert restores the record.
// Sources do this for integer keys and for ObjectIds.
func returns(v *policy.View, f *schema.Field) bool {
	return (f.Type == schema.Integer || f.Native == "objectId") && slices.Contains(v.Key(), f.Name)
}

// set checks one member of data. It returns a fault if the value is invalid, and an error if the field may not be set.
func (w *writer) set(v *policy.View, m value.Member, op write.Op) (Set, *argcheck.Fault, error) {
	at := argcheck.At(w.at+"/data", m.Name)
	f, err := v.Setting(m.Name, at, op == write.OpCreate && w.action != Revert)
	if err != nil {
		return Set{}, nil, err
	}
	refuse := func(code problem.Code, kind, format string, args ...any) (Set, *argcheck.Fault, error) {
		return Set{}, nil, &problem.Error{Code: code, Kind: kind, Pointer: at, Detail: fmt.Sprintf(format, args...)}
	}
	permitted := v.Rule().Permitted
	switch {
	case permitted != nil && w.action == "" && !slices.Contains(permitted, f.Name):
		return refuse(problem.PermissionDenied, "not_permitted", "%s of %s can't be set. Those that can are %s", f.Name, v.Name(), cmp.Or(strings.Join(v.Settable(), ", "), "none"))
	case f.Generated && w.action != Revert:
		return refuse(problem.InvalidArgument, "generated", "%s is filled in by the source", f.Name)
	case f.Type == schema.Opaque && f.Form == "":
		return refuse(problem.Unsupported, "opaque", "%s is of a type that can only be read", f.Name)
	case op == write.OpUpdate && slices.Contains(v.Key(), f.Name):
		return refuse(problem.InvalidArgument, "key", "%s identifies the record and stays as it is", f.Name)
	}
	if ref, ok := calls.ParseReference(m.Value); ok && w.at != "" && w.action == "" {
		ref.At = at
		s, err := w.referenceSet(v, f, ref)
		return s, nil, err
	}
	fitted, fault := checkValue(w.withDocumentedValues(v, f), m.Value, at, fieldOptions{Key: v.ID})
	if fault != nil {
		return Set{}, fault, nil
	}
	if marker := v.Mask(f.Name).Marker(fitted); marker != "" {
		return Set{}, nil, &problem.Error{Code: problem.InvalidArgument, Kind: "masked", Pointer: at, Detail: fmt.Sprintf("%s has %s in it, which stands for what a mask hides and would be kept as a text", f.Name, marker),
			Suggestion: "write what is meant in its place, or leave it out"}
	}
	s := Set{Field: f, Value: fitted}
	if !fitted.IsNull() {
		s.Points, _ = v.Pointer(f.Name)
	}
	return s, nil, nil
}

// withDocumentedValues returns f with the allowed values of the configuration, if it lists any. A revert ignores this
// list, because it restores former values.
func (w *writer) withDocumentedValues(v *policy.View, f *schema.Field) *schema.Field {
	values := v.Rule().Fields[f.Name].Values
	if len(values) == 0 || w.action == Revert || f.Type.IsStructured() {
		return f
	}
	own := *f
	own.Values = make([]value.Value, len(values))
	for i := range values {
		own.Values[i] = value.OfString(values[i].Value)
	}
	return &own
}

// force adds the values that the principal's tenant scope requires of a new record.
func (w *writer) force(v *policy.View, given map[string]Set) {
	for _, l := range v.Layers() {
		c, _ := l.Filter.(query.Compare) // a tenant rule is one equality, or follows a pointer
		if l.Name != "tenant" || len(c.Path) != 1 {
			continue
		}
		if _, named := given[c.Path[0]]; !named {
			given[c.Path[0]] = Set{Field: v.Class().Field(c.Path[0]), Value: ownValue(l, c), Forced: true}
		}
	}
}

// ownValue returns the value of the tenant field in the tenant's new records. It is c's value, or a list with only
// this value.
func ownValue(l policy.Layer, c query.Compare) value.Value {
	if l.Contains {
		return value.OfArray([]value.Value{c.Value})
	}
	return c.Value
}

// checkTenantLists refuses a new record whose list of tenants differs from the list with only the principal's tenant.
// For existing records, Plan.Tenants checks that the list doesn't change.
func (w *writer) checkTenantLists(v *policy.View, given map[string]Set, op write.Op) error {
	for _, l := range v.Layers() {
		c, _ := l.Filter.(query.Compare)
		if !l.Contains || len(c.Path) != 1 {
			continue
		}
		if s, named := given[c.Path[0]]; named && op == write.OpCreate && !value.Equal(s.Value, ownValue(l, c)) {
			return &Refusal{Field: s.Field.Name, err: &problem.Error{Code: problem.PermissionDenied, Kind: "tenant_list", Pointer: argcheck.At(w.at+"/data", s.Field.Name),
				Detail:     fmt.Sprintf("%s of a new record holds your own tenant and nothing else", s.Field.Name),
				Suggestion: "leave it out, and it is filled in"}}
		}
	}
	return nil
}

// Tenants refuses an update that changes a record's list of tenants. The effects are those of a preview. Only their
// values before the write are used.
func (p *Plan) Tenants(effects []change.Effect) error {
	for i := range min(len(p.Items), len(effects)) {
		it := &p.Items[i]
		if it.View == nil || it.Op != write.OpUpdate {
			continue
		}
		for _, l := range it.View.Layers() {
			c, _ := l.Filter.(query.Compare)
			at := slices.IndexFunc(it.Sets, func(s Set) bool { return l.Contains && len(c.Path) == 1 && s.Field.Name == c.Path[0] })
			if at < 0 {
				continue
			}
			name := it.Sets[at].Field.Name
			if was, ok := effects[i].Before.Get(name); !ok || !value.Equal(was, it.Sets[at].Value) {
				return &problem.Error{Code: problem.PermissionDenied, Kind: "tenant_list", Pointer: argcheck.At(it.at+"/data", name),
					Detail: name + " says to which tenants the record belongs, and an update leaves it as it is", Suggestion: "leave it out"}
			}
		}
	}
	return nil
}

// missing returns faults for required fields without a value. It omits hidden fields. The source reports missing
// hidden fields to reviewers.
func (w *writer) missing(v *policy.View, given func(string) bool) []argcheck.Fault {
	settable := slices.DeleteFunc(slices.Clone(v.Fields()), func(f *schema.Field) bool { return !v.MaskLetsSet(f.Name, true) })
	return missingFields(settable, given, w.at+"/data")
}
