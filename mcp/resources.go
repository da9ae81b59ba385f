package mcp

import (
	"cmp"
	"context"
	"net/http"
	"reflect"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/prompt"
)

// listResources answers resources/list with one page. The resources of an Extension follow those of the last page.
func (s *Server) listResources(ctx context.Context, x *exchange, r *sdk.ListResourcesRequest, next sdk.MethodHandler) (sdk.Result, error) {
	cursor := ""
	if r.Params != nil {
		cursor = r.Params.Cursor
	}
	page, err := s.options.Prompts.Resources(ctx, x.who, cursor, x.correlation)
	if err != nil {
		return nil, s.rpcError(ctx, x, "resources", err)
	}
	res := &sdk.ListResourcesResult{Cacheable: private(), Resources: []*sdk.Resource{}, NextCursor: page.Next}
	for _, d := range page.Resources {
		res.Resources = append(res.Resources, &sdk.Resource{URI: d.URI, Name: d.Name, Title: d.Title, Description: d.Description, MIMEType: prompt.JSON})
	}
	if s.options.Extend.Mount == nil || page.Next != "" {
		return res, nil
	}
	if r.Params != nil {
		r.Params.Cursor = "" // the cursor belongs to Prompts. All resources of an Extension are on the last page
	}
	more, err := next(ctx, "resources/list", r)
	if err != nil {
		return nil, err
	}
	for _, d := range more.(*sdk.ListResourcesResult).Resources {
		if s.foreign(d.URI) {
			res.Resources = append(res.Resources, d)
		}
	}
	return res, nil
}

// listTemplates answers resources/templates/list with a single page.
func (s *Server) listTemplates(ctx context.Context, x *exchange, r *sdk.ListResourceTemplatesRequest, next sdk.MethodHandler) (sdk.Result, error) {
	res := &sdk.ListResourceTemplatesResult{Cacheable: private(), ResourceTemplates: []*sdk.ResourceTemplate{}}
	for _, d := range s.options.Prompts.Templates(x.who) {
		res.ResourceTemplates = append(res.ResourceTemplates,
			&sdk.ResourceTemplate{URITemplate: d.URI, Name: d.Name, Title: d.Title, Description: d.Description, MIMEType: prompt.JSON})
	}
	if s.options.Extend.Mount == nil {
		return res, nil
	}
	more, err := next(ctx, "resources/templates/list", r)
	if err != nil {
		return nil, err
	}
	res.ResourceTemplates = append(res.ResourceTemplates, more.(*sdk.ListResourceTemplatesResult).ResourceTemplates...)
	return res, nil
}

// readResource answers resources/read with JSON text, or with bytes and their media type. _meta names the class that
// the resource shows.
func (s *Server) readResource(ctx context.Context, x *exchange, r *sdk.ReadResourceRequest) (sdk.Result, error) {
	beat := s.startHeartbeat(ctx, x, r.Session, r.Params.GetProgressToken())
	defer beat.stop()
	out, err := s.options.Prompts.Read(ctx, x.who, prompt.Request{Name: r.Params.URI, Correlation: x.correlation, Progress: beat.report})
	if err != nil {
		return nil, s.noResource(ctx, x, r.Params.URI, err)
	}
	res := &sdk.ReadResourceResult{}
	if err := complete(res, protocolVersion(r, r.Params.Meta), `{"contents":[],"resultType":"complete"}`); err != nil {
		return nil, err
	}
	res.Cacheable, res.Meta = private(), cost(x, len(out.Text)+len(out.Blob))
	if out.Class != "" {
		res.Meta["source_class"] = out.Class
	}
	res.Contents = []*sdk.ResourceContents{{URI: out.URI, MIMEType: cmp.Or(out.MediaType, prompt.JSON), Text: out.Text, Blob: out.Blob}}
	return res, nil
}

// noResource returns the error for a refused resource. A missing resource gets the code and data that the protocol
// specifies.
func (s *Server) noResource(ctx context.Context, x *exchange, uri string, err error) error {
	if problem.CodeOf(err) == problem.NotFound {
		return sdk.ResourceNotFoundError(uri)
	}
	return s.rpcError(ctx, x, "resource", err)
}

// watch checks that a client may see the resources that it subscribes to. The SDK manages the subscriptions and the
// streams.
func (s *Server) watch(ctx context.Context, x *exchange, req sdk.Request) error {
	var uris []string
	session := ""
	switch r := req.(type) {
	case *sdk.SubscribeRequest:
		uris = []string{r.Params.URI}
		session = r.Session.ID()
	case *sdk.SubscriptionsListenRequest:
		if r.Params.Notifications != nil {
			uris = r.Params.Notifications.ResourceSubscriptions
		}
	}
	for _, uri := range uris {
		if s.foreign(uri) {
			continue
		}
		// Check one resource at a time, so that the error can name it.
		if err := s.options.Prompts.Watch(ctx, x.who, []string{uri}, x.correlation); err != nil {
			return s.noResource(ctx, x, uri, err)
		}
		if session != "" {
			s.sessions.Watch(session, uri)
		}
		if !prompt.IsChange(uri) { // the SDK knows the subscribers of changes, and the number of changes is unlimited
			s.watched.Add(uri)
		}
	}
	return nil
}

// stands returns a function that reports whether a stream may continue. The stream's credential must still
// authenticate the same principal. After a change of rules or sources, the principal must still see all resources
// that it subscribed to. Otherwise the function closes the session.
func (s *Server) stands(r *http.Request, x *exchange) func() bool {
	seen := s.changes.Load()
	session := r.Header.Get("Mcp-Session-Id")
	return func() bool {
		if now, f := s.identify(r); f != nil || !reflect.DeepEqual(now, x.who) {
			return false
		}
		changed := s.changes.Load()
		if changed == seen || s.options.Prompts == nil {
			return true
		}
		seen = changed
		for _, uri := range append(s.sessions.Subscriptions(session), x.subscribes()...) {
			if s.foreign(uri) {
				continue
			}
			if err := s.options.Prompts.Watch(r.Context(), x.who, []string{uri}, x.correlation); err != nil {
				s.sessions.Close(session)
				return false
			}
		}
		return true
	}
}

// subscribes returns the resources that the message of x subscribes to.
func (x *exchange) subscribes() (uris []string) {
	if x.message == nil {
		return nil
	}
	wanted, _ := x.message.Params.Get("notifications")
	list, _ := wanted.Get("resourceSubscriptions")
	for _, v := range list.List() {
		uris = append(uris, asText(v))
	}
	return uris
}

// changedName is the name of a tool, a prompt and a resource. They exist only because adding them makes the SDK
// notify clients of changes. They are never listed or found.
const changedName = "changed"

// NotifyAll notifies all listening clients that tools, prompts and resources may have changed. Call it after every
// change of rules, sources or tools. Notifying only some clients would reveal what changed. It does not block.
func (s *Server) NotifyAll() {
	s.changes.Add(1)
	s.NotifyTools()
	if s.options.Prompts == nil {
		return
	}
	s.sdk.AddPrompt(&sdk.Prompt{Name: changedName}, func(context.Context, *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
		return nil, errInternal()
	})
	s.sdk.AddResource(&sdk.Resource{Name: changedName, URI: prompt.Scheme + changedName}, func(context.Context, *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		return nil, errInternal()
	})
	s.watched.Tell(func(uri string) {
		// The SDK doesn't report a failed notification.
		_ = s.sdk.ResourceUpdated(s.closing, &sdk.ResourceUpdatedNotificationParams{URI: uri})
	})
}

// NotifySubscribers notifies the subscribers of a change about its new state. It returns after the notification.
func (s *Server) NotifySubscribers(id string) {
	// The SDK doesn't report a failed notification.
	_ = s.sdk.ResourceUpdated(s.closing, &sdk.ResourceUpdatedNotificationParams{URI: prompt.ChangeURI(id)})
}
