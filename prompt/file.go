package prompt

import (
	"context"
	"time"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/tool"
)

// fileTool is the tool whose answers contain the URIs of files.
const fileTool = "call_api_read"

// readFile reads a file from its API again.
func (s *Set) readFile(ctx context.Context, principal identity.Principal, r Request) (Content, error) {
	ask := bailiwick.CallSpec{Tool: "resource:file", Needs: identity.Read, Uses: []string{}, Correlation: r.Correlation, Arguments: object(map[string]string{"uri": r.Name}), Timeout: time.Minute}
	t := s.tools.Tool(fileTool)
	if t != nil {
		ask.Uses = []string{fileTool}
	}
	out := Content{URI: r.Name}
	err := s.gateway.Do(ctx, principal, ask, func(ctx context.Context, c *bailiwick.Call) (int, error) {
		if t == nil {
			return 0, absent("unknown_resource")
		}
		file, err := tool.ReadFile(ctx, c, r.Name)
		if err != nil {
			return 0, err
		}
		out.Blob, out.MediaType, out.Class = file.Bytes, file.MediaType, c.From()
		return len(file.Bytes), nil
	})
	if err != nil {
		return Content{}, asAbsent(err)
	}
	return out, nil
}

// readExport creates a large export again.
func (s *Set) readExport(ctx context.Context, principal identity.Principal, r Request) (Content, error) {
	ask := bailiwick.CallSpec{Tool: "resource:export", Needs: identity.Read, Uses: []string{}, Correlation: r.Correlation, Arguments: object(map[string]string{"uri": r.Name})}
	t := s.tools.Tool(tool.ExportTool)
	if t != nil {
		ask.Uses, ask.Needs, ask.Timeout = []string{t.Name}, t.Needs(), t.Timeout
	}
	out := Content{URI: r.Name}
	err := s.gateway.Do(ctx, principal, ask, func(ctx context.Context, c *bailiwick.Call) (int, error) {
		if t == nil {
			return 0, absent("unknown_resource")
		}
		text, mediaType, err := tool.ReadExport(ctx, c, r.Name)
		out.Text, out.MediaType, out.Class = string(text), mediaType, c.From()
		return len(text), err
	})
	if err != nil {
		return Content{}, asAbsent(err)
	}
	return out, nil
}
