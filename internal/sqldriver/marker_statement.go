package sqldriver

import (
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// The marker of a change is a row of the table bailiwick_applied in the database that the change is about. It has a
// receipt if the change was applied, since the two are written in one transaction. Without one, only a permit with at
// least the row's fence may apply the change. No catalogue lists the table as a class.

// MarkerTable returns the statement that creates the marker table if there is none. An operator can run it if the
// account of the source may not.
func MarkerTable(d sqlgen.Dialect) string {
	return "CREATE TABLE IF NOT EXISTS " + markers(d) + d.Writes().MarkerColumns
}

// markers returns the name of the marker table. It is in the schema of classes that name none.
func markers(d sqlgen.Dialect) string {
	return sqlgen.TableName(d, "", "bailiwick_applied")
}

// markerExists returns a statement without rows that fails if the marker table isn't as it must be.
func markerExists(d sqlgen.Dialect) string {
	return "SELECT change_id, digest, fence, receipt, applied_at FROM " + markers(d) + " WHERE 1 = 0"
}

// ClaimStatement compiles the INSERT of a change's marker if there is none. It blocks other inserts of it until the transaction
// ends.
func ClaimStatement(d sqlgen.Dialect, change, digest string, fence int64) (sqlgen.Statement, error) {
	t, err := sqlgen.NewText(d)
	if err != nil {
		return sqlgen.Statement{}, err
	}
	t.Write("INSERT INTO ", markers(d), " (change_id, digest, fence) VALUES (", t.Arg(change), ", ", t.Arg(digest), ", ", t.Arg(fence), ") ")
	t.Write(t.Writes.MarkerConflict)
	return t.Statement(nil)
}

// MarkerStatement compiles the SELECT of a change's marker, locked. It returns the digest, the lowest fence that may
// apply the change, and the receipt, null if it wasn't applied.
func MarkerStatement(d sqlgen.Dialect, change string) (sqlgen.Statement, error) {
	t, err := sqlgen.NewText(d)
	if err != nil {
		return sqlgen.Statement{}, err
	}
	t.Write("SELECT digest, fence, receipt FROM ", markers(d), " WHERE change_id = ", t.Arg(change))
	t.Write(t.Writes.MarkerLock)
	return t.Statement([]sqlgen.Column{{Field: &schema.Field{Type: schema.String}}, {Field: &schema.Field{Type: schema.Integer}},
		{Field: &schema.Field{Type: schema.String}}})
}

// RaiseStatement compiles the UPDATE of the lowest fence that may apply a change.
func RaiseStatement(d sqlgen.Dialect, change string, fence int64) (sqlgen.Statement, error) {
	t, err := sqlgen.NewText(d)
	if err != nil {
		return sqlgen.Statement{}, err
	}
	t.Write("UPDATE ", markers(d), " SET fence = ", t.Arg(fence), " WHERE change_id = ", t.Arg(change))
	return t.Statement(nil)
}

// AppliedStatement compiles the UPDATE that stores a change's receipt in its marker: it writes one row, or none if there is a
// receipt already.
func AppliedStatement(d sqlgen.Dialect, change, digest string, fence int64, receipt string) (sqlgen.Statement, error) {
	t, err := sqlgen.NewText(d)
	if err != nil {
		return sqlgen.Statement{}, err
	}
	t.Write("UPDATE ", markers(d), " SET digest = ", t.Arg(digest), ", fence = ", t.Arg(fence), ", receipt = ", t.Arg(receipt), ", applied_at = ", t.Writes.Now,
		" WHERE change_id = ", t.Arg(change), " AND receipt IS NULL")
	return t.Statement(nil)
}
