package sqldriver

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

var (
	plainName  = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]{0,62}$`)
	plainValue = regexp.MustCompile(`^[A-Za-z0-9_.+/-]+( [A-Za-z0-9_.+/-]+)*$`)
	reserved   = []string{"bailiwick_", "sqlite_", "pg_"}
)

// maxFields is the maximum number of fields of a new class.
const maxFields = 100

func invalid(format string, args ...any) error {
	return &problem.Error{Code: problem.InvalidArgument, Kind: "class", Detail: fmt.Sprintf(format, args...)}
}

// CreateTable compiles the CREATE TABLE of a new class, and returns the names of its fields in order. A field named
// id is the key. Without such a field, the database numbers the records.
func CreateTable(d sqlgen.Dialect, w *write.CreateClass) (sqlgen.Statement, []string, error) {
	none := sqlgen.Statement{}
	t, err := sqlgen.NewText(d)
	if err != nil {
		return none, nil, err
	}
	if !plainName.MatchString(w.Class) || slices.ContainsFunc(reserved, func(p string) bool { return strings.HasPrefix(strings.ToLower(w.Class), p) }) {
		return none, nil, invalid("a class is named with letters, digits and _, a letter first, at most 63, not %q", problem.Cut(w.Class))
	}
	list := w.Fields.List()
	if len(list) == 0 || len(list) > maxFields {
		return none, nil, invalid("a class has 1 to %d fields, not %d", maxFields, len(list))
	}
	// Names are compared without case, as some databases do.
	names, lines := []string{}, []string{}
	seen := map[string]bool{}
	for _, f := range list {
		name, line, err := dmlColumnOf(t, f)
		if err != nil {
			return none, nil, err
		}
		if seen[strings.ToLower(name)] {
			return none, nil, invalid("two fields are called %s", name)
		}
		seen[strings.ToLower(name)] = true
		names, lines = append(names, name), append(lines, line)
	}
	if !seen["id"] {
		names, lines = slices.Insert(names, 0, "id"), slices.Insert(lines, 0, t.Name("id")+" "+t.Writes.Generated)
	}
	t.Write(t.Writes.CreateTable)
	t.Write(t.Table("", w.Class), " (", strings.Join(lines, ", "), ")")
	t.Write(t.Writes.TableOptions)
	st, err := t.Statement(nil)
	return st, names, err
}

// dmlColumnOf returns the name and the column definition of one field, an object {name, type, required, values}.
func dmlColumnOf(t *sqlgen.Text, f value.Value) (name, line string, err error) {
	if f.Kind() != value.Object {
		return "", "", invalid("a field is an object with name and type")
	}
	for _, m := range f.Members() {
		if known := []string{"name", "type", "required", "values"}; !slices.Contains(known, m.Name) {
			return "", "", invalid("a field has no %q%s", problem.Cut(m.Name), problem.DidYouMean(problem.Nearest(m.Name, known, 1)))
		}
	}
	called, _ := f.Get("name")
	if name = called.Text(); called.Kind() != value.String || !plainName.MatchString(name) {
		return "", "", invalid("a field is named with letters, digits and _, a letter first, at most 63, not %q", problem.Cut(called.String()))
	}
	of := t.Writes.Types // a closed set, since the types in a CREATE TABLE can't be arguments
	id := strings.EqualFold(name, "id")
	if id {
		of = t.Writes.KeyTypes
	}
	typ, _ := f.Get("type")
	native, ok := of[typ.Text()]
	if typ.Kind() != value.String || !ok {
		return "", "", invalid("the type of %s must be one of %s", name, strings.Join(slices.Sorted(maps.Keys(of)), ", "))
	}
	line = t.Name(name) + " " + native
	required, _ := f.Get("required")
	switch {
	case required.Kind() != value.Null && required.Kind() != value.Bool:
		return "", "", invalid("required of %s must be true or false", name)
	case id:
		line += " NOT NULL PRIMARY KEY"
	case required.Bool():
		line += " NOT NULL"
	}
	check, err := checkOf(t, name, typ.Text(), f)
	return name, line + check, err
}

// checkOf returns the CHECK for the allowed values of a field. The values are written into the statement, so they may
// contain only letters, digits and _.+/-.
func checkOf(t *sqlgen.Text, name, typ string, f value.Value) (string, error) {
	values, _ := f.Get("values")
	if values.IsNull() {
		return "", nil
	}
	if len(values.List()) == 0 || len(values.List()) > maxFields || typ != "string" {
		return "", invalid("values of %s must be a list of 1 to %d texts, for a field of the type string", name, maxFields)
	}
	quoted := make([]string, len(values.List()))
	for i, v := range values.List() {
		if v.Kind() != value.String || len(v.Text()) > 100 || !plainValue.MatchString(v.Text()) {
			return "", invalid("values of %s are words of letters, digits and _.+/-, at most 100 characters, not %s", name, problem.Cut(v.String()))
		}
		quoted[i] = "'" + v.Text() + "'"
	}
	return " CHECK (" + t.Name(name) + " IN (" + strings.Join(quoted, ", ") + "))", nil
}

// TableExists compiles a SELECT of the column names of the table that a new class would have. It returns no rows if
// the table doesn't exist.
func TableExists(d sqlgen.Dialect, name string) (sqlgen.Statement, error) {
	t, err := sqlgen.NewText(d)
	if err != nil {
		return sqlgen.Statement{}, err
	}
	t.Write(t.Writes.Columns(t.Arg(name)))
	return t.Statement([]sqlgen.Column{{Field: &schema.Field{Type: schema.String}}})
}

// LockTable compiles the statement that locks the records of a class against other transactions. The text is "" if
// the database needs no lock.
func LockTable(d sqlgen.Dialect, c *schema.Class) (sqlgen.Statement, error) {
	t, err := sqlgen.NewText(d)
	if err != nil {
		return sqlgen.Statement{}, err
	}
	if lock := t.Writes.LockTable; lock != nil {
		t.Write(lock(t.Table(c.Space, c.Table)))
	}
	return t.Statement(nil)
}

// AnyRecordStatement compiles a SELECT that returns one row if a class has any record, visible or not.
func AnyRecordStatement(d sqlgen.Dialect, c *schema.Class) (sqlgen.Statement, error) {
	t, err := sqlgen.NewText(d)
	if err != nil {
		return sqlgen.Statement{}, err
	}
	t.Write("SELECT 1 FROM ", t.Table(c.Space, c.Table), " LIMIT 1")
	return t.Statement([]sqlgen.Column{{Field: &schema.Field{Type: schema.Integer}}})
}

// DropTable compiles the DROP TABLE of a class.
func DropTable(d sqlgen.Dialect, c *schema.Class) (sqlgen.Statement, error) {
	t, err := sqlgen.NewText(d)
	if err != nil {
		return sqlgen.Statement{}, err
	}
	t.Write("DROP TABLE ", t.Table(c.Space, c.Table))
	return t.Statement(nil)
}

// BegunStatement compiles the UPDATE of a marker whose change is about to do something that can't be rolled back. A
// later attempt that finds the updated marker continues the change.
func BegunStatement(d sqlgen.Dialect, change, digest string, fence int64) (sqlgen.Statement, error) {
	t, err := sqlgen.NewText(d)
	if err != nil {
		return sqlgen.Statement{}, err
	}
	t.Write("UPDATE ", markers(d), " SET digest = ", t.Arg(digest), ", fence = ", t.Arg(fence), " WHERE change_id = ", t.Arg(change))
	return t.Statement(nil)
}
