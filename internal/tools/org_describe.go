package tools

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
)

// DescribePageSize is the maximum number of objects in one answer.
const DescribePageSize = 200

// DescribeTools returns the tools. The argument timeouts overrides their timeouts by tool name.
func DescribeTools(timeouts map[string]time.Duration) []tool.Tool {
	tools := []tool.Tool{orgDescribe()}
	for i := range tools {
		if d, ok := timeouts[tools[i].Name]; ok {
			tools[i].Timeout = d
		}
	}
	return tools
}

// orgDescribe returns the tool that lists the fields of objects, and which of them are required.
func orgDescribe() tool.Tool {
	const field = `{"type": "object", "required": ["name", "type", "default_value", "nillable"], "properties": {
		"name": {"type": "string"}, "type": {"type": "string"}, "default_value": {"type": ["string", "null"]}, "nillable": {"type": "boolean"}}}`
	return tool.Tool{
		Name:  "org_describe",
		Title: "Describe objects of an org",
		Description: "Fields of an org's objects from the cache that the IDE keeps of a connection: which are required, and their types. " +
			"Call it before you write test data or records of these objects. Reads files only. A miss says how to fill the cache.",
		Input: compact(`{"type": "object", "additionalProperties": false, "required": ["project_path", "connection_name"], "properties": {
			"project_path": {"type": "string", "maxLength": 4096, "description": "absolute path of the project's folder"},
			"connection_name": {"type": "string", "maxLength": 255, "description": "as the project names it, such as MyOrg"},
			"environment": {"type": "string", "maxLength": 255, "description": "default \"default\". Another one is taken where nothing is cached of it"},
			"objects": {"type": "array", "maxItems": 1000, "items": {"type": "string", "maxLength": 255}, "description": "API names such as Account. All when absent"},
			"field_filter": {"type": "string", "enum": ["required", "all"], "description": "default required. all adds every field"},
			"offset": {"type": "integer", "minimum": 0, "description": "how many objects to skip. next_call has it"}}}`),
		Output: compact(`{"type": "object", "required": ["requestId", "workspace_path", "cache_age_ms", "objects", "total"], "properties": {
			"requestId": {"type": "string"}, "workspace_path": {"type": ["string", "null"]}, "cache_age_ms": {"type": ["integer", "null"]},
			"objects": {"type": "array", "items": {"type": "object", "required": ["name", "exists", "required_fields", "field_count"], "properties": {
				"name": {"type": "string"}, "exists": {"type": ["boolean", "null"]}, "required_fields": {"type": "array", "items": ` + field + `},
				"fields": {"type": "array", "items": ` + field + `}, "field_count": {"type": "integer"}, "error_message": {"type": "string"},
				"_truncated": {"type": "object"}}}},
			"total": {"type": "integer"}, "next_call": {"type": "object"},
			"details": {"type": "object", "properties": {"suggestion": {"type": "string"}}}}}`),
		Annotations: tool.Annotations{ReadOnly: true, Idempotent: true},
		Category:    tool.Schema,
		Timeout:     15 * time.Second,
		Handle:      answer,
	}
}

// compact removes white space from a schema. The source has white space to make the schema readable.
func compact(schema string) []byte {
	v, err := value.Read([]byte(schema), 0)
	if err != nil {
		return []byte(schema) // tool.NewSet refuses an invalid schema and gives the reason
	}
	return v.AppendJSON(nil)
}

// answer returns a page of cached object descriptions that fits the budget, as JSON and as lines. It adds the call
// for the next page.
func answer(ctx context.Context, c *bailiwick.Call, args value.Value) (tool.Result, error) {
	at := source.Place{Project: describeText(args, "project_path"), Connection: describeText(args, "connection_name")}
	if env, ok := args.Get("environment"); ok {
		at.Environment = cmp.Or(env.Text(), ".") // an explicit "" is an invalid name, not an absent one
	}
	objects, _ := args.Get("objects")
	for _, o := range objects.List() {
		at.Objects = append(at.Objects, o.Text())
	}
	skip, _ := args.Get("offset")
	first, _ := skip.AsInt()
	p := page{all: describeText(args, "field_filter") == "all", budget: c.Budget()}
	found, err := c.Objects(ctx, at, int(min(first, 1<<30)), p.add)
	if err != nil {
		return tool.Result{}, err
	}
	id := cmp.Or(c.Correlation(), rand.Text())
	members := []value.Member{describeMember("requestId", value.OfString(id)), describeMember("workspace_path", orNull(found.Workspace)),
		describeMember("cache_age_ms", age(found)), describeMember("objects", value.OfArray(p.objects)), describeMember("total", value.OfInt(int64(found.Total)))}
	next := int(min(first, 1<<30)) + len(p.objects)
	if next < found.Total && len(p.objects) > 0 {
		members = append(members, describeMember("next_call", nextCall(args, next)))
	}
	suggestion := suggest(at.Connection, found, &p)
	if suggestion != "" {
		members = append(members, describeMember("details", value.OfObject([]value.Member{describeMember("suggestion", value.OfString(suggestion))})))
	}
	lines := p.lines
	if next < found.Total && len(p.objects) > 0 {
		lines = append(lines, fmt.Sprintf("%d of %d objects. next: org_describe with offset %d", len(p.objects), found.Total, next))
	} else {
		lines = append(lines, fmt.Sprintf("%d of %d objects", len(p.objects), found.Total))
	}
	if suggestion != "" {
		lines = append(lines, suggestion)
	}
	return tool.Result{Structured: value.OfObject(members).AppendJSON(nil), Text: strings.Join(lines, "\n"), Class: found.Source}, nil
}

// nextCall returns the call for the next objects.
func nextCall(args value.Value, offset int) value.Value {
	var again []value.Member
	for _, m := range args.Members() {
		if m.Name != "offset" {
			again = append(again, m)
		}
	}
	again = append(again, describeMember("offset", value.OfInt(int64(offset))))
	return value.OfObject([]value.Member{describeMember("tool", value.OfString("org_describe")), describeMember("arguments", value.OfObject(again))})
}

func age(found bailiwick.Objects) value.Value {
	if found.Age < 0 {
		return value.Value{}
	}
	return value.OfInt(found.Age.Milliseconds())
}

// suggest returns the next step if something is missing, or "".
func suggest(connection string, found bailiwick.Objects, p *page) string {
	const otherwise = "open the project in the IDE and load the connection, or go on without it and say that fields and types are not checked"
	connection = problem.Cut(connection)
	switch {
	case found.Workspace == "":
		return fmt.Sprintf("no workspace with a cache was found for this project where the owner allows to look. To have the connection %q, %s", connection, otherwise)
	case !found.Cached:
		there := ""
		if near := problem.Nearest(connection, found.Connections, 3); len(near) > 0 {
			there = problem.Question(near) + " Else "
		} else if n := len(found.Connections); n > 0 {
			there = "there are " + strings.Join(found.Connections[:min(n, most)], ", ") + ". Else "
		}
		return fmt.Sprintf("nothing is cached of the connection %q: %s%s", connection, there, otherwise)
	}
	return p.suggestion()
}

func describeText(args value.Value, name string) string {
	v, _ := args.Get(name)
	return v.Text()
}

func describeMember(name string, v value.Value) value.Member {
	return value.Member{Name: name, Value: v}
}

func orNull(s string) value.Value {
	if s == "" {
		return value.Value{}
	}
	return value.OfString(s)
}
