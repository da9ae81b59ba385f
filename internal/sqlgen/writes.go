package sqlgen

// Writes are the texts in which the statements that write differ between databases. A source that can't write has none.
type Writes struct {
	RowLock      string // ends the SELECT of a record t, so that it can't change
	EmptyInsert  string // inserts a record of defaults
	OverrideKeys string // lets an INSERT set a generated key

	MarkerColumns  string // the columns of the table of markers, and what follows them
	MarkerConflict string // ends the INSERT of a marker, so that an existing one stays
	MarkerLock     string // ends the SELECT of a marker, so that it can't change
	Now            string // the time of the database

	Types     map[string]string // the types that fields of a new class may have
	KeyTypes  map[string]string // the same for a field that is the key
	Generated string            // the column of a key that the database generates

	CreateTable  string                    // begins the statement
	TableOptions string                    // ends it
	Columns      func(place string) string // the SELECT of the columns of the table whose name is at a place
	LockTable    func(table string) string // locks a table against other transactions, or nil if nothing needs to
}
