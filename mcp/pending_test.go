package mcp_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/mcp"
)

// TestStreamAtOnce checks a client that writes all its messages at once and closes the input. It must receive every
// answer.
func TestStreamAtOnce(t *testing.T) {
	const say = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{}}}
{"jsonrpc":"2.0","id":2,"method":"ping"}
`
	for range 20 { // a race would occur only sometimes
		s, _ := start(t, mcp.Options{})
		var out bytes.Buffer
		if err := s.ServeStream(t.Context(), identity.Principal{ID: "stdio"}, strings.NewReader(say), &out); err != nil {
			t.Fatal(err)
		}
		var got []string
		for line := range strings.Lines(out.String()) {
			got = append(got, line[:min(len(line), 33)])
		}
		slices.Sort(got)
		want := []string{`{"jsonrpc":"2.0","id":0,"result":`, `{"jsonrpc":"2.0","id":1,"result":`, `{"jsonrpc":"2.0","id":2,"result":`}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff, out.String())
		}
	}
}
