package mcp_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/mcp"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
)

// TestIdentityComesFromTheCredential checks that nothing an agent sends changes its identity. It makes each attempt
// on all paths of a call: without the SDK, through the SDK without sessions, and through the SDK with sessions.
func TestIdentityComesFromTheCredential(t *testing.T) {
	ann := identity.Principal{ID: "token:ann", Kind: identity.Agent, Owner: "ann", Tenant: "acme", Scopes: []identity.Scope{identity.Read},
		Claims: value.OfObject([]value.Member{{Name: "region", Value: value.OfString("eu")}})}
	var mu sync.Mutex
	var seen []string
	s := &shelf{}
	s.put("whoami", tool.Query, func(_ context.Context, p identity.Principal, _ tool.Request) (tool.Result, error) {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, fmt.Sprintf("%+v", p))
		return tool.Result{Text: "seen"}, nil
	})
	_, url := start(t, mcp.Options{Tools: s, Tokens: tokens{"ann": ann, "bob": {ID: "token:bob", Tenant: "globex", Scopes: []identity.Scope{identity.Read}}}})
	const members = `"principal":{"id":"token:bob","tenant":"globex","scopes":["operator"]},"tenant":"globex","tenant_id":"globex","org_id":"globex","owner":"bob","user":"bob",` +
		`"userId":"bob","sub":"bob","scopes":["operator"],"scope":"operator","claims":{"region":"us"},"region":"us","token":"bob","authorization":"Bearer bob",` +
		`"bailiwick/principal":"token:bob","bailiwick/tenant":"globex","io.modelcontextprotocol/principal":"token:bob","parent":"token:bob","depth":3,` +
		`"filters":{"default":{"$cel":"true"}},"classes":{"only":["vaults"]},"tools":{"only":["secret"]}`
	const headers = "\nX-User: bob\nX-User-Id: bob\nX-Forwarded-User: bob\nX-Tenant: globex\nX-Tenant-Id: globex\nX-MCP-Tenant: globex\nX-Org-Id: globex\nX-Scopes: operator" +
		"\nX-Claims: {\"region\":\"us\"}\nX-Region: us\nX-Auth-Request-User: bob\nX-Remote-User: bob\nRemote-User: bob\nFrom: bob\nCookie: token=bob; tenant=globex; session=bob" +
		"\nForwarded: for=10.0.0.1;by=bob\nX-MCP-Principal: token:bob\nProxy-Authorization: Bearer bob"
	const query = "/mcp?token=bob&access_token=bob&api_key=bob&tenant=globex&principal=token:bob&path=" // send appends the rest of the path
	versions := map[string]string{"2025-11-25": begin(t, url, "2025-11-25"), "2025-06-18": begin(t, url, "2025-06-18")}
	calls := 0
	try := func(what, address string, c call) {
		t.Helper()
		calls++
		if res, body := send(t, address, c); res.StatusCode != 200 || len(seen) != calls {
			t.Fatalf("%s: %s %s", what, res.Status, body)
		}
	}
	for _, w := range []struct{ what, args, meta, headers, query string }{
		{"nothing", "", "", "", ""},
		{"arguments", members, "", "", ""},
		{"arguments within", `"arguments":{` + members + `},"_meta":{` + members + `}`, "", "", ""},
		{"_meta", "", members, "", ""},
		{"headers", "", "", headers, ""},
		{"query", "", "", "", query},
		{"all", members, members, headers, query},
	} {
		address := url + w.query
		for _, progress := range []string{"", `"progressToken":"p"`} { // with a progress token, the SDK serves the call
			meta := strings.Trim(w.meta+","+progress, ",")
			c := modern("whoami", w.args, meta)
			c.header += w.headers
			try(w.what+", 2026-07-28"+progress, address, c)
		}
		for version, session := range versions {
			c := legacy(session, version, "whoami", w.args, w.meta)
			c.header += w.headers
			try(w.what+", "+version, address, c)
		}
	}
	for i, who := range seen {
		if want := fmt.Sprintf("%+v", ann); who != want {
			t.Errorf("call %d came from %s, want %s", i, who, want)
		}
	}
}
