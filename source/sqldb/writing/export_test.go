package writing

import (
	"context"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/policy/writes"
)

// ApplyPlan is Apply below its seam: a Permit can be made only of an approved change.
func ApplyPlan(ctx context.Context, w *Writer, plan writes.Plan) (change.Receipt, error) {
	return w.apply(ctx, &plan)
}
