package mcp

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bailiwick-dev/bailiwick/problem"
)

// addRaw adds a tool of the Extension. Its calls are admitted here around the handler, and not in the middleware. If
// a tool asks the client for input in a session, the SDK runs the handler twice within one pass of the middleware.
func (s *Server) addRaw(t *sdk.Tool, h sdk.ToolHandler) {
	s.raw.Store(t.Name, nil)
	s.sdk.AddTool(t, func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		x := exchangeOf(req)
		if x == nil {
			return nil, errInternal()
		}
		binding := binding{Principal: x.who.ID, Tool: t.Name, Arguments: digest(req.Params.Arguments)}
		if box := req.Params.RequestState; box != "" {
			plain, ok, err := s.states.Open(ctx, box, binding)
			if err != nil {
				s.log.ErrorContext(ctx, "requestState could not be used", "tool", t.Name, "principal", x.who.ID, "correlation_id", x.correlation, "error", err)
				return nil, errInternal()
			}
			if !ok {
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "invalid requestState"}
			}
			p := *req.Params
			p.RequestState = plain
			req = &sdk.CallToolRequest{Session: req.Session, Params: &p, Extra: req.Extra}
		}
		// The admission runs the handler, so that limits and the audit record cover it.
		var res *sdk.CallToolResult
		var failure error
		err := s.options.Tools.Admit(ctx, x.who, t.Name, func(ctx context.Context) (int, error) {
			defer func() {
				if p := recover(); p != nil {
					s.logPanic(ctx, x, p)
					res, failure = nil, errInternal()
				}
			}()
			if res, failure = h(ctx, req); failure != nil {
				return 0, failure
			}
			b, err := json.Marshal(res)
			return len(b), err
		})
		if failure != nil {
			return nil, failure
		}
		if err != nil {
			return s.refusedRaw(ctx, x, t.Name, err)
		}
		if res.RequestState != "" {
			res.RequestState = s.states.Seal(res.RequestState, binding)
		}
		return res, nil
	})
}

// refusedRaw answers a call that was refused.
func (s *Server) refusedRaw(ctx context.Context, x *exchange, name string, err error) (*sdk.CallToolResult, error) {
	out := s.errorOutcome(ctx, x, asked{name: name}, problem.Of(err))
	res, err := out.forSDK("") // the SDK sets the type itself
	if err != nil {
		return nil, err
	}
	return res.(*sdk.CallToolResult), nil
}
