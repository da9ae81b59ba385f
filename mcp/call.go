package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"math"
	"strconv"
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

// An asked is a call parsed by this package or by the SDK.
type asked struct {
	name     string
	args     value.Value
	form     Form
	progress func(done, total float64, message string)
}

// An outcome is the result of a call or its protocol error.
type outcome struct {
	failure    *jsonrpc.Error
	meta       []byte          // members of _meta as JSON without braces
	text       string          // "" if no text is sent
	structured json.RawMessage // nil if none is sent
	isError    bool
	links      []tool.Link
	images     []tool.Image
}

// call answers a call of a registered tool.
func (s *Server) call(ctx context.Context, x *exchange, a asked) outcome {
	res, err := s.options.Tools.Call(ctx, x.who, tool.Request{
		Name: a.name, Arguments: a.args, Correlation: x.correlation, Progress: a.progress,
	})
	if err == nil && a.form != Text && !json.Valid(res.Structured) {
		// Invalid JSON would fail later in the SDK. Structured content that isn't sent is not checked.
		err = errors.New("the tool's structured result is not JSON")
	}
	if err != nil {
		return s.errorOutcome(ctx, x, a, err)
	}
	out := outcome{isError: res.Failed, links: res.Links, images: res.Images}
	if a.form != Structured {
		out.text = res.Text
	}
	if a.form != Text {
		out.structured = res.Structured
	}
	out.meta = s.meta(x, a.name, len(out.text)+len(out.structured))
	if res.Class != "" {
		out.meta = value.AppendQuote(append(out.meta, `,"source_class":`...), res.Class)
	}
	return out
}

// meta returns the members of _meta: the category, the correlation ID of the audit record, and the estimated number
// of tokens (bytes/4).
func (s *Server) meta(x *exchange, name string, bytes int) []byte {
	b := value.AppendQuote([]byte(`"category":`), string(s.category(x, name)))
	b = value.AppendQuote(append(b, `,"correlation_id":`...), x.correlation)
	return strconv.AppendInt(append(b, `,"est_tokens":`...), int64(bytes+3)/4, 10)
}

// category returns the category of a tool that the principal may call. It uses a cache. For any other name it returns
// tool.Custom, so that metrics have few labels.
func (s *Server) category(x *exchange, name string) tool.Category {
	if c, ok := s.categories.Load(name); ok {
		return c.(tool.Category)
	}
	for _, t := range s.options.Tools.List(x.who, "") {
		s.categories.Store(t.Name, t.Category)
	}
	c, _ := s.categories.Load(name)
	category, _ := c.(tool.Category)
	return cmp.Or(category, tool.Custom)
}

// publicError returns the part of err that the client may see, and logs the rest. name is the name of the call or
// request. It also stores a missing scope and the retry delay for the HTTP response.
func (s *Server) publicError(ctx context.Context, x *exchange, name string, err error) *problem.Error {
	p := problem.Of(err)
	switch {
	case p.Code == problem.PermissionDenied && p.Scope != "":
		x.scope.Store(&missing{p.Scope, s.options.Resource.StepUp(x.metadata, x.who, identity.Scope(p.Scope))})
	case p.Code == problem.Internal:
		s.log.ErrorContext(ctx, "call failed", "tool", name, "principal", x.who.ID, "correlation_id", x.correlation, "error", cause(err))
		p = &problem.Error{Code: problem.Internal, Detail: "Internal error", RetryAfter: p.RetryAfter}
	case p.Err != nil:
		s.log.WarnContext(ctx, "call refused", "tool", name, "principal", x.who.ID, "correlation_id", x.correlation, "code", p.Code, "error", p.Err)
	}
	if p.RetryAfter > 0 {
		x.retryAfter.Store(int64(math.Ceil(p.RetryAfter.Seconds())))
	}
	return p
}

// unknownTool is the error data of the response if the tool doesn't exist for the caller.
var unknownTool = json.RawMessage(`{"error_code":"unknown_tool"}`)

// errorOutcome returns the outcome of a call that failed with err. It puts the public part of err into the text,
// which all clients pass to the model, and into _meta for programs. It uses no structured content, because clients
// check that against the tool's output schema even for errors. An unknown tool is the only protocol error, as all
// protocol versions require.
func (s *Server) errorOutcome(ctx context.Context, x *exchange, a asked, err error) outcome {
	p := s.publicError(ctx, x, a.name, err)
	if p.Code == problem.UnknownTool {
		return outcome{failure: &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: strings.Join(p.Lines(), "\n"), Data: unknownTool}}
	}
	text := p.Text()
	meta := append(s.meta(x, a.name, len(text)), `,"`+problem.MetaName+`":`...)
	return outcome{meta: append(meta, edge.ProblemBody(p, x.correlation)...), text: text, isError: true}
}

// cause returns the error to log for operators.
func cause(err error) error {
	if p := problem.Of(err); p.Err != nil {
		return p.Err
	}
	return err
}

// linksVersion is the first protocol version in which results can contain links to resources.
const linksVersion = "2025-06-18"

// forSDK returns the outcome as an SDK result for a protocol version.
func (o outcome) forSDK(version string) (sdk.Result, error) {
	if o.failure != nil {
		return nil, o.failure
	}
	doc := []byte("{")
	if version >= modernVersion { // the SDK sets this type only for its own handlers
		doc = append(doc, completeType...)
	}
	res := &sdk.CallToolResult{}
	if err := json.Unmarshal(append(o.appendContent(doc, version), '}'), res); err != nil {
		return nil, errInternal()
	}
	if res.IsError = o.isError; o.structured != nil {
		res.StructuredContent = o.structured
	}
	var meta map[string]json.RawMessage // raw members keep their order and digits
	if err := json.Unmarshal(append(append([]byte("{"), o.meta...), '}'), &meta); err != nil {
		return nil, errInternal()
	}
	res.Meta = sdk.Meta{}
	for name, v := range meta {
		res.Meta[name] = v
	}
	return res, nil
}

// completeType is the member of results that MCP 2026-07-28 requires.
const completeType = `"resultType":"complete",`

// appendContent appends the member "content". It contains the text, images, and links if the protocol version
// supports them.
func (o outcome) appendContent(dst []byte, version string) []byte {
	dst = append(dst, `"content":[`...)
	begin := len(dst)
	if o.text != "" {
		dst = append(value.AppendQuote(append(dst, `{"type":"text","text":`...), o.text), '}')
	}
	var more []json.Marshaler
	for _, i := range o.images {
		more = append(more, &sdk.ImageContent{Data: i.Bytes, MIMEType: i.MediaType})
	}
	for _, l := range o.links {
		if version >= linksVersion {
			more = append(more, link(l))
		}
	}
	for _, m := range more {
		part, err := m.MarshalJSON()
		if err != nil {
			panic(err) // texts, bytes and a number can always be encoded
		}
		if len(dst) > begin {
			dst = append(dst, ',')
		}
		dst = append(dst, part...)
	}
	return append(dst, ']')
}

// append appends the outcome as the response to the call id in a protocol version. server is the JSON of serverInfo,
// or nil for versions before 2026-07-28.
func (o outcome) append(dst []byte, id, version string, server []byte) []byte {
	dst = append(wire.Begin(dst, id), `"result":{`...)
	if server != nil {
		dst = append(dst, completeType...)
	}
	dst = append(append(dst, `"_meta":{`...), o.meta...)
	if server != nil {
		dst = append(append(dst, `,"io.modelcontextprotocol/serverInfo":`...), server...)
	}
	dst = o.appendContent(append(dst, "},"...), version)
	if o.structured != nil {
		dst = append(append(dst, `,"structuredContent":`...), o.structured...)
	}
	if o.isError {
		dst = append(dst, `,"isError":true`...)
	}
	return append(dst, "}}"...)
}

// link returns the content block for a resource, with its size if known.
func link(l tool.Link) *sdk.ResourceLink {
	out := &sdk.ResourceLink{URI: l.URI, Name: l.Name, MIMEType: l.MediaType}
	if l.Size > 0 {
		out.Size = &l.Size
	}
	return out
}
