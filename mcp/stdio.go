package mcp

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/wire"
)

// ServeStdio serves the principal p over standard input and output until the input or ctx ends.
func (s *Server) ServeStdio(ctx context.Context, p identity.Principal) error {
	return s.ServeStream(ctx, p, os.Stdin, os.Stdout)
}

// ServeStream serves a principal over two streams with one JSON message per line. It ends when ctx or the input ends.
// It then closes the input if it is an io.Closer.
func (s *Server) ServeStream(ctx context.Context, principal identity.Principal, in io.Reader, out io.Writer) error {
	p := &pipe{s: s, who: principal, in: in, out: out, messages: make(chan jsonrpc.Message), done: make(chan struct{})}
	p.open, p.gone = context.WithCancel(context.Background())
	session, err := s.sdk.Connect(ctx, p, nil)
	if err != nil {
		return fmt.Errorf("connecting the streams: %w", err)
	}
	// End the calls first, because the SDK waits for them before it closes anything.
	stopClosed := context.AfterFunc(s.closed, p.gone)
	defer stopClosed()
	stop := context.AfterFunc(ctx, func() {
		p.gone()
		session.Close()
	})
	defer stop()
	if err := session.Wait(); err != nil && !errors.Is(err, io.EOF) && ctx.Err() == nil {
		return fmt.Errorf("serving the streams: %w", err)
	}
	return nil
}

// A pipe is the SDK's connection over streams. It replaces the SDK's own connection, which has three problems. That
// one ends at the first line that isn't JSON, accepts messages that parsers read differently, and has no place for a
// principal.
type pipe struct {
	s    *Server
	who  identity.Principal
	in   io.Reader
	open context.Context    // ends with the pipe
	gone context.CancelFunc // ends open

	messages chan jsonrpc.Message
	done     chan struct{} // closed when the input has ended and its calls are answered
	calls    wire.Pending
	closing  sync.Once

	mu  sync.Mutex
	out io.Writer
}

// Connect implements [mcp.Transport].
func (p *pipe) Connect(context.Context) (sdk.Connection, error) {
	go p.read()
	return p, nil
}

// SessionID implements [mcp.Connection].
func (p *pipe) SessionID() string { return "" }

// read reads lines until the end of the input.
func (p *pipe) read() {
	defer close(p.done)
	lines := bufio.NewScanner(p.in)
	lines.Buffer(make([]byte, 0, 64<<10), int(p.s.options.MaxBody))
	for lines.Scan() {
		if len(lines.Bytes()) == 0 {
			continue
		}
		m, f, id := p.decode(append([]byte(nil), lines.Bytes()...))
		if f != nil {
			// If the peer has disconnected, the next Write of the SDK will fail.
			_ = p.write(f.Append(nil, id))
			continue
		}
		req, counted := counts(m)
		if counted {
			p.calls.Add()
		}
		select {
		case p.messages <- m:
		case <-p.open.Done():
			return
		}
		if counted && req.Method == "initialize" {
			// The SDK handles messages concurrently, so the next message could overtake this one.
			p.calls.Settle(p.open, p.s.options.ShutdownTimeout)
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		// After this error, the start of the next message is unknown.
		_ = p.write(wire.Invalid(fmt.Sprintf("Request exceeds %d bytes", p.s.options.MaxBody)).Append(nil, ""))
	}
	// A client may send all its messages and then close the input. It still waits for the answers, which the SDK
	// would drop.
	p.calls.Settle(p.open, p.s.options.ShutdownTimeout)
}

// decode parses one line as one message and attaches the principal.
func (p *pipe) decode(line []byte) (jsonrpc.Message, *wire.RPCFault, string) {
	messages, batch, f := wire.Read(line, p.s.options.MaxDepth)
	switch {
	case f != nil && len(messages) == 1:
		return nil, f, messages[0].ID
	case f != nil:
		return nil, f, ""
	case batch:
		return nil, wire.Invalid("Invalid Request: one message a line"), ""
	}
	m, err := jsonrpc.DecodeMessage(line)
	if err != nil {
		return nil, wire.Invalid("Invalid Request: " + err.Error()), messages[0].ID
	}
	if req, ok := m.(*jsonrpc.Request); ok {
		x := &exchange{who: p.who, message: &messages[0], gone: p.open, operation: p.s.operation(nil, &messages[0]), correlation: correlationOf(nil, &messages[0])}
		if x.correlation == "" {
			x.correlation = newCorrelation()
		}
		info, _ := x.tokenInfo() // a pipe has only one session
		req.Extra = &sdk.RequestExtra{TokenInfo: info}
	}
	return m, nil, ""
}

// counts returns m as a request, and whether it is a call that will be answered soon.
func counts(m jsonrpc.Message) (*jsonrpc.Request, bool) {
	req, ok := m.(*jsonrpc.Request)
	return req, ok && req.IsCall() && req.Method != listenMethod
}

// Read implements [mcp.Connection].
func (p *pipe) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case m := <-p.messages:
		return m, nil
	case <-p.done:
		return nil, io.EOF
	case <-p.open.Done():
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Write implements [mcp.Connection].
func (p *pipe) Write(_ context.Context, m jsonrpc.Message) error {
	if _, ok := m.(*jsonrpc.Response); ok {
		defer p.calls.Done()
	}
	b, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return fmt.Errorf("encoding a message: %w", err)
	}
	return p.write(b)
}

func (p *pipe) write(line []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, err := p.out.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("writing a message: %w", err)
	}
	return nil
}

// Close implements [mcp.Connection].
func (p *pipe) Close() error {
	var err error
	p.closing.Do(func() {
		p.gone()
		if c, ok := p.in.(io.Closer); ok {
			err = c.Close()
		}
	})
	return err
}
