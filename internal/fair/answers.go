package fair

import (
	"bytes"
	"context"
	"io"
	"time"
)

// First is the memory that each answer gets before its request is sent, in bytes. It is enough to read the status of
// any answer.
const First = 64 << 10

// The memory of Answers, in bytes. If an answer needs more memory than one caller may have of largeAnswers, it is
// parsed separately. Only one such answer is parsed at a time.
const (
	firstAnswers               = 16 << 20
	rawAnswers                 = 64 << 20
	smallAnswers, largeAnswers = 16 << 20, 256 << 20
)

// The memory of a parsed answer: several copies of its bytes, and memory for each of its values. See answerWeight.
const (
	answerCopies = 4
	answerValue  = 100
)

// answerPatience is the maximum time that an answer waits for memory at each step.
const answerPatience = 10 * time.Second

// Answers bounds the memory that the answers of HTTP servers use in one process. An answer gets First before its
// request is sent. The body of a larger answer stays unread until there is memory for its bytes. It then stays
// unparsed until there is memory for the parsed form. Answers is safe for concurrent use.
type Answers struct {
	first, raw   *Semaphore // for answers that are read
	small, large *Semaphore // for answers that are parsed
	heavy        *Semaphore // for the one answer that is parsed separately
}

// NewAnswers returns Answers. At each step, up to queue answers may wait, each for at most patience. 0 means 1,000
// answers and 10 s.
func NewAnswers(queue int, patience time.Duration) *Answers {
	if queue <= 0 {
		queue = 1000
	}
	if patience <= 0 {
		patience = answerPatience
	}
	of := func(slots int) *Semaphore {
		return New(Bounds{Slots: slots, Each: max(slots/2, 1), Queue: queue, Patience: patience})
	}
	return &Answers{first: of(firstAnswers / unit), raw: of(rawAnswers / unit), small: of(smallAnswers / unit), large: of(largeAnswers / unit), heavy: of(1)}
}

// An Answer is the memory of one answer. It is not safe for concurrent use.
type Answer struct {
	of    *Answers
	who   Who
	first func()
	more  func() // frees the memory in addition to First. Nil if there is none
}

// Begin waits for the memory First of an answer. The caller calls Close when it has shortened the parsed answer.
// Every error is a *BusyError.
func (a *Answers) Begin(ctx context.Context, who Who) (*Answer, error) {
	first, err := a.first.EnterMany(ctx, who, First/unit)
	if err != nil {
		return nil, &BusyError{Bytes: memory(a.first.Slots()), Err: err}
	}
	return &Answer{of: a, who: who, first: first}, nil
}

// Read reads an answer of n bytes. A negative n means an unknown number of bytes. The argument most is the maximum
// size of the answer in bytes. Read returns once there is memory for the parsed answer. Its errors are ErrLarge, a
// *BusyError and errors of reading. It frees the memory of an answer that was read before.
func (b *Answer) Read(ctx context.Context, from io.Reader, n, most int64) ([]byte, error) {
	b.forget()
	if n > most {
		return nil, ErrLarge
	}
	body, err := b.bytes(ctx, from, n, most)
	if err == nil && int64(len(body)) > most {
		err = ErrLarge
	}
	if err == nil {
		err = b.reserveMemory(ctx, body)
	}
	if err != nil {
		b.forget()
		return nil, err
	}
	return body, nil
}

// bytes reads an answer. It stops after most + 1 bytes.
func (b *Answer) bytes(ctx context.Context, from io.Reader, n, most int64) ([]byte, error) {
	if n < 0 {
		begun, err := readAll(io.LimitReader(from, min(First, most)+1), First+1)
		if err != nil || int64(len(begun)) <= min(First, most) || most <= First {
			return begun, err
		}
		n, from = most, io.MultiReader(bytes.NewReader(begun), from)
	}
	if n > First {
		if err := b.take(ctx, b.of.raw, n); err != nil {
			return nil, err
		}
	}
	return readAll(io.LimitReader(from, n+1), n+1)
}

// reserveMemory waits for the memory of the parsed body. This memory includes the bytes of the body.
func (b *Answer) reserveMemory(ctx context.Context, body []byte) error {
	weight, raw := answerWeight(body), b.more
	of := b.of.large
	switch {
	case weight <= memory(b.of.small.Each()):
		of = b.of.small
	case weight > memory(b.of.large.Each()):
		of, weight = b.of.heavy, 0
	}
	b.more = nil
	err := b.take(ctx, of, weight)
	if raw != nil {
		raw()
	}
	return err
}

// take waits for memory of the semaphore of, in addition to the memory that b already has.
func (b *Answer) take(ctx context.Context, of *Semaphore, bytes int64) error {
	slots := units(bytes)
	leave, err := of.EnterMany(ctx, b.who, min(slots, of.Each()))
	if err != nil {
		return &BusyError{Bytes: memory(of.Slots()), Err: err}
	}
	b.more = leave
	return nil
}

// forget frees all memory except First.
func (b *Answer) forget() {
	if b.more != nil {
		b.more()
		b.more = nil
	}
}

// Close frees all memory. Further calls do nothing.
func (b *Answer) Close() {
	b.forget()
	if b.first != nil {
		b.first()
		b.first = nil
	}
}

// Load returns the memory that answers hold before they are parsed, and the memory of parsed answers, in bytes. An
// answer that is parsed separately counts as the maximum of one caller.
func (a *Answers) Load() (raw, parsed int64) {
	held := func(of *Semaphore) int64 { n, _ := of.Load(); return memory(n) }
	alone, _ := a.heavy.Load()
	return held(a.first) + held(a.raw), held(a.small) + held(a.large) + int64(alone)*memory(a.large.Each())
}

// answerWeight returns the approximate memory of a call whose answer has this body, in bytes.
func answerWeight(body []byte) int64 {
	return answerCopies*int64(len(body)) + answerValue*int64(Values(body))
}
