package limit

import (
	"context"
	"errors"
	"math"
	"sync"
	"time"
)

// Use is the use of calls, or the maximum that they may use. No number is negative.
type Use struct {
	Calls  int64
	Rows   int64 // number of returned records
	Bytes  int64 // size of the responses
	Tokens int64 // estimated tokens of a language model: Bytes/4
	Cost   int64 // price of these tokens, in millionths of a US dollar
}

// Plus returns the sum of u and v. If a sum overflows, the result is math.MaxInt64.
func (u Use) Plus(v Use) Use {
	return Use{plus(u.Calls, v.Calls), plus(u.Rows, v.Rows), plus(u.Bytes, v.Bytes), plus(u.Tokens, v.Tokens), plus(u.Cost, v.Cost)}
}

func plus(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// over returns the name of the first limit in most that u has reached, or "".
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

// Cost returns the price of the tokens in millionths of a US dollar, rounded. The argument price is the price of a
// million tokens, also in millionths of a dollar.
func Cost(tokens, price int64) int64 {
	millions, rest := tokens/1e6, tokens%1e6
	if price > 0 && millions > math.MaxInt64/price {
		return math.MaxInt64
	}
	return plus(millions*price, (rest*price+500_000)/1e6)
}

// A Day is a day in UTC, counted in days since 1970-01-01.
type Day int64

const daySeconds = 24 * 60 * 60

// DayOf returns the day in UTC that contains t.
func DayOf(t time.Time) Day { return Day(t.Unix() / daySeconds) }

// String returns the day as 2006-01-02.
func (d Day) String() string { return d.start().Format(time.DateOnly) }

func (d Day) start() time.Time { return time.Unix(int64(d)*daySeconds, 0).UTC() }

// An Account identifies the use of one owner or one token on one day. Key is "o" and the owner, or "t" and the token.
type Account struct {
	Day Day
	Key string
}

// An Entry adds a use to an account.
type Entry struct {
	Account
	Use
}

// A Ledger stores the use of the budgets. Several processes share it, and it survives restarts.
type Ledger interface {
	// Spend adds all entries to their accounts, or none. It returns the total use of each account afterwards, in the
	// order of the entries. An entry with a zero Use only reads its account. No account occurs twice.
	Spend(ctx context.Context, entries []Entry) ([]Use, error)
}

// memory is the Ledger of one process.
type memory struct {
	mu    sync.Mutex
	day   Day // the latest day seen
	spent map[Account]Use
}

// Spend implements Ledger. When a new day begins, it drops the accounts of earlier days. Only calls that ran over
// midnight still use these accounts.
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
