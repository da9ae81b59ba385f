// Package refused tells an operator which requests the doors refuse, in few enough lines to read.
//
// The first refusal of a kind from a principal or an address is a warning at once; further ones are counted and reported
// once a minute. Lines are bounded whatever is sent, so that nobody can fill a disk with them. It decides nothing, and it
// keeps no value of a request.
package refused

import (
	"cmp"
	"context"
	"log/slog"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// Bounds of one interval.
const (
	interval = time.Minute
	lines    = 20  // warnings at once, and as many sums at its end
	sources  = 200 // sources kept apart; further ones are one
)

// others is the source of what comes from more sources than are kept apart.
const others = "others"

// A Refusal is one request, or one connection, that was refused.
type Refusal struct {
	Door        string     // "mcp", "api", "console", "metrics" or "http" for what no door has seen
	Kind        string     // the true reason, in our words: "no_credential", "host", "body_late"
	Principal   string     // "" where nobody was established
	Remote      netip.Addr // where it came from; the zero one is unknown
	Correlation string     // "" for none
	Err         error      // what caused it, for the operator alone; nil for nothing
}

// from is what refusals are counted by: a principal, or else a network. One holder of an IPv6 network has 2^64 addresses.
func (r *Refusal) from() string {
	if r.Principal != "" {
		return r.Principal
	}
	return Network(r.Remote).String()
}

// Network returns the network that one party is taken to hold: an IPv4 address, or the /64 of an IPv6 address.
func Network(a netip.Addr) netip.Prefix {
	a = a.Unmap().WithZone("")
	bits := 32
	if a.Is6() {
		bits = 64
	}
	p, _ := a.Prefix(bits) // the zero one for the zero address
	return p
}

type key struct{ door, kind, from string }

// A Log takes refusals. It is safe for use by several goroutines; a nil Log drops what it is given.
type Log struct {
	log   *slog.Logger
	count func(door, kind string)

	mu    sync.Mutex
	seen  map[key]int // in this interval; how many have no line of their own
	spent int         // lines in this interval
	timer *time.Timer // ends the interval; nil when nothing was refused in it
	ended bool
}

// New returns a Log that writes to log and tells count of each refusal; either may be nil.
func New(log *slog.Logger, count func(door, kind string)) *Log {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	if count == nil {
		count = func(string, string) {}
	}
	return &Log{log: log, count: count, seen: map[key]int{}}
}

// Note takes a refusal. It reports whether it is the first of its kind from its source in this interval.
func (l *Log) Note(ctx context.Context, r Refusal) (first bool) {
	if l == nil {
		return false
	}
	l.count(r.Door, r.Kind)
	k := key{r.Door, r.Kind, r.from()}
	l.mu.Lock()
	if l.timer == nil && !l.ended {
		l.timer = time.AfterFunc(interval, l.flush)
	}
	more, known := l.seen[k]
	if !known && len(l.seen) >= sources {
		k.from = others
		more, known = l.seen[k]
	}
	first = !known && k.from != others
	written := first && l.spent < lines && !l.ended
	if written {
		l.spent++
		l.seen[k] = more
	} else {
		l.seen[k] = more + 1
	}
	l.mu.Unlock()
	if !written {
		return first
	}
	attrs := []slog.Attr{slog.String("door", r.Door), slog.String("kind", r.Kind), slog.String("from", k.from)}
	if r.Correlation != "" {
		attrs = append(attrs, slog.String("correlation_id", r.Correlation))
	}
	if r.Err != nil {
		attrs = append(attrs, slog.Any("error", r.Err))
	}
	l.log.LogAttrs(ctx, slog.LevelWarn, "refused", attrs...)
	return first
}

// flush reports what was counted, and begins anew.
func (l *Log) flush() {
	l.mu.Lock()
	seen := l.seen
	l.seen, l.spent, l.timer = map[key]int{}, 0, nil
	l.mu.Unlock()
	keys := make([]key, 0, len(seen))
	for k, n := range seen {
		if n > 0 {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(a, b key) int {
		return cmp.Or(-cmp.Compare(seen[a], seen[b]), cmp.Compare(a.door+a.kind+a.from, b.door+b.kind+b.from))
	})
	rest := 0
	for i, k := range keys {
		if i >= lines {
			rest += seen[k]
			continue
		}
		l.log.Warn("refused further", "door", k.door, "kind", k.kind, "from", k.from, "times", seen[k])
	}
	if rest > 0 {
		l.log.Warn("refused further", "from", others, "times", rest)
	}
}

// Close reports what is still to be reported. Later refusals are counted alone.
func (l *Log) Close() {
	if l == nil {
		return
	}
	l.mu.Lock()
	if l.timer != nil {
		l.timer.Stop()
	}
	l.ended = true
	l.mu.Unlock()
	l.flush()
}
