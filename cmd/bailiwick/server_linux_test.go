package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/demo"
)

// A box is a folder with a tracker, a configuration and a server.
type box struct {
	t     *testing.T
	dir   string
	env   []string
	url   string
	token string
	cmd   *exec.Cmd
	ended chan error

	mu  sync.Mutex
	log bytes.Buffer
}

// Write collects the log.
func (b *box) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.log.Write(p)
}

func (b *box) logged() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.log.String()
}

// newBox creates the folder with a database and a configuration. store is the value of the configuration key store.
func newBox(t *testing.T, store string) *box {
	t.Helper()
	data, err := oneTracker()
	if err != nil {
		t.Fatal(err)
	}
	b := &box{t: t, dir: t.TempDir()}
	b.write("tracker.db", data)
	b.write("bailiwick.yaml", bytes.Replace([]byte(demo.Config), []byte("store: sqlite:bailiwick.db "), []byte("store: "+store+" "), 1))
	return b
}

func (b *box) write(name string, data []byte) {
	b.t.Helper()
	if err := os.WriteFile(filepath.Join(b.dir, name), data, 0o600); err != nil {
		b.t.Fatal(err)
	}
}

func (b *box) command(args ...string) *exec.Cmd {
	self, err := os.Executable()
	if err != nil {
		b.t.Fatal(err)
	}
	return &exec.Cmd{Path: self, Args: append([]string{"bailiwick"}, args...), Dir: b.dir, Env: append([]string{"HOME=" + b.dir, "PATH=/usr/bin:/bin"}, b.env...)}
}

// run runs a command and waits for its end.
func (b *box) run(args ...string) (stdout, stderr string, err error) {
	var out, errs bytes.Buffer
	cmd := b.command(args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	return out.String(), errs.String(), err
}

// serve creates a token and starts the server.
func (b *box) serve() {
	b.t.Helper()
	out, errs, err := b.run("token", "create", "--name", "bot", "--tenant", "acme", "--json")
	var made struct{ Token string }
	if err != nil || json.Unmarshal([]byte(out), &made) != nil || made.Token == "" {
		b.t.Fatalf("no token: %s%s%v", out, errs, err)
	}
	b.token = made.Token
	b.start()
}

func (b *box) start() {
	b.t.Helper()
	b.cmd = b.command("serve", "--listen", "127.0.0.1:0")
	b.cmd.Stderr = b
	b.ended = make(chan error, 1)
	read, write := io.Pipe()
	b.cmd.Stdout = write
	if err := b.cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
	go func() { b.ended <- b.cmd.Wait() }()
	b.t.Cleanup(b.stop)
	line := make([]byte, 200)
	n, err := read.Read(line)
	at := regexp.MustCompile(`http://\S+/mcp`).FindString(string(line[:n]))
	if err != nil || at == "" {
		b.t.Fatalf("it does not listen: %q, %v\n%s", line[:n], err, b.logged())
	}
	b.url = strings.TrimSuffix(at, "/mcp")
	go io.Copy(io.Discard, read) //nolint:errcheck // it ends with the server
}

func (b *box) stop() {
	if b.cmd == nil {
		return
	}
	b.cmd.Process.Signal(syscall.SIGINT) //nolint:errcheck // it may have ended
	select {
	case <-b.ended:
	case <-time.After(time.Minute):
		b.cmd.Process.Kill() //nolint:errcheck // likewise
		b.t.Error("the server does not end")
	}
	b.cmd = nil
}

// ask calls count_objects as an agent and returns the whole answer.
func (b *box) ask() string {
	b.t.Helper()
	return b.answer(http.DefaultClient.Do(b.question()))
}

// question returns the request of ask.
func (b *box) question() *http.Request {
	b.t.Helper()
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"count_objects","arguments":{"class_name":"issues"},` +
		`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`
	r, err := http.NewRequestWithContext(b.t.Context(), http.MethodPost, b.url+"/mcp", strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	for k, v := range map[string]string{"Authorization": "Bearer " + b.token, "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "count_objects"} {
		r.Header.Set(k, v)
	}
	return r
}

func (b *box) ready() string { return b.answer(http.Get(b.url + "/readyz")) }

func (b *box) answer(res *http.Response, err error) string {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return fmt.Sprint(res.StatusCode, " ", string(text))
}

// until calls what until its text matches the pattern, and returns the text.
func (b *box) until(what func() string, pattern string) string {
	b.t.Helper()
	want := regexp.MustCompile(pattern)
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		got := what()
		if want.MatchString(got) {
			return got
		}
		if time.Now().After(deadline) {
			b.t.Fatalf("%q does not come; last:\n%s\nlog:\n%s", pattern, tail(got), tail(b.logged()))
		}
	}
}

// tail returns the last 1500 bytes of a text.
func tail(s string) string { return s[max(0, len(s)-1500):] }
