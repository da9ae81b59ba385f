package edge_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/bailiwick-dev/bailiwick/internal/edge"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// ceiling is the maximum wait for something that should happen soon.
const ceiling = 30 * time.Second

// A lobby serves a handler behind the edge, and counts refusals.
type lobby struct {
	addr string
	mu   sync.Mutex
	seen map[string]int
	log  bytes.Buffer
}

func (l *lobby) refused(kind string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.seen[kind]
}

// until waits until a condition is true.
func until(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(ceiling); !cond(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("after %s: not %s", ceiling, what)
		}
	}
}

func open(t *testing.T, o edge.Options, h http.HandlerFunc) *lobby {
	t.Helper()
	b := &lobby{seen: map[string]int{}}
	o.Refused = edge.NewRefusalLog(slog.New(slog.NewTextHandler(&b.log, nil)), func(door, kind string) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.seen[kind]++
	})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b.addr = l.Addr().String()
	ctx, end := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- edge.New(h, o).Serve(ctx, l) }()
	t.Cleanup(func() {
		end()
		if err := <-done; !errors.Is(err, http.ErrServerClosed) && err != nil {
			t.Error(err)
		}
		o.Refused.Close()
	})
	return b
}

// dial connects and sends text.
func (b *lobby) dial(t *testing.T, text string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", b.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	return c
}

// ended returns the bytes that the server sends on c before it closes c. It waits at most for ceiling.
func ended(t *testing.T, c net.Conn) string {
	t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(ceiling))
	b, err := io.ReadAll(c)
	if n, ok := errors.AsType[net.Error](err); ok && n.Timeout() {
		t.Fatalf("the connection was held; it got %q", b)
	}
	return string(b)
}

func ok(w http.ResponseWriter, r *http.Request) {
	if _, err := io.ReadAll(r.Body); err != nil {
		http.Error(w, "the body did not arrive", http.StatusBadRequest)
		return
	}
	_, _ = io.WriteString(w, "ok\n")
}

func refuse(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusUnauthorized) }

const short = 150 * time.Millisecond

// TestBodyNeverArrives checks a client that announces a body and sends none. The client must get a refusal at once,
// and its connection must end in either case.
func TestBodyNeverArrives(t *testing.T) {
	for name, c := range map[string]struct {
		h    http.HandlerFunc
		want string
	}{
		"read":    {ok, "400"},
		"refused": {refuse, "401"},
		"ignored": {func(http.ResponseWriter, *http.Request) {}, "200"},
		"stream": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, ": here\n\n")
			_ = http.NewResponseController(w).Flush()
		}, "200"},
	} {
		for _, length := range []string{"Content-Length: 10", "Transfer-Encoding: chunked", "Content-Length: 1000000"} {
			t.Run(name+" "+length, func(t *testing.T) {
				t.Parallel()
				b := open(t, edge.Options{Body: short, Linger: short}, c.h)
				got := ended(t, b.dial(t, "POST /any HTTP/1.1\r\nHost: a\r\n"+length+"\r\n\r\n"))
				if !strings.HasPrefix(got, "HTTP/1.1 "+c.want) || !strings.Contains(got, "Connection: close") {
					t.Errorf("got %q", got)
				}
				if name == "read" && b.refused("body_late") != 1 {
					t.Errorf("refused: %v", b.seen)
				}
			})
		}
	}
}

// TestRefusedBeforeBody checks that a refusal is sent at once, however long the body may take.
func TestRefusedBeforeBody(t *testing.T) {
	b := open(t, edge.Options{Body: time.Hour, Linger: short}, refuse)
	if got := ended(t, b.dial(t, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n")); !strings.HasPrefix(got, "HTTP/1.1 401") {
		t.Errorf("got %q", got)
	}
}

// TestHalfClosed checks clients that stop sending, some of them after half a body. Their connections must end.
func TestHalfClosed(t *testing.T) {
	b := open(t, edge.Options{Body: time.Hour, Header: time.Hour, Linger: short}, ok)
	for _, text := range []string{"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhalf", "POST / HT", ""} {
		c := b.dial(t, text)
		if err := c.(*net.TCPConn).CloseWrite(); err != nil {
			t.Fatal(err)
		}
		ended(t, c)
	}
}

// TestSlowHeader checks that a connection ends if its header doesn't arrive.
func TestSlowHeader(t *testing.T) {
	b := open(t, edge.Options{Header: short}, ok)
	ended(t, b.dial(t, "POST / HTTP/1.1\r\nHost: a\r\nX-Slow: "))
	until(t, "told of", func() bool { return b.refused("header_late") > 0 })
}

// TestSlowReader checks a client that doesn't read a response or an event. Its connection and its handler must end.
func TestSlowReader(t *testing.T) {
	for _, kind := range []string{"application/json", "text/event-stream"} {
		t.Run(kind, func(t *testing.T) {
			done := make(chan struct{})
			b := open(t, edge.Options{Answer: short, Event: short, Rate: 1 << 40}, func(w http.ResponseWriter, r *http.Request) {
				defer close(done)
				w.Header().Set("Content-Type", kind)
				part := bytes.Repeat([]byte("x"), 1<<20)
				for range 1000 { // more than the buffers of both ends can store
					if _, err := w.Write(part); err != nil {
						return
					}
				}
				t.Error("all was taken")
			})
			b.dial(t, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
			select {
			case <-done:
			case <-time.After(ceiling):
				t.Fatal("the handler is held")
			}
			until(t, "told of", func() bool { return b.refused("answer_not_taken") >= 1 })
		})
	}
}

// TestStreamLives checks that a stream outlives all deadlines while the client reads its events. A call must also
// outlive them if making the response takes longer than sending it.
func TestStreamLives(t *testing.T) {
	for _, kind := range []string{"application/json", "text/event-stream"} {
		b := open(t, edge.Options{Answer: short, Event: short, Body: short}, func(w http.ResponseWriter, r *http.Request) {
			if _, err := io.ReadAll(r.Body); err != nil {
				t.Error(err)
			}
			w.Header().Set("Content-Type", kind)
			for range 4 {
				time.Sleep(2 * short)
				if r.Context().Err() != nil {
					t.Error("the client has not gone")
				}
				_, _ = io.WriteString(w, "data: 1\n\n")
				if err := http.NewResponseController(w).Flush(); err != nil {
					t.Error(err)
				}
			}
		})
		c := b.dial(t, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}")
		res, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(res.Body); strings.Count(string(got), "data") != 4 || err != nil {
			t.Errorf("%s: got %q, %v", kind, got, err)
		}
	}
}

// TestTwoLengths checks that a request whose body has two lengths is refused, both as the first request of a
// connection and later. It must also be refused if it shares a packet with the previous request.
func TestTwoLengths(t *testing.T) {
	const good = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}"
	const both = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
	reached := 0
	b := open(t, edge.Options{Linger: short}, func(w http.ResponseWriter, r *http.Request) {
		reached++
		ok(w, r)
	})
	for _, text := range []string{both, strings.ReplaceAll(both, "Content-Length", "content-LENGTH"), strings.ReplaceAll(both, "\r\n", "\n")} {
		if got := ended(t, b.dial(t, text)); !strings.HasPrefix(got, "HTTP/1.1 400") || !strings.Contains(got, "send one of them") {
			t.Errorf("%q: got %q", text, got)
		}
	}
	c := b.dial(t, good)
	in := bufio.NewReader(c)
	res, err := http.ReadResponse(in, nil)
	if err != nil || res.StatusCode != 200 || res.Close {
		t.Fatal(err, res)
	}
	_, _ = io.Copy(io.Discard, res.Body)
	if _, err := io.WriteString(c, both); err != nil {
		t.Fatal(err)
	}
	if res, err = http.ReadResponse(in, nil); err != nil || res.StatusCode != 400 {
		t.Fatal(err, res)
	}
	if b.refused("two_lengths") != 4 || reached != 1 {
		t.Errorf("refused %v, reached %d", b.seen, reached)
	}
	// If a packet contains two requests, only the first gets a response. The response announces the end of the
	// connection.
	for _, second := range []string{good, both} {
		if got := ended(t, b.dial(t, good+second)); strings.Count(got, "HTTP/1.1") != 1 || !strings.Contains(got, "Connection: close") {
			t.Errorf("got %q", got)
		}
	}
	chunked := "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"
	if got := ended(t, b.dial(t, chunked+both)); strings.Count(got, "HTTP/1.1 200") != 1 || strings.Count(got, "HTTP/1.1") != 1 {
		t.Errorf("got %q", got)
	}
}

// TestConnections checks the bounds per address and in total. An idle connection must be closed to make room for a
// new one. A connection that the client closes must also make room.
func TestConnections(t *testing.T) {
	b := open(t, edge.Options{Connections: 6, PerAddress: 4}, ok)
	var held []net.Conn
	for range 4 {
		held = append(held, b.dial(t, "POST / HTTP/1.1\r\n"))
	}
	if got := ended(t, b.dial(t, "")); !strings.HasPrefix(got, "HTTP/1.1 503") || !strings.HasSuffix(got, "soon\n") {
		t.Errorf("got %q", got)
	}
	until(t, "told of", func() bool { return b.refused("connections_of_address") == 1 })
	_ = held[0].Close()
	const get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
	var idle net.Conn
	until(t, "room", func() bool {
		idle = b.dial(t, get)
		res, err := http.ReadResponse(bufio.NewReader(idle), nil)
		return err == nil && res.StatusCode == 200
	})
	// All connections are in use except one idle connection. A new connection replaces the idle one.
	until(t, "the idle one giving way", func() bool {
		c := b.dial(t, get)
		res, err := http.ReadResponse(bufio.NewReader(c), nil)
		return err == nil && res.StatusCode == 200
	})
	ended(t, idle)
}

// TestAll checks the bound on the total if the bound of an address is larger.
func TestAll(t *testing.T) {
	b := open(t, edge.Options{Connections: 2, PerAddress: 5}, ok)
	for range 2 {
		b.dial(t, "POST / HTTP/1.1\r\n")
	}
	if got := ended(t, b.dial(t, "")); !strings.HasPrefix(got, "HTTP/1.1 503") {
		t.Errorf("got %q", got)
	}
}

// TestTimedAlone checks the deadlines of bodies and responses without a Server, such as in a program that mounts the
// handler.
func TestTimedAlone(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	o := edge.Options{Body: short, Linger: short}
	s := &http.Server{Handler: edge.WithDeadlines(edge.WithDeadlines(http.HandlerFunc(ok), o), o)}
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	defer func() {
		_ = s.Close()
		<-done
	}()
	b := &lobby{addr: l.Addr().String()}
	if got := ended(t, b.dial(t, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n")); !strings.HasPrefix(got, "HTTP/1.1 400") {
		t.Errorf("got %q", got)
	}
}

// TestPanic checks that a panic in a handler ends the connection, and that the response does not look complete.
func TestPanic(t *testing.T) {
	b := open(t, edge.Options{}, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	if got := ended(t, b.dial(t, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")); got != "" {
		t.Errorf("got %q", got)
	}
}

func TestKeepAlive(t *testing.T) {
	b := open(t, edge.Options{}, ok)
	c := b.dial(t, "")
	in := bufio.NewReader(c)
	for i := range 20 {
		text := fmt.Sprintf(`{"n":%d}`, i)
		_, _ = fmt.Fprintf(c, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n%s", len(text), text)
		res, err := http.ReadResponse(in, nil)
		if err != nil || res.StatusCode != 200 || res.Close {
			t.Fatal(i, err, res)
		}
		_, _ = io.Copy(io.Discard, res.Body)
	}
}

// TestRefusalsLeaveTraces checks that every refusing response is counted and logged once, whatever part of the
// program refused it.
func TestRefusalsLeaveTraces(t *testing.T) {
	status := http.StatusOK
	b := open(t, edge.Options{}, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
	for _, status = range []int{200, 204, 303, 400, 401, 403, 404, 405, 413, 415, 429, 500, 503} {
		for range 3 {
			ended(t, b.dial(t, "GET /api/changes HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"))
		}
		want := 0
		if status >= 400 && status != 429 && status != 500 { // the others are in the audit log or the program's log
			want = 3
		}
		if got := b.refused(fmt.Sprint("status_", status)); got != want {
			t.Errorf("%d: %d counted, want %d", status, got, want)
		}
	}
}

// TestTraced checks that the report of a refusal contains the principal and the reason, even if the status doesn't
// show a refusal. There must be one report per request.
func TestTraced(t *testing.T) {
	for name, tt := range map[string]struct {
		h    http.HandlerFunc
		want string
	}{
		"forbidden": {func(w http.ResponseWriter, r *http.Request) {
			edge.RefusedBy(r.Context(), "token:a")
			edge.RefusedBecause(r.Context(), "scope", "c1")
			edge.RefusedBecause(r.Context(), "later", "c2")
			http.Error(w, "no", http.StatusForbidden)
		}, "door=http kind=scope from=token:a correlation_id=c1"},
		"with 200": {func(w http.ResponseWriter, r *http.Request) {
			edge.RefusedBy(r.Context(), "token:a")
			w.WriteHeader(http.StatusOK)
			edge.RefusedBecause(r.Context(), "unknown_method", "")
		}, "door=http kind=unknown_method from=token:a"},
		"no reason": {func(w http.ResponseWriter, r *http.Request) {
			edge.RefusedBy(r.Context(), "token:a")
			http.Error(w, "no", http.StatusForbidden)
		}, "door=http kind=status_403 from=token:a"},
		"well": {func(w http.ResponseWriter, r *http.Request) { edge.RefusedBy(r.Context(), "token:a") }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			log := edge.NewRefusalLog(slog.New(slog.NewTextHandler(&out, nil)), nil)
			edge.WithDeadlines(tt.h, edge.Options{Refused: log}).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("POST", "/x", strings.NewReader("{}")))
			log.Close()
			if got := out.String(); !strings.Contains(got, tt.want) || tt.want != "" && strings.Count(got, "\n") != 1 || tt.want == "" && got != "" {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}
