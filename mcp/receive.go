package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/edge"
	"github.com/bailiwick-dev/bailiwick/internal/wire"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
)

// receive is the outermost receiving middleware of the SDK. Every request of every transport passes through it.
func (s *Server) receive(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (res sdk.Result, err error) {
		x := exchangeOf(req)
		ctx = s.begin(ctx, x, method)
		defer func() { // older protocols send errors with status 200
			if e, ok := errors.AsType[*jsonrpc.Error](err); ok && x != nil {
				edge.RefusedBecause(x.gone, cmp.Or(kinds[e.Code], "rpc_error"), x.correlation)
			}
		}()
		defer func() { s.reportEnd(ctx, x, wire.Failure(res, err)) }() // deferred first, so it runs last and sees the error that the recover below sets
		defer func() {
			// The SDK runs handlers in its own goroutines, where a panic would end the process.
			if p := recover(); p != nil {
				s.logPanic(ctx, x, p)
				res, err = nil, errInternal()
			}
		}()
		if x == nil {
			return nil, errInternal() // each transport sets an exchange, so this should not happen
		}
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		stop := context.AfterFunc(x.gone, cancel)
		defer stop()

		switch r := req.(type) {
		case *sdk.ListToolsRequest:
			return s.listTools(ctx, x, r, next)
		case *sdk.CallToolRequest:
			if _, ok := s.raw.Load(r.Params.Name); !ok || !x.who.Tools.Allows(r.Params.Name) { // the same answer for hidden and missing tools
				return s.callTool(ctx, x, r)
			}
		}
		if s.options.Prompts != nil {
			if res, done, err := s.answerPrompts(ctx, x, req, next); done {
				return res, s.mask(ctx, x, method, err)
			}
			if err := s.watch(ctx, x, req); err != nil {
				return nil, s.mask(ctx, x, method, err)
			}
		}
		res, err = next(ctx, method, req)
		return s.guide(x.who, res), s.mask(ctx, x, method, err)
	}
}

// guide sets the instructions for the principal who in the answer to initialize or server/discover.
func (s *Server) guide(who identity.Principal, res sdk.Result) sdk.Result {
	if s.options.Guide == nil {
		return res
	}
	switch r := res.(type) {
	case *sdk.InitializeResult:
		if r != nil {
			c := *r
			c.Instructions = s.options.Guide(who)
			return &c
		}
	case *sdk.DiscoverResult:
		if r != nil {
			c := *r
			c.Instructions = s.options.Guide(who)
			return &c
		}
	}
	return res
}

// mask hides all errors except JSON-RPC errors from the client, because the text of other errors may contain
// anything.
func (s *Server) mask(ctx context.Context, x *exchange, method string, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return err
	}
	if method == "initialize" {
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "Invalid Request: " + err.Error()}
	}
	if ctx.Err() == nil {
		s.log.ErrorContext(ctx, "request failed", "method", method, "principal", x.who.ID, "correlation_id", x.correlation, "error", err)
	}
	return errInternal()
}

func (s *Server) logPanic(ctx context.Context, x *exchange, p any) {
	correlation := ""
	if x != nil {
		correlation = x.correlation
	}
	s.log.ErrorContext(ctx, "panic in a handler", "correlation_id", correlation, "error", problem.PanicError(p).Err)
}

// metaTools is the member of a request's _meta that requests all tools with the value "full".
const metaTools = "dev.bailiwick/tools"

// listTools answers tools/list with the tools that the principal may call. It omits unlisted tools unless the request
// names a category or requests the full list.
func (s *Server) listTools(ctx context.Context, x *exchange, r *sdk.ListToolsRequest, next sdk.MethodHandler) (sdk.Result, error) {
	res := &sdk.ListToolsResult{Cacheable: sdk.Cacheable{CacheScope: "private"}, Tools: []*sdk.Tool{}}
	category, full := "", x.full
	if x.message != nil {
		c, _ := x.message.Params.Get("category")
		category = asText(c)
		full = full || x.message.Meta(metaTools).Text() == "full"
	}
	form := s.form(r.ClientInfo())
	all := s.options.Tools.List(x.who, category)
	listed := all
	if !full && category == "" {
		listed = slices.DeleteFunc(slices.Clone(all), func(t *tool.Tool) bool { return !t.ListedFor(x.who) })
	}
	for _, t := range all {
		s.categories.Store(t.Name, t.Category)
	}
	names := make(map[string]bool, len(listed))
	for _, t := range listed {
		names[t.Name] = true
	}
	for _, t := range listed {
		m := s.show(t, form)
		if said := tool.Advice(t.Description, func(name string) bool { return names[name] }); said != t.Description {
			c := *m
			c.Description, m = said, &c
		}
		if (full || category != "") && !t.ListedFor(x.who) {
			c := *m
			c.Meta, m = sdk.Meta{"category": string(t.Category), "listed": false}, &c
		}
		res.Tools = append(res.Tools, m)
	}
	if s.options.Extend.Mount == nil || category != "" {
		return res, nil
	}
	more, err := next(ctx, "tools/list", r)
	if err != nil {
		return nil, s.mask(ctx, x, "tools/list", err)
	}
	for _, t := range more.(*sdk.ListToolsResult).Tools {
		if _, ok := s.raw.Load(t.Name); ok && x.who.Tools.Allows(t.Name) {
			res.Tools = append(res.Tools, t)
		}
	}
	return res, nil
}

// show returns a tool in the form for the SDK's list. The schemas stay raw JSON, which makes listing five times as
// fast.
func (s *Server) show(t *tool.Tool, form Form) *sdk.Tool {
	v, ok := s.shown.Load(t)
	if !ok {
		a := t.Annotations
		m := &sdk.Tool{
			Meta: sdk.Meta{"category": string(t.Category)},
			Name: t.Name, Title: t.Title, Description: t.Description, InputSchema: brief(t.Input),
			Annotations: &sdk.ToolAnnotations{ReadOnlyHint: a.ReadOnly, IdempotentHint: a.Idempotent, OpenWorldHint: &a.OpenWorld},
		}
		if !a.ReadOnly { // a tool that only reads is never destructive
			m.Annotations.DestructiveHint = &a.Destructive
		}
		if t.Output != nil {
			m.OutputSchema = t.Output
		}
		v, _ = s.shown.LoadOrStore(t, m)
	}
	m := v.(*sdk.Tool)
	if form == Text && m.OutputSchema != nil {
		c := *m
		c.OutputSchema = nil // a tool with an output schema must return structured content
		return &c
	}
	return m
}

// cliName is the client name of Bailiwick's command line. It prints the text for people and the structured content
// for programs.
const cliName = "bailiwick-cli"

// form returns the parts of results to send to a client.
func (s *Server) form(client *sdk.Implementation) Form {
	forms, name := *s.results.Load(), ""
	if client != nil {
		name = client.Name
	}
	if f, ok := forms[name]; ok {
		return f
	}
	if name == cliName {
		return Both
	}
	return cmp.Or(forms[""], Text)
}

// callTool answers a tools/call of a registered tool.
func (s *Server) callTool(ctx context.Context, x *exchange, r *sdk.CallToolRequest) (sdk.Result, error) {
	args, err := s.arguments(x, r.Params.Arguments)
	if err != nil {
		return nil, err
	}
	beat := s.startHeartbeat(ctx, x, r.Session, r.Params.GetProgressToken())
	defer beat.stop()
	version := protocolVersion(r, r.Params.Meta)
	out := s.call(ctx, x, asked{
		name: r.Params.Name, args: args, form: s.form(r.ClientInfo()), progress: beat.report,
	})
	return out.forSDK(version)
}

// arguments returns a call's arguments as parsed by package value.
func (s *Server) arguments(x *exchange, raw json.RawMessage) (value.Value, error) {
	if x.message != nil {
		args, _ := x.message.Params.Get("arguments")
		return orEmpty(args), nil
	}
	if len(raw) == 0 {
		return orEmpty(value.Value{}), nil
	}
	v, err := value.Read(raw, s.options.MaxDepth)
	if err != nil {
		return value.Value{}, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "Invalid params: " + problem.Of(err).Detail}
	}
	return orEmpty(v), nil
}

func orEmpty(v value.Value) value.Value {
	if v.IsNull() {
		return value.OfObject(nil)
	}
	return v
}

// protocolVersion returns the protocol version of a request. A session stores only the version that its client
// offered. If the SDK doesn't know that version, it uses its newest version with sessions.
func protocolVersion(r interface{ ProtocolVersion() string }, meta sdk.Meta) string {
	v := r.ProtocolVersion()
	if strings.Compare(v, modernVersion) >= 0 && meta[sdk.MetaKeyProtocolVersion] == v {
		return v
	}
	if v >= modernVersion || !slices.Contains(sdk.SupportedProtocolVersions(), v) {
		return newestWithSessions
	}
	return v
}

const newestWithSessions = "2025-11-25"
