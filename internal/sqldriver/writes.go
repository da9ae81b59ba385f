package sqldriver

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/internal/writes"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A WriteForm is the stored form of dates in a column of SQLite, which has no date type. It is a value of the column
// (int64, float64 or string), or nil if the form is unknown.
type WriteForm any

// RecordStatement compiles the SELECT of the record of v with the key id. The values of id have the order of the
// class's Key. The row contains the visible fields in the order of v, then the total size of all values that may be
// long. If that size is over writes.MostRecord, some values are null. If lock is true and the database has row locks,
// the record can't change until the transaction ends.
func RecordStatement(d sqlgen.Dialect, v *policy.View, id []value.Value, lock bool) (sqlgen.Statement, error) {
	t, err := sqlgen.NewText(d)
	if err != nil {
		return sqlgen.Statement{}, err
	}
	t.Write("SELECT ")
	var columns []sqlgen.Column
	sizes := "4294967296 - 4294967296" // 64 bits wide, because PostgreSQL sums lengths in 32 bits
	for _, f := range v.Fields() {
		x := t.InView(f)
		text := t.Read(x, f)
		if size := t.Size(x, f); size != "" {
			text = "CASE WHEN " + size + " <= " + strconv.Itoa(writes.MostRecord) + " THEN " + text + " END"
			sizes += " + coalesce(" + size + ", 0)"
		}
		t.Write(text, ", ")
		columns = append(columns, sqlgen.ColumnOf(f))
	}
	columns = append(columns, sqlgen.Column{Field: &schema.Field{Type: schema.Integer}})
	t.Write(sizes, " FROM ")
	next, err := t.View(v)
	if err != nil {
		return sqlgen.Statement{}, err
	}
	if err := writeKeyCondition(t, v.Class(), id, next, func(name string) string { return t.InView(v.Class().Field(name)) }); err != nil {
		return sqlgen.Statement{}, err
	}
	if lock {
		t.Write(t.Writes.RowLock)
	}
	return t.Statement(columns)
}

// writeKeyCondition appends the condition that a record of c has the key id.
func writeKeyCondition(t *sqlgen.Text, c *schema.Class, id []value.Value, next string, column func(string) string) error {
	if len(c.Key) == 0 || len(id) != len(c.Key) {
		return problem.New(problem.Unsupported, fmt.Sprintf("records of %s have no key, so none can be named to be written", c.Name))
	}
	for i, k := range c.Key {
		f := c.Field(k)
		if f == nil || id[i].IsNull() {
			return problem.New(problem.Internal, fmt.Sprintf("no value for %s, which is part of a key", k))
		}
		t.Write(next)
		if err := t.EqualKey(column(k), f, id[i]); err != nil {
			return err
		}
		next = " AND "
	}
	return nil
}

// InsertStatement compiles the INSERT of a record. It returns a row with the key of the new record, in the order of the class's
// Key.
func InsertStatement(d sqlgen.Dialect, c *schema.Class, sets []writes.Set, forms map[string]WriteForm) (sqlgen.Statement, error) {
	t, err := sqlgen.NewText(d)
	if err != nil {
		return sqlgen.Statement{}, err
	}
	if len(c.Key) == 0 {
		return sqlgen.Statement{}, problem.New(problem.Unsupported, fmt.Sprintf("records of %s have no key, so a new one can't be told from others", c.Name))
	}
	t.Write("INSERT INTO ", t.Table(c.Space, c.Table))
	switch {
	case len(sets) == 0:
		t.Write(t.Writes.EmptyInsert)
	default:
		for i, s := range sets {
			t.Write([]string{" (", ", "}[min(i, 1)], t.Name(s.Field.Name))
		}
		t.Write(")")
		if slices.ContainsFunc(sets, func(s writes.Set) bool { return s.Field.Generated }) {
			t.Write(t.Writes.OverrideKeys) // a revert sets the id of the record that it restores
		}
		t.Write(" VALUES ")
		for i, s := range sets {
			place, err := dmlPlaceholder(t, s, forms)
			if err != nil {
				return sqlgen.Statement{}, err
			}
			t.Write([]string{"(", ", "}[min(i, 1)], place)
		}
		t.Write(")")
	}
	var columns []sqlgen.Column
	for i, k := range c.Key {
		f := c.Field(k)
		t.Write([]string{" RETURNING ", ", "}[min(i, 1)], t.Read(t.Name(k), f))
		columns = append(columns, sqlgen.Column{Field: f})
	}
	return foreign(t, c, columns)
}

// foreign returns the statement of t, marked as one that may run triggers, defaults and other code of the
// application, on records of c.
func foreign(t *sqlgen.Text, c *schema.Class, columns []sqlgen.Column) (sqlgen.Statement, error) {
	st, err := t.Statement(columns)
	st.Foreign, st.Tenant = true, t.Tenant(c)
	return st, err
}

// UpdateStatement compiles the UPDATE of the record of c with the key id.
func UpdateStatement(d sqlgen.Dialect, c *schema.Class, id []value.Value, sets []writes.Set, forms map[string]WriteForm) (sqlgen.Statement, error) {
	t, err := sqlgen.NewText(d)
	if err != nil {
		return sqlgen.Statement{}, err
	}
	if len(sets) == 0 {
		return sqlgen.Statement{}, problem.New(problem.InvalidArgument, "an update sets no field")
	}
	t.Write("UPDATE ", t.Table(c.Space, c.Table))
	for i, s := range sets {
		place, err := dmlPlaceholder(t, s, forms)
		if err != nil {
			return sqlgen.Statement{}, err
		}
		t.Write([]string{" SET ", ", "}[min(i, 1)], t.Name(s.Field.Name), " = ", place)
	}
	if err := writeKeyCondition(t, c, id, " WHERE ", t.Name); err != nil {
		return sqlgen.Statement{}, err
	}
	return foreign(t, c, nil)
}

// DeleteStatement compiles the DELETE of the record of c with the key id.
func DeleteStatement(d sqlgen.Dialect, c *schema.Class, id []value.Value) (sqlgen.Statement, error) {
	t, err := sqlgen.NewText(d)
	if err != nil {
		return sqlgen.Statement{}, err
	}
	t.Write("DELETE FROM ", t.Table(c.Space, c.Table))
	if err := writeKeyCondition(t, c, id, " WHERE ", t.Name); err != nil {
		return sqlgen.Statement{}, err
	}
	return foreign(t, c, nil)
}

// WouldStatement compiles a SELECT that returns a row if a record would be in v after sets were written to it. The
// record is the record of v with the key id, or a new record if id is nil. The statement considers only sets. It
// writes nothing, so the database adds no values. A pointer to a record that the same change creates counts as a
// pointer to a record in the view.
func WouldStatement(d sqlgen.Dialect, v *policy.View, id []value.Value, sets []writes.Set, forms map[string]WriteForm) (sqlgen.Statement, error) {
	t, err := sqlgen.NewText(d)
	if err != nil {
		return sqlgen.Statement{}, err
	}
	c := v.Class()
	before := func(name string) string { return "r." + t.Name(name) }
	t.Write("SELECT 1 FROM (SELECT ")
	for i, f := range c.Fields {
		if i > 0 {
			t.Write(", ")
		}
		x := before(f.Name)
		for _, s := range sets {
			if s.Field.Name == f.Name { // the column in the CASE gives the value its type
				place, err := dmlPlaceholder(t, s, forms)
				if err != nil {
					return sqlgen.Statement{}, err
				}
				x = "CASE WHEN 1=1 THEN " + place + " ELSE " + x + " END"
			}
		}
		t.Write(x, " AS ", t.DerivedColumn(f.Name))
	}
	t.Write(" FROM (SELECT 1 AS one) AS o LEFT JOIN ", t.Table(c.Space, c.Table), " AS r ON ")
	if id == nil {
		t.Write("1=0") // in SQLite, FALSE may be the name of a column
	} else {
		t.Write("1=1")
		if err := writeKeyCondition(t, c, id, " AND ", before); err != nil {
			return sqlgen.Statement{}, err
		}
	}
	t.Write(") AS w")
	made := func(l policy.Layer) bool {
		return l.Through != nil && slices.ContainsFunc(sets, func(s writes.Set) bool { return s.From != nil && s.Field.Name == l.Through.Field })
	}
	if err := t.LayersBut(v, "w", made); err != nil {
		return sqlgen.Statement{}, err
	}
	return t.Statement([]sqlgen.Column{{Field: &schema.Field{Type: schema.Integer}}})
}

// SampleStatement compiles the SELECT of one value of a column that isn't null. The value shows the WriteForm of the
// column.
func SampleStatement(d sqlgen.Dialect, c *schema.Class, field string) (sqlgen.Statement, error) {
	t, err := sqlgen.NewText(d)
	if err != nil {
		return sqlgen.Statement{}, err
	}
	f := c.Field(field)
	if f == nil {
		return sqlgen.Statement{}, problem.New(problem.Internal, fmt.Sprintf("no field %s in what is written", field))
	}
	t.Write("SELECT ", t.Read(t.Name(field), f), " FROM ", t.Table(c.Space, c.Table), " WHERE ", t.Name(field), " IS NOT NULL LIMIT 1")
	return t.Statement([]sqlgen.Column{{Field: &schema.Field{}}}) // in its stored form, not as a value of f
}
