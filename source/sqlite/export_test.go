package sqlite

import (
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"modernc.org/sqlite"
)

// RegisterFunctions adds the functions of this package to connections of d.
func RegisterFunctions(d *sqlite.Driver) error { return registerFunctions(d) }

// First returns the dialect of a statement that is tried before the exact one.
func First() sqlgen.Dialect { return dialect{first: true} }

// Apart returns the dialect of a statement whose views are computed apart.
func Apart() sqlgen.Dialect { return dialect{apart: true} }
