package fair

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"
)

// unit is the unit of memory, in bytes. Each body uses whole units.
const unit = 1 << 10

// small is the maximum size of a small body, in bytes.
const small = 16 << 10

// The memory of a parsed body: several copies of its bytes, and memory for each of its values. See Weight.
const (
	copies    = 6
	eachValue = 200
)

// late is the maximum time for a body to arrive, counted from the moment when there is memory for it.
const late = 30 * time.Second

// BudgetOptions are the bounds of a Budget. The zero value of a field means its default.
type BudgetOptions struct {
	Largest  int64         // maximum size of a body, in bytes. Default 1 MiB
	Queue    int           // maximum number of waiting bodies in each lane. Default 256, negative for none
	Patience time.Duration // maximum wait of a body. Default 30 s
}

// The memory of a Budget, in bytes. The raw memory is for bodies that are read or wait unparsed. The parsed memory is
// for their parsed forms. Large bodies get more memory if BudgetOptions.Largest is more than 1 MiB.
const (
	smallRaw, smallParsed = 4 << 20, 8 << 20
	largeRaw, largeParsed = 8 << 20, 28 << 20
)

// A Budget bounds the memory of all bodies in one process. It is safe for concurrent use.
type Budget struct {
	largest      int64
	patience     time.Duration
	small, large lane
}

// A lane is the memory for either small or large bodies.
type lane struct{ raw, parsed *Semaphore }

// NewBudget returns a Budget with the bounds o.
func NewBudget(o BudgetOptions) *Budget {
	if o.Largest <= 0 {
		o.Largest = 1 << 20
	}
	if o.Queue == 0 {
		o.Queue = 256
	}
	if o.Patience <= 0 {
		o.Patience = 30 * time.Second
	}
	share := func(bytes int64) *Semaphore {
		n := int(bytes / unit)
		return New(Bounds{Slots: n, Each: n / 2, Queue: max(o.Queue, 0), Patience: o.Patience})
	}
	lanes := func(raw, parsed int64) lane { return lane{share(raw), share(parsed)} }
	return &Budget{largest: o.Largest, patience: o.Patience, small: lanes(smallRaw, smallParsed),
		large: lanes(max(largeRaw, 3*o.Largest), max(largeParsed, 14*o.Largest))}
}

// A Body is one body, and the memory that it holds.
type Body struct {
	Bytes  []byte
	budget *Budget
	who    Who
	lane   *lane
	leave  []func() // functions that free memory. The last one belongs to the last memory
	until  time.Time
}

// ErrLarge means that a body has more bytes than BudgetOptions.Largest.
var ErrLarge = errors.New("the body is too large")

// A BusyError means that there was no memory for a body or an answer in time.
type BusyError struct {
	Bytes int64 // total memory of all bodies or answers of this kind
	Err   error // an error of package fair or of the context
}

// Error implements error.
func (e *BusyError) Error() string { return "the memory for bodies is in use: " + e.Err.Error() }

// LogText returns Error. Logs leave out the text of other errors.
func (e *BusyError) LogText() string { return e.Error() }

// Unwrap returns the cause.
func (e *BusyError) Unwrap() error { return e.Err }

// A WeightError means that the parsed form of a body needs more memory than one caller may have.
type WeightError struct{ Values, Bytes, Most int64 }

// Error implements error.
func (e *WeightError) Error() string { return "the body takes more memory than one caller may have" }

// Read waits for memory and reads the body of r, which who sent. Its errors are ErrLarge, a *BusyError and errors of
// reading. Without an error, the caller calls Close of the body when the request is answered.
func (b *Budget) Read(w http.ResponseWriter, r *http.Request, who Who) (*Body, error) {
	body := &Body{budget: b, who: who, lane: &b.small, until: time.Now().Add(b.patience)}
	err := body.read(w, r)
	if err != nil {
		body.Close()
		return nil, err
	}
	return body, nil
}

// lingers is how long Discard reads the rest of a refused body.
const lingers = 2 * time.Second

// Discard reads the body of a request that is refused for lack of memory, and stores nothing. Most clients read the
// response only when they have sent the whole body. If the client uses Expect, Discard does not let it send the body.
func (b *Budget) Discard(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Expect") != "" || http.NewResponseController(w).SetReadDeadline(time.Now().Add(lingers)) != nil {
		return
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(r.Body, b.largest+1)) // an error doesn't matter here
}

// read reads the body of r. A body of undeclared length counts as small until it turns out to be large.
func (b *Body) read(w http.ResponseWriter, r *http.Request) error {
	n := r.ContentLength
	if n > b.budget.largest {
		return ErrLarge
	}
	if n > small {
		b.lane = &b.budget.large
	}
	room := n
	if n < 0 {
		room = min(small, b.budget.largest)
	}
	if err := b.take(r.Context(), b.lane.raw, room); err != nil {
		return err
	}
	// The time that the body waited for memory does not count for its sender. Not every ResponseWriter supports
	// deadlines.
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(late))
	var err error
	if n >= 0 {
		b.Bytes, err = readAll(r.Body, n)
		return err
	}
	if b.Bytes, err = readAll(io.LimitReader(r.Body, room+1), room+1); err != nil || int64(len(b.Bytes)) <= room {
		return err
	}
	if room == b.budget.largest {
		return ErrLarge
	}
	b.lane = &b.budget.large
	if err := b.take(r.Context(), b.lane.raw, b.budget.largest); err != nil {
		return err
	}
	rest, err := io.ReadAll(io.LimitReader(r.Body, b.budget.largest-int64(len(b.Bytes))+1))
	b.Bytes = append(b.Bytes, rest...)
	if err == nil && int64(len(b.Bytes)) > b.budget.largest {
		return ErrLarge
	}
	return err
}

// readAll reads r, of at most n bytes, to its end. Reading to the end also clears the deadline.
func readAll(r io.Reader, n int64) ([]byte, error) {
	b := make([]byte, 0, min(n, small)+1)
	for {
		if len(b) == cap(b) {
			// The buffer grows with the bytes that have arrived. A declared length reserves no memory.
			grown := make([]byte, len(b), min(2*int64(cap(b)), n+1))
			copy(grown, b)
			b = grown
		}
		k, err := r.Read(b[len(b):cap(b)])
		b = b[:len(b)+k]
		switch {
		case errors.Is(err, io.EOF):
			return b, nil
		case err != nil:
			return b, err
		}
	}
}

// Parse waits for memory for the parsed form of the body. The caller parses the body afterwards. The errors of Parse
// are a *BusyError and a *WeightError.
func (b *Body) Parse(ctx context.Context) error {
	values := Values(b.Bytes)
	weight := Weight(len(b.Bytes), values)
	if weight > memory(b.lane.parsed.Each()) && b.lane == &b.budget.small {
		b.lane = &b.budget.large
	}
	if most := memory(b.lane.parsed.Each()); weight > most {
		return &WeightError{Values: int64(values), Bytes: weight, Most: most}
	}
	raw := b.leave
	b.leave = nil
	err := b.take(ctx, b.lane.parsed, weight)
	if err != nil {
		b.leave = append(b.leave, raw...)
		return err
	}
	for _, leave := range raw { // the memory of the parsed form includes the bytes
		leave()
	}
	return nil
}

// Drop drops the bytes of a parsed body.
func (b *Body) Drop() { b.Bytes = nil }

// Close frees the memory of the body.
func (b *Body) Close() {
	for _, leave := range b.leave {
		leave()
	}
	b.leave = nil
}

// take waits for memory of the semaphore of.
func (b *Body) take(ctx context.Context, of *Semaphore, bytes int64) error {
	ctx, cancel := context.WithDeadline(ctx, b.until)
	defer cancel()
	leave, err := of.EnterMany(ctx, b.who, units(bytes))
	if err != nil {
		return &BusyError{Bytes: b.budget.of(b.lane), Err: err}
	}
	b.leave = append(b.leave, leave)
	return nil
}

// of returns the total memory of a lane, in bytes.
func (b *Budget) of(l *lane) int64 { return memory(l.raw.Slots() + l.parsed.Slots()) }

func memory(units int) int64 { return int64(units) * unit }

func units(bytes int64) int { return int(bytes/unit) + 1 }

// Load returns the memory that bodies hold, in bytes. The first result counts bodies that are read or wait unparsed.
// The second result counts parsed forms.
func (b *Budget) Load() (raw, parsed int64) {
	held := func(g *Semaphore) int64 {
		n, _ := g.Load()
		return memory(n)
	}
	return held(b.small.raw) + held(b.large.raw), held(b.small.parsed) + held(b.large.parsed)
}

// Most returns the maximum memory that bodies can hold, in bytes, in the order of Load.
func (b *Budget) Most() (raw, parsed int64) {
	return memory(b.small.raw.Slots() + b.large.raw.Slots()), memory(b.small.parsed.Slots() + b.large.parsed.Slots())
}

// Weight returns the approximate memory of a call whose body has this many bytes and values, in bytes.
func Weight(bytes, values int) int64 { return copies*int64(bytes) + eachValue*int64(values) }

// Values returns an upper bound for the number of values in a JSON body, without parsing it.
func Values(body []byte) int {
	n, quoted, escaped := 1, false, false
	for _, c := range body {
		switch {
		case escaped:
			escaped = false
		case quoted:
			escaped, quoted = c == '\\', c != '"'
		case c == '"':
			quoted = true
		case c == ',', c == '[', c == '{':
			n++
		}
	}
	return n
}
