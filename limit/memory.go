package limit

import (
	"cmp"
	"context"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/bailiwick-dev/bailiwick/problem"
)

// DefaultMemory is what answers in the making may take of a process's memory where nothing else is said.
const DefaultMemory = 512 << 20

// memoryWait is how long a call waits for memory that others use.
const memoryWait = 5 * time.Second

// A Memory is what answers in the making may take of a process's memory, all together. Calls get their part in the order
// in which they ask. It is safe for use by several goroutines.
type Memory struct {
	free *semaphore.Weighted
	most int64
}

// NewMemory returns a Memory of so many bytes; 0 takes DefaultMemory.
func NewMemory(most int64) *Memory {
	most = cmp.Or(max(most, 0), DefaultMemory)
	return &Memory{semaphore.NewWeighted(most), most}
}

// Take waits until so many bytes are free, and takes them until release is called. What is more than there is takes it all.
// It refuses with problem.RateLimited when others keep them for longer than five seconds, and with Cancelled or Timeout
// when ctx ends while it waits.
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
