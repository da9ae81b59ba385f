package sqldb

import (
	"context"
	"database/sql/driver"
	"fmt"

	"github.com/bailiwick-dev/bailiwick/compile"
	"github.com/bailiwick-dev/bailiwick/compile/writes"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// errEnd makes database/sql end a connection.
var errEnd = driver.ErrBadConn

// marked sees that the table of the markers is there, and makes it where it isn't. An account that may not make it gets told
// what to run.
func marked(ctx context.Context, name string, d compile.Dialect, exec func(context.Context, string) error) error {
	if exec(ctx, writes.MarkerThere) == nil {
		return nil
	}
	err := exec(ctx, writes.MarkerTable(d))
	if err == nil {
		err = exec(ctx, writes.MarkerThere)
	}
	if err != nil {
		return fmt.Errorf("source %s: the table bailiwick_applied, which writing needs, can't be made (%w); make it by hand: %s",
			name, loggable(err), writes.MarkerTable(d))
	}
	return nil
}

// unwritable refuses to write to a class.
func unwritable(c *schema.Class, why string) error {
	return &problem.Error{Code: problem.Unsupported, Kind: "unwritable", Detail: fmt.Sprintf("%s can't be written to: %s", c.Name, why)}
}
