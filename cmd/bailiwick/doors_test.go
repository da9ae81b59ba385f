package main

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// guarded starts a server process with all transports. The text more is added to its configuration.
func guarded(t *testing.T, more string) (a *aviary, metrics string) {
	t.Helper()
	a = &aviary{canaries: canaries{}, dir: t.TempDir()}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	a.program = filepath.Join(a.dir, "bailiwick")
	if err := os.Symlink(exe, a.program); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", filepath.Join(a.dir, "notes.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), `CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT); INSERT INTO notes VALUES (1, 'one')`); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0") // a free port
	if err != nil {
		t.Fatal(err)
	}
	metrics = l.Addr().String()
	_ = l.Close()
	a.write(t, "bailiwick.yaml", "listen: 127.0.0.1:0\nstore: sqlite:bailiwick.db\nsources: {local: {url: \"sqlite:notes.db\"}}\nclasses: {notes: {}}\n"+
		"log: {calls: false}\nserver:\n  metrics: {listen: \""+metrics+"\"}\n"+more)
	return a, metrics
}

// handles returns the number of open sockets of the process. It ignores files, because SQLite opens one for each
// concurrent call.
func (a *aviary) handles(t *testing.T) (n int) {
	t.Helper()
	dir := fmt.Sprintf("/proc/%d/fd", a.process.Process.Pid)
	all, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range all {
		if at, err := os.Readlink(filepath.Join(dir, fd.Name())); err == nil && strings.HasPrefix(at, "socket:") {
			n++
		}
	}
	return n
}

// metric reads one metric.
func metric(t *testing.T, addr, name string) int {
	t.Helper()
	res, err := http.Get("http://" + addr + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, m := range regexp.MustCompile(`(?m)^`+name+`(?:\{.*\})? (\S+)$`).FindAllStringSubmatch(string(b), -1) {
		n, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		sum += n
	}
	return int(sum)
}

// TestHeldConnections sends a POST without its body and without a credential to each transport and path. The response
// must come at once, and the connection must be closed.
func TestHeldConnections(t *testing.T) {
	a, metrics := guarded(t, "")
	a.token(t, "--name", "agent")
	a.start(t)
	main := strings.TrimPrefix(a.url, "http://")
	var all sync.WaitGroup
	for _, to := range [][2]string{{main, "/mcp"}, {main, "/tools"}, {main, "/healthz"}, {main, "/readyz"}, {main, "/nowhere"}, {main, "/api/changes"},
		{main, "/api/changes/x/approve"}, {main, "/api/changes/events"}, {main, "/api/deliveries"}, {main, "/console"}, {main, "/console/sign-in"},
		{main, "/console/changes/x/approve"}, {main, "/oauth/token"}, {main, "/oauth/register"}, {main, "/oauth/revoke"},
		{main, "/.well-known/oauth-authorization-server"}, {main, "/console/sign-in/callback"}, {metrics, "/metrics"}, {metrics, "/"}} {
		for _, method := range []string{"POST", "GET", "DELETE"} {
			if (to[1] == "/console/sign-in" || strings.HasPrefix(to[1], "/oauth/")) && method == "POST" {
				continue // this path reads the form first, within the time limit for a body
			}
			all.Go(func() {
				c, err := net.Dial("tcp", to[0])
				if err != nil {
					t.Error(err)
					return
				}
				defer c.Close()
				_, _ = fmt.Fprintf(c, "%s %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n", method, to[1], to[0])
				_ = c.SetReadDeadline(time.Now().Add(20 * time.Second)) // shorter than the 30 s allowed for a body
				if b, err := io.ReadAll(c); err != nil || !strings.HasPrefix(string(b), "HTTP/1.1 ") {
					t.Errorf("%s %s: held: %v %q", method, to[1], err, b)
				}
			})
		}
	}
	all.Wait()
	a.stop(t)
}

// TestFewHandles checks a server that gets more connections than its limit of open files. It must keep running and
// log only a few lines.
func TestFewHandles(t *testing.T) {
	a, metrics := guarded(t, "")
	token := a.token(t, "--name", "agent")
	limited := filepath.Join(a.dir, "limited")
	if err := os.WriteFile(limited, []byte("#!/bin/sh\nulimit -n 256\nexec "+a.program+" \"$@\"\n"), 0o700); err != nil { //nolint:gosec // it is run
		t.Fatal(err)
	}
	program := a.program
	a.program = limited
	a.start(t)
	a.program = program
	storm := newStorm(t, a.url, "127.0.0.66")
	for range 300 {
		storm.dial("POST /mcp HTTP/1.1\r\nHost: x\r\n")
	}
	if got := a.call(t, token, "query_class", `{"class_name":"notes"}`); !strings.Contains(got, "one") {
		t.Errorf("during the storm: %s", got)
	}
	if n := metric(t, metrics, "bailiwick_door_refusals_total"); n < 100 {
		t.Errorf("%d refusals counted", n)
	}
	storm.end()
	a.stop(t)
	if lines := strings.Count(a.stderr.String(), "\n"); lines > 20 || !strings.Contains(a.stderr.String(), "connections_of_address") {
		t.Errorf("%d lines: %s", lines, a.stderr.String())
	}
}

// A storm is a set of hostile connections from one address.
type storm struct {
	t    *testing.T
	to   string
	from net.Dialer
	mu   sync.Mutex
	open []net.Conn
}

func newStorm(t *testing.T, url, from string) *storm {
	return &storm{t: t, to: strings.TrimPrefix(url, "http://"), from: net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}, Timeout: 30 * time.Second}}
}

// dial connects and sends text. The server may refuse the connection.
func (s *storm) dial(text string) net.Conn {
	c, err := s.from.Dial("tcp", s.to)
	if err != nil {
		return nil
	}
	_, _ = io.WriteString(c, text)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open = append(s.open, c)
	return c
}

func (s *storm) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.open {
		_ = c.Close()
	}
	s.open = nil
}

// TestStorm makes hostile connections of every kind, 10,000 of them with BAILIWICK_STORM=10000. A legitimate agent
// must always be served, and no goroutine or file handle may leak.
func TestStorm(t *testing.T) {
	n, _ := strconv.Atoi(os.Getenv("BAILIWICK_STORM"))
	if n == 0 {
		n = 300
	}
	a, metrics := guarded(t, "")
	token := a.token(t, "--name", "agent")
	a.start(t)
	var warm sync.WaitGroup // connections to the databases stay open after the first calls
	for range 64 {
		warm.Go(func() { a.call(t, token, "query_class", `{"class_name":"notes"}`) })
	}
	warm.Wait()
	metric(t, metrics, "go_goroutines")
	http.DefaultClient.CloseIdleConnections()
	time.Sleep(time.Second)
	handles, goroutines := a.handles(t), metric(t, metrics, "go_goroutines")

	ctx, cancel := context.WithCancel(t.Context())
	var asked, slowest atomic.Int64
	var honest sync.WaitGroup
	honest.Go(func() {
		for ctx.Err() == nil {
			start := time.Now()
			if got := a.call(t, token, "query_class", `{"class_name":"notes"}`); !strings.Contains(got, "one") {
				t.Errorf("during the storm: %s", got)
			}
			asked.Add(1)
			slowest.Store(max(slowest.Load(), int64(time.Since(start))))
			time.Sleep(20 * time.Millisecond)
		}
	})
	kinds := []string{
		"POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n",
		"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer bw_wrong\r\nContent-Length: 10\r\n\r\n",
		"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer " + token + "\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{",
		"POST /console/sign-in HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 10\r\n\r\n",
		"POST /api/changes/x/approve HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n",
		"GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: ", "", "nonsense\r\n\r\n", "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n",
		"POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
	}
	start := time.Now()
	most := 0
	var kept []*storm // references keep the garbage collector from closing their connections
	const wave = 1000
	for sent := 0; sent < n; sent += wave {
		s := newStorm(t, a.url, "127.0.0."+strconv.Itoa(60+sent/wave))
		var parts sync.WaitGroup
		for part := range 4 {
			parts.Go(func() {
				for i := part; i < min(wave, n-sent); i += 4 {
					if c := s.dial(kinds[i%len(kinds)]); c != nil && i%3 == 0 {
						_ = c.(*net.TCPConn).CloseWrite()
					}
				}
			})
		}
		parts.Wait()
		most = max(most, a.handles(t))
		if sent/wave%2 == 0 {
			s.end() // for every other wave, the server ends the connections
		}
		kept = append(kept, s)
	}
	took := time.Since(start)
	cancel()
	honest.Wait()
	http.DefaultClient.CloseIdleConnections()
	var left, running int
	for end := time.Now().Add(3 * time.Minute); ; time.Sleep(250 * time.Millisecond) {
		left, running = a.handles(t)-handles, metric(t, metrics, "go_goroutines")-goroutines
		http.DefaultClient.CloseIdleConnections()
		if left <= 0 && running <= 0 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("left over: %d handles, %d goroutines", left, running)
		}
	}
	t.Logf("%d connections in %s, at most %d handles; the honest agent was answered %d times, in at most %s; all was back after %s",
		n, took.Round(time.Millisecond), most, asked.Load(), time.Duration(slowest.Load()).Round(time.Millisecond), time.Since(start).Round(time.Second))
	for _, s := range kept {
		s.end()
	}
	a.stop(t)
	if lines := strings.Count(a.stderr.String(), "\n"); lines > 200 {
		t.Errorf("%d lines: %s", lines, a.stderr.String())
	}
}
