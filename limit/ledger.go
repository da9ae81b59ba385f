package limit

import (
	"context"
	"errors"
	"math"
	"sync"
	"time"
)

// Use is what calls have used, or the most that they may use. No number is negative.
type Use struct {
	Calls  int64
	Rows   int64 // records returned
	Bytes  int64 // of responses
	Tokens int64 // of a language model, estimated: Bytes/4
	Cost   int64 // of these tokens, in millionths of a US dollar
}

// Plus returns the sum of u and v. A sum that overflows is math.MaxInt64.
func (u Use) Plus(v Use) Use {
	return Use{plus(u.Calls, v.Calls), plus(u.Rows, v.Rows), plus(u.Bytes, v.Bytes), plus(u.Tokens, v.Tokens), plus(u.Cost, v.Cost)}
}

func plus(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// over returns the name of the first limit of most that u has reached, or "".
func (u Use) over(most Use) string {
	switch {
	case most.Calls > 0 && u.Calls >= most.Calls:
		return "calls"
	case most.Rows > 0 && u.Rows >= most.Rows:
		return "rows"
	case most.Bytes > 0 && u.Bytes >= most.Bytes:
		return "bytes"
	case most.Tokens > 0 && u.Tokens >= most.Tokens:
		return "tokens"
	case most.Cost > 0 && u.Cost >= most.Cost:
		return "cost"
	}
	return ""
}

// Cost returns the price of this many tokens in millionths of a US dollar, rounded, where price is that of a million
// tokens in the same unit.
func Cost(tokens, price int64) int64 {
	millions, rest := tokens/1e6, tokens%1e6
	if price > 0 && millions > math.MaxInt64/price {
		return math.MaxInt64
	}
	return plus(millions*price, (rest*price+500_000)/1e6)
}

// A Day is a day in UTC, as the number of days since 1970-01-01.
type Day int64

const daySeconds = 24 * 60 * 60

// DayOf returns the day that t is on.
func DayOf(t time.Time) Day { return Day(t.Unix() / daySeconds) }

// String returns the day as 2006-01-02.
func (d Day) String() string { return d.start().Format(time.DateOnly) }

func (d Day) start() time.Time { return time.Unix(int64(d)*daySeconds, 0).UTC() }

// An Account identifies the use of one owner (Key "o" + owner) or one token (Key "t" + token) on one day.
type Account struct {
	Day Day
	Key string
}

// An Entry adds a use to an account.
type Entry struct {
	Account
	Use
}

// A Ledger stores what was used of the budgets, shared by several processes and kept over restarts.
type Ledger interface {
	// Spend adds every entry to its account, or none, and returns the total use of each account after that, in the
	// order of the entries. An entry with a zero Use only reads its account. No account occurs twice.
	Spend(ctx context.Context, entries []Entry) ([]Use, error)
}

// memory is the Ledger of one process.
type memory struct {
	mu    sync.Mutex
	day   Day // the latest day seen
	spent map[Account]Use
}

// Spend implements Ledger. A new day drops the days before, which only calls that ran over midnight still use.
func (m *memory) Spend(_ context.Context, entries []Entry) ([]Use, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := make([]Use, len(entries))
	for i, e := range entries {
		if e.Day > m.day {
			m.day, m.spent = e.Day, map[Account]Use{}
		}
		spent, known := m.spent[e.Account]
		if !known && len(m.spent) >= mostKeys {
			return nil, errors.New("too many askers on one day")
		}
		out[i] = spent.Plus(e.Use)
	}
	for i, e := range entries {
		m.spent[e.Account] = out[i]
	}
	return out, nil
}
