package schema

// An Origin is a column, or a set of columns, from which a field is computed.
type Origin struct {
	Space, Table string // as in Class. An empty Table means every column of the source
	Column       string // "" for every column of the table
}

// String returns o for operators: table.column, or a description of the set.
func (o Origin) String() string {
	switch {
	case o.Table == "":
		return "any column of the source"
	case o.Column == "":
		return "the columns of " + o.Table
	}
	return o.Table + "." + o.Column
}
