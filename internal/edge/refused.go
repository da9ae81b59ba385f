package edge

import (
	"cmp"
	"context"
	"log/slog"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// Limits for one interval.
const (
	interval = time.Minute
	lines    = 20  // maximum number of warnings logged at once, and of sums logged at the end
	sources  = 200 // maximum number of sources counted separately. Further sources are counted together
)

// others is the source of all refusals from further sources.
const others = "others"

// A Refusal is one refused request or connection.
type Refusal struct {
	Door        string     // "mcp", "api", "console", "oauth", "metrics", or "http" if no transport saw the request
	Kind        string     // the actual reason, as an identifier: "no_credential", "host", "body_late"
	Principal   string     // "" if not authenticated
	Remote      netip.Addr // address of the client, or the zero value if unknown
	Correlation string     // may be ""
	Err         error      // the cause, for operators only. It may be nil
}

// from returns the source by which refusals are counted. This is a principal or a network. A single address is not
// enough, because a host of an IPv6 network has 2^64 addresses.
func (r *Refusal) from() string {
	if r.Principal != "" {
		return r.Principal
	}
	return NetworkOf(r.Remote).String()
}

// NetworkOf returns the network that counts as one client. This is an IPv4 address, or the /64 of an IPv6 address.
func NetworkOf(a netip.Addr) netip.Prefix {
	a = a.Unmap().WithZone("")
	bits := 32
	if a.Is6() {
		bits = 64
	}
	p, _ := a.Prefix(bits) // the zero prefix for the zero address
	return p
}

// A key identifies the refusals with the same door and kind from one principal or network.
type key struct{ door, kind, from string }

// A RefusalLog logs and counts refusals. It is safe for concurrent use. A nil RefusalLog ignores them.
type RefusalLog struct {
	log   *slog.Logger
	count func(door, kind string)

	mu    sync.Mutex
	seen  map[key]int // number of refusals in this interval that were not logged individually
	spent int         // number of lines logged in this interval
	timer *time.Timer // ends the interval. Nil if the interval has no refusal
	ended bool
}

// NewRefusalLog returns a RefusalLog that writes to log, and calls count for each refusal. Both may be nil.
func NewRefusalLog(log *slog.Logger, count func(door, kind string)) *RefusalLog {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	if count == nil {
		count = func(string, string) {}
	}
	return &RefusalLog{log: log, count: count, seen: map[key]int{}}
}

// Note logs or counts a refusal. It reports whether this is the first refusal of its kind from its source in this
// interval.
func (l *RefusalLog) Note(ctx context.Context, r Refusal) (first bool) {
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

// flush logs the counts of the interval, and starts a new interval.
func (l *RefusalLog) flush() {
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

// Close logs the counts so far. Later refusals are only counted.
func (l *RefusalLog) Close() {
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
