// Package client is an MCP client for a gateway. It calls tools, renders prompts, reads resources and sends any other
// request.
//
// It uses the protocol version 2026-07-28. Each request is self-contained, so requests may run concurrently. Results
// keep the exact digits of numbers. A token is sent only to the address for which it was given.
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

// Version is the MCP version of a Client.
const Version = "2026-07-28"

// maxMessage is the maximum size of a message from the gateway, in bytes.
const maxMessage = 64 << 20

// A Client sends requests to a gateway. It is safe for concurrent use.
type Client struct {
	transport    transport
	version      string // version of the calling program
	last         atomic.Int64
	instructions string
}

// A transport sends a request and returns its response.
type transport interface {
	roundTrip(context.Context, request) (response, error)
	Close() error
}

// A request is one JSON-RPC request. name is the tool, prompt or resource in params, or "".
type request struct {
	id           int64
	method, name string
	body         []byte
}

// A response is one JSON-RPC response.
type response struct {
	ID     json.RawMessage `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  *RPCError       `json:"error"`
}

// An RPCError is a protocol error, such as an unknown method or tool, or invalid parameters.
type RPCError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// Error returns the message.
func (e *RPCError) Error() string { return e.Message }

// codeInvalidParams is the JSON-RPC code for invalid parameters, which MCP also uses for an unknown tool.
const codeInvalidParams = -32602

// Dial connects to the gateway at u, whose path ends in /mcp. token may be "". version is the version of the calling
// program.
func Dial(ctx context.Context, u *url.URL, token, version string) (*Client, error) {
	t := &overHTTP{url: u, token: token, client: &http.Client{
		// The token must not be sent to another address.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	return discover(ctx, t, version)
}

// Stream connects to a gateway over a pair of streams. Responses are read from in, and requests are written to out.
// Close closes both.
func Stream(ctx context.Context, in io.ReadCloser, out io.WriteCloser, version string) (*Client, error) {
	return discover(ctx, newStream(in, out), version)
}

// discover requests the gateway's capabilities, so that a wrong address or token is found before the first call.
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

// Close closes the connection.
func (c *Client) Close() error { return c.transport.Close() }

// Instructions returns the gateway's instructions for models, or "" if there are none.
func (c *Client) Instructions() string { return c.instructions }

// Dispatch sends a request and returns the exact result. params is a JSON object. Nil means an empty object. A
// protocol error is an *RPCError.
func (c *Client) Dispatch(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	members := map[string]json.RawMessage{}
	if len(params) > 0 {
		if err := json.Unmarshal(params, &members); err != nil {
			return nil, problem.New(problem.InvalidArgument, "the parameters of "+method+" must be a JSON object")
		}
	}
	var named struct{ Name, URI string }
	_ = json.Unmarshal(params, &named) // members of other types are ignored
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

// meta returns given with the members that every request carries.
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

// explain returns an error with the reason why there is no gateway at u. status is the status of the response, or 0
// if there was none.
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
