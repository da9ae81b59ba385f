package fair_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/fair"
)

func caller(n int) fair.Who {
	return fair.Who{Tenant: fmt.Sprint("tenant", n), Owner: fmt.Sprint("owner", n), Credential: fmt.Sprint("token", n)}
}

// A counted counts the bytes that are read from all bodies of a test.
type counted struct {
	io.Reader
	read func(n int)
}

// Read implements io.Reader.
func (c *counted) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	c.read(n)
	return n, err
}

func request(body io.Reader, length int64) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/", body)
	r.ContentLength = length
	return r
}

// TestBound checks that bodies that are read and not yet closed have at most the bytes of the budget, however many
// bodies arrive. All bodies must be answered in the end.
func TestBound(t *testing.T) {
	for name, c := range map[string]struct {
		body   string
		length func(body string) int64
	}{
		"large":           {`"` + strings.Repeat("x", 1<<20-2) + `"`, func(b string) int64 { return int64(len(b)) }},
		"length unknown":  {`"` + strings.Repeat("x", 1<<20-2) + `"`, func(string) int64 { return -1 }},
		"many values":     {"[1" + strings.Repeat(",1", 45_000) + "]", func(b string) int64 { return int64(len(b)) }},
		"small":           {`"` + strings.Repeat("x", 10_000) + `"`, func(b string) int64 { return int64(len(b)) }},
		"small, unknown":  {`"` + strings.Repeat("x", 10_000) + `"`, func(string) int64 { return -1 }},
		"small and dense": {"[1" + strings.Repeat(",1", 7_000) + "]", func(b string) int64 { return int64(len(b)) }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { bound(t, c.body, c.length(c.body)) })
		})
	}
}

func bound(t *testing.T, text string, length int64) {
	b := fair.NewBudget(fair.BudgetOptions{Queue: 1000, Patience: time.Hour})
	mostRaw, mostParsed := b.Most()
	var mu sync.Mutex
	open, weighed, peak := 0, int64(0), int64(0) // bytes of unparsed bodies, weights of parsed bodies, maximum weight
	var wait sync.WaitGroup
	for i := range 500 {
		wait.Go(func() {
			mine := 0
			r := request(&counted{strings.NewReader(text), func(n int) {
				mu.Lock()
				defer mu.Unlock()
				mine, open = mine+n, open+n
				if most := mostRaw + mostParsed/6; int64(open) > most { // the second part is of parsed bodies not yet counted below
					t.Errorf("%d bytes are read, of at most %d", open, most)
				}
			}}, length)
			body, err := b.Read(httptest.NewRecorder(), r, caller(i%7))
			if err != nil {
				t.Error(err)
				return
			}
			defer body.Close()
			if string(body.Bytes) != text {
				t.Error("another body was read")
			}
			if err := body.Parse(t.Context()); err != nil {
				t.Error(err)
				return
			}
			weight := fair.Weight(len(text), fair.Values([]byte(text)))
			mu.Lock()
			open, weighed = open-mine, weighed+weight
			peak = max(peak, weighed)
			if weighed > mostParsed {
				t.Errorf("bodies of %d bytes are parsed, of at most %d", weighed, mostParsed)
			}
			mu.Unlock()
			time.Sleep(time.Second) // the duration of the call, in the fake time of synctest
			mu.Lock()
			weighed -= weight
			mu.Unlock()
		})
	}
	wait.Wait()
	if raw, parsed := b.Load(); raw != 0 || parsed != 0 {
		t.Errorf("%d and %d bytes are still held", raw, parsed)
	}
	if peak == 0 {
		t.Error("nothing was counted")
	}
}

// TestSmallBesideLarge checks that large bodies of other callers don't delay small bodies. The large bodies are
// parsed or arrive slowly.
func TestSmallBesideLarge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := fair.NewBudget(fair.BudgetOptions{Patience: time.Minute})
		ctx, cancel := context.WithCancel(t.Context())
		var wait sync.WaitGroup
		for i := range 100 {
			wait.Go(func() {
				slow, fill := io.Pipe()
				stop := context.AfterFunc(ctx, func() { fill.CloseWithError(io.ErrUnexpectedEOF) })
				defer stop()
				from := io.Reader(slow)
				if i%2 == 0 {
					from = strings.NewReader(strings.Repeat("1", 1<<20))
				}
				body, err := b.Read(httptest.NewRecorder(), request(from, 1<<20).WithContext(ctx), caller(i%5))
				if err == nil {
					_ = body.Parse(ctx) // it may wait until the end
					<-ctx.Done()
					body.Close()
				}
			})
		}
		synctest.Wait()
		begun := time.Now()
		for i := range 300 {
			body, err := b.Read(httptest.NewRecorder(), request(strings.NewReader(`{"a": 1}`), 8), caller(i))
			if err == nil {
				err = body.Parse(t.Context())
			}
			if err != nil || time.Now() != begun {
				t.Fatalf("a small body waited %v: %v", time.Since(begun), err)
			}
			body.Close()
		}
		cancel()
		wait.Wait()
		if raw, parsed := b.Load(); raw != 0 || parsed != 0 {
			t.Errorf("%d and %d bytes are still held", raw, parsed)
		}
	})
}

// TestRefusals checks that bodies over a bound are refused with a message that contains the bound. Afterwards they
// must hold no memory.
func TestRefusals(t *testing.T) {
	dense := "[1" + strings.Repeat(",1", 500_000) + "]"
	full := func(ctx context.Context, b *fair.Budget) {
		for i := range 200 {
			if body, err := b.Read(httptest.NewRecorder(), request(strings.NewReader(strings.Repeat("1", 1<<20)), 1<<20), caller(i)); err == nil {
				_ = body.Parse(ctx) // until the memory is full
			}
		}
	}
	for name, c := range map[string]struct {
		before func(context.Context, *fair.Budget)
		body   string
		length int64
		want   string
	}{
		"declared too large": {nil, "", 1<<20 + 1, fair.ErrLarge.Error()},
		"too large":          {nil, strings.Repeat("1", 1<<20+1), -1, fair.ErrLarge.Error()},
		"too many values":    {nil, dense, int64(len(dense)), "Request body has about 500002 values, which take 101 MiB of memory: the requests of one caller may take 14 MiB. Send fewer values in one request"},
		"full":               {full, strings.Repeat("1", 1<<20), 1 << 20, "Too many large requests at a time: the bodies of requests of this size take at most 36 MiB of memory together. Try again in 2 seconds"},
		"ends early":         {nil, "123", 20, io.ErrUnexpectedEOF.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := fair.NewBudget(fair.BudgetOptions{Patience: time.Second})
				if c.before != nil {
					c.before(t.Context(), b)
				}
				raw, parsed := b.Load()
				var from io.Reader = strings.NewReader(c.body)
				if name == "ends early" {
					from = io.MultiReader(from, &broken{})
				}
				body, err := b.Read(httptest.NewRecorder(), request(from, c.length), caller(999))
				if err == nil {
					err = body.Parse(t.Context())
					body.Close()
				}
				if err == nil {
					t.Fatal("it was taken")
				}
				said := err.Error()
				var heavy *fair.WeightError
				var busy *fair.BusyError
				switch {
				case errors.As(err, &heavy):
					said = fair.Heavy(heavy)
				case errors.As(err, &busy):
					said = fair.Busy(err)
				}
				if said != c.want {
					t.Errorf("it said %q, want %q", said, c.want)
				}
				if r, p := b.Load(); r != raw || p != parsed {
					t.Errorf("it holds %d and %d bytes", r-raw, p-parsed)
				}
			})
		})
	}
}

// broken fails like a connection that ends within a body.
type broken struct{}

func (*broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// TestValues checks that Values never counts too few values.
func TestValues(t *testing.T) {
	for text, want := range map[string]int{``: 1, `1`: 1, `[]`: 2, `[1,2,3]`: 4, `{"a": [1, {"b": null}]}`: 5, `"a,[{\",,"`: 1, `["\\",1]`: 3} {
		if got := fair.Values([]byte(text)); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
}

// TestHandler checks that requests of unknown senders hold memory by their address until they are answered.
func TestHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := fair.NewBudget(fair.BudgetOptions{Queue: 5, Patience: time.Second})
		release := make(chan struct{})
		h := b.Handler(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
		answers := make(chan *httptest.ResponseRecorder, 100)
		for i := range 100 {
			go func() {
				r := request(bytes.NewReader(make([]byte, 1000)), -1)
				r.RemoteAddr = fmt.Sprintf("192.0.2.%d:1234", i%5)
				w := httptest.NewRecorder()
				h.ServeHTTP(w, r)
				answers <- w
			}()
		}
		time.Sleep(2 * time.Second)
		_, held := b.Load()
		if _, most := b.Most(); held > most || held < most/2 {
			t.Errorf("%d bytes are held, of at most %d", held, most)
		}
		close(release)
		refused := 0
		for range 100 {
			if w := <-answers; w.Code == http.StatusServiceUnavailable {
				refused++
				if w.Header().Get("Retry-After") != "2" || !strings.Contains(w.Body.String(), "at most 36 MiB of memory together") {
					t.Errorf("refused with %v %s", w.Header(), w.Body)
				}
			}
		}
		if refused == 0 || refused == 100 {
			t.Errorf("%d of 100 were refused", refused)
		}
		if _, held := b.Load(); held != 0 {
			t.Errorf("%d bytes are still held", held)
		}
	})
}
