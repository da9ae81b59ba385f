package writes

import (
	"fmt"

	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// MostRecord is the maximum size of the visible values of a written record, in bytes.
const MostRecord = 2 << 20

// TooLarge returns the error for a record that is larger than MostRecord.
func TooLarge(v *policy.View) error {
	return large(fmt.Sprintf("the record of %s has values of more than %d MiB together, more than a change can show", v.Name(), MostRecord>>20))
}

// TooLargeTogether returns the error for a group whose records are too large together.
func TooLargeTogether() error {
	return large("the records of this group are together larger than a change can show")
}

func large(detail string) error {
	return &problem.Error{Code: problem.BudgetExceeded, Detail: detail,
		Suggestion: "propose smaller groups. Change a record with a larger value in the application, or by an action that the operator declares"}
}
