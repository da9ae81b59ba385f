package limit

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"math"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/fair"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// DefaultMemory is the default memory for all answers of one process, in bytes. AnswerMemory is the part for one
// answer.
const (
	DefaultMemory = 512 << 20
	AnswerMemory  = 32 << 20
)

// memoryWait is how long a call waits for memory that other calls use.
const memoryWait = 5 * time.Second

// A Memory limits the total memory of all unfinished answers in one process, and shares the memory fairly. A tenant
// gets at most three quarters of the memory. An owner gets less than its tenant. A Memory is safe for concurrent use.
type Memory struct{ answers *fair.Semaphore }

// NewMemory returns a Memory. The argument most is its size in bytes. 0 means DefaultMemory.
func NewMemory(most int64) *Memory {
	n := max(1, int(cmp.Or(max(most, 0), DefaultMemory)/AnswerMemory))
	return &Memory{fair.New(fair.Bounds{Slots: n, Queue: math.MaxInt, Patience: memoryWait}.Wide())}
}

// Rows returns rows, and holds memory of m for the principal who while they are read. If there is no memory, the
// sequence yields the error of Take.
func Rows[R any](ctx context.Context, m *Memory, who fair.Who, rows iter.Seq2[R, error]) iter.Seq2[R, error] {
	return func(yield func(R, error) bool) {
		release, err := m.Take(ctx, who)
		if err != nil {
			var none R
			yield(none, err)
			return
		}
		defer release()
		rows(yield)
	}
}

// Take waits until there is memory for an answer to who. The caller frees the memory with release. Take fails with
// problem.RateLimited after five seconds of waiting, and with Cancelled or Timeout if ctx ends first.
func (m *Memory) Take(ctx context.Context, who fair.Who) (release func(), err error) {
	release, err = m.answers.Enter(ctx, who)
	switch {
	case errors.Is(err, fair.ErrBusy):
		p := problem.Of(refusal("memory", 0, nil))
		p.Detail = "The memory for answers is in use by other calls"
		return nil, p
	case err != nil:
		return nil, contextError(ctx)
	}
	return release, nil
}
