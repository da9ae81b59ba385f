package mcp_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/mcp"
	"github.com/bailiwick-dev/bailiwick/problem"
)

const ping = `{"jsonrpc":"2.0","id":7,"method":"ping"}`

// TestDoor checks the exact responses to requests that the transport refuses.
func TestDoor(t *testing.T) {
	_, url := start(t, mcp.Options{MaxBody: 3000, AllowedOrigins: []string{"https://app.example"}})
	const unauthorized = `{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Unauthorized"}}`
	refused := func(message string) string {
		return `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"` + message + `"}}`
	}
	unread := func(detail, pointer string) string {
		if pointer != "" {
			pointer = `,"pointer":"` + pointer + `"`
		}
		return `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error","data":{"detail":"` + detail + `"` + pointer + `}}}`
	}
	deep := strings.Repeat("[", 21) + strings.Repeat("]", 21)
	for _, c := range []struct {
		name string
		call
		status int
		want   string
	}{
		{"method", call{method: "PUT", body: ping}, 405, refused("Method Not Allowed")},
		{"GET in the new protocol", call{method: "GET", header: "Mcp-Protocol-Version: 2026-07-28"}, 405, refused("Method Not Allowed")},
		{"GET without a session", call{method: "GET"}, 400, refused("Invalid Request: Mcp-Session-Id is missing")},
		{"media type", call{header: "-Content-Type\nContent-Type: text/plain", body: ping}, 415, refused("Content-Type must be application/json")},
		{"form", call{header: "-Content-Type\nContent-Type: application/x-www-form-urlencoded", body: ping}, 415, refused("Content-Type must be application/json")},
		{"size", call{body: `"` + strings.Repeat("x", 3000) + `"`}, 413, refused("Request body exceeds 3000 bytes")},
		{"empty", call{}, 400, unread("not valid JSON: it ends too early", "")},
		{"duplicate key in place", call{body: `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":{"b":1,"b":2}}}`}, 400, unread(`not valid JSON: the key \"b\" appears twice in one object`, "/params/a/b")},
		{"no JSON", call{body: `{"jsonrpc":`}, 400, "-32700"},
		{"duplicate key", call{body: `{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}`}, 400, "-32700"},
		{"deep duplicate key", call{body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"n":1,"n":2}}}`}, 400, "-32700"},
		{"second document", call{body: ping + ping}, 400, "-32700"},
		{"NUL", call{body: `{"jsonrpc":"2.0","id":"\u0000","method":"ping"}`}, 400, "-32700"},
		{"lone surrogate", call{body: `{"jsonrpc":"2.0","id":"\ud800","method":"ping"}`}, 400, "-32700"},
		{"not UTF-8", call{body: "{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"ping\"}"}, 400, "-32700"},
		{"depth", call{body: deep}, 400, "-32700"},
		{"empty batch", call{body: `[]`}, 400, refused("Invalid Request: a batch has 1 to 50 messages")},
		{"long batch", call{body: "[" + ping + strings.Repeat(","+ping, 50) + "]"}, 400, refused("Invalid Request: a batch has 1 to 50 messages")},
		{"no object", call{body: `7`}, 400, refused("Invalid Request: a message is an object")},
		{"version", call{body: `{"id":1,"method":"ping"}`}, 400, `{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"Invalid Request: jsonrpc is \"2.0\""}}`},
		{"id", call{body: `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`}, 400, refused("Invalid Request: id is a string or an integer within ±(2^53-1)")},
		{"null id", call{body: `{"jsonrpc":"2.0","id":null,"method":"ping"}`}, 400, refused("Invalid Request: id is a string or an integer within ±(2^53-1)")},
		{"rounded id", call{body: `{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`}, 400, refused("Invalid Request: id is a string or an integer within ±(2^53-1)")},
		{"no method", call{body: `{"jsonrpc":"2.0","id":1}`}, 400, `{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"Invalid Request: a message has a method, or an id with a result or an error"}}`},
		{"unknown method", call{header: "Mcp-Protocol-Version: 2026-07-28", body: `{"jsonrpc":"2.0","id":"a","method":"tools/drop"}`}, 404, `{"jsonrpc":"2.0","id":"a","error":{"code":-32601,"message":"Method not found"}}`},
		{"unknown method, older", call{body: `{"jsonrpc":"2.0","id":"a","method":"tools/drop"}`}, 200, `{"jsonrpc":"2.0","id":"a","error":{"code":-32601,"message":"Method not found"}}`},
		{"params", call{body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}`}, 200, `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid params: params is an object"}}`},
		{"arguments", call{body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":[1]}}`}, 200, `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid params: arguments is an object"}}`},
		{"no session", call{body: `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`}, 400, `{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"Invalid Request: Mcp-Session-Id is missing"}}`},
		{"unknown session", call{header: "Mcp-Session-Id: AAAA", body: ping}, 404, `{"jsonrpc":"2.0","id":7,"error":{"code":-32600,"message":"Session not found"}}`},
		{"no form that is offered", call{header: "-Accept\nAccept: text/html, application/json;q=0", body: ping}, 406, `{"jsonrpc":"2.0","id":7,"error":{"code":-32600,"message":"Not Acceptable: Accept must allow application/json or text/event-stream"}}`},
		{"a subscription as JSON", call{header: "-Accept\nAccept: application/json", body: `{"jsonrpc":"2.0","id":7,"method":"subscriptions/listen"}`}, 406, `{"jsonrpc":"2.0","id":7,"error":{"code":-32600,"message":"Not Acceptable: Accept must allow text/event-stream, in which subscriptions are answered"}}`},
		{"no credential", call{header: "-Authorization", body: ping}, 401, unauthorized},
		{"wrong credential", call{header: "Authorization: Bearer eve", body: ping}, 401, unauthorized},
		{"wrong scheme", call{header: "Authorization: Basic YW5uOmFubg==", body: ping}, 401, unauthorized},
		{"wrong key", call{header: "-Authorization\nX-MCP-API-Key: eve", body: ping}, 401, unauthorized},
		{"two credentials", call{header: "X-MCP-API-Key: ann", body: ping}, 400, refused("Invalid Request: more than one credential")},
		{"two keys", call{header: "-Authorization\nX-MCP-API-Key: ann\nX-MCP-API-Key: ann", body: ping}, 400, refused("Invalid Request: more than one credential")},
		{"failing lookup", call{header: "Authorization: Bearer store-down", body: ping}, 500, `{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"Internal error"}}`},
		{"foreign origin", call{header: "Origin: https://evil.example", body: ping}, 403, refused("Forbidden: Origin")},
		{"foreign origin that reads", call{method: "GET", header: "Origin: https://evil.example"}, 403, refused("Forbidden: Origin")},
		{"foreign origin that ends", call{method: "DELETE", header: "Origin: https://evil.example"}, 403, refused("Forbidden: Origin")},
		{"null origin", call{header: "Origin: null", body: ping}, 403, refused("Forbidden: Origin")},
		{"two origins", call{header: "Origin: https://app.example\nOrigin: https://evil.example", body: ping}, 403, refused("Forbidden: Origin")},
		{"rebound host", call{header: "Host: evil.example", body: ping}, 403, refused("Forbidden: Host")},
		{"rebound host and origin", call{header: "Host: evil.example\nOrigin: http://evil.example", body: ping}, 403, refused("Forbidden: Host")},
	} {
		t.Run(c.name, func(t *testing.T) {
			res, body := send(t, url, c.call)
			if res.StatusCode != c.status {
				t.Errorf("status %d, want %d", res.StatusCode, c.status)
			}
			if body != c.want && (c.want != "-32700" || !strings.HasPrefix(body, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error","data":{"detail":`)) {
				t.Errorf("got  %s\nwant %s", body, c.want)
			}
			if got := res.Header.Get("Content-Type"); got != "application/json" {
				t.Errorf("Content-Type %q", got)
			}
		})
	}
}

// TestStoreGone checks a request whose credential can't be checked because the store fails. The response must be 503
// with the time for a retry.
func TestStoreGone(t *testing.T) {
	s, url := start(t, mcp.Options{})
	res, body := send(t, url, call{header: "Authorization: Bearer store-gone", body: ping})
	again := res.Header.Get("Retry-After")
	want := `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"The gateway can't reach its records now. Try again in ` + again +
		` seconds","data":{"error_code":"upstream_error","retryable":true,"retry_after":` + again + `}}}`
	if res.StatusCode != 503 || len(again) != 1 || again < "1" || again > "5" || body != want {
		t.Errorf("%d, Retry-After %q: %s, want %s", res.StatusCode, again, body, want)
	}
	r := httptest.NewRequest(http.MethodGet, url, nil)
	r.Header.Set("Authorization", "Bearer store-gone")
	if _, err := s.Identify(r); err == nil || !problem.Of(err).Store || !problem.Of(err).Retryable() {
		t.Errorf("another endpoint gets %v", err)
	}
}

// TestDoorLetsIn checks requests that the transport must accept.
func TestDoorLetsIn(t *testing.T) {
	_, url := start(t, mcp.Options{AllowedOrigins: []string{"https://app.example"}})
	port := url[strings.LastIndex(url, ":"):]
	for _, header := range []string{
		"", "-Authorization\nX-MCP-API-Key: ann", "Authorization: bearer ann",
		"Origin: https://app.example", "Host: localhost" + port, "Host: [::1]" + port,
		"Host: localhost" + port + "\nOrigin: http://localhost" + port,
		"-Content-Type\nContent-Type: application/json; charset=utf-8",
	} {
		c := modern("echo", "", "")
		c.header += "\n" + header
		if res, body := send(t, url, c); res.StatusCode != 200 {
			t.Errorf("%q: %s %s", header, res.Status, body)
		}
	}
}

func TestAllowedHosts(t *testing.T) {
	_, url := start(t, mcp.Options{AllowedHosts: []string{"mcp.example"}})
	for host, want := range map[string]int{"mcp.example": 200, "MCP.example:443": 200, "127.0.0.1": 403, "evil.example": 403} {
		c := modern("echo", "", "")
		c.header += "\nHost: " + host
		if res, _ := send(t, url, c); res.StatusCode != want {
			t.Errorf("%s: %d, want %d", host, res.StatusCode, want)
		}
	}
}

// TestUnauthorizedIsOneAnswer checks that the response to an invalid credential reveals nothing about tokens.
func TestUnauthorizedIsOneAnswer(t *testing.T) {
	_, url := start(t, mcp.Options{ResourceMetadata: "https://gate.example/.well-known/oauth-protected-resource"})
	var first string
	for _, header := range []string{"-Authorization", "Authorization: Bearer eve", "Authorization: Bearer", "Authorization: Negotiate x"} {
		res, body := send(t, url, call{header: header, body: ping})
		res.Header.Del("Date")
		var b strings.Builder
		if err := res.Header.Write(&b); err != nil {
			t.Fatal(err)
		}
		got := res.Status + "\n" + b.String() + body
		if first == "" {
			first = got
		}
		if got != first {
			t.Errorf("%q:\n%s\nwant\n%s", header, got, first)
		}
	}
	if !strings.Contains(first, `Www-Authenticate: Bearer resource_metadata="https://gate.example/.well-known/oauth-protected-resource"`) {
		t.Error(first)
	}
}

// TestAuthenticateHook checks that the embedding program can authenticate requests, and that its errors are hidden
// from clients.
func TestAuthenticateHook(t *testing.T) {
	s, url := start(t, mcp.Options{Challenge: `Basic realm="desk"`, Authenticate: func(r *http.Request) (identity.Principal, error) {
		switch r.Header.Get("X-User") {
		case "ann":
			return identity.Principal{ID: "host:ann"}, nil
		case "":
			return identity.Principal{}, problem.New(problem.Unauthorized, "no user")
		case "nobody":
			return identity.Principal{}, nil
		}
		return identity.Principal{}, errors.New("database is down")
	}})
	for user, want := range map[string]int{"ann": 200, "": 401, "nobody": 401, "x": 500} {
		c := modern("echo", "", "")
		if user != "" {
			c.header += "\nX-User: " + user
		}
		if res, body := send(t, url, c); res.StatusCode != want || strings.Contains(body, "database") {
			t.Errorf("%q: %s %s", user, res.Status, body)
		} else if got := res.Header.Get("WWW-Authenticate"); (got == `Basic realm="desk"`) != (want == 401) {
			t.Errorf("%q: the challenge is %q", user, got)
		}
	}
	if got := s.Challenge(); got != `Basic realm="desk"` {
		t.Errorf("the challenge of other endpoints is %q", got)
	}
}

// TestAnonymous checks requests from loopback. A request without a credential may be accepted, but a request with a
// wrong credential must be refused, and so must a request that a proxy passes on.
func TestAnonymous(t *testing.T) {
	_, url := start(t, mcp.Options{Anonymous: &identity.Principal{ID: "local"}})
	for header, want := range map[string]int{"-Authorization": 200, "Authorization: Bearer ann": 401,
		"-Authorization\nX-Forwarded-For: 127.0.0.1": 401, "-Authorization\nX-Forwarded-For: 192.0.2.1": 401, "-Authorization\nForwarded: for=192.0.2.1": 401,
		"-Authorization\nX-Real-IP: 192.0.2.1": 401, "-Authorization\nVia: 1.1 proxy": 401, "-Authorization\nX-Forwarded-Proto: https": 401} {
		c := modern("echo", "", "")
		c.header += "\n" + header
		if res, _ := send(t, url, c); res.StatusCode != want {
			t.Errorf("%s: %d, want %d", header, res.StatusCode, want)
		}
	}
}

func TestPlainPages(t *testing.T) {
	down := errors.New("store at 10.1.2.3 is down")
	var ready error
	_, url := start(t, mcp.Options{Ready: func(context.Context) error { return ready }})
	get := func(path, token string) string {
		r, err := http.NewRequestWithContext(t.Context(), "GET", url+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		b, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.Status + " " + string(b)
	}
	want := func(got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
	want(get("/healthz", ""), "200 OK ok\n")
	want(get("/readyz", ""), "200 OK ready\n")
	ready = down
	want(get("/readyz", ""), "503 Service Unavailable not ready\n")
	want(get("/tools", ""), `401 Unauthorized {"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Unauthorized"}}`)
	want(get("/tools", "bob"), "200 OK custom     echo                     Does echo.\n")
	want(get("/tools", "ann"), "200 OK custom     echo                     Does echo.\nquery      secret                   Does secret.\n")
}
