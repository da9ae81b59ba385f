package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/bailiwick-dev/bailiwick/schema"
)

// withoutJIT switches off the compilation of statements for one transaction. Over a large catalogue, compiling takes longer
// than running.
const withoutJIT = `SELECT pg_catalog.set_config('jit', 'off', true) FROM pg_catalog.pg_settings WHERE name OPERATOR(pg_catalog.=) 'jit'`

// Describe implements source.Source.
func (s *Source) Describe(ctx context.Context) (classes []schema.Class, warnings []string, err error) {
	err = s.reading(ctx, func(r reads) error {
		if !r.pooled {
			if _, err := r.conn.PgConn().Exec(ctx, "BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY").ReadAll(); err != nil {
				return err
			}
			defer rollBack(r.conn)
		}
		if _, err := r.conn.PgConn().Exec(ctx, withoutJIT).ReadAll(); err != nil {
			return err
		}
		if s.template != "" {
			classes, warnings, err = s.describeTenantSchemas(ctx, r)
			return err
		}
		classes, warnings, err = describe(ctx, r, s.name, s.choice)
		return err
	})
	return classes, warnings, err
}

// withGrantHint adds the next step to the error of an account that has no right to read part of the catalogue.
func withGrantHint(err error) error {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok && e.Code == "42501" {
		return fmt.Errorf("%w. The account must read the catalogue: as its owner, run GRANT SELECT ON ALL TABLES IN SCHEMA pg_catalog TO the account", err)
	}
	return err
}

// changedStates are the states of errors about a column, a table, a type or a function that doesn't exist, or no
// longer fits the statement.
var changedStates = []string{"42703", "42P01", "42704", "42883", "42804", "42809", "42846", "3F000"}

// isSchemaChange implements sqldriver.Errors. A statement that was prepared before the change of a type can't run
// again.
func isSchemaChange(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (slices.Contains(changedStates, e.Code) || e.Code == "0A000" && strings.Contains(e.Routine, "RevalidateCachedQuery"))
}

// Drifts implements source.Drifting.
func (s *Source) Drifts() bool { return true }
