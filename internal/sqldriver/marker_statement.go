package sqldriver

import (
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// The marker of a change is a row of the table bailiwick_applied in the database that the change writes to. The
// marker contains a receipt if the change was applied, since both are written in one transaction. Without a receipt,
// only a permit with at least the row's fence may apply the change. No catalogue lists the table as a class.

// MarkerTable returns the statement that creates the marker table if it doesn't exist. An operator can run it if the
// source's account has no right to create tables.
func MarkerTable(d sqlgen.Dialect) string {
	return "CREATE TABLE IF NOT EXISTS " + markers(d) + d.Writes().MarkerColumns
}

// markers returns the name of the marker table. The table is in the default schema.
func markers(d sqlgen.Dialect) string {
	return sqlgen.TableName(d, "", "bailiwick_applied")
}

// markerExists returns a statement that returns no rows. It fails if the marker table doesn't exist or lacks a
// column.
func markerExists(d sqlgen.Dialect) string {
	return "SELECT change_id, digest, fence, receipt, applied_at FROM " + markers(d) + " WHERE 1 = 0"
}

// ClaimStatement compiles an INSERT that creates a change's marker if it doesn't exist. It blocks other inserts of
// the same marker until the transaction ends.
func ClaimStatement(d sqlgen.Dialect, change, digest string, fence int64) (sqlgen.Statement, error) {
	t, err := sqlgen.NewText(d)
	if err != nil {
		return sqlgen.Statement{}, err
	}
	t.Write("INSERT INTO ", markers(d), " (change_id, digest, fence) VALUES (", t.Arg(change), ", ", t.Arg(digest), ", ", t.Arg(fence), ") ")
	t.Write(t.Writes.MarkerConflict)
	return t.Statement(nil)
}

// MarkerStatement compiles a SELECT that locks and reads a change's marker. The row contains the digest, the lowest
// fence that may apply the change, and the receipt. The receipt is null if the change wasn't applied.
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

// AppliedStatement compiles the UPDATE that stores a change's receipt in its marker. It writes one row, or no row if
// the marker already has a receipt.
func AppliedStatement(d sqlgen.Dialect, change, digest string, fence int64, receipt string) (sqlgen.Statement, error) {
	t, err := sqlgen.NewText(d)
	if err != nil {
		return sqlgen.Statement{}, err
	}
	t.Write("UPDATE ", markers(d), " SET digest = ", t.Arg(digest), ", fence = ", t.Arg(fence), ", receipt = ", t.Arg(receipt), ", applied_at = ", t.Writes.Now,
		" WHERE change_id = ", t.Arg(change), " AND receipt IS NULL")
	return t.Statement(nil)
}
