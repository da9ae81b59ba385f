package client

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/fair"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// fill occupies all memory for the bytes of responses until the test ends.
func fill(t *testing.T, a *fair.Answers) {
	t.Helper()
	var wait sync.WaitGroup
	r, w := io.Pipe()
	t.Cleanup(func() { w.Close(); wait.Wait() })
	for i := range 8 {
		room, err := a.Begin(t.Context(), fair.Who{Tenant: fmt.Sprint(i), Credential: fmt.Sprint(i)})
		if err != nil {
			t.Fatal(err)
		}
		wait.Go(func() {
			defer room.Close()
			_, _ = room.Read(t.Context(), r, 8<<20-10_000, 8<<20)
		})
	}
	for raw, _ := a.Load(); raw < 64<<20; raw, _ = a.Load() {
		time.Sleep(time.Millisecond)
	}
}

// TestNoMemory checks calls without memory for a response. A read is refused and may be tried again. A write returns
// its status and headers.
func TestNoMemory(t *testing.T) {
	list := "[1" + strings.Repeat(",1", 100_000) + "]"
	for name, head := range map[string]string{"declared": fmt.Sprintf("Content-Length: %d\r\n", len(list)), "until closed": "Connection: close\r\n"} {
		t.Run(name, func(t *testing.T) {
			a := listen(t, func(_ int, c net.Conn) {
				defer c.Close()
				_, _ = io.WriteString(c, "HTTP/1.1 201 Created\r\nLocation: /things/7\r\n"+head+"\r\n"+list)
			})
			memory := fair.NewAnswers(0, 50*time.Millisecond)
			fill(t, memory)
			s := sender(t, Options{Base: a.url, Answers: memory})
			_, err := s.Send(t.Context(), get("/things"))
			p := problem.Of(err)
			if p == nil || p.Error() != "rate_limited: the memory for answers of APIs is in use by other calls" || !p.Retryable() || p.RetryAfter < time.Second || p.Suggestion != "Wait, then send the same call again" {
				t.Errorf("a read: %+v", p)
			}
			if n := len(a.requests()); n != 1 {
				t.Errorf("it was sent %d times", n)
			}
			res, err := s.Send(t.Context(), post("/things", "{}"))
			if err != nil {
				t.Fatal("a write:", err)
			}
			defer res.Close()
			if res.Status != 201 || res.Header.Get("Location") != "/things/7" || res.Body != nil || res.Unread != "the memory for answers was in use by other calls" {
				t.Errorf("a write: %+v", res)
			}
		})
	}
}

// TestMemoryFirst checks that a request is not sent if there is no memory for its status.
func TestMemoryFirst(t *testing.T) {
	a := listen(t, says(fine))
	memory := fair.NewAnswers(0, 50*time.Millisecond)
	var held []*fair.Answer
	for i := 0; ; i++ {
		room, err := memory.Begin(t.Context(), fair.Who{Tenant: fmt.Sprint(i), Credential: fmt.Sprint(i)})
		if err != nil {
			break
		}
		held = append(held, room)
	}
	s := sender(t, Options{Base: a.url, Answers: memory})
	_, err := s.Send(t.Context(), post("/", "{}"))
	if p := problem.Of(err); p == nil || p.Code != problem.RateLimited || errors.Is(err, ErrUnsure) || len(a.requests()) != 0 {
		t.Errorf("%v, %d requests", err, len(a.requests()))
	}
	for _, room := range held {
		room.Close()
	}
	res, err := s.Send(t.Context(), post("/", "{}"))
	if err != nil {
		t.Fatal(err)
	}
	if raw, parsed := memory.Load(); raw == 0 || parsed == 0 {
		t.Errorf("the response holds %d and %d bytes", raw, parsed)
	}
	res.Close()
	if raw, parsed := memory.Load(); raw != 0 || parsed != 0 {
		t.Errorf("%d and %d bytes are still held", raw, parsed)
	}
}

// TestMemoryGivenBack checks that failures, redirects and repetitions release their memory.
func TestMemoryGivenBack(t *testing.T) {
	memory := fair.NewAnswers(0, 0)
	for name, tt := range answers {
		if strings.HasPrefix(tt.want, "timeout") {
			continue
		}
		a := listen(t, func(n int, c net.Conn) { defer c.Close(); tt.answer(n, c) })
		s := sender(t, Options{Base: a.url + "/api", MaxBody: 100_000, Attempts: 2, Answers: memory})
		for _, m := range []Message{get("/a"), post("/a", "{}")} {
			m.Who = identity.Principal{Owner: "ann", Tenant: "acme", TokenID: "1"}
			if res, err := s.Send(t.Context(), m); err == nil {
				res.Close()
			}
			if raw, parsed := memory.Load(); raw != 0 || parsed != 0 {
				t.Errorf("%s: %d and %d bytes are still held", name, raw, parsed)
			}
		}
	}
}
