package limit

import (
	"cmp"
	"context"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/bailiwick-dev/bailiwick/problem"
)

// DefaultMemory is the memory for answers of one process, in bytes, unless configured otherwise.
const DefaultMemory = 512 << 20

// memoryWait is how long a call waits for memory used by other calls.
const memoryWait = 5 * time.Second

// A Memory limits the memory that the answers under construction in one process may take together. Calls are served
// in the order in which they ask. It is safe for use by several goroutines.
type Memory struct {
	free *semaphore.Weighted
	most int64
}

// NewMemory returns a Memory of most bytes; 0 means DefaultMemory.
func NewMemory(most int64) *Memory {
	most = cmp.Or(max(most, 0), DefaultMemory)
	return &Memory{semaphore.NewWeighted(most), most}
}

// Take waits until this many bytes are free and takes them; release gives them back. A request for more than the
// whole memory takes all of it. It fails with problem.RateLimited after five seconds of waiting, and with Cancelled
// or Timeout if ctx ends first.
func (m *Memory) Take(ctx context.Context, bytes int64) (release func(), err error) {
	bytes = min(bytes, m.most)
	waits, cancel := context.WithTimeout(ctx, memoryWait)
	defer cancel()
	if m.free.Acquire(waits, bytes) != nil {
		if ctx.Err() != nil {
			return nil, ended(ctx)
		}
		p := problem.Of(refusal("memory", 0, nil))
		p.Detail = "The memory for answers is in use by other calls"
		return nil, p
	}
	return func() { m.free.Release(bytes) }, nil
}
