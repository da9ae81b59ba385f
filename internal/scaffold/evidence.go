package scaffold

import (
	"github.com/bailiwick-dev/bailiwick/internal/samples"
	"github.com/bailiwick-dev/bailiwick/policy"
)

// SampleSize is the number of records that init reads of each class.
const SampleSize = 200

// Evidence contains facts from sampled records. It contains counts and no values. The zero Evidence contains no
// facts.
type Evidence struct {
	Fields map[string]samples.Seen     // by "source.Class.field"
	Counts map[string]int64            // the number of records, by "source.Class". Classes with an unknown number are missing
	Points map[string]policy.ClassRule // pointers that no sampled record contradicts, by "source.Class"
	Doubts map[string]policy.ClassRule // pointers in lists that some records contradict or that no record uses, by "source.Class"
	Missed []string                    // classes whose records could not be read, as "source.Class"
}
