package scaffold

import (
	"github.com/bailiwick-dev/bailiwick/internal/samples"
	"github.com/bailiwick-dev/bailiwick/policy"
)

// SampleSize is the number of records of a class that init looks at.
const SampleSize = 200

// Evidence is knowledge from records in addition to the schema. The zero Evidence shows nothing. It keeps counts and no
// values.
type Evidence struct {
	Fields map[string]samples.Seen     // by "source.Class.field"
	Counts map[string]int64            // how many records a class has, by "source.Class". A class without a known number is missing
	Points map[string]policy.ClassRule // by "source.Class": the Pointers that no record contradicts
	Doubts map[string]policy.ClassRule // by "source.Class": the Pointers of lists that some records contradict, and those that no record has
	Missed []string                    // classes whose records could not be read, as "source.Class"
}
