package bench_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/demo"
	"github.com/bailiwick-dev/bailiwick/store/sqlite"
)

// mostBodies is the maximum growth of the process caused by waiting requests, in bytes.
const mostBodies = 128 << 20

// slowAPI is the document of an API with a single operation that takes three seconds.
const slowAPI = `{"openapi": "3.1.0", "info": {"title": "Slow", "version": "1"}, "paths": {"/slow": {"get": {"operationId": "slow", "responses": {"200": {"description": "done",
	"content": {"application/json": {"schema": {"type": "object", "properties": {"done": {"type": "boolean"}}}}}}}}}}}`

// slowly answers after three seconds.
func slowly(w http.ResponseWriter, r *http.Request) {
	select {
	case <-time.After(3 * time.Second):
	case <-r.Context().Done():
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, `{"done": true}`)
}

// manyOwners writes the demo's configuration with a slow API. It returns the path of the file, and a token for each
// of n owners in two tenants.
func manyOwners(t *testing.T, n int, document string, answers http.HandlerFunc) (file string, tokens []string) {
	t.Helper()
	slow := httptest.NewServer(answers)
	t.Cleanup(slow.Close)
	dir := filepath.Dir(tracker(t))
	file = filepath.Join(dir, "bailiwick.yaml")
	api := fmt.Sprintf("  slow:\n    openapi: {document: slow.json, base_url: %q}\n", slow.URL)
	text := strings.Replace(demo.Config, "\nclasses:\n", "\n"+api+"\nclasses:\n", 1) + "\napis: {slow: {description: Slow}}\nlimits: {rate: 9999999/min, burst: 100000}\n"
	for name, content := range map[string]string{file: text, filepath.Join(dir, "slow.json"): document} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, err := sqlite.Open(t.Context(), filepath.Join(dir, "bailiwick.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	made := identity.NewTokens(identity.TokenOptions{Store: s, Audit: s})
	defer made.Close(context.Background())
	for i := range n {
		name := "agent" + strconv.Itoa(i)
		_, token, err := made.Create(t.Context(), identity.Local("bench"), identity.Token{Name: name, Owner: name, Tenant: []string{demo.Acme, "globex"}[i%2], Scopes: []identity.Scope{identity.Read, identity.Write}})
		if err != nil {
			t.Fatal(err)
		}
		tokens = append(tokens, token)
	}
	return file, tokens
}

// peakOf returns the maximum growth of the process's memory in RAM while run is running, in bytes.
func peakOf(t *testing.T, p *process, run func()) int64 {
	t.Helper()
	dir := fmt.Sprintf("/proc/%d/", p.cmd.Process.Pid)
	if err := os.WriteFile(dir+"clear_refs", []byte("5"), 0); err != nil { // reset the peak
		t.Fatal(err)
	}
	figure := func(name string) int64 {
		b, err := os.ReadFile(dir + "status")
		if err != nil {
			t.Fatal(err)
		}
		kb, err := strconv.ParseInt(string(resident[name].FindSubmatch(b)[1]), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return kb << 10
	}
	before := figure("VmRSS")
	run()
	return figure("VmHWM") - before
}

// TestResidentBodies sends many large requests of many owners to the program concurrently. It measures the growth of
// the process. Small calls of another owner must be answered meanwhile.
func TestResidentBodies(t *testing.T) {
	if os.Getenv("BAILIWICK_RESIDENT") == "" {
		t.Skip("LEFT OUT: some minutes of large requests; see make soak")
	}
	file, tokens := manyOwners(t, 40, slowAPI, slowly)
	path := program(t)
	const size = 1<<20 - 2000
	slow := func(token, url string) *caller {
		c := modern(t, url, token, "call_api_read", `{"operation_id":"slow"}`)
		c.body = bytes.Replace(c.body, []byte(`"_meta":{`), []byte(`"_meta":{"pad":"`+strings.Repeat("x", size)+`",`), 1)
		return c
	}
	where := func(text string) func(token, url string) *caller {
		return func(token, url string) *caller {
			return modern(t, url, token, "count_objects", `{"class_name":"issues","where":`+text+`}`)
		}
	}
	proposal, err := json.Marshal(map[string]any{"changes": []any{map[string]any{"class_name": "issues", "op": "update", "id": "1", "set": map[string]any{"body": strings.Repeat("é", size/2)}}}, "reason": "bench"})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name string
		make func(token, url string) *caller
	}{
		{"a text of 1 MiB", where(`{"title":"` + strings.Repeat("x", size) + `"}`)},
		{"a list of 500,000 numbers", where(`{"number":{"$in":[1` + strings.Repeat(",1", size/2-10) + `]}}`)},
		{"a list of 300,000 lists", where(`{"number":{"$in":[1` + strings.Repeat(",[]", size/3-10) + `]}}`)},
		{"22,000 objects", where(`{"$or":[{"number":1}` + strings.Repeat(`,{"number":12345678901234567}`, 22_000) + `]}`)},
		{"a change of 1 MiB", func(token, url string) *caller { return modern(t, url, token, "propose_changes", string(proposal)) }},
		{"a call that takes three seconds", slow},
	} {
		for _, n := range []int{100, 300, 1000} {
			t.Run(fmt.Sprintf("%s, %d at once", row.name, n), func(t *testing.T) {
				if most := growth(t, path, file, tokens, row.make, n); most > mostBodies {
					t.Errorf("the process grew by %d MiB", most>>20)
				}
			})
		}
	}
	for _, n := range []int{300, 1000} {
		t.Run(fmt.Sprintf("half a body, %d at once", n), func(t *testing.T) { dripping(t, path, file, tokens, n) })
	}
}

// growth sends n requests concurrently and returns the growth of the process in bytes.
func growth(t *testing.T, path, file string, tokens []string, of func(token, url string) *caller, n int) int64 {
	t.Helper()
	p := start(t, path, "serve", "--config", file, "--listen", "127.0.0.1:0")
	defer p.stop(t)
	callers := make([]*caller, len(tokens)-1)
	for i := range callers {
		callers[i] = of(tokens[i], p.url)
	}
	small := smallCalls(t, p, tokens[len(tokens)-1])
	var mu sync.Mutex
	statuses := map[string]int{}
	most := peakOf(t, p, func() {
		var wait sync.WaitGroup
		for i := range n {
			c := callers[i%len(callers)]
			wait.Go(func() {
				s := status(t.Context(), c)
				mu.Lock()
				defer mu.Unlock()
				statuses[s]++
			})
		}
		wait.Wait()
	})
	answered, longest := small()
	t.Logf("+%d MiB: %v; %d small calls, the slowest %v", most>>20, statuses, answered, longest)
	return most
}

// status sends a call and returns the kind of its answer.
func status(ctx context.Context, c *caller) string {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(c.body))
	if err != nil {
		return err.Error()
	}
	r.Header = c.header
	res, err := c.client.Do(r)
	if err != nil {
		return "no answer: " + errorKind(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		return "half an answer"
	}
	text := res.Status
	if bytes.Contains(b, []byte(`"isError":true`)) {
		text += ", refused"
	}
	if res.StatusCode != http.StatusOK {
		text += " " + string(b[:min(len(b), 200)])
	}
	return text
}

// errorKind returns the kind of error that ended an exchange.
func errorKind(err error) string {
	for _, kind := range []string{"broken pipe", "connection reset", "EOF"} {
		if strings.Contains(err.Error(), kind) {
			return kind
		}
	}
	return err.Error()
}

// smallCalls counts records as another owner until the function stop is called. That function returns the number of
// answered calls and the longest duration of one.
func smallCalls(t *testing.T, p *process, token string) (stop func() (int, time.Duration)) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	answered, longest := 0, time.Duration(0)
	call := modern(t, p.url, token, "count_objects", `{"class_name":"projects"}`)
	if err := call.send(ctx, &bytes.Buffer{}); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			begun := time.Now()
			err := call.send(ctx, &bytes.Buffer{})
			if ctx.Err() != nil {
				return
			}
			if err != nil {
				t.Errorf("a small call: %v", err)
				return
			}
			answered, longest = answered+1, max(longest, time.Since(begun))
			time.Sleep(10 * time.Millisecond)
		}
	}()
	return func() (int, time.Duration) { cancel(); <-done; return answered, longest }
}

// dripping opens n connections that send only half of a body.
func dripping(t *testing.T, path, file string, tokens []string, n int) {
	p := start(t, path, "serve", "--config", file, "--listen", "127.0.0.1:0")
	defer p.stop(t)
	at, err := url.Parse(p.url)
	if err != nil {
		t.Fatal(err)
	}
	small := smallCalls(t, p, tokens[len(tokens)-1])
	half := bytes.Repeat([]byte(" "), 1<<19)
	most := peakOf(t, p, func() {
		var wait sync.WaitGroup
		for i := range n {
			wait.Go(func() {
				c, err := net.Dial("tcp", at.Host)
				if err != nil {
					t.Error(err)
					return
				}
				defer c.Close()
				fmt.Fprintf(c, "POST /mcp HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", at.Host, tokens[i%(len(tokens)-1)], 1<<20)
				go func() { _, _ = c.Write(half) }() // blocks while the server reads nothing
				_ = c.SetReadDeadline(time.Now().Add(90 * time.Second))
				if _, err := io.ReadAll(c); err != nil && errorKind(err) != "connection reset" {
					t.Errorf("a connection that sends half a body stays open: %v", err)
				}
			})
		}
		wait.Wait()
	})
	answered, longest := small()
	t.Logf("+%d MiB; %d small calls, the slowest %v", most>>20, answered, longest)
	if most > mostBodies {
		t.Errorf("the process grew by %d MiB", most>>20)
	}
}
