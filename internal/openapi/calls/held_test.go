package calls_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/expression"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/write"
)

// keeper is an API with operations that return secrets, that give rights, and that do neither.
func keeper(t *testing.T) *spec.Document {
	t.Helper()
	var paths []string
	for _, line := range []string{
		"get /items listItems", "post /items addItem",
		"get /tokens/{id}/secret tokenSecret", "get /webhooks/{id}/signing-key hookKey", "get /servers/{id}/tsigkeys/{key} tsigKey", "get /clusters/{id}/kubeconfig kubeconfig",
		"post /keys/api-keys createKey", "post /teams/{id}/members addMember", "post /invitations invite", "post /webhooks createHook", "post /servers/{id}/console openConsole", "put /users/{id}/role setRole",
	} {
		f := strings.Fields(line)
		paths = append(paths, fmt.Sprintf(`"%s?%s": {"%s": {"operationId": "%s", "tags": ["all"], "responses": {"200": {"description": "ok"}}}}`, f[1], f[0], f[0], f[2]))
	}
	text := strings.NewReplacer(`?get"`, `"`, `/items?post"`, `/items/"`, `/webhooks?post"`, `/webhooks"`, `?post"`, `"`, `?put"`, `"`).Replace(strings.Join(paths, ","))
	for _, name := range []string{"id", "key"} {
		text = strings.ReplaceAll(text, "{"+name+"}", "x"+name)
	}
	d, err := spec.Load([]byte(`{"openapi": "3.0.0", "info": {"title": "Keeper API", "version": "1"}, "paths": {` + text + `}}`))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestHeld checks which operations wait for a rule that names them. The zero rules hold them, and so do patterns and tags.
func TestHeld(t *testing.T) {
	secrets := []string{"tokenSecret", "hookKey", "tsigKey", "kubeconfig"}
	powers := []string{"createKey", "addMember", "invite", "createHook", "openConsole", "setRole"}
	who := agent("t1", identity.Read, identity.Write, identity.Delete)
	all := func(class spec.Class, names ...string) []spec.ClassRule {
		return []spec.ClassRule{{Operations: names, Class: class}}
	}
	for _, row := range []struct {
		name   string
		rules  calls.Rules
		called string // the held operations that agents can call
	}{
		{"no rules", calls.Rules{}, ""},
		{"writes are allowed", calls.Rules{Write: map[spec.Class]write.Mode{spec.ClassWrite: write.Allow}, Reviews: calls.ReviewsNone}, ""},
		{"a pattern for all", calls.Rules{Access: spec.ClassOptions{Rules: all(spec.ClassRead, "*")}}, ""},
		{"a pattern for some", calls.Rules{Access: spec.ClassOptions{Rules: all(spec.ClassWrite, "GET /tokens/*", "create*")}}, ""},
		{"a tag", calls.Rules{Access: spec.ClassOptions{Rules: []spec.ClassRule{{Tags: []string{"all"}, Class: spec.ClassRead}}}}, ""},
		{"a pattern is shown", calls.Rules{Shown: []string{"*"}}, ""},
		{"a pattern before the name", calls.Rules{Access: spec.ClassOptions{Rules: append(all(spec.ClassRead, "token*"), all(spec.ClassRead, "tokenSecret")...)}}, ""},
		{"by id", calls.Rules{Access: spec.ClassOptions{Rules: all(spec.ClassRead, "tokenSecret")}}, "tokenSecret"},
		{"by method and path", calls.Rules{Access: spec.ClassOptions{Rules: all(spec.ClassWrite, "POST /invitations")}}, "invite"},
		{"an operation with a tag", calls.Rules{Access: spec.ClassOptions{Rules: []spec.ClassRule{{Operations: []string{"hookKey"}, Tags: []string{"all"}, Class: spec.ClassRead}}}}, "hookKey"},
		{"shown by name", calls.Rules{Shown: []string{"listItems", "addItem", "tsigKey", "setRole"}}, "tsigKey setRole"},
		{"excluded by name", calls.Rules{Access: spec.ClassOptions{Rules: all(spec.ClassExcluded, powers...)}}, ""},
	} {
		row.rules.Document = keeper(t)
		compiled, err := calls.New(map[string]calls.Rules{"k": row.rules}, expression.NewCompiler())
		if err != nil {
			t.Fatal(row.name, err)
		}
		reach, err := compiled.Reach(who, "k", "")
		if err != nil {
			t.Fatal(err)
		}
		code := func(id string) problem.Code {
			_, read := reach.Permit(t.Context(), who, calls.Request{Operation: id})
			_, writes := reach.Permit(t.Context(), who, calls.Request{Operation: id, Writes: true})
			if read == nil || writes == nil {
				return ""
			}
			return problem.CodeOf(writes)
		}
		for _, id := range []string{"listItems", "addItem"} {
			if got := code(id); got != "" && row.name != "a pattern for all" && row.name != "a tag" {
				t.Errorf("%s: %s: %s", row.name, id, got)
			}
		}
		var called []string
		for i, id := range append(secrets[:len(secrets):len(secrets)], powers...) {
			want := problem.NotFound
			if i >= len(secrets) && row.name != "excluded by name" && row.name != "shown by name" {
				want = problem.SecurityBlocked
			}
			switch got := code(id); {
			case got == "":
				called = append(called, id)
			case got != want:
				t.Errorf("%s: %s: %s, want %s", row.name, id, got, want)
			}
		}
		if got := strings.Join(called, " "); got != row.called {
			t.Errorf("%s: agents can call %q, want %q", row.name, got, row.called)
		}
	}
}
