package postgres

import (
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"
)

// barred adds the next step to the error of an account that may not read part of the catalogue.
func barred(err error) error {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok && e.Code == "42501" {
		return fmt.Errorf("%w. The account must read the catalogue: as its owner, run GRANT SELECT ON ALL TABLES IN SCHEMA pg_catalog TO the account", err)
	}
	return err
}
