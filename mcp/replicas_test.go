package mcp_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/once"
	"github.com/bailiwick-dev/bailiwick/mcp"
)

// TestSessionsOfReplicas checks sessions that one replica began and another replica continues, even one that started
// later. The answers must depend on the client as before. An ID that was changed, has ended or belongs to another
// principal must be answered like an unknown ID.
func TestSessionsOfReplicas(t *testing.T) {
	ended := &once.Memory{}
	replica := func() string {
		_, url := start(t, mcp.Options{SessionKey: []byte(strings.Repeat("k", 32)), SessionsEnded: ended})
		return url
	}
	a, b := replica(), replica()
	ask := func(url, id, who string) string {
		t.Helper()
		res, body := send(t, url, call{header: "Mcp-Session-Id: " + id + "\nAuthorization: Bearer " + who,
			body: `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"echo","arguments":{}}}`})
		return fmt.Sprint(res.StatusCode, " ", body)
	}
	served := func(url, id string) {
		t.Helper()
		if got := ask(url, id, "ann"); !strings.HasPrefix(got, "200 ") || !strings.Contains(got, "echoed") {
			t.Errorf("the session gets %s", got)
		}
	}
	var ids []string
	for i := range 16 {
		ids = append(ids, begin(t, []string{a, b}[i%2], "2025-11-25"))
	}
	for round := range 3 {
		for i, id := range ids {
			served([]string{a, b}[(i+round)%2], id)
		}
	}
	c := replica() // this replica has never seen the sessions
	for _, id := range ids {
		served(c, id)
	}
	if res, body := send(t, c, call{header: "Mcp-Session-Id: " + ids[3], body: `{"jsonrpc":"2.0","id":6,"method":"tools/list"}`}); res.StatusCode != 200 || !strings.Contains(body, "echo") {
		t.Errorf("a message that the SDK answers gets %d %s", res.StatusCode, body)
	}
	d := replica()
	unknown := ask(d, "AAAA", "ann")
	changed := []byte(ids[0])
	changed[len(changed)/2] ^= 1
	for name, got := range map[string]string{"changed": ask(d, string(changed), "ann"), "another principal": ask(d, ids[0], "bob"), "another, where it is begun": ask(c, ids[0], "bob")} {
		if got != unknown || !strings.HasPrefix(got, "404") {
			t.Errorf("%s: %s, want %s", name, got, unknown)
		}
	}
	if res, body := send(t, d, call{method: "DELETE", header: "Mcp-Session-Id: " + ids[1]}); res.StatusCode >= 300 {
		t.Errorf("its end: %d %s", res.StatusCode, body)
	}
	for _, url := range []string{d, replica()} {
		if got := ask(url, ids[1], "ann"); got != unknown {
			t.Errorf("an ended session: %s, want %s", got, unknown)
		}
	}
	e, done := replica(), make(chan struct{})
	for range 8 { // concurrently
		go func() {
			defer func() { done <- struct{}{} }()
			served(e, ids[4])
		}()
	}
	for range 8 {
		<-done
	}
}
