package calls_test

import (
	"fmt"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/value"
)

const repos = `{"openapi": "3.0.3", "info": {"title": "Repos", "version": "1"}, "servers": [{"url": "https://api.repos.example/v3/"}, {"url": "/v3"}], "paths": {
"/repos/{owner}/{repo}/issues": {"parameters": [{"name": "owner", "in": "path", "required": true, "schema": {"type": "string"}}, {"name": "repo", "in": "path", "required": true, "schema": {"type": "string"}}],
  "get": {"operationId": "listIssues", "parameters": [{"name": "per_page", "in": "query", "schema": {"type": "integer"}}, {"name": "labels", "in": "query", "explode": false, "schema": {"type": "array", "items": {"type": "string"}}},
    {"name": "ids", "in": "query", "schema": {"type": "array", "items": {"type": "string"}}}, {"name": "filter", "in": "query", "style": "deepObject", "schema": {"type": "object"}},
    {"name": "where", "in": "query", "content": {"application/json": {"schema": {"type": "object"}}}}], "responses": {"200": {"description": "ok"}}},
  "post": {"operationId": "createIssue", "responses": {"200": {"description": "ok"}}}},
"/repos/{owner}/{repo}": {"delete": {"operationId": "deleteRepo", "parameters": [{"name": "owner", "in": "path", "required": true, "schema": {"type": "string"}}, {"name": "repo", "in": "path", "required": true, "schema": {"type": "string"}}], "responses": {"200": {"description": "ok"}}}},
"/users/{id}": {"get": {"operationId": "getUser", "parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "string"}}], "responses": {"200": {"description": "ok"}}}},
"/users/me": {"get": {"operationId": "getMe", "responses": {"200": {"description": "ok"}}}},
"/files/{name}.{ext}": {"get": {"operationId": "getFile", "parameters": [{"name": "name", "in": "path", "required": true, "schema": {"type": "string"}}, {"name": "ext", "in": "path", "required": true, "schema": {"type": "string"}}], "responses": {"200": {"description": "ok"}}}},
"/messages?beta=true": {"post": {"operationId": "betaMessage", "responses": {"200": {"description": "ok"}}}},
"/messages": {"post": {"operationId": "message", "responses": {"200": {"description": "ok"}}}}}}`

// TestLocate checks which operation and arguments a concrete call means.
func TestLocate(t *testing.T) {
	for _, row := range []struct{ text, want string }{
		{"GET /repos/acme/app/issues?per_page=5", `listIssues {"owner":"acme","repo":"app"} {"per_page":"5"}`},
		{"get /repos/acme/app/issues", `listIssues {"owner":"acme","repo":"app"} {}`},
		{"/repos/acme/app/issues/", `listIssues {"owner":"acme","repo":"app"} {}`},
		{" POST   /repos/acme/app/issues ", `createIssue {"owner":"acme","repo":"app"} {}`},
		{"/repos/acme/app", `deleteRepo {"owner":"acme","repo":"app"} {}`}, // there is no other
		{"https://api.repos.example/v3/repos/acme/my%20app/issues", `listIssues {"owner":"acme","repo":"my app"} {}`},
		{"https://repos.internal/api/repos/acme/app/issues#top", `listIssues {"owner":"acme","repo":"app"} {}`},
		{"/api/users/7", `getUser {"id":"7"} {}`},
		{"/v3/users/7", `getUser {"id":"7"} {}`},
		{"/users/me", `getMe {} {}`},
		{"/users/a%2Fb", `getUser {"id":"a/b"} {}`},
		{"GET /users/{userId}", `getUser {} {}`},
		{"GET /users/:id", `getUser {} {}`},
		{"/files/report.2024.pdf", `getFile {"name":"report.2024","ext":"pdf"} {}`},
		{"POST /messages?beta=true", `betaMessage {} {}`},
		{"POST /messages?beta=false", `message {} {"beta":"false"}`},
		{"POST /messages", `message {} {}`},
		{"/repos/a/b/issues?labels=x,y&ids=1&ids=2&filter[state]=open&filter[by]=ann&where=%7B%22a%22:1%7D", `listIssues {"owner":"a","repo":"b"} {"labels":["x","y"],"ids":["1","2"],"filter":{"state":"open","by":"ann"},"where":{"a":1}}`},
		{"/repos/a/b/issues?ids[]=1", `listIssues {"owner":"a","repo":"b"} {"ids":["1"]}`},
		{"/repos/a/b/issues?ids[]=1&ids[]=2&nope=1", `listIssues {"owner":"a","repo":"b"} {"ids":["1","2"],"nope":"1"}`},
		{"https://evil.example/users/7", ""}, {"http://api.repos.example/v3/users/7", ""}, {"https://u:p@api.repos.example/v3/users/7", ""},
		{"GET /users", ""}, {"DELETE /users/7", ""}, {"list users", ""}, {"GET users/7", ""}, {"/users/%zz", ""}, {"", ""}, {"GET /users/7 and more", ""},
	} {
		if got := located(t, calls.Rules{Base: "https://repos.internal/api"}, row.text); got != row.want {
			t.Errorf("%s: %s\nwant %s", row.text, got, row.want)
		}
	}
}

// TestLocateHidden checks that an operation that is hidden, excluded or forbidden is as absent as one that the document doesn't have.
func TestLocateHidden(t *testing.T) {
	for _, rules := range []calls.Rules{
		{Hidden: []calls.Hidden{{Operations: []string{"getMe", "listIssues"}}}},
		{Access: spec.ClassOptions{Rules: []spec.ClassRule{{Operations: []string{"getMe", "listIssues"}, Class: spec.ClassExcluded}}}},
		{Access: spec.ClassOptions{Rules: []spec.ClassRule{{Operations: []string{"getMe", "listIssues"}, Class: spec.ClassForbidden, Reason: "r", Instead: "i"}}}},
	} {
		for text, want := range map[string]string{
			"/users/me": `getUser {"id":"me"} {}`, "GET /repos/a/b/issues": "", "/repos/a/b/issues?per_page=1": `createIssue {"owner":"a","repo":"b"} {"per_page":"1"}`,
		} {
			if got := located(t, rules, text); got != want {
				t.Errorf("%s: %s, want %s", text, got, want)
			}
		}
	}
}

// located locates a call in repos under rules.
func located(t *testing.T, rules calls.Rules, text string) string {
	t.Helper()
	d, err := spec.Load([]byte(repos))
	if err != nil {
		t.Fatal(err)
	}
	rules.Document = d
	p, err := policy.New(policy.Rules{APIs: map[string]calls.Rules{"repos": rules}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	reach, err := p.APIs().Reach(identity.Principal{ID: "a"}, "repos", "")
	if err != nil {
		t.Fatal(err)
	}
	at := reach.Locate(text)
	if at == nil {
		return ""
	}
	return fmt.Sprintf("%s %s %s", at.Operation.ID, value.OfObject(at.Path), value.OfObject(at.Query))
}
