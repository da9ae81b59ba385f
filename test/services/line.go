package services

import (
	"bytes"
	"io"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
)

// A Line is a network connection to a server that a test can cut.
type Line struct {
	URL string // leads to the server over the line

	listener net.Listener
	server   string
	done     sync.WaitGroup

	mu    sync.Mutex
	state lineState
	open  map[net.Conn]bool // both ends
	at    []byte            // the text at which connections are cut. Nil for none
	late  bool              // the server gets the text before
	times int               // how often that is still done
	cuts  int               // how often it was done
}

type lineState int

const (
	whole lineState = iota
	cut
	silent
)

// Through returns a Line to the server at url. It is closed when the test ends.
func Through(t testing.TB, server string) *Line {
	t.Helper()
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	l := &Line{server: u.Host, open: map[net.Conn]bool{}}
	if l.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	u.Host = l.listener.Addr().String()
	l.URL = u.String()
	l.done.Go(l.accept)
	t.Cleanup(func() {
		l.listener.Close()
		l.Cut()
		l.done.Wait()
	})
	return l
}

// Cut closes all connections and accepts none, as when the server is down.
func (l *Line) Cut() { l.set(cut) }

// Silence keeps connections open and passes nothing, as when the network fails.
func (l *Line) Silence() { l.set(silent) }

// Mend accepts new connections again. The earlier ones are gone.
func (l *Line) Mend() {
	l.set(cut)
	l.set(whole)
}

// CutAt closes all connections when a client sends text, so many times. New ones are accepted at once. The server gets the text only with
// late: then its next answer is lost.
func (l *Line) CutAt(text string, late bool, times int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.at, l.late, l.times, l.cuts = []byte(text), late, times, 0
}

// Cuts returns how often connections were cut since CutAt.
func (l *Line) Cuts() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cuts
}

// cutsAt reports whether the line is to be cut at a text that a client has sent, and whether the server gets that text
// before.
func (l *Line) cutsAt(sent []byte) (cuts, late bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.times == 0 || !bytes.Contains(sent, l.at) {
		return false, false
	}
	l.times--
	l.cuts++
	return true, l.late
}

func (l *Line) set(s lineState) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state = s
	if s == cut {
		for c := range l.open {
			c.Close()
		}
		clear(l.open)
	}
}

func (l *Line) is(s lineState) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.state == s
}

func (l *Line) accept() {
	for {
		c, err := l.listener.Accept()
		if err != nil {
			return
		}
		s, err := net.Dial("tcp", l.server)
		if err != nil || !l.keep(c, s) {
			c.Close()
			if err == nil {
				s.Close()
			}
			continue
		}
		mute := new(atomic.Bool) // the server's next answer is lost
		l.done.Go(func() { l.pass(c, s, func([]byte) bool { return !mute.Load() }) })
		l.done.Go(func() {
			l.pass(s, c, func(sent []byte) bool {
				cuts, late := l.cutsAt(sent)
				if cuts && late {
					mute.Store(true)
				}
				return !cuts || late
			})
		})
	}
}

// keep records both ends of a connection, unless the line is cut.
func (l *Line) keep(ends ...net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.state == cut {
		return false
	}
	for _, c := range ends {
		l.open[c] = true
	}
	return true
}

// pass copies bytes in one direction. Bytes that arrive while the line is silent are lost, and the connection with
// them. Where goes is false for some, all connections are closed.
func (l *Line) pass(to, from net.Conn, goes func([]byte) bool) {
	buf := make([]byte, 1<<14)
	for {
		n, err := from.Read(buf)
		if l.is(silent) {
			io.Copy(io.Discard, from)
			break
		}
		if n > 0 && !goes(buf[:n]) {
			l.Mend()
			break
		}
		if _, werr := to.Write(buf[:n]); err != nil || werr != nil {
			break
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	to.Close()
	from.Close()
	delete(l.open, to)
	delete(l.open, from)
}
