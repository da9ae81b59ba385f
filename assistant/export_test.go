package assistant

import (
	"context"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/llm"
)

// DontWait makes retries happen without a wait.
func (a *Assistant) DontWait() {
	m := a.model.(llm.Retrying)
	m.Sleep = func(context.Context, time.Duration) error { return nil }
	a.model = m
}
