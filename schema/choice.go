package schema

// A Choice decides whether a table becomes a class. It returns the name of the class, which is "" if the table is left
// out, and whether the owner gave that name. The space is "" for the default schema. A nil Choice takes every table and
// names it as DefaultName does.
type Choice func(space, table string) (name string, given bool)

// Of applies c to a table.
func (c Choice) Of(space, table string) (name string, given bool) {
	if c == nil {
		return DefaultName(space, table), false
	}
	return c(space, table)
}

// DefaultName returns the name of the class of a table that was given none: the table's, after that of its schema unless
// that is the default one.
func DefaultName(space, table string) string {
	if space == "" {
		return table
	}
	return space + "_" + table
}
