package attack

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// call returns the message that calls a tool. Without a tool, the message asks whether the server is alive.
func call(tool, args string) string {
	if tool == "" {
		return `{"jsonrpc":"2.0","id":"alive","method":"ping"}`
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":"attack","method":"tools/call","params":{"name":%q,"arguments":%s}}`, tool, args)
}

func quoteJSON(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		return `""` // can't fail for a text
	}
	return string(b)
}

const (
	version = "2025-06-18"
	hello   = `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"` + version + `","capabilities":{},"clientInfo":{"name":"attack","version":"1"}}}`
	ready   = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	most    = 64 << 20 // bytes of an answer
)

// A Web is a Server that is reached over HTTP, in one session.
type Web struct {
	URL, Token string
	session    string
}

// Dial begins a session with the MCP endpoint at a URL.
func Dial(ctx context.Context, url, token string) (*Web, error) {
	w := &Web{URL: url, Token: token}
	resp, err := w.post(ctx, hello)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close() //nolint:errcheck // it was only read
	if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the server refuses to begin: %s %v", resp.Status, err)
	}
	w.session = resp.Header.Get("Mcp-Session-Id")
	_, err = w.Send(ctx, ready)
	return w, err
}

func (w *Web) post(ctx context.Context, message string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.URL, strings.NewReader(message))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Mcp-Protocol-Version", version)
	if w.Token != "" {
		r.Header.Set("Authorization", "Bearer "+w.Token)
	}
	if w.session != "" {
		r.Header.Set("Mcp-Session-Id", w.session)
	}
	return http.DefaultClient.Do(r)
}

// Send implements Server.
func (w *Web) Send(ctx context.Context, message string) (string, error) {
	resp, err := w.post(ctx, message)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close() //nolint:errcheck // it was only read
	b, err := io.ReadAll(io.LimitReader(resp.Body, most))
	return string(b), err
}

// request makes the request of a case, and returns what came back, and why its status is wrong.
func (t *Target) request(ctx context.Context, c *Request) (said, why string, err error) {
	body := io.MultiReader(strings.NewReader(strings.Repeat(" ", c.Large)), strings.NewReader(c.Body))
	r, err := http.NewRequestWithContext(ctx, c.Method, t.Web+c.Path, body)
	if err != nil {
		return "", "", err
	}
	r.ContentLength = int64(c.Large + len(c.Body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Authorization", "Bearer "+t.Token)
	for _, h := range c.Header {
		switch {
		case h[0] == "Host":
			r.Host = h[1]
		case h[1] == "":
			r.Header.Del(h[0])
		default:
			r.Header.Set(h[0], h[1])
		}
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(r)
	if err != nil {
		return "", "", nil // the server closed the connection: nothing was answered
	}
	defer resp.Body.Close() //nolint:errcheck // it was only read
	if !slices.Contains(c.Want, resp.StatusCode) {
		return "", fmt.Sprintf("the status %d", resp.StatusCode), nil
	}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") && c.Method == http.MethodGet {
		return "", "", nil // a stream doesn't end
	}
	b, err := io.ReadAll(io.LimitReader(resp.Body, most))
	return fmt.Sprint(resp.Header, string(b)), "", err
}

// A Program is a Server that is a process of its own, over standard input and output.
type Program struct {
	in    io.WriteCloser
	lines chan string
	mu    sync.Mutex
	sent  int // messages
	end   func()
}

// Start starts a command line and begins a session.
func Start(ctx context.Context, command []string) (*Program, error) {
	ctx, cancel := context.WithCancel(ctx)
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	in, err := cmd.StdinPipe()
	if err != nil {
		cancel()
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		cancel()
		return nil, err
	}
	p := &Program{in: in, lines: make(chan string, 100), end: func() { cancel(); _ = cmd.Wait() }} // it was killed
	go func() {
		defer close(p.lines)
		read := bufio.NewReader(out)
		for {
			line, err := read.ReadString('\n')
			if line != "" {
				p.lines <- line
			}
			if err != nil {
				return
			}
		}
	}()
	if _, err := p.Send(ctx, hello); err != nil {
		p.Close()
		return nil, err
	}
	_, err = p.Send(ctx, ready)
	return p, err
}

// Close ends the process.
func (p *Program) Close() { p.end() }

// Send implements Server. A message without an id that the server could answer is followed by a ping, so that an answer comes.
func (p *Program) Send(ctx context.Context, message string) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	// Each message has an id of its own, so that the late answer of one isn't taken for that of the next.
	p.sent++
	mark := fmt.Sprintf(`"id":"mark-%d"`, p.sent)
	line := strings.NewReplacer("\n", " ", "\r", " ", `"id":"attack"`, fmt.Sprintf(`"id":"attack-%d"`, p.sent)).Replace(message)
	if _, err := io.WriteString(p.in, line+"\n"+`{"jsonrpc":"2.0",`+mark+`,"method":"ping"}`+"\n"); err != nil {
		return "", err
	}
	own := id.FindString(line)
	seen := false
	answered := own == "" || !answerable.MatchString(line) // servers need not answer what is not a request that they know
	all, marked := "", false
	var late <-chan time.Time // of an answer that need not come
	for !answered || !marked || late != nil {
		select {
		case <-late:
			late = nil
		case got, ok := <-p.lines:
			if !ok {
				return all, errors.New("the process has ended")
			}
			tight := strings.ReplaceAll(got, `"id": "`, `"id":"`)
			if strings.Contains(tight, mark) {
				if marked = true; own != "" && !seen {
					late = time.After(time.Second)
				}
				continue
			}
			if other := id.FindString(tight); other != "" && other != own {
				continue
			}
			if own != "" && strings.Contains(tight, own) {
				seen, late = true, nil
			}
			answered = answered || seen || strings.Contains(tight, `"id":null`)
			all += got
		case <-ctx.Done():
			return all, ctx.Err()
		}
	}
	return all, nil
}

var id = regexp.MustCompile(`"id":"(?:attack-[0-9]+|mark-[0-9]+|alive|hello|list)"`)

// answerable are the requests that every server answers.
var answerable = regexp.MustCompile(`"method":"(?:tools/call|tools/list|ping|initialize)"`)

// forms returns the ways in which an answer may hold a text: as it stands, unescaped, in hex and in base64, and backwards.
func forms(said string) []string {
	plain := said
	var v any
	if json.Unmarshal([]byte(said), &v) == nil {
		plain = fmt.Sprint(v)
	}
	all := []string{said, plain}
	for _, w := range words.FindAllString(said, -1) {
		if b, err := hex.DecodeString(w); err == nil {
			all = append(all, string(b))
		}
		if b, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(w, "=")); err == nil {
			all = append(all, string(b))
		}
	}
	back := []rune(said)
	slices.Reverse(back)
	return append(all, string(back))
}

// words are texts that may be hex or base64.
var words = regexp.MustCompile(`[A-Za-z0-9+/]{12,}=*`)
