package sqlite

import (
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen/condition"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen/expr"
)

// First returns SQLite's conditions for a statement that is tried before the one of Conditions: a sum of integers is one aggregate
// in place of two, and ends the statement beyond 64 bits. A statement that ended so must run again with the conditions of another.
func First() condition.Dialect { return first{} }

type first struct{ conditions }

// Expressions implements condition.Dialect.
func (first) Expressions() expr.Dialect { return dialect{first: true} }
