package schema

// A Choice decides whether a table becomes a class. It returns the name of the class, or "" to omit the table. given
// reports whether the owner chose the name. An empty space means the default schema. A nil Choice includes every table
// with its DefaultName.
type Choice func(space, table string) (name string, given bool)

// Of applies c to a table.
func (c Choice) Of(space, table string) (name string, given bool) {
	if c == nil {
		return DefaultName(space, table), false
	}
	return c(space, table)
}

// DefaultName returns the name of a class whose table has no configured name. It is the name of the table, with the
// name of the schema before it unless that is the default schema.
func DefaultName(space, table string) string {
	if space == "" {
		return table
	}
	return space + "_" + table
}
