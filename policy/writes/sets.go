package writes

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// sets returns what data sets of v's class, in the order of the class, with what the rules add for a new record.
func (w *writer) sets(v *policy.View, data value.Value, op write.Op) ([]Set, error) {
	given := map[string]Set{}
	for _, m := range data.Members() {
		if f := v.Field(m.Name); w.action == Revert && f != nil && f.Generated {
			continue // the source fills it in again
		}
		s, err := w.set(v, m, op)
		if err != nil {
			return nil, err
		}
		given[m.Name] = s
	}
	if op == write.OpCreate {
		w.force(v, given)
		if err := w.complete(v, given); err != nil {
			return nil, err
		}
	}
	var out []Set
	for i := range v.Class().Fields {
		if s, ok := given[v.Class().Fields[i].Name]; ok {
			out = append(out, s)
		}
	}
	return out, nil
}

// set takes one member of data to a field.
func (w *writer) set(v *policy.View, m value.Member, op write.Op) (Set, error) {
	at := w.at + "/data/" + escaped(m.Name)
	f, err := v.Setting(m.Name, at)
	if err != nil {
		return Set{}, err
	}
	refuse := func(code problem.Code, kind, format string, args ...any) (Set, error) {
		return Set{}, &problem.Error{Code: code, Kind: kind, Pointer: at, Detail: fmt.Sprintf(format, args...)}
	}
	permitted := v.Rule().Permitted
	switch {
	case permitted != nil && w.action == "" && !slices.Contains(permitted, f.Name):
		return refuse(problem.PermissionDenied, "not_permitted", "%s of %s can't be set; those that can are %s", f.Name, v.Name(), strings.Join(permitted, ", "))
	case f.Generated:
		return refuse(problem.InvalidArgument, "generated", "%s is filled in by the source", f.Name)
	case f.Type == schema.Opaque:
		return refuse(problem.Unsupported, "opaque", "%s is of a type that can only be read", f.Name)
	case op == write.OpUpdate && slices.Contains(v.Key(), f.Name):
		return refuse(problem.InvalidArgument, "key", "%s identifies the record and stays as it is", f.Name)
	}
	fitted, why := fit(f, m.Value, v.ID(f.Name))
	if why != "" {
		p := &problem.Error{Code: problem.InvalidArgument, Kind: "value", Pointer: at, Detail: f.Name + " " + why}
		if f.Values != nil {
			p.Near = problem.Nearest(m.Value.String(), texts(f.Values), 2)
		}
		return Set{}, p
	}
	s := Set{Field: f, Value: fitted}
	if to, ok := v.Pointer(f.Name); ok && !fitted.IsNull() {
		s.Points = to.Target
	}
	return s, nil
}

// force gives a new record what the asker's tenant scope asks for.
func (w *writer) force(v *policy.View, given map[string]Set) {
	for _, l := range v.Layers() {
		c, _ := l.Filter.(query.Compare) // a tenant rule is one equality, or leads through a pointer
		if l.Name != "tenant" || len(c.Path) != 1 {
			continue
		}
		if _, named := given[c.Path[0]]; !named {
			given[c.Path[0]] = Set{Field: v.Class().Field(c.Path[0]), Value: c.Value, Forced: true}
		}
	}
}

// complete refuses a new record without a value that it needs. What a hidden field needs is not told: the source says
// it to who reviews.
func (w *writer) complete(v *policy.View, given map[string]Set) error {
	var missing []string
	for _, f := range v.Fields() {
		if _, ok := given[f.Name]; f.Required && !f.Generated && !ok && v.Mask(f.Name) == nil {
			missing = append(missing, f.Name)
		}
	}
	if missing == nil {
		return nil
	}
	return &problem.Error{Code: problem.InvalidArgument, Kind: "required", Pointer: w.at + "/data",
		Detail: fmt.Sprintf("a new record of %s needs %s", v.Name(), strings.Join(missing, ", "))}
}

// escaped is a member's name in a JSON pointer, cut.
func escaped(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(problem.Cut(name))
}

func texts(values []value.Value) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = v.String()
	}
	return out
}
