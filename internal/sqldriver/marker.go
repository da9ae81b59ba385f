package sqldriver

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// A marker is the database's record of a change.
type marker struct {
	change  string
	digest  string
	fence   int64           // the lowest fence that may apply the change
	receipt *change.Receipt // nil if the change wasn't applied
}

// writingClaim locks the marker of a change until the transaction ends, and returns the marker. If the change has no
// marker yet, writingClaim inserts m.
func writingClaim(ctx context.Context, d sqlgen.Dialect, tx WriteTx, m marker) (marker, error) {
	st, err := ClaimStatement(d, m.change, m.digest, m.fence)
	if err != nil {
		return m, err
	}
	if _, err := tx.Exec(ctx, st); err != nil {
		return m, err
	}
	if st, err = MarkerStatement(d, m.change); err != nil {
		return m, err
	}
	rows, err := tx.Query(ctx, st)
	if err != nil {
		return m, err
	}
	if len(rows) != 1 {
		return m, fmt.Errorf("%d markers of one change", len(rows))
	}
	m.digest, m.fence = rows[0][0].Text(), rows[0][1].Int()
	if kept := rows[0][2]; !kept.IsNull() {
		m.receipt = &change.Receipt{}
		if err := json.Unmarshal([]byte(kept.Text()), m.receipt); err != nil {
			return m, fmt.Errorf("the receipt of a change can't be read: %w", err)
		}
		m.receipt.Again = true
	}
	return m, nil
}

// raise sets the lowest fence that may apply the change.
func (m marker) raise(ctx context.Context, d sqlgen.Dialect, tx WriteTx, fence int64) error {
	st, err := RaiseStatement(d, m.change, fence)
	if err != nil {
		return err
	}
	return exactly(ctx, tx, st)
}

// storeReceipt stores the receipt in the marker.
func (m marker) storeReceipt(ctx context.Context, d sqlgen.Dialect, tx WriteTx, r change.Receipt) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	st, err := AppliedStatement(d, m.change, m.digest, m.fence, string(text))
	if err != nil {
		return err
	}
	return exactly(ctx, tx, st)
}

// exactly runs a statement on the marker table. It returns an error unless the statement writes exactly one row.
func exactly(ctx context.Context, tx WriteTx, st sqlgen.Statement) error {
	n, err := tx.Exec(ctx, st)
	if err == nil && n != 1 {
		err = problem.New(problem.Internal, fmt.Sprintf("a marker was written %d times", n))
	}
	return err
}
