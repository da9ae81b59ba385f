package attack

import (
	"cmp"
	"fmt"
	"strings"
)

// messages are messages that no client sends. The server may refuse them in any way, and goes on.
func messages() map[string][]string {
	deep := strings.Repeat(`{"a":`, 2000) + "1" + strings.Repeat("}", 2000)
	list := strings.Repeat("[", 5000) + strings.Repeat("]", 5000)
	return map[string][]string{
		"messages that are no protocol": {
			``, `null`, `1`, `"a"`, `[]`, `{}`, `{`, `}`, `[1,2]`, `{"jsonrpc":"2.0"}`, `{"jsonrpc":"1.0","id":"attack","method":"ping"}`, `{"jsonrpc":"2.0","id":"attack"}`, `{"jsonrpc":"2.0","id":"attack","method":""}`, `{"jsonrpc":"2.0","id":"attack","method":1}`,
			`{"jsonrpc":"2.0","id":"attack","method":"tools/call"}`, `{"jsonrpc":"2.0","id":"attack","method":"tools/call","params":[]}`, `{"jsonrpc":"2.0","id":"attack","method":"tools/call","params":{"name":1}}`, `{"jsonrpc":"2.0","id":"attack","method":"tools/call","params":{"name":"nothing","arguments":{}}}`,
			`{"jsonrpc":"2.0","id":"attack","method":"tools/call","params":{"name":"query_sql","arguments":[]}}`, `{"jsonrpc":"2.0","id":"attack","method":"tools/call","params":{"name":"query_sql","arguments":{"sql":1}}}`, `{"jsonrpc":"2.0","id":"attack","method":"tools/call","params":{"name":"__proto__","arguments":{}}}`,
			`{"jsonrpc":"2.0","id":"attack","method":"tools/call","params":{"name":"query_sql","name":"query_class","arguments":{}}}`, `{"jsonrpc":"2.0","id":"attack","id":"other","method":"ping"}`, `{"jsonrpc":"2.0","id":{},"method":"ping"}`, `{"jsonrpc":"2.0","id":null,"method":"ping"}`, `{"jsonrpc":"2.0","id":1e400,"method":"ping"}`,
			`{"jsonrpc":"2.0","id":"attack","method":"tools/call","params":` + deep + `}`, `{"jsonrpc":"2.0","id":"attack","method":"tools/call","params":{"name":"query_sql","arguments":` + deep + `}}`, list, deep, `{"jsonrpc":"2.0","id":"attack","method":"ping","params":` + list + `}`,
			`[{"jsonrpc":"2.0","id":"attack","method":"ping"},{"jsonrpc":"2.0","id":"attack","method":"ping"}]`, `{"jsonrpc":"2.0","id":"attack","method":"resources/read","params":{"uri":"file:///etc/passwd"}}`, `{"jsonrpc":"2.0","id":"attack","method":"resources/read","params":{"uri":"../../etc/passwd"}}`,
			`{"jsonrpc":"2.0","id":"attack","method":"resources/read","params":{"uri":"bailiwick://schema/vault_xq"}}`, `{"jsonrpc":"2.0","id":"attack","method":"resources/list"}`, `{"jsonrpc":"2.0","id":"attack","method":"resources/templates/list"}`, `{"jsonrpc":"2.0","id":"attack","method":"prompts/list"}`, `{"jsonrpc":"2.0","id":"attack","method":"prompts/get","params":{"name":"../x"}}`,
			`{"jsonrpc":"2.0","id":"attack","method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"x"},"argument":{"name":"class_name","value":"v"}}}`, `{"jsonrpc":"2.0","id":"attack","method":"logging/setLevel","params":{"level":"debug"}}`, `{"jsonrpc":"2.0","id":"attack","method":"roots/list"}`, `{"jsonrpc":"2.0","id":"attack","method":"sampling/createMessage","params":{}}`,
			`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"attack"}}`, `{"jsonrpc":"2.0","method":"notifications/nothing"}`, `{"jsonrpc":"2.0","id":"attack","result":{}}`, `{"jsonrpc":"2.0","id":"attack","error":{"code":1,"message":"x"}}`, "\x00", "\xff\xfe", `{"jsonrpc":"2.0","id":"attack","method":"ping","\ud800":1}`, `{"jsonrpc":"2.0","id":"attack","method":"ping"}x`,
			`{"jsonrpc":"2.0","id":"attack","method":"tools/list","params":{"cursor":"' OR 1=1 --"}}`, `{"jsonrpc":"2.0","id":"attack","method":"tools/list","params":{"cursor":"AAAA"}}`, `{'jsonrpc':'2.0','id':'attack','method':'ping'}`, `<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>`,
		},
	}
}

// requests are attacks over HTTP, on the paths of Bailiwick. A server of another kind answers most of them with 404.
func requests() map[string][]Request {
	const ping = `{"jsonrpc":"2.0","id":"attack","method":"ping"}`
	refused := []int{400, 401, 403, 404, 405, 406, 415}
	type h = [][2]string
	tokens := []Request{{"POST", "/mcp", ping, h{{"Authorization", ""}}, []int{401}, 0}}
	for _, value := range []string{"Bearer", "Bearer ", "Bearer x", "Bearer bw_", "Bearer null", "Bearer undefined", "Bearer ' OR 1=1 --", "Basic YWRtaW46YWRtaW4=", "bw_x", "Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZG1pbiJ9.", "Bearer " + strings.Repeat("a", 20000), "Negotiate x", "Bearer bw_x, Bearer bw_y"} {
		tokens = append(tokens, Request{"POST", "/mcp", ping, h{{"Authorization", value}}, []int{400, 401, 431}, 0})
	}
	for _, path := range []string{"/mcp?token=x", "/mcp?access_token=x", "/mcp?api_key=x"} {
		tokens = append(tokens, Request{"POST", path, ping, h{{"Authorization", ""}}, []int{400, 401}, 0})
	}
	var origins, people, shapes []Request
	for _, origin := range []string{"https://evil.example", "null", "http://localhost.evil.example", "file://", "http://127.0.0.1.evil.example", "https://evil.example:443", "chrome-extension://abc"} {
		for _, path := range []string{"/mcp", "/api/changes", "/console/events", "/console/changes", "/tools"} {
			method := map[bool]string{true: "POST", false: "GET"}[path == "/mcp"]
			origins = append(origins, Request{method, path, map[bool]string{true: ping}[path == "/mcp"], h{{"Origin", origin}}, []int{403, 404}, 0})
		}
	}
	for _, host := range []string{"evil.example", "evil.example:8420", "localhost.evil.example", "169.254.169.254"} {
		origins = append(origins, Request{"POST", "/mcp", ping, h{{"Host", host}}, []int{400, 403, 421}, 0}, Request{"GET", "/console/", "", h{{"Host", host}}, []int{400, 403, 404, 421}, 0})
	}
	for _, path := range []string{"/api/changes", "/api/changes/1", "/api/deliveries", "/api/tokens", "/api/people", "/api/changes/events", "/metrics", "/console/changes", "/console/tokens", "/console/people", "/console/audit", "/console/access", "/debug/pprof/", "/debug/vars", "/.git/config", "/.env", "/config", "/admin",
		"/console/assets/..%2f..%2fbailiwick.yaml", "/console/assets/../../etc/passwd", "/%2e%2e/etc/passwd", "//etc/passwd", "/mcp/../api/changes"} {
		people = append(people, Request{"GET", path, "", nil, append([]int{301, 303, 307, 308}, refused...), 0})
	}
	for _, path := range []string{"/api/changes/1/approve", "/api/changes/1/break_glass", "/console/changes/1/approve", "/console/tokens/1/revoke", "/console/people/invite", "/notifications/ops", "/console/sign-in", "/console/batch"} {
		people = append(people, Request{"POST", path, `{}`, nil, append([]int{301, 303, 307, 308}, refused...), 0})
	}
	for _, method := range []string{"PUT", "PATCH", "TRACE", "OPTIONS", "CONNECT2", "PROPFIND", "HEAD", "GET"} {
		shapes = append(shapes, Request{method, "/mcp", "", nil, append([]int{200, 204, 501}, refused...), 0})
	}
	for _, kind := range []string{"text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "text/html", "application/xml", "application/jsonp"} {
		shapes = append(shapes, Request{"POST", "/mcp", ping, h{{"Content-Type", kind}}, refused, 0})
	}
	shapes = append(shapes, Request{"POST", "/mcp", ping, nil, []int{400, 413}, 64 << 20}, Request{"POST", "/mcp", ping, h{{"Content-Encoding", "gzip"}}, append([]int{200}, refused...), 0},
		Request{"POST", "/mcp", ping, h{{"X-Http-Method-Override", "DELETE"}}, append([]int{200}, refused...), 0}, Request{"POST", "/mcp", ping, h{{"Mcp-Session-Id", "../../x"}}, append([]int{200}, refused...), 0},
		Request{"POST", "/mcp", ping, h{{"Mcp-Protocol-Version", "9999-99-99"}}, append([]int{200}, refused...), 0}, Request{"POST", "/mcp", ping, h{{"X-Forwarded-For", "127.0.0.1"}, {"Authorization", ""}}, []int{401}, 0},
		Request{"POST", "/mcp", ping, h{{"X-Forwarded-Host", "evil.example"}, {"Authorization", ""}}, []int{401}, 0}, Request{"POST", "/mcp", ping, h{{"Cookie", "bailiwick=x; session=x"}, {"Authorization", ""}}, []int{401}, 0})
	var apps []Request
	for _, to := range []string{"javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "vbscript:x", "ms-msdt:/id", "search-ms:query=x", "ms-officecmd:x", "http://evil.example/", "https://evil.example/#x", "myapp://x"} {
		apps = append(apps, Request{"POST", "/oauth/register", fmt.Sprintf(`{"redirect_uris":[%q]}`, to), nil, []int{400, 404, 405}, 0})
	}
	apps = append(apps, Request{"POST", "/oauth/token", "grant_type=password&username=a&password=b", h{{"Content-Type", "application/x-www-form-urlencoded"}}, []int{400, 401, 404}, 0},
		Request{"POST", "/oauth/token", "grant_type=authorization_code&code=x&client_id=y", h{{"Content-Type", "application/x-www-form-urlencoded"}}, []int{400, 401, 404}, 0},
		Request{"GET", "/console/allow?client_id=x&redirect_uri=https://evil.example/&response_type=code", "", nil, []int{303, 400, 403, 404}, 0},
		Request{"GET", "/console/sign-in?next=//evil.example/", "", nil, []int{200, 303, 404}, 0})
	return map[string][]Request{"credentials over HTTP": tokens, "pages of other sites": origins, "doors of people": people, "methods, media types and sizes": shapes, "OAuth": apps}
}

// Cases returns all attacks, ordered by section.
func Cases() []Case {
	var out []Case
	for _, section := range []string{"a hidden field in SQL", "a masked field in SQL", "another tenant in SQL", "a hidden class in SQL", "the catalogue in SQL", writes, "SQL that isn't read in one way", "work without an end in SQL",
		"a hidden field by a tool", "another tenant by a tool", "a hidden class by a tool", "stages and operators that run code", "writes without a review", "messages that are no protocol",
		"credentials over HTTP", "pages of other sites", "doors of people", "methods, media types and sizes", "OAuth"} {
		for _, s := range append(statements()[section], otherStatements()[section]...) {
			out = append(out, Case{Section: section, Name: s, SQL: cmp.Or(s, " ")})
		}
		for _, s := range calls()[section] {
			tool, args, _ := strings.Cut(s, " ")
			out = append(out, Case{Section: section, Name: s, Tool: tool, Args: args})
		}
		for _, s := range messages()[section] {
			out = append(out, Case{Section: section, Name: cut(s), Raw: s})
		}
		for _, r := range requests()[section] {
			out = append(out, Case{Section: section, Name: cut(fmt.Sprintln(r.Method, r.Path, r.Header, r.Body)), HTTP: &r})
		}
	}
	return out
}
