package response

import (
	"net/http"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// TestRefusal checks the error for each failure response.
func TestRefusal(t *testing.T) {
	const jsonType = "application/json"
	for _, tt := range []struct {
		status            int
		media, body, want string
	}{
		{404, jsonType, `{"code":"not_found","error":"Team not found"}`, `not_found: the API found nothing: 404 not_found: Team not found {Status:404 UpstreamCode:not_found Message:Team not found}`},
		{400, jsonType, `{"error":{"code":"bad","message":"No name"}}`, `invalid_argument: the API doesn't take this request: 400 bad: No name {Status:400 UpstreamCode:bad Message:No name}`},
		{422, jsonType, `{"message":"Validation Failed","errors":[{"field":"name","code":"missing","message":"is missing"},{"message":"too short"}]}`,
			`invalid_argument: the API doesn't take this request: 422 missing: Validation Failed: name: is missing; too short {Status:422 UpstreamCode:missing Message:Validation Failed: name: is missing; too short}`},
		{422, jsonType, `{"errors":{"name":["is short","is bad"]}}`, `invalid_argument: the API doesn't take this request: 422 Unprocessable Entity: name: is short; is bad {Status:422 UpstreamCode: Message:name: is short; is bad}`},
		{409, "application/problem+json", `{"type":"https://api.test/problems/taken","title":"Taken","status":409,"detail":"The name is taken"}`,
			`conflict: the API found a conflict: 409 taken: The name is taken {Status:409 UpstreamCode:taken Message:The name is taken}`},
		{412, jsonType, ``, `conflict: the API found a conflict: 412 Precondition Failed {Status:412 UpstreamCode: Message:}`},
		{401, jsonType, `{"error":"invalid_token","error_description":"The token expired"}`,
			`permission_denied: the API itself refused this call: 401 invalid_token: The token expired {Status:401 UpstreamCode:invalid_token Message:The token expired}`},
		{403, jsonType, `{"code":7,"message":"denied","details":[]}`, `permission_denied: the API itself refused this call: 403 7: denied {Status:403 UpstreamCode:7 Message:denied}`},
		{403, jsonType, `{"code":"permission_denied","message":"not yours"}`,
			`permission_denied: the API itself refused this call: 403 permission_denied: not yours {Status:403 UpstreamCode:permission_denied Message:not yours}`},
		{429, "text/plain", "slow down\n", `rate_limited: the API takes no more calls for now: 429 Too Many Requests: slow down {Status:429 UpstreamCode: Message:slow down} after 7s`},
		{500, "text/html", "<h1>Oops</h1>", `upstream_error: the API answered 500 Internal Server Error {Status:500 UpstreamCode: Message:} after 7s`},
		{500, jsonType, `"down"`, `upstream_error: the API answered 500 Internal Server Error: down {Status:500 UpstreamCode: Message:down} after 7s`},
		{302, "text/html", "", `upstream_error: the API answered with a redirect, which isn't followed: 302 Found {Status:302 UpstreamCode: Message:} after 7s`},
		{412, "application/xml", "<Error><Code>PreconditionFailed</Code><Message>At least one of the pre-conditions you specified did not hold</Message></Error>",
			`conflict: the API found a conflict: 412 PreconditionFailed: At least one of the pre-conditions you specified did not hold {Status:412 UpstreamCode:PreconditionFailed Message:At least one of the pre-conditions you specified did not hold}`},
		{400, jsonType, `{"message":"At most 3 items\n    at Object.run (/srv/x.js:1:2)\n at com.x.Y.z(Y.java:1)"}`, `invalid_argument: the API doesn't take this request: 400 Bad Request: At most 3 items {Status:400 UpstreamCode: Message:At most 3 items}`},
		{400, jsonType, `{"message":"At most 3 items\nat server.go:12"}`, `invalid_argument: the API doesn't take this request: 400 Bad Request: At most 3 items {Status:400 UpstreamCode: Message:At most 3 items}`},
		{599, "", "odd", `upstream_error: the API answered 599: odd {Status:599 UpstreamCode: Message:odd} after 7s`},
		{404, jsonType, `{"error":"Not Found"}`, `not_found: the API found nothing: 404 Not Found {Status:404 UpstreamCode: Message:Not Found}`},
		{400, jsonType, `{"code":400,"message":"no silence"}`, `invalid_argument: the API doesn't take this request: 400 Bad Request: no silence {Status:400 UpstreamCode:400 Message:no silence}`},
		{400, jsonType, `[{"message":"one","code":"c1"},{"message":"two"}]`, `invalid_argument: the API doesn't take this request: 400 c1: one; two {Status:400 UpstreamCode:c1 Message:one; two}`},
		{400, jsonType, `{"salary":"canary","message":"m","token":"canary","errors":[{"salary":"canary"}]}`, `invalid_argument: the API doesn't take this request: 400 Bad Request: m {Status:400 UpstreamCode: Message:m}`},
	} {
		v, op := seen(t, ref("Team"), "")
		r := &calls.HTTPResponse{Status: tt.status, MediaType: tt.media, Header: http.Header{}, Body: []byte(tt.body)}
		if tt.status == 429 || tt.status >= 500 || tt.status < 400 {
			r.Header.Set("Retry-After", "7")
		}
		_, err := Make(v, op, r, Options{})
		if got := shown(nil, err); got != tt.want {
			t.Errorf("%d %s\n got %s\nwant %s", tt.status, tt.body, got, tt.want)
		}
	}
	v, op := seen(t, "", "")
	for _, tt := range []struct{ header, body, want string }{
		{`Bearer error="invalid_token", error_description="The token expired"`, ``, `permission_denied: the API itself refused this call: 401 Unauthorized: The token expired {Status:401 UpstreamCode: Message:The token expired}`},
		{`Bearer realm="x", error="invalid_token"`, `<html>`, `permission_denied: the API itself refused this call: 401 Unauthorized: invalid_token {Status:401 UpstreamCode: Message:invalid_token}`},
		{`Bearer error_description="sk_live_51HxYzABCDEFGHIJKLMNOPQR is bad"`, ``, `permission_denied: the API itself refused this call: 401 Unauthorized: [masked] is bad {Status:401 UpstreamCode: Message:[masked] is bad}`},
		{`Basic realm="x"`, ``, `permission_denied: the API itself refused this call: 401 Unauthorized {Status:401 UpstreamCode: Message:}`},
		{`Bearer error="a"`, `"said"`, `permission_denied: the API itself refused this call: 401 Unauthorized: said {Status:401 UpstreamCode: Message:said}`},
	} {
		_, err := Make(v, op, &calls.HTTPResponse{Status: 401, Header: http.Header{"Www-Authenticate": {tt.header}}, Body: []byte(tt.body)}, Options{})
		if got := shown(nil, err); got != tt.want {
			t.Errorf("%s\n got %s\nwant %s", tt.header, got, tt.want)
		}
	}
	_, err := Make(v, op, &calls.HTTPResponse{Status: 403, Header: http.Header{}}, Options{})
	if p := problem.Of(err); !strings.Contains(p.Suggestion, "The operator of the API") || p.Retryable() {
		t.Errorf("%+v", p)
	}
}

// TestRetryAfter checks the wait for each Retry-After.
func TestRetryAfter(t *testing.T) {
	const date = "Sat, 21 Nov 2026 20:00:00 GMT"
	for says, want := range map[string]string{"3": "3s", " 3 ": "3s", "-3": "0s", "x": "0s", "": "0s", "999999999": "24h0m0s",
		"Sat, 21 Nov 2026 20:00:30 GMT": "30s", "Sat, 21 Nov 2026 19:00:00 GMT": "0s"} {
		if got := retryAfter(http.Header{"Retry-After": {says}, "Date": {date}}).String(); got != want {
			t.Errorf("%q: %s, want %s", says, got, want)
		}
	}
	if got := retryAfter(http.Header{"Retry-After": {date}}); got != 0 {
		t.Error(got)
	}
}

// TestSentence checks the part of an API's message that is shown.
func TestSentence(t *testing.T) {
	for _, tt := range []struct{ says, want string }{
		{"  Team\r\n\tnot\u202e found\x00 ", "Team not found"},
		{"TypeError: x is not a function\n    at f (/srv/app/x.js:1:2)\n    at g (y.js:3:4)", "TypeError: x is not a function"},
		{"boom at Object.<anonymous> (/srv/app/x.js:1:2) at node:internal/x:3", "boom"},
		{"Traceback (most recent call last):\n  File \"/a.py\", line 1", ""},
		{"panic: x\n\ngoroutine 1 [running]:", ""},
		{"java.lang.Null\n\tat a.B.c(D.java:5)\nCaused by: x", "java.lang.Null"},
		{"can't open /var/lib/app/data.db for reading", "can't open … for reading"},
		{`can't open C:\Users\ann\secret.txt`, "can't open …"},
		{"in src/forge/routes.ts:12:3 it broke", "in … it broke"},
		{"Route GET:/api/v1/teams/x not found", "Route GET:/api/v1/teams/x not found"},
		{"<!doctype html><html><head><title>no</title></head><body>Not <b>here</b></body></html>", "Not here"},
		{"a < b and c > d", "a < b and c > d"},
		{"password=hunter2 is wrong", "password=[masked] is wrong"},
		{`{"api_key": "k1"}`, `{"api_key": [masked]}`},
		{"Authorization: Bearer abc.def-ghi failed", "Authorization: [masked] failed"},
		{"bad header Bearer abcdefghijk", "bad header Bearer [masked]"},
		{"the token is invalid", "the token is invalid"},
		{"your token is a1b2c3", "your token is [masked]"},
		{"no eyJhbGciOi.eyJzdWIi.abc here", "no [masked] here"},
		{"sk_live_abc123 and ghp_abcdef", "[masked] and [masked]"},
		{"postgres://app:pw@db/x", "postgres://[masked]@db/x"},
		{"key 0123456789abcdef0123456789abcdef0", "key [masked]"},
		{"id 123e4567-e89b-12d3-a456-426614174000 is unknown", "id 123e4567-e89b-12d3-a456-426614174000 is unknown"},
		{strings.Repeat("word ", 200), strings.TrimSpace(strings.Repeat("word ", 99)) + "…"},
		{"\xff\xfe", ""},
	} {
		if got := sentence(tt.says); got != tt.want {
			t.Errorf("%q\n got %q\nwant %q", tt.says, got, tt.want)
		}
	}
	for says, want := range map[string]string{"about:blank": "", "urn:problem:x": "urn:problem:x", "has space": "", "a/b": "b", "": "", "sk_live_1": "", "E12.3": "E12.3", strings.Repeat("x", 101): ""} {
		if got := token(says); got != want {
			t.Errorf("%q is the code %q, want %q", says, got, want)
		}
	}
}

// TestRefused checks which responses to writes report a failure although their status reports success.
func TestRefused(t *testing.T) {
	v, op := seen(t, "", "")
	for _, tt := range []struct{ sent, body, want string }{
		{`{"text":"x"}`, `{"ok":false,"error":"channel_not_found"}`, "upstream_error: the API says that it did not do this: 200: channel_not_found"},
		{`{}`, `{"success":false,"errors":[{"code":1001,"message":"bad zone"}],"messages":[],"result":null}`, "upstream_error: the API says that it did not do this: 200 1001: bad zone"},
		{`{}`, `{"status":"fail","message":"No such user","data":null}`, "upstream_error: the API says that it did not do this: 200 fail: No such user"},
		{`{}`, `{"status":"error","message":"token=ghp_0123456789abcdefghijABCDEFGHIJ012345 is bad"}`, "upstream_error: the API says that it did not do this: 200 error: token=[masked] is bad"},
		{`{}`, `{"isSuccess":false,"errorMessage":"Taken"}`, "upstream_error: the API says that it did not do this: 200: Taken"},
		{`{}`, `{"ok":true,"error":null}`, ""},
		{`{}`, `{"ok":true,"message":"created"}`, ""},
		{`{}`, `{"success":false}`, "upstream_error: the API says that it did not do this: 200"},
		{`{}`, `{"error":"not signed in"}`, "upstream_error: the API says that it did not do this: 200: not signed in"},
		{`{}`, `{"error":{"code":"E7","message":"No such zone"}}`, "upstream_error: the API says that it did not do this: 200 E7: No such zone"},
		{`{}`, `{"errors":[{"message":"No such zone"}],"data":null}`, "upstream_error: the API says that it did not do this: 200: No such zone"},
		{`{}`, `{"error":true,"message":"No such zone","code":7}`, "upstream_error: the API says that it did not do this: 200 7: No such zone"},
		{`{}`, `{"result":"error","message":"No such zone"}`, "upstream_error: the API says that it did not do this: 200 error: No such zone"},
		{`{}`, `{"hasErrors":true,"message":"No such zone"}`, "upstream_error: the API says that it did not do this: 200: No such zone"},
		{`{}`, `{"error":null,"result":{"id":1}}`, ""},
		{`{}`, `{"error":false,"message":"done"}`, ""},
		{`{}`, `{"errors":[],"message":"done"}`, ""},
		{`{}`, `{"error":"E7","name":"a job that keeps its error"}`, ""},
		{`{}`, `{"success":false,"name":"a run that failed"}`, ""},
		{`{}`, `{"message":"created"}`, ""},
		{`{}`, `{"hasErrors":false}`, ""},
		{`{"error":"x"}`, `{"error":"x"}`, ""},
		{`{"success":false}`, `{"success":false,"message":"the run failed"}`, ""},
		{`{}`, `{"id":7,"success":false,"message":"a run that failed"}`, ""},
		{`{}`, `{"success":false,"message":"in part","data":{"id":1}}`, ""},
		{`{}`, `{"status":"open","message":"hello"}`, ""},
		{`{"status":"error"}`, `{"status":"error","message":"logged"}`, ""},
		{`{}`, `[{"ok":false,"error":"x"}]`, ""},
		{`{}`, `ok`, ""},
		{`{}`, ``, ""},
	} {
		sent, err := value.Read([]byte(tt.sent), 0)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := CheckRefusal(v, op, ok(tt.body), sent); err != nil {
			got = problem.Of(err).Error()
			if problem.Of(err).Retryable() {
				t.Errorf("%s: it may be made again", tt.body)
			}
		}
		if got != tt.want {
			t.Errorf("%s\n got %s\nwant %s", tt.body, got, tt.want)
		}
	}
}
