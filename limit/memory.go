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

// DefaultMemory is the memory for answers of one process, in bytes, unless configured otherwise. Each answer has
// AnswerMemory of it.
const (
	DefaultMemory = 512 << 20
	AnswerMemory  = 32 << 20
)

// memoryWait is how long a call waits for memory used by other calls.
const memoryWait = 5 * time.Second

// A Memory limits the memory that all unfinished answers in one process may take together. It shares the memory fairly.
// No tenant has more than three quarters of it, and no owner all that its tenant may have. It is safe for use by
// several goroutines.
type Memory struct{ answers *fair.Semaphore }

// NewMemory returns a Memory of most bytes. 0 means DefaultMemory.
func NewMemory(most int64) *Memory {
	n := max(1, int(cmp.Or(max(most, 0), DefaultMemory)/AnswerMemory))
	return &Memory{fair.New(fair.Bounds{Slots: n, Queue: math.MaxInt, Patience: memoryWait}.Wide())}
}

// Rows returns rows with memory of m taken for the principal who while they are read. They yield the error of Take where
// there is none.
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

// Take waits until there is memory for an answer to who. release gives it back. It fails with problem.RateLimited after
// five seconds of waiting, and with Cancelled or Timeout if ctx ends first.
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
