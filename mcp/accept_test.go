package mcp_test

import (
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/mcp"
)

// TestAccept sends requests of both protocol generations with the Accept headers that clients use. Clients that don't
// accept events must receive JSON.
func TestAccept(t *testing.T) {
	_, url := start(t, mcp.Options{})
	initialize := call{body: `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`}
	list := modern("", "", "")
	list.body = strings.Replace(list.body, "tools/call", "tools/list", 1)
	list.header = strings.Replace(strings.Replace(list.header, "Mcp-Method: tools/call", "Mcp-Method: tools/list", 1), "\nMcp-Name: ", "", 1)
	for name, asked := range map[string]call{"initialize": initialize, "tools/call": modern("echo", "", ""), "tools/list": list} {
		for _, accept := range []string{"", "*/*", "application/json", "application/*", "application/json, text/event-stream", "text/event-stream", "application/json; charset=utf-8", "text/event-stream;q=0, */*;q=0.1"} {
			for _, path := range []string{"", "/"} {
				c := asked
				c.header = strings.TrimPrefix(c.header+"\n-Accept", "\n")
				if accept != "" {
					c.header += "\nAccept: " + accept
				}
				res, body := send(t, url+path, c)
				form := res.Header.Get("Content-Type")
				if res.StatusCode != 200 || !strings.Contains(body, `"result":`) {
					t.Errorf("%s, Accept %q: %s %s", name, accept, res.Status, body)
				}
				if strings.HasPrefix(accept, "application/") && !strings.Contains(accept, "event") && form != "application/json" || form == "application/json" && !strings.HasPrefix(body, "{") {
					t.Errorf("%s, Accept %q: the answer is %s: %s", name, accept, form, body)
				}
			}
		}
	}
}
