// Package client speaks MCP with a gateway: it calls tools, renders prompts, reads resources and sends any other request.
//
// It is on the asker's side and knows words alone. It speaks the protocol of 2026-07-28, where each request is complete in
// itself, so requests run side by side and their results keep every digit. It refuses to carry a token to another address
// than the one it was given for.
package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync/atomic"

	"github.com/bailiwick-dev/bailiwick/problem"
)

// Version is the version of MCP that a Client speaks.
const Version = "2026-07-28"

// maxMessage bounds one message of the gateway, in bytes.
const maxMessage = 64 << 20

// A Client sends requests to a gateway. Its methods may be called side by side.
type Client struct {
	transport    transport
	version      string // of the calling program
	last         atomic.Int64
	instructions string
}

// A transport carries one request and returns the response to it.
type transport interface {
	roundTrip(context.Context, request) (response, error)
	Close() error
}

// A request is one JSON-RPC request. name is the tool, prompt or resource that params name; "" for none.
type request struct {
	id           int64
	method, name string
	body         []byte
}

// A response is one JSON-RPC response, as it was written.
type response struct {
	ID     json.RawMessage `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  *RPCError       `json:"error"`
}

// An RPCError is an error of the protocol: a method or tool that does not exist, parameters that do not fit.
type RPCError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// Error returns the message.
func (e *RPCError) Error() string { return e.Message }

// codeInvalidParams is what JSON-RPC says of parameters that do not fit, and MCP of an unknown tool.
const codeInvalidParams = -32602

// Dial connects to the gateway at u, whose path ends in /mcp, with a token; "" for none. version is that of the calling
// program.
func Dial(ctx context.Context, u *url.URL, token, version string) (*Client, error) {
	t := &overHTTP{url: u, token: token, client: &http.Client{
		// The token is for this address alone.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	return discover(ctx, t, version)
}

// Stream connects to a gateway over a pair of streams: responses come from in, requests go to out. Close closes both.
func Stream(ctx context.Context, in io.ReadCloser, out io.WriteCloser, version string) (*Client, error) {
	return discover(ctx, newStream(in, out), version)
}

// discover asks the gateway what it is, so that a wrong address or token shows before the first call.
func discover(ctx context.Context, t transport, version string) (*Client, error) {
	c := &Client{transport: t, version: version}
	result, err := c.Dispatch(ctx, "server/discover", nil)
	if err != nil {
		if rpc, ok := errors.AsType[*RPCError](err); ok {
			err = fmt.Errorf("the server does not speak MCP %s: %s", Version, rpc.Message)
		}
		return nil, errors.Join(err, t.Close())
	}
	var about struct {
		Instructions string `json:"instructions"`
	}
	if err := json.Unmarshal(result, &about); err != nil {
		return nil, errors.Join(fmt.Errorf("read what the gateway says of itself: %w", err), t.Close())
	}
	c.instructions = about.Instructions
	return c, nil
}

// Close ends the connection.
func (c *Client) Close() error { return c.transport.Close() }

// Instructions returns what the gateway says to models about its tools; "" for nothing.
func (c *Client) Instructions() string { return c.instructions }

// Dispatch sends a request and returns its result as the gateway wrote it. params is a JSON object; nil is an empty one.
// An error of the protocol is an *RPCError.
func (c *Client) Dispatch(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	members := map[string]json.RawMessage{}
	if len(params) > 0 {
		if err := json.Unmarshal(params, &members); err != nil {
			return nil, problem.New(problem.InvalidArgument, "the parameters of "+method+" must be a JSON object")
		}
	}
	var named struct{ Name, URI string }
	_ = json.Unmarshal(params, &named) // members of other types name nothing
	var err error
	if members["_meta"], err = c.meta(members["_meta"]); err != nil {
		return nil, err
	}
	r := request{id: c.last.Add(1), method: method}
	switch method {
	case "tools/call", "prompts/get":
		r.name = named.Name
	case "resources/read":
		r.name = named.URI
	}
	if r.body, err = json.Marshal(map[string]any{"jsonrpc": "2.0", "id": r.id, "method": method, "params": members}); err != nil {
		return nil, fmt.Errorf("encode the request: %w", err)
	}
	res, err := c.transport.roundTrip(ctx, r)
	if err != nil {
		return nil, err
	}
	if res.Error != nil {
		return nil, res.Error
	}
	return res.Result, nil
}

// meta adds to given what every request says of its client.
func (c *Client) meta(given json.RawMessage) (json.RawMessage, error) {
	meta := map[string]any{}
	if len(given) > 0 {
		if err := json.Unmarshal(given, &meta); err != nil {
			return nil, problem.New(problem.InvalidArgument, "_meta must be a JSON object")
		}
	}
	meta["io.modelcontextprotocol/protocolVersion"] = Version
	meta["io.modelcontextprotocol/clientCapabilities"] = struct{}{}
	meta["io.modelcontextprotocol/clientInfo"] = map[string]string{"name": "bailiwick-cli", "title": "Bailiwick command line", "version": c.version}
	return json.Marshal(meta)
}

// explain says why there is no gateway at u. status is that of its answer, 0 without one.
func explain(u *url.URL, hasToken bool, status int, err error) error {
	at := u.Redacted()
	var dialing *net.OpError
	switch {
	case status == http.StatusUnauthorized && !hasToken:
		return &problem.Error{Code: problem.Unauthorized, Detail: "the gateway at " + at + " wants a token"}
	case status == http.StatusUnauthorized:
		return &problem.Error{Code: problem.Unauthorized, Detail: "the gateway at " + at + " does not accept this token: it is unknown, expired, revoked, or not for this address"}
	case errors.As(err, &dialing) && dialing.Op == "dial":
		return fmt.Errorf("no gateway answers at %s: %v", at, dialing.Err)
	case status != 0:
		return fmt.Errorf("there is no gateway at %s: it answers with HTTP status %d", at, status)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("the gateway at %s did not answer in time: %w", at, context.DeadlineExceeded)
	case errors.Is(err, context.Canceled):
		return context.Canceled
	}
	return fmt.Errorf("no conversation with the gateway at %s: %w", at, err)
}
