package prompt

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
)

// Scheme is the prefix of the URI of every resource.
const Scheme = "bailiwick://"

// pageSize is the number of resources on a page.
const pageSize = 100

// JSON is the media type of every resource except files and exports.
const JSON = "application/json"

// A kind is a kind of resource about a class, with the tool that returns it.
type kind struct{ name, tool, title, description string }

// kinds must be sorted by name.
var kinds = [...]kind{
	{"count", "count_objects", "Number of records", "How many records of the class you can see"},
	{"samples", "get_sample_objects", "Sample records", "A few of the newest records of the class, without its large fields"},
	{"schema", "get_schema", "Schema", "Fields, types, allowed values, pointers and indexes of the class"},
}

// A Resource is a document with a URI.
type Resource struct{ URI, Name, Title, Description string }

// A Page is a page of resources, with the cursor of the next page, or "".
type Page struct {
	Resources []Resource
	Next      string
}

// A Template is the form of the URIs of resources (RFC 6570).
type Template struct{ URI, Name, Title, Description string }

// A Content is the content of a resource.
type Content struct {
	URI   string
	Text  string // "" if Blob is set
	Class string // the class whose data it contains, as "source.Class"

	Blob      []byte // the bytes of a file
	MediaType string // media type of Text or Blob, or "" for JSON
}

// Templates returns the templates of the resources that p may read.
func (s *Set) Templates(p identity.Principal) []Template {
	var out []Template
	for _, k := range kinds {
		if s.can(p, k.tool) {
			out = append(out, Template{URI: k.template(), Name: k.name, Title: k.title, Description: k.description})
		}
	}
	if s.can(p, changeTool) {
		out = append(out, changeTemplate)
	}
	return out
}

func (k kind) template() string { return Scheme + "{source}/{class}/" + k.name }

// templatePrompt returns a URI template in the form of a prompt whose arguments are the template's variables, for
// completion.
func (s *Set) templatePrompt(uri string) *Prompt {
	for _, k := range kinds {
		if k.template() == uri && s.tools.Tool(k.tool) != nil {
			return &Prompt{Uses: []string{k.tool}, Arguments: []Argument{{Name: "source", Complete: sources}, {Name: "class", Complete: classesOfSource}}}
		}
	}
	if changeTemplate.URI == uri && s.tools.Tool(changeTool) != nil {
		return &Prompt{Uses: []string{changeTool}, Arguments: []Argument{{Name: "id", Complete: ownChanges}}}
	}
	return nil
}

// sources completes the source of the given class, or of any class if none is given.
func sources(_ context.Context, c *bailiwick.Call, _ string, given map[string]string) ([]string, error) {
	var out []string
	for _, v := range c.Views() {
		if given["class"] == "" || given["class"] == v.Class().Name {
			out = append(out, v.Source())
		}
	}
	return out, nil
}

func classesOfSource(_ context.Context, c *bailiwick.Call, _ string, given map[string]string) ([]string, error) {
	var out []string
	for _, v := range c.Views() {
		if given["source"] == "" || given["source"] == v.Source() {
			out = append(out, v.Class().Name)
		}
	}
	return out, nil
}

// Resources returns a page of the resources that p may read, sorted by URI. The page starts at cursor. "" means the
// first page.
func (s *Set) Resources(ctx context.Context, p identity.Principal, cursor, correlation string) (Page, error) {
	var may []kind
	for _, k := range kinds {
		if s.can(p, k.tool) {
			may = append(may, k)
		}
	}
	after, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err != nil {
		return Page{}, invalid("cursor", "the cursor is none that resources/list gave")
	}
	if may == nil {
		return Page{}, nil
	}
	var page Page
	ask := bailiwick.CallSpec{Tool: "resources", Needs: identity.Read, Uses: []string{}, Correlation: correlation, Timeout: timeout}
	err = s.gateway.Do(ctx, p, ask, func(_ context.Context, c *bailiwick.Call) (int, error) {
		var all []Resource
		for _, v := range c.Views() {
			for _, k := range may {
				all = append(all, classResource(v, k))
			}
		}
		slices.SortFunc(all, func(a, b Resource) int { return strings.Compare(a.URI, b.URI) })
		from, found := slices.BinarySearchFunc(all, string(after), func(r Resource, uri string) int { return strings.Compare(r.URI, uri) })
		if found {
			from++
		}
		page.Resources = all[from:min(from+pageSize, len(all))]
		if from+pageSize < len(all) {
			page.Next = base64.RawURLEncoding.EncodeToString([]byte(all[from+pageSize-1].URI))
		}
		return len(page.Resources), nil
	})
	if err != nil {
		return Page{}, err
	}
	return page, nil
}

func classResource(v *policy.View, k kind) Resource {
	r := Resource{URI: address(v, k), Name: v.Name() + "/" + k.name, Title: fmt.Sprintf("%s: %s", v.Name(), strings.ToLower(k.title)), Description: k.description}
	if d := about(v); d != "" && k.name == "schema" {
		r.Description += ". " + d
	}
	return r
}

// about returns the owner's description of the class or, without one, the source's description.
func about(v *policy.View) string {
	if d := v.Rule().Description; d != "" {
		return d
	}
	return v.Class().Description
}

func address(v *policy.View, k kind) string {
	return Scheme + escape(v.Source()) + "/" + escape(v.Class().Name) + "/" + k.name
}

// escape encodes a variable for a template, as RFC 6570 specifies.
func escape(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }

// locate returns the caller's view of the class in a URI. Each resource has exactly one URI, so two different URIs
// never refer to the same resource.
func locate(c *bailiwick.Call, uri string) (*policy.View, error) {
	source, class, k, ok := split(uri)
	if !ok {
		return nil, absent("unknown_resource")
	}
	v, err := c.View(source + "." + class)
	if err != nil {
		return nil, absent(problem.Of(err).Kind)
	}
	if address(v, k) != uri {
		return nil, absent("unknown_resource")
	}
	return v, nil
}

// split parses the URI of a resource about a class: bailiwick://source/class/kind, with source and class escaped. ok
// is false for any other URI.
func split(uri string) (source, class string, k kind, ok bool) {
	rest, ours := strings.CutPrefix(uri, Scheme)
	parts := strings.Split(rest, "/")
	if !ours || len(parts) != 3 {
		return "", "", kind{}, false
	}
	source, err := url.PathUnescape(parts[0])
	class, err2 := url.PathUnescape(parts[1])
	i := slices.IndexFunc(kinds[:], func(k kind) bool { return k.name == parts[2] })
	if err != nil || err2 != nil || i < 0 {
		return "", "", kind{}, false
	}
	return source, class, kinds[i], true
}

// absent returns the error for a missing resource. The same error is used if the class is hidden or doesn't exist, or
// if its tool may not be called. kind is the true reason.
func absent(kind string) error {
	return &problem.Error{Code: problem.NotFound, Kind: kind, Detail: "Resource not found"}
}

// Read returns the content of the resource at r.Name, which is the answer of its tool. Errors contain a
// *problem.Error: NotFound for a resource that is not in Resources.
func (s *Set) Read(ctx context.Context, p identity.Principal, r Request) (Content, error) {
	if IsChange(r.Name) {
		return s.readChange(ctx, p, r)
	}
	if tool.IsFile(r.Name) {
		return s.readFile(ctx, p, r)
	}
	if tool.IsExport(r.Name) {
		return s.readExport(ctx, p, r)
	}
	_, _, k, ok := split(r.Name)
	t := s.tools.Tool(k.tool)
	ask := bailiwick.CallSpec{Tool: "resource", Needs: identity.Read, Uses: []string{}, Correlation: r.Correlation, Progress: r.Progress,
		Arguments: object(map[string]string{"uri": r.Name})}
	if ok = ok && t != nil; ok {
		ask.Tool, ask.Uses, ask.Needs, ask.Timeout = "resource:"+k.name, []string{k.tool}, t.Needs(), t.Timeout
	}
	out := Content{URI: r.Name}
	err := s.gateway.Do(ctx, p, ask, func(ctx context.Context, c *bailiwick.Call) (int, error) {
		if !ok {
			return 0, absent("unknown_resource")
		}
		v, err := locate(c, r.Name)
		if err != nil {
			return 0, err
		}
		res, err := t.Handle(ctx, c, value.OfObject([]value.Member{{Name: "class_name", Value: value.OfString(v.Name())}}))
		out.Text, out.Class = string(res.Structured), v.Class().FullName()
		return len(res.Structured), err
	})
	if err != nil {
		return Content{}, asAbsent(err)
	}
	return out, nil
}

// asAbsent hides whether the caller may not call a resource's tool. It then returns the error for a missing resource.
// It returns other errors unchanged.
func asAbsent(err error) error {
	if p := problem.Of(err); p.Code == problem.UnknownTool {
		return absent(p.Kind)
	}
	return err
}

// Watch returns nil if p may be notified when the resources at uris change. Each must be a schema or a change that p
// may read. Counts and samples change with the data, which is not watched.
func (s *Set) Watch(ctx context.Context, p identity.Principal, uris []string, correlation string) error {
	ask := bailiwick.CallSpec{Tool: "resource:subscribe", Needs: identity.Read, Uses: []string{}, Correlation: correlation, Timeout: timeout}
	return s.gateway.Do(ctx, p, ask, func(ctx context.Context, c *bailiwick.Call) (int, error) {
		for _, uri := range uris {
			if IsChange(uri) {
				if err := s.watchChange(ctx, c, uri); err != nil {
					return 0, err
				}
				continue
			}
			_, _, k, ok := split(uri)
			switch {
			case !ok:
				return 0, absent("unknown_resource")
			case !s.can(p, k.tool):
				return 0, absent("tool_filtered")
			}
			if _, err := locate(c, uri); err != nil {
				return 0, err
			}
			if k.name != "schema" {
				return 0, problem.New(problem.InvalidArgument, "only schemas and changes can be subscribed to. Counts and samples change with the data, which is not watched. Read them again")
			}
		}
		return 0, nil
	})
}
