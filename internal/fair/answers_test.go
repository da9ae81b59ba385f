package fair_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/fair"
)

// objects returns a JSON list of about n bytes.
func objects(n int) string {
	const one = `{"id":1234567,"name":"a name of a record","at":"2026-01-01T00:00:00Z"}`
	return "[" + one + strings.Repeat(","+one, n/(len(one)+1)-1) + "]"
}

// TestAnswers checks that the bytes of unparsed answers are bounded, however many answers arrive. All answers must be
// parsed in the end.
func TestAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		body   string
		length func(body string) int64
	}{
		"large":          {objects(7 << 20), func(b string) int64 { return int64(len(b)) }},
		"length unknown": {objects(7 << 20), func(string) int64 { return -1 }},
		"heavy":          {"[1" + strings.Repeat(",1", 3<<20) + "]", func(b string) int64 { return int64(len(b)) }},
		"small":          {objects(50_000), func(b string) int64 { return int64(len(b)) }},
		"small, unknown": {objects(50_000), func(string) int64 { return -1 }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := fair.NewAnswers(0, time.Hour)
				var mu sync.Mutex
				open, parsed, most := 0, 0, 0 // bytes of unparsed bodies, number and maximum number of parsed bodies
				var wait sync.WaitGroup
				for i := range 20 {
					wait.Go(func() {
						mine := 0
						room, err := a.Begin(t.Context(), caller(i%7))
						if err != nil {
							t.Error(err)
							return
						}
						defer room.Close()
						got, err := room.Read(t.Context(), &counted{strings.NewReader(c.body), func(n int) {
							mu.Lock()
							defer mu.Unlock()
							mine, open = mine+n, open+n
							if open > 80<<20 {
								t.Errorf("%d bytes are read", open)
							}
						}}, c.length(c.body), 8<<20)
						if err != nil || string(got) != c.body {
							t.Error("another body was read:", len(got), err)
							return
						}
						mu.Lock()
						open, parsed = open-mine, parsed+1
						most = max(most, parsed)
						mu.Unlock()
						time.Sleep(time.Second) // in the fake time of synctest
						mu.Lock()
						parsed--
						mu.Unlock()
					})
				}
				wait.Wait()
				if raw, parsed := a.Load(); raw != 0 || parsed != 0 {
					t.Errorf("%d and %d bytes are still held", raw, parsed)
				}
				if name == "heavy" && most != 1 || name == "large" && (most < 2 || most > 5) || strings.HasPrefix(name, "small") && most < 10 {
					t.Errorf("%d answers were parsed at a time", most)
				}
			})
		})
	}
}

// blocked returns a body that never ends, and a function that ends it.
func blocked(t *testing.T) (io.Reader, func()) {
	t.Helper()
	r, w := io.Pipe()
	return r, func() { w.CloseWithError(io.ErrUnexpectedEOF) }
}

// TestAnswersRefused checks that an answer without memory in time is refused and holds no memory. It must not delay
// small answers.
func TestAnswersRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := fair.NewAnswers(0, time.Second)
		var wait sync.WaitGroup
		var ends []func()
		for i := range 8 { // these bodies hold all memory for unparsed bytes
			body, end := blocked(t)
			ends = append(ends, end)
			wait.Go(func() {
				room, err := a.Begin(t.Context(), caller(i))
				if err != nil {
					t.Error(err)
					return
				}
				defer room.Close()
				_, _ = room.Read(t.Context(), body, 8<<20-10_000, 8<<20)
			})
		}
		synctest.Wait()
		room, err := a.Begin(t.Context(), caller(100))
		if err != nil {
			t.Fatal(err)
		}
		raw, parsed := a.Load()
		var busy *fair.BusyError
		if _, err := room.Read(t.Context(), strings.NewReader(objects(7<<20)), -1, 8<<20); !errors.As(err, &busy) {
			t.Errorf("without memory: %v", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := room.Read(ctx, strings.NewReader(objects(7<<20)), 7<<20, 8<<20); !errors.As(err, &busy) || !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
		for n, most := range map[int64]int64{8<<20 + 1: 8 << 20, -1: 60_000} {
			if _, err := room.Read(t.Context(), bytes.NewReader(make([]byte, 60_001)), n, most); !errors.Is(err, fair.ErrLarge) {
				t.Errorf("%d bytes: %v", n, err)
			}
		}
		if _, err := room.Read(t.Context(), new(broken), 5, 8<<20); err != io.ErrUnexpectedEOF {
			t.Errorf("a body that breaks off: %v", err)
		}
		begun := time.Now()
		if got, err := room.Read(t.Context(), strings.NewReader("{}"), -1, 8<<20); string(got) != "{}" || err != nil || time.Now() != begun {
			t.Errorf("a small one: %s %v", got, err)
		}
		room.Close()
		room.Close()
		for _, end := range ends {
			end()
		}
		wait.Wait()
		if r, p := a.Load(); r != 0 || p != 0 || raw == 0 || parsed != 0 {
			t.Errorf("%d and %d bytes are still held", r, p)
		}
	})
}

// TestAnswersBegin checks that a request isn't sent without memory for the status of its answer.
func TestAnswersBegin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := fair.NewAnswers(0, time.Second)
		var rooms []*fair.Answer
		var err error
		for i := 0; err == nil; i++ {
			var room *fair.Answer
			if room, err = a.Begin(t.Context(), caller(i)); err == nil {
				rooms = append(rooms, room)
			}
		}
		var busy *fair.BusyError
		if !errors.As(err, &busy) || len(rooms) < 200 {
			t.Errorf("%d answers have begun: %v", len(rooms), err)
		}
		for _, room := range rooms {
			room.Close()
		}
		if r, p := a.Load(); r != 0 || p != 0 {
			t.Errorf("%d and %d bytes are still held", r, p)
		}
	})
}
