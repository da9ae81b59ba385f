package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/mcp"
	"github.com/bailiwick-dev/bailiwick/prompt"
)

const (
	schemaURI = prompt.Scheme + "a/b/schema"
	secretURI = prompt.Scheme + "a/secret/schema"
)

// A feed collects the events of a stream.
type feed struct {
	mu   sync.Mutex
	got  []string // entries "method uri", sorted and without duplicates
	last string
	end  func()
}

// follow opens a stream and reads it until it ends.
func follow(t *testing.T, url string, c call) *feed {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	res := open(t, ctx, url, c)
	f := &feed{}
	done := make(chan struct{})
	f.end = func() {
		cancel()
		<-done
	}
	go func() {
		defer close(done)
		defer res.Body.Close()
		for lines := bufio.NewScanner(res.Body); lines.Scan(); {
			d, ok := strings.CutPrefix(lines.Text(), "data: ")
			if !ok {
				continue
			}
			var n struct {
				Method string
				Params struct{ URI string }
			}
			if json.Unmarshal([]byte(d), &n) != nil {
				continue
			}
			f.mu.Lock()
			f.last = d
			if said := strings.TrimSpace(n.Method + " " + n.Params.URI); !slices.Contains(f.got, said) {
				f.got = append(f.got, said)
				slices.Sort(f.got)
			}
			f.mu.Unlock()
		}
	}()
	return f
}

func (f *feed) has(said string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Contains(f.got, said)
}

func (f *feed) all() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.got)
}

// listenTo returns a request of MCP 2026-07-28 that opens a stream. The stream receives all changes of lists and of
// these resources.
func listenTo(who string, uris ...string) call {
	list, _ := json.Marshal(uris)
	c := request("subscriptions/listen", "", `"notifications":{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true,"resourceSubscriptions":`+string(list)+`}`, "")
	c.header += "\nAuthorization: Bearer " + who
	return c
}

// TestWatch checks that listening clients are notified of changes of the lists and of subscribed resources, in both
// protocol generations.
func TestWatch(t *testing.T) {
	s, url := start(t, mcp.Options{Prompts: &rack{}})
	ann, bob := begin(t, url, "2025-11-25"), begin(t, url, "2025-11-25", "bob")
	feeds := map[string]*feed{
		"ann":        follow(t, url, call{method: "GET", header: "Mcp-Session-Id: " + ann}),
		"bob":        follow(t, url, call{method: "GET", header: "Authorization: Bearer bob\nMcp-Session-Id: " + bob}),
		"new ann":    follow(t, url, listenTo("ann", schemaURI, secretURI)),
		"new bob":    follow(t, url, listenTo("bob", schemaURI)),
		"tools only": follow(t, url, listen),
	}
	for _, f := range feeds {
		defer f.end()
	}
	for _, c := range []struct {
		call
		want string
	}{
		{within(ann, "resources/subscribe", `"uri":"`+schemaURI+`"`, ""), `{}`},
		{within(ann, "resources/subscribe", `"uri":"`+secretURI+`"`, ""), `{}`},
		{within(ann, "resources/unsubscribe", `"uri":"`+secretURI+`"`, ""), `{}`},
	} {
		if _, body := send(t, url, c.call); result(t, body) != c.want {
			t.Error(body)
		}
	}
	lists := []string{"notifications/prompts/list_changed", "notifications/resources/list_changed", "notifications/tools/list_changed"}
	ack, updated := "notifications/subscriptions/acknowledged", "notifications/resources/updated "
	want := map[string][]string{
		"ann": append(slices.Clone(lists), updated+schemaURI), "bob": lists,
		"new ann":    append(append(slices.Clone(lists), updated+schemaURI, updated+secretURI), ack),
		"new bob":    append(append(slices.Clone(lists), updated+schemaURI), ack),
		"tools only": {ack, lists[2]},
	}
	for name, list := range want {
		slices.Sort(list)
		waitFor(t, "what "+name+" is told", func() bool {
			s.NotifyAll()
			time.Sleep(20 * time.Millisecond)
			return len(feeds[name].all()) >= len(list)
		})
	}
	time.Sleep(50 * time.Millisecond)
	for name, list := range want {
		if diff := cmp.Diff(list, feeds[name].all()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestWatchRefuses checks that a subscription to a hidden resource is refused like one to a missing resource. Invalid
// requests must also be refused.
func TestWatchRefuses(t *testing.T) {
	_, url := start(t, mcp.Options{Prompts: &rack{}})
	bob := begin(t, url, "2025-11-25", "bob")
	absent := func(uri string) string {
		return `{"code":-32602,"data":{"uri":"` + uri + `"},"message":"Resource not found"}`
	}
	for _, tt := range []struct{ uri, want string }{
		{secretURI, absent(secretURI)},
		{"file:///etc/passwd", absent("file:///etc/passwd")},
		{prompt.Scheme + "a/b/count", `{"code":-32602,"data":{"correlation_id":"c-1","error":"only schemas can be subscribed to","error_code":"invalid_argument","retryable":false},"message":"only schemas can be subscribed to"}`},
	} {
		if res, _ := send(t, url, request("resources/subscribe", "", "", "")); res.StatusCode != 404 {
			t.Error("a method that this protocol hasn't got:", res.Status)
		}
		for _, c := range []call{within(bob, "resources/subscribe", `"uri":"`+tt.uri+`"`, ""), listenTo("bob", schemaURI, tt.uri)} {
			c.header += "\nX-MCP-Session-Id: c-1\nAuthorization: Bearer bob"
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second) // an accepted stream would have no end
			res := open(t, ctx, url, c)
			body, err := io.ReadAll(res.Body)
			if res.Body.Close(); err != nil || result(t, string(body)) != tt.want {
				t.Errorf("%s: %v %s", tt.uri, err, body)
			}
			cancel()
		}
	}
}

// TestWatchStorm checks clients that subscribe and disconnect while data changes. They must leave no goroutine (see
// TestMain), no session and no slot of a stream.
func TestWatchStorm(t *testing.T) {
	s, url := start(t, mcp.Options{Prompts: &rack{}, Streams: 80})
	legacy := begin(t, url, "2025-11-25")
	stop := make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
				s.NotifyAll()
			}
		}
	})
	var clients sync.WaitGroup
	for i := range 8 {
		clients.Go(func() {
			for j := range 25 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration((i+j)%15)*time.Millisecond)
				c := listenTo("ann", fmt.Sprintf("%sa/c%d/schema", prompt.Scheme, j), schemaURI)
				if j%3 == 0 {
					c = call{method: "GET", header: "Mcp-Session-Id: " + legacy}
				}
				if res, err := do(ctx, url, c); err == nil {
					_, _ = io.Copy(io.Discard, res.Body)
					res.Body.Close()
				}
				cancel()
			}
		})
	}
	clients.Wait()
	waitFor(t, "the end of all streams", func() bool { return mcp.Live(s) == 1 })
	close(stop)
	all.Wait()
	// A new client is served.
	f := follow(t, url, listenTo("ann", schemaURI))
	defer f.end()
	waitFor(t, "a change", func() bool {
		s.NotifyAll()
		time.Sleep(10 * time.Millisecond)
		return f.has("notifications/resources/updated " + schemaURI)
	})
}

// A turncoat implements Tokens with answers that can change.
type turncoat struct {
	mu     sync.Mutex
	tokens tokens
}

func (m *turncoat) Authenticate(ctx context.Context, credential string, from netip.Addr) (identity.Principal, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.tokens.Authenticate(ctx, credential, from)
}

// TestStreamsEnd checks when streams end, in both protocol generations. A stream must end within 2 seconds after its
// credential is revoked, its rights change, or the rules hide a subscribed resource. Other streams must stay open.
func TestStreamsEnd(t *testing.T) {
	for name, change := range map[string]func(*turncoat, *rack, *mcp.Server){
		"revoked": func(m *turncoat, _ *rack, _ *mcp.Server) { delete(m.tokens, "bob") },
		"rights": func(m *turncoat, _ *rack, _ *mcp.Server) {
			bob := m.tokens["bob"]
			bob.Tools.Except = append(bob.Tools.Except[:0:0], "other")
			m.tokens["bob"] = bob
		},
		"rules": func(_ *turncoat, r *rack, s *mcp.Server) {
			r.mu.Lock()
			r.gone = schemaURI
			r.mu.Unlock()
			s.NotifyAll()
		},
	} {
		t.Run(name, func(t *testing.T) {
			m, r := &turncoat{tokens: people()}, &rack{}
			s, url := start(t, mcp.Options{Prompts: r, Tokens: m})
			session := begin(t, url, "2025-11-25", "bob")
			if _, body := send(t, url, call{header: "Authorization: Bearer bob\nMcp-Session-Id: " + session,
				body: `{"jsonrpc":"2.0","id":5,"method":"resources/subscribe","params":{"uri":"` + schemaURI + `"}}`}); result(t, body) != `{}` {
				t.Fatal(body)
			}
			ends := make(chan string, 3)
			for name, c := range map[string]call{
				"GET": {method: "GET", header: "Authorization: Bearer bob\nMcp-Session-Id: " + session}, "listen": listenTo("bob", schemaURI), "of another": listenTo("ann"),
			} {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				res := open(t, ctx, url, c)
				if res.StatusCode != 200 {
					t.Fatal(name, res.Status)
				}
				go func() {
					_, _ = io.Copy(io.Discard, res.Body)
					res.Body.Close()
					ends <- name
				}()
			}
			time.Sleep(1200 * time.Millisecond) // streams stay open while nothing changes
			m.mu.Lock()
			change(m, r, s)
			m.mu.Unlock()
			late := time.After(20 * time.Second) // it takes 2 s on an idle machine
			for range 2 {
				select {
				case name := <-ends:
					if name == "of another" {
						t.Error("the stream of another ended")
					}
				case <-late:
					t.Fatal("a stream stays")
				}
			}
		})
	}
}
