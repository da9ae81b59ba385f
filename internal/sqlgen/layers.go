package sqlgen

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// layers writes the conditions that each record of a view satisfies. alias names the view's class, or a derived table
// with all fields of the class.
func (w *writer) layers(v *policy.View, alias string) error {
	return w.conditions(v, v.Layers(), alias)
}

// conditions writes some of the conditions of a view.
func (w *writer) conditions(v *policy.View, all []policy.Layer, alias string) error {
	for i, l := range all {
		w.Write([]string{" WHERE ", " AND "}[min(i, 1)])
		if err := w.layer(v, l, alias); err != nil {
			return err
		}
	}
	return nil
}

// layer writes one condition of a view, behind its guard.
func (w *writer) layer(v *policy.View, l policy.Layer, alias string) error {
	guard, err := w.guard(v, l, alias)
	if err != nil {
		return err
	}
	before, after := "", ""
	switch {
	case guard != "" && w.barrier() != "":
		before, after = "CASE WHEN "+guard+" THEN ", " END"
	case guard != "":
		before = guard + " AND "
	}
	w.Write(before)
	err = w.bareLayer(v, l, alias)
	w.Write(after)
	return err
}

// bareLayer writes one condition of a view, without its guard.
func (w *writer) bareLayer(v *policy.View, l policy.Layer, alias string) error {
	c := v.Class()
	if l.Through == nil {
		return w.filter(l.Filter, w.inClass(c, alias))
	}
	pointer, key := c.Field(l.Through.Field), l.Through.View.Class().Field(l.Through.Key)
	if w.few && w.barrier() == "" && w.Probes() {
		at := w.Alias(hop)
		w.Write("(SELECT 1 FROM ")
		if err := w.writeClass(l.Through.View, at); err != nil {
			return err
		}
		w.Write([]string{" WHERE ", " AND "}[min(len(l.Through.View.Layers()), 1)], w.JoinKey(w.inView(alias, pointer), pointer, key), " = ", w.JoinKey(w.inView(at, key), key, pointer), ") IS NOT NULL") // SQLite would turn EXISTS into a join, and read the other class
		return nil
	}
	w.Write(w.JoinKey(w.inView(alias, pointer), pointer, key), " IN (SELECT ", w.JoinKey(w.inView(class, key), key, pointer), " FROM ")
	if err := w.writeClass(l.Through.View, class); err != nil {
		return err
	}
	w.Write(w.barrier(), ")")
	return nil
}

// barrier returns the end of a view that is computed separately, or "" if views aren't.
func (w *writer) barrier() string {
	if _, read := w.Bounds(); read > 0 {
		return w.Dialect.Barrier()
	}
	return ""
}

// guard returns a test that no value of a layer is longer than the database may read or copy. It returns "" if no test
// is necessary. Databases know the length of a stored value without reading it.
func (w *writer) guard(v *policy.View, l policy.Layer, alias string) (string, error) {
	copied, read := w.Bounds()
	most := map[string]int{} // the limit by field
	note := func(field string, bound int) {
		if bound > 0 {
			most[field] = min(cmp.Or(most[field], bound), bound)
		}
	}
	if l.Through != nil {
		note(l.Through.Field, read)
	} else if err := query.Conditions(l.Filter, func(f query.Filter, path query.Path) error {
		if note(path[0], read); copies(f, v.Class().Field(path[0])) {
			note(path[0], copied)
		}
		return nil
	}); err != nil {
		return "", err
	}
	var tests []string
	for _, field := range slices.Sorted(maps.Keys(most)) {
		tests = append(tests, "coalesce(octet_length("+w.column(alias, field)+"), 0) <= "+strconv.Itoa(most[field]))
	}
	return strings.Join(tests, " AND "), nil
}

// copies reports whether a condition makes new values from the whole value of a field.
func copies(f query.Filter, of *schema.Field) bool {
	switch f.(type) {
	case query.Regex, query.InQuery:
		return true
	}
	return of != nil && (of.Type.IsStructured() || of.Stored != nil)
}
