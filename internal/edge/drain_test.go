package edge_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/edge"
)

// A leaving is a server that a test can end.
type leaving struct {
	addr     string
	draining chan struct{}
	end      context.CancelCauseFunc
	ended    chan error
}

func leave(t *testing.T, o edge.Options, h http.HandlerFunc) *leaving {
	t.Helper()
	l, err := edge.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	o.Refused = edge.NewRefusalLog(nil, nil)
	s := edge.New(h, o)
	v := &leaving{addr: l.Addr().String(), draining: make(chan struct{}), ended: make(chan error, 1)}
	s.OnDrain(func() { close(v.draining) })
	ctx, end := context.WithCancelCause(context.Background())
	v.end = end
	go func() { v.ended <- s.Serve(ctx, l); o.Refused.Close() }()
	t.Cleanup(func() { end(nil) })
	return v
}

// await waits until c is closed.
func await(t *testing.T, what string, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(ceiling):
		t.Fatalf("after %s: not %s", ceiling, what)
	}
}

// over waits until the server has ended.
func (v *leaving) over(t *testing.T) {
	t.Helper()
	select {
	case err := <-v.ended:
		if err != nil && !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	case <-time.After(ceiling):
		t.Fatal("the server does not end")
	}
}

// TestDrain checks that a server still serves new connections when it is told to end. It must close each connection
// after its response. A running call may take longer than the drain.
func TestDrain(t *testing.T) {
	inside, release := make(chan struct{}), make(chan struct{})
	v := leave(t, edge.Options{Drain: time.Second}, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			close(inside)
			<-release
		}
		ok(w, r)
	})
	ask := func(path string) *http.Response {
		c, err := net.Dial("tcp", v.addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		if _, err := io.WriteString(c, "POST "+path+" HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		res, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	if res := ask("/"); res.Close {
		t.Error("an answer ends its connection before the drain")
	}
	slow := make(chan *http.Response, 1)
	go func() { slow <- ask("/slow") }()
	await(t, "the call began", inside)
	v.end(nil)
	await(t, "draining", v.draining)
	if res := ask("/"); res.StatusCode != 200 || !res.Close {
		t.Errorf("a call in the drain got %d, Connection: close is %t", res.StatusCode, res.Close)
	}
	until(t, "the listener is closed", func() bool {
		c, err := net.DialTimeout("tcp", v.addr, 200*time.Millisecond)
		if err == nil {
			c.Close()
		}
		return err != nil
	})
	close(release)
	if res := <-slow; res.StatusCode != 200 {
		t.Error(res.Status)
	}
	v.over(t)
}

// TestNoDrain checks that the cause ErrNoDrain skips the drain.
func TestNoDrain(t *testing.T) {
	v := leave(t, edge.Options{Drain: time.Hour}, ok)
	v.end(edge.ErrNoDrain)
	v.over(t)
	select {
	case <-v.draining:
		t.Error("it drained")
	default:
	}
}

// TestDrainLosesNoConnection runs clients that connect without pause during and after the drain. Each client must get
// a response, or be refused before it could send anything. No connection must be reset after it was established.
func TestDrainLosesNoConnection(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("LEFT OUT: only Linux can ignore new connections")
	}
	for range 5 {
		v := leave(t, edge.Options{Drain: 50 * time.Millisecond}, ok)
		const clients = 16
		var answered, lost atomic.Int64
		done := make(chan struct{}, clients)
		for range clients {
			go func() {
				defer func() { done <- struct{}{} }()
				for {
					c, err := net.Dial("tcp", v.addr)
					if err != nil {
						return // the connection is refused
					}
					_ = c.SetDeadline(time.Now().Add(ceiling))
					_, err = io.WriteString(c, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n")
					if err == nil {
						_, err = http.ReadResponse(bufio.NewReader(c), nil)
					}
					c.Close()
					if err != nil {
						lost.Add(1)
						return
					}
					answered.Add(1)
				}
			}()
		}
		until(t, "answers", func() bool { return answered.Load() > 50 })
		v.end(nil)
		for range clients {
			<-done
		}
		v.over(t)
		if n := lost.Load(); n > 0 {
			t.Fatalf("%d connections were lost, %d answered", n, answered.Load())
		}
	}
}
