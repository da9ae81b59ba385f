package metric

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/bailiwick-dev/bailiwick/internal/sqlparse"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// base is the alias of the class of a statement.
const base = "m"

// A statement is a SELECT under construction: the groups and aggregates over one class, and the records that pointers
// lead to.
type statement struct {
	view   *policy.View
	alias  string  // of the class of view
	prefix string  // of the names that the statement gives
	zone   string  // of periods, or "" for UTC
	views  viewsOf // of the caller, for errors. It may be nil
	from   sqlparse.From
	joined map[string]string // the aliases of the records behind pointers, by path
	params map[string]value.Value
	items  []sqlparse.Item
	group  []sqlparse.Expr
	where  sqlparse.Expr
	err    error // the first one
}

func newStatement(v *policy.View, zone string, views viewsOf) *statement {
	return &statement{view: v, alias: base, zone: zone, views: views, from: table(v, base), joined: map[string]string{}, params: map[string]value.Value{}}
}

// table returns the class of v under an alias.
func table(v *policy.View, alias string) *sqlparse.Table {
	name := quoted(alias)
	return &sqlparse.Table{Name: []sqlparse.Ident{quoted(v.Class().FullName())}, Alias: sqlparse.Alias{Name: &name}}
}

func quoted(name string) sqlparse.Ident { return sqlparse.Ident{Text: name, Quoted: true} }

func named(alias, field string) *sqlparse.Name {
	return &sqlparse.Name{Parts: []sqlparse.Ident{quoted(alias), quoted(field)}}
}

// param returns a parameter with a value.
func (s *statement) param(v value.Value) sqlparse.Expr {
	name := s.prefix + "p" + strconv.Itoa(len(s.params)+1)
	s.params[name] = v
	return &sqlparse.Param{Name: name}
}

// column returns the column at path, and the field that it holds. It joins the records behind pointers, of which each
// record has at most one. at is the JSON pointer of the path.
func (s *statement) column(path query.Path, at string) (*sqlparse.Name, *schema.Field, error) {
	v, alias := s.view, s.alias
	for i, name := range path {
		f := v.Field(name)
		if f == nil {
			return nil, nil, s.unknown(v, name, at)
		}
		if m := v.Mask(name); m != nil {
			return nil, nil, m.Refuse(name, at)
		}
		if i == len(path)-1 {
			return named(alias, name), f, nil
		}
		to, ok := v.Pointer(name)
		switch {
		case ok && to.List, f.Type == schema.Array:
			return nil, nil, multiplies(at, "%s is a list: its elements would count a record several times", path[:i+1])
		case !ok:
			return nil, nil, &problem.Error{Code: problem.InvalidQuery, Kind: "unknown_field", Pointer: at,
				Detail: fmt.Sprintf("%s is not a pointer, so that nothing follows it", path[:i+1]), Suggestion: "get_schema shows the pointers of " + v.Name()}
		}
		behind := v.Behind(name)
		if !unique(behind, to.TargetKey) {
			return nil, nil, multiplies(at, "%s can lead to several records, which would count a record several times", path[:i+1])
		}
		alias = s.join(path[:i+1].String(), alias, name, behind, to.TargetKey)
		v = behind
	}
	return nil, nil, problem.New(problem.Internal, "an empty path")
}

// join joins the record behind a pointer of the table called alias, once, and returns its alias.
func (s *statement) join(path, alias, pointer string, behind *policy.View, key string) string {
	if to, ok := s.joined[path]; ok {
		return to
	}
	to := s.prefix + "j" + strconv.Itoa(len(s.joined)+1)
	s.joined[path] = to
	right := table(behind, to)
	right.Alias.Hidden = true
	s.from = &sqlparse.Join{Kind: "left", Left: s.from, Right: right, On: &sqlparse.Binary{Op: "=", L: named(to, key), R: named(alias, pointer)}}
	return to
}

// unique reports whether at most one record of v has a value in field.
func unique(v *policy.View, field string) bool {
	c := v.Class()
	return slices.Equal(c.Key, []string{field}) || slices.ContainsFunc(c.Indexes, func(x schema.Index) bool { return x.Unique && slices.Equal(x.Fields, []string{field}) })
}

// multiplies refuses a path because it leads to several records.
func multiplies(at, format string, args ...any) error {
	return &problem.Error{Code: problem.Unsupported, Kind: "fan_out", Pointer: at, Detail: fmt.Sprintf(format, args...),
		Suggestion: "group by a field of the class or behind a pointer, or ask for a metric of the other class"}
}

// unknown refuses a name that v has no field for. It is a class whose records point to those of v, or unknown.
func (s *statement) unknown(v *policy.View, name, at string) error {
	if s.views == nil {
		return unknownField(v, name, at)
	}
	for other := range s.views(func(c *schema.Class) bool { return c.Source == v.Source() && (c.Name == name || c.FullName() == name) }) {
		for _, r := range other.Relations() {
			if to := other.Behind(r.Field); to != nil && to.Class().FullName() == v.Class().FullName() {
				return multiplies(at, "a record of %s has several of %s, so that it would count several times", v.Name(), other.Name())
			}
		}
	}
	return unknownField(v, name, at)
}

// unknownField refuses a field that v doesn't show, in the same bytes as one that never existed.
func unknownField(v *policy.View, name, at string) error {
	var names []string
	for _, f := range v.Fields() {
		names = append(names, f.Name)
	}
	refusal := &problem.Error{Code: problem.InvalidQuery, Kind: "unknown_field", Pointer: at, Near: problem.Nearest(name, names, 3),
		Detail: fmt.Sprintf("unknown field %q of %s", problem.Cut(name), v.Name()), Suggestion: "get_schema lists the fields"}
	if all := problem.ShortList(names); len(refusal.Near) == 0 && all != "" {
		refusal.Suggestion = "its fields are " + all
	}
	return refusal
}

// scalar returns the column at path, which has one value.
func (s *statement) scalar(path query.Path, at string) (sqlparse.Expr, error) {
	x, f, err := s.column(path, at)
	if err != nil {
		return nil, err
	}
	if f.Type.IsStructured() {
		return nil, multiplies(at, "%s holds several values", path)
	}
	return x, nil
}

// restrict adds a condition on the records, which a filter at the JSON pointer at is.
func (s *statement) restrict(f query.Filter) {
	if f == nil || s.err != nil {
		return
	}
	x, err := s.condition(f)
	s.where, s.err = both("and", s.where, x), err
}

// add adds an output.
func (s *statement) add(x sqlparse.Expr, name string) {
	alias := quoted(name)
	s.items = append(s.items, sqlparse.Item{X: x, Alias: &alias})
}

// query returns the statement, with at most so many groups.
func (s *statement) query(most int) *query.SQL {
	body := &sqlparse.Select{Items: s.items, From: []sqlparse.From{s.from}, Where: s.where, Group: s.group}
	q := &query.SQL{Text: "metrics of " + s.view.Class().FullName(), Source: s.view.Source(), Params: s.params, Limit: most, Most: most}
	return q.As(&sqlparse.Query{Body: body})
}

// addTo adds the aggregate of m to a statement, over the records of its own filter.
func (m *Metric) addTo(s *statement) {
	var filter sqlparse.Expr
	if m.Where != nil && s.err == nil {
		filter, s.err = s.condition(m.Where)
	}
	if s.err != nil {
		return
	}
	call, err := m.measure.call(s.alias, filter)
	if err != nil {
		s.err = err
		return
	}
	s.add(call, m.Name)
}
