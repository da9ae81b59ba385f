package mcp_test

import (
	"bufio"
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/mcp"
	"github.com/bailiwick-dev/bailiwick/tool"
)

// TestStream checks a conversation over standard input and output. Invalid messages must be answered with errors, and
// the conversation must continue.
func TestStream(t *testing.T) {
	s, _ := start(t, mcp.Options{})
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- s.ServeStream(t.Context(), identity.Principal{ID: "stdio"}, in, out) }()
	lines := bufio.NewScanner(fromServer)
	for _, c := range []struct{ say, want string }{
		{`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`,
			`{"jsonrpc":"2.0","id":0,"result":{"capabilities":{"tools":{"listChanged":true}},"protocolVersion":"2025-11-25","serverInfo":{"name":"bailiwick","title":"Bailiwick","version":"0.0.0"}}}`},
		{`{"jsonrpc":`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error","data":{"detail":"not valid JSON: it ends too early","pointer":"/jsonrpc"}}}`},
		{`{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error","data":{"detail":"not valid JSON: the key \"id\" appears twice in one object","pointer":"/id"}}}`},
		{`[]`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid Request: a batch has 1 to 50 messages"}}`},
		{`[` + ping + `]`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid Request: one message a line"}}`},
		{`{"jsonrpc":"2.0","id":3,"method":"drop"}`, `{"jsonrpc":"2.0","id":3,"error":{"code":-32601,"message":"Method not found"}}`},
		{ping, `{"jsonrpc":"2.0","id":7,"result":{}}`},
		{`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"absent"}}`, `{"jsonrpc":"2.0","id":4,"error":{"code":-32602,"message":"unknown tool","data":{"error_code":"unknown_tool"}}}`},
	} {
		if _, err := io.WriteString(toServer, c.say+"\n"); err != nil {
			t.Fatal(err)
		}
		if !lines.Scan() {
			t.Fatal(lines.Err())
		}
		if diff := cmp.Diff(c.want, lines.Text()); diff != "" {
			t.Errorf("%s: %s", c.say, diff)
		}
	}
	if _, err := io.WriteString(toServer, `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"echo","arguments":{"n":9007199254740993}}}`+"\n"); err != nil {
		t.Fatal(err)
	}
	if lines.Scan(); !strings.Contains(lines.Text(), `"structuredContent":{"who":"stdio","args":{"n":9007199254740993}}`) {
		t.Error(lines.Text())
	}
	toServer.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestStreamClient checks that the SDK's own client works over streams and can cancel a call, in both protocol
// generations.
func TestStreamClient(t *testing.T) {
	for _, version := range []string{"2026-07-28", "2025-11-25"} {
		w, sh := &waits{}, &shelf{}
		sh.put("wait", tool.Query, w.handle)
		sh.put("echo", tool.Custom, echo)
		s, _ := start(t, mcp.Options{Tools: sh})
		in, toServer := io.Pipe()
		fromServer, out := io.Pipe()
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- s.ServeStream(ctx, identity.Principal{ID: "stdio"}, in, out) }()
		c := sdk.NewClient(&sdk.Implementation{Name: "sdk", Version: "1"}, nil)
		session, err := c.Connect(t.Context(), &sdk.IOTransport{Reader: fromServer, Writer: toServer}, &sdk.ClientSessionOptions{ProtocolVersion: version})
		if err != nil {
			t.Fatal(version, err)
		}
		if res, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "echo"}); err != nil || res.IsError {
			t.Error(version, res, err)
		}
		short, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
		if _, err := session.CallTool(short, &sdk.CallToolParams{Name: "wait"}); err == nil {
			t.Error(version, "no error")
		}
		stop()
		waitFor(t, "the cancellation", func() bool { return w.cancelled.Load() == 1 })
		cancel()
		if err := <-ended; err != nil {
			t.Error(version, err)
		}
		out.Close()
		session.Close()
	}
}

// TestStreamLineTooLong checks a line that is too long. The start of the next message is then unknown, so the
// conversation must end.
func TestStreamLineTooLong(t *testing.T) {
	s, _ := start(t, mcp.Options{MaxBody: 70 << 10})
	var out strings.Builder
	if err := s.ServeStream(t.Context(), identity.Principal{ID: "stdio"}, strings.NewReader(strings.Repeat("x", 80<<10)), &out); err != nil {
		t.Error(err)
	}
	const want = `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Request exceeds 71680 bytes"}}` + "\n"
	if out.String() != want {
		t.Error(out.String())
	}
}

// TestStreamEndsCalls checks that the end of the conversation also ends its calls.
func TestStreamEndsCalls(t *testing.T) {
	w, sh := &waits{}, &shelf{}
	sh.put("wait", tool.Query, w.handle)
	s, _ := start(t, mcp.Options{Tools: sh})
	in, toServer := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.ServeStream(ctx, identity.Principal{ID: "stdio"}, in, io.Discard) }()
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait"}}`,
	} {
		if _, err := io.WriteString(toServer, line+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	waitFor(t, "the call", func() bool { return w.started.Load() == 1 })
	cancel()
	select {
	case err := <-ended:
		if err != nil || w.cancelled.Load() != 1 {
			t.Error(err, w.cancelled.Load())
		}
	case <-time.After(5 * time.Second):
		t.Fatal("the call keeps the conversation from ending")
	}
}
