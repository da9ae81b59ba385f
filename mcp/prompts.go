package mcp

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/edge"
	"github.com/bailiwick-dev/bailiwick/internal/wire"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/prompt"
)

// Prompts serves prompts, resources, and completions for both. It applies scopes, limits, policy and audit itself.
// Each method returns only items that the principal may see. Errors contain a *problem.Error.
type Prompts interface {
	// List returns the prompts that the principal may use.
	List(who identity.Principal) []*prompt.Prompt
	// Get returns a prompt. The error is UnknownTool for a prompt that is not in List.
	Get(ctx context.Context, who identity.Principal, r prompt.Request) (prompt.Result, error)
	// Complete completes an argument of a prompt or a variable of a template.
	Complete(ctx context.Context, who identity.Principal, r prompt.Completion) (prompt.Completed, error)
	// Resources returns a page of resources, starting at the cursor of the previous page.
	Resources(ctx context.Context, who identity.Principal, cursor, correlation string) (prompt.Page, error)
	// Templates returns the templates of the resources that the principal may read.
	Templates(who identity.Principal) []prompt.Template
	// Read returns the content of a resource. The error is NotFound for a resource that is not in Resources.
	Read(ctx context.Context, who identity.Principal, r prompt.Request) (prompt.Content, error)
	// Watch returns nil if the principal may subscribe to changes of these resources.
	Watch(ctx context.Context, who identity.Principal, uris []string, correlation string) error
}

// private forbids caches to share a response, because it depends on the principal.
func private() sdk.Cacheable { return sdk.Cacheable{CacheScope: "private"} }

// answerPrompts answers requests that Options.Prompts serves, and reports whether it did. The SDK answers requests
// for names that the Extension adds.
func (s *Server) answerPrompts(ctx context.Context, x *exchange, req sdk.Request, next sdk.MethodHandler) (res sdk.Result, done bool, err error) {
	switch r := req.(type) {
	case *sdk.ListPromptsRequest:
		res, err = s.listPrompts(ctx, x, r, next)
	case *sdk.GetPromptRequest:
		if s.extends(r.Params.Name, x) {
			return nil, false, nil
		}
		res, err = s.getPrompt(ctx, x, r)
	case *sdk.CompleteRequest:
		if ref := r.Params.Ref; ref != nil && (ref.Type == "ref/prompt" && s.extends(ref.Name, x) || ref.Type == "ref/resource" && s.foreign(ref.URI)) {
			return nil, false, nil
		}
		res, err = s.complete(ctx, x, r)
	case *sdk.ListResourcesRequest:
		res, err = s.listResources(ctx, x, r, next)
	case *sdk.ListResourceTemplatesRequest:
		res, err = s.listTemplates(ctx, x, r, next)
	case *sdk.ReadResourceRequest:
		if s.foreign(r.Params.URI) {
			return nil, false, nil
		}
		res, err = s.readResource(ctx, x, r)
	default:
		return nil, false, nil
	}
	return res, true, err
}

// extends reports whether a prompt that is not in Prompts may belong to the Extension.
func (s *Server) extends(name string, x *exchange) bool {
	ours := func(p *prompt.Prompt) bool { return p.Name == name }
	return s.options.Extend.Mount != nil && name != changedName && !slices.ContainsFunc(s.options.Prompts.List(x.who), ours)
}

// foreign reports whether a URI that is not in Prompts may belong to the Extension.
func (s *Server) foreign(uri string) bool {
	return s.options.Extend.Mount != nil && !strings.HasPrefix(uri, prompt.Scheme)
}

// listPrompts answers prompts/list with the prompts that the principal may use. It adds the prompts of the Extension,
// which next lists.
func (s *Server) listPrompts(ctx context.Context, x *exchange, r *sdk.ListPromptsRequest, next sdk.MethodHandler) (sdk.Result, error) {
	res := &sdk.ListPromptsResult{Cacheable: private(), Prompts: []*sdk.Prompt{}}
	for _, p := range s.options.Prompts.List(x.who) {
		shown := &sdk.Prompt{Name: p.Name, Title: p.Title, Description: p.Description}
		for _, a := range p.Arguments {
			shown.Arguments = append(shown.Arguments, &sdk.PromptArgument{Name: a.Name, Title: a.Title, Description: a.Description, Required: a.Required})
		}
		res.Prompts = append(res.Prompts, shown)
	}
	if s.options.Extend.Mount == nil {
		return res, nil
	}
	more, err := next(ctx, "prompts/list", r)
	if err != nil {
		return nil, err
	}
	for _, p := range more.(*sdk.ListPromptsResult).Prompts {
		if p.Name != changedName {
			res.Prompts = append(res.Prompts, p)
		}
	}
	return res, nil
}

// getPrompt answers prompts/get. It sends progress notifications while the prompt reads data. The cost is in _meta.
func (s *Server) getPrompt(ctx context.Context, x *exchange, r *sdk.GetPromptRequest) (sdk.Result, error) {
	beat := s.startHeartbeat(ctx, x, r.Session, r.Params.GetProgressToken())
	defer beat.stop()
	out, err := s.options.Prompts.Get(ctx, x.who, prompt.Request{
		Name: r.Params.Name, Arguments: r.Params.Arguments, Correlation: x.correlation, Progress: beat.report,
	})
	if err != nil {
		return nil, s.rpcError(ctx, x, "prompt:"+r.Params.Name, err)
	}
	res := &sdk.GetPromptResult{}
	if err := complete(res, protocolVersion(r, r.Params.Meta), `{"messages":[],"resultType":"complete"}`); err != nil {
		return nil, err
	}
	res.Description, res.Messages = out.Description, []*sdk.PromptMessage{}
	size := 0
	for _, m := range out.Messages {
		role := sdk.Role("user")
		if m.Agent {
			role = "assistant"
		}
		size += len(m.Text)
		res.Messages = append(res.Messages, &sdk.PromptMessage{Role: role, Content: &sdk.TextContent{Text: m.Text}})
	}
	res.Meta = cost(x, size)
	return res, nil
}

// complete sets the type of a result. MCP 2026-07-28 requires this type, and the SDK sets it only on results of its
// own handlers.
func complete(res any, version, empty string) error {
	if version < modernVersion {
		return nil
	}
	if err := json.Unmarshal([]byte(empty), res); err != nil {
		return errInternal()
	}
	return nil
}

// cost returns the _meta of a response of size bytes. It contains the estimated tokens and the correlation ID of the
// audit record.
func cost(x *exchange, size int) sdk.Meta {
	return sdk.Meta{"correlation_id": x.correlation, "est_tokens": (size + 3) / 4}
}

// complete answers completion/complete for an argument of a prompt or a variable of a resource template. The request
// contains the arguments that the user has already filled in.
func (s *Server) complete(ctx context.Context, x *exchange, r *sdk.CompleteRequest) (sdk.Result, error) {
	ask := prompt.Completion{Argument: r.Params.Argument.Name, Written: r.Params.Argument.Value, Correlation: x.correlation}
	switch ref := r.Params.Ref; {
	case ref == nil || ref.Name == "" && ref.URI == "":
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "Invalid params: ref is missing"}
	default:
		ask.Prompt, ask.Template = ref.Name, ref.URI
	}
	if r.Params.Context != nil {
		ask.Given = r.Params.Context.Arguments
	}
	out, err := s.options.Prompts.Complete(ctx, x.who, ask)
	if err != nil {
		return nil, s.rpcError(ctx, x, "completion", err)
	}
	values := append([]string{}, out.Values...)
	return &sdk.CompleteResult{Completion: sdk.CompletionResultDetails{Values: values, Total: out.Total, HasMore: out.Total > len(values)}}, nil
}

// rpcError returns the JSON-RPC error for a refused prompt, resource or completion. Unlike results of tools, their
// results can't contain errors.
func (s *Server) rpcError(ctx context.Context, x *exchange, name string, err error) error {
	p := s.publicError(ctx, x, name, err)
	out := &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: strings.Join(p.Lines(), "\n")}
	switch {
	case p.Code == problem.UnknownTool:
		return out // the name is the only detail
	case p.Code == problem.Internal:
		return errInternal()
	case p.Retryable() || p.Code == problem.Cancelled:
		out.Code = wire.CodeBusy
	}
	out.Data = edge.ProblemBody(p, x.correlation)
	return out
}
