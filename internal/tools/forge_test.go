package tools_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// forge imitates the parts of a FlowFuse platform without a licence that the pack calls: routes, statuses and bodies.
// A token belongs to one user, who is in the team t1.
type forge struct {
	mu        sync.Mutex
	instances map[string]map[string]any
	apps      map[string]map[string]any
	asked     []string // each request: method, target and body
	made      int
}

const forgeToken = "ffpat_test"

func newForge() *forge {
	return &forge{
		apps: map[string]map[string]any{"a1": {"id": "a1", "name": "Press", "description": "", "team": "t1"}, "a2": {"id": "a2", "name": "Empty", "description": "", "team": "t1"}},
		instances: map[string]map[string]any{"i1": {"id": "i1", "name": "pump", "application": "a1", "meta": map[string]any{"state": "running"},
			"settings": map[string]any{"theme": "dark", "env": []any{entry("A", "1"), entry("DB_PASSWORD", "hunter2")}}}},
	}
}

func entry(name, value string) any { return map[string]any{"name": name, "value": value} }

// A reply is a status and a body.
type reply struct {
	status int
	body   any
}

func fails(status int, code, text string) reply {
	return reply{status, map[string]any{"code": code, "error": text}}
}

func (f *forge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	f.asked = append(f.asked, strings.TrimSpace(r.Method+" "+r.URL.RequestURI()+" "+string(body)))
	out := f.route(r, body)
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(out.status)
	_ = json.NewEncoder(w).Encode(out.body)
}

func (f *forge) calls() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	asked := f.asked
	f.asked = nil
	return asked
}

func (f *forge) route(r *http.Request, body []byte) reply {
	var in map[string]any
	switch {
	case r.Header.Get("Authorization") != "Bearer "+forgeToken:
		return fails(403, "unauthorized", "unauthorized")
	case r.Header.Get("Content-Type") == "application/json" && len(body) == 0:
		return reply{400, map[string]any{"statusCode": 400, "code": "FST_ERR_CTP_EMPTY_JSON_BODY", "error": "Bad Request", "message": "Body cannot be empty when content-type is set to 'application/json'"}}
	case len(body) > 0 && json.Unmarshal(body, &in) != nil:
		return fails(400, "unexpected_error", "no JSON")
	}
	path, ok := strings.CutPrefix(r.URL.EscapedPath(), "/api/v1/")
	if !ok {
		return notFound()
	}
	parts := strings.Split(strings.TrimSuffix(path, "/"), "/")
	switch parts[0] {
	case "user":
		if r.Method == "GET" && path == "user/teams" {
			return reply{200, map[string]any{"count": 1, "teams": []any{map[string]any{"id": "t1", "name": "Alpha", "slug": "alpha"}}}}
		}
		if r.Method == "DELETE" && parts[1] == "tokens" { // the platform has no check of its own here
			return reply{204, nil}
		}
	case "teams":
		if len(parts) == 3 && parts[2] == "applications" && r.Method == "GET" {
			return f.applicationsOf(parts[1])
		}
	case "applications":
		return f.applications(r.Method, parts[1:], in)
	case "projects":
		return f.projects(r.Method, parts[1:], in)
	case "project-types":
		return list("types", map[string]any{"id": "p1", "name": "Small", "active": true})
	case "stacks":
		if r.URL.Query().Get("projectType") == "p1" {
			return list("stacks", map[string]any{"id": "s1", "name": "Node-RED 4", "active": true, "projectType": "p1"})
		}
		return list("stacks")
	case "templates":
		return list("templates", map[string]any{"id": "x0", "name": "Old", "active": false}, map[string]any{"id": "x1", "name": "Default", "active": true})
	}
	return notFound() // includes flow-blueprints, which require a licence
}

func notFound() reply { return fails(404, "not_found", "Not Found") }

func list(name string, items ...any) reply {
	return reply{200, map[string]any{"meta": map[string]any{}, "count": len(items), name: append([]any{}, items...)}}
}

func (f *forge) applicationsOf(team string) reply {
	switch team {
	case "t1":
	case "t2":
		return fails(403, "unauthorized", "unauthorized")
	default:
		return notFound()
	}
	var out []any
	for _, id := range sorted(f.apps) {
		out = append(out, f.apps[id])
	}
	return reply{200, map[string]any{"count": len(out), "applications": out}}
}

func sorted(of map[string]map[string]any) []string {
	var ids []string
	for id := range of {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

func (f *forge) applications(method string, rest []string, in map[string]any) reply {
	if len(rest) == 0 {
		if method != "POST" {
			return notFound()
		}
		name := fmt.Sprint(in["name"])
		if strings.TrimSpace(name) == "" {
			return fails(409, "invalid_application_name", "name not allowed")
		}
		id := f.id("a")
		f.apps[id] = map[string]any{"id": id, "name": name, "description": in["description"], "team": in["teamId"]} // names don't need to be unique
		return reply{200, f.apps[id]}
	}
	app, ok := f.apps[rest[0]]
	if !ok {
		return notFound()
	}
	var instances []any
	for _, id := range sorted(f.instances) {
		if f.instances[id]["application"] == rest[0] {
			instances = append(instances, map[string]any{"id": id, "name": f.instances[id]["name"]})
		}
	}
	switch {
	case len(rest) == 2 && rest[1] == "instances" && method == "GET":
		return reply{200, map[string]any{"count": len(instances), "instances": instances}}
	case len(rest) == 1 && method == "GET":
		return reply{200, app}
	case len(rest) == 1 && method == "DELETE" && len(instances) > 0:
		return fails(422, "invalid_application", "Please delete the instances within the application first")
	case len(rest) == 1 && method == "DELETE":
		delete(f.apps, rest[0])
		return reply{200, map[string]any{"status": "okay"}}
	}
	return notFound()
}

func (f *forge) id(prefix string) string {
	f.made++
	return fmt.Sprintf("%snew%d", prefix, f.made)
}

func (f *forge) projects(method string, rest []string, in map[string]any) reply {
	name := fmt.Sprint(in["name"])
	taken := slices.ContainsFunc(sorted(f.instances), func(id string) bool { return f.instances[id]["name"] == name })
	switch {
	case method == "POST" && (len(rest) == 0 || rest[0] == "check-name") && taken:
		return fails(409, "invalid_project_name", "name in use")
	case method == "POST" && len(rest) == 1 && rest[0] == "check-name":
		return reply{200, map[string]any{"available": true}}
	case method == "POST" && len(rest) == 0:
		id := f.id("i")
		f.instances[id] = map[string]any{"id": id, "name": name, "url": "https://" + name + ".example.com", "application": in["applicationId"], "template": in["template"], "settings": map[string]any{}}
		return reply{200, f.instances[id]}
	case len(rest) == 0:
		return notFound()
	}
	instance, ok := f.instances[rest[0]]
	switch {
	case !ok:
		return notFound()
	case len(rest) == 1 && method == "GET":
		return reply{200, instance}
	case len(rest) == 1 && method == "PUT":
		settings := instance["settings"].(map[string]any)
		given, _ := in["settings"].(map[string]any)
		for key, v := range given { // includes env, whose list is replaced
			settings[key] = v
		}
		return reply{200, instance}
	case len(rest) == 1 && method == "DELETE":
		delete(f.instances, rest[0])
		return reply{200, map[string]any{"status": "okay"}}
	case len(rest) == 3 && method == "POST" && rest[1] == "actions" && slices.Contains([]string{"start", "stop", "restart", "suspend"}, rest[2]):
		instance["meta"] = map[string]any{"state": map[string]string{"start": "running", "restart": "running"}[rest[2]] + map[string]string{"stop": "stopped", "suspend": "suspended"}[rest[2]]}
		return reply{200, map[string]any{"status": "okay"}}
	case len(rest) == 2 && method == "POST" && rest[1] == "snapshots":
		return reply{200, map[string]any{"id": f.id("s"), "name": name, "description": in["description"], "createdAt": "2026-11-21T00:00:00.000Z", "modules": map[string]any{}}}
	}
	return notFound()
}
