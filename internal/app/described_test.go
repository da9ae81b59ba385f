package app_test

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/app"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
)

// desk is a configuration with two actions over one table. One of them runs without review and is checked against an
// object.
const desk = `
store: "sqlite:bailiwick.db"
sources:
  org: {metadata: {roots: [cache]}}
  desk: {url: "sqlite:desk.db"}
classes:
  desk.requests: {}
  org.Case: {denied: [Secret__c]}
gates: {writes: on}
actions:
  ask:
    on: desk.requests
    do: create
    tool: true
    input: {properties: {Subject: {type: string}, key: {type: string}}}
    check_against: {class: org.Case, fields: {key: Secret__c}}
    set: {subject: {$cel: input.Subject}, key: {$cel: input.key}}
  file:
    on: desk.requests
    do: create
    tool: true
    review: allow
    input: {properties: {Subject: {type: string}, key: {type: string}}}
    check_against: {class: org.Case, fields: {key: Secret__c}}
    set: {subject: {$cel: input.Subject}, key: {$cel: input.key}}
`

// caseOf is a description with a maximum length for a subject and a secret field.
func caseOf(subject, secret int) string {
	return fmt.Sprintf(`{"name": "Case", "fields": [{"name": "Subject", "type": "string", "length": %d}, {"name": "Secret__c", "type": "string", "length": %d}]}`, subject, secret)
}

// TestDescribed checks that hidden parts of the class that checks a call don't affect the agent's answer. The only
// exception is that the call then needs review.
func TestDescribed(t *testing.T) {
	dir := t.TempDir()
	cache := filepath.Join(dir, "cache", ".metadata", "MyOrg")
	write := func(text string) {
		t.Helper()
		file := filepath.Join(cache, "Case.json")
		if text == "" {
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
		} else if err := errors.Join(os.MkdirAll(cache, 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	write(caseOf(5, 5))
	db, err := sql.Open("sqlite", filepath.Join(dir, "desk.db"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.Exec("CREATE TABLE requests (id INTEGER PRIMARY KEY, subject TEXT, key TEXT)")
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	c, err := config.Parse(filepath.Join(dir, "bailiwick.yaml"), []byte(desk), nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := app.Build(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	seer := identity.Principal{ID: "seer", Kind: identity.Agent, Owner: "bo", Scopes: []identity.Scope{identity.Read, identity.Write}}
	blind := seer
	blind.ID, blind.Classes = "blind", identity.List{Only: []string{"requests"}}
	n := 0
	call := func(principal identity.Principal, name, subject, key string) string {
		n++
		args := value.OfObject([]value.Member{{Name: "Subject", Value: value.OfString(subject)}, {Name: "key", Value: value.OfString(key)}, {Name: "reason", Value: value.OfString(fmt.Sprint("call ", n))}})
		res, err := p.Tools.Call(t.Context(), principal, tool.Request{Name: name, Arguments: args})
		if err != nil {
			return fmt.Sprint(problem.Of(err).Code, " ", problem.Of(err).Detail)
		}
		return regexp.MustCompile(`01[0-9a-z]{32}|20[0-9-]{8}[T ][0-9:.]+(Z| UTC)`).ReplaceAllString(string(res.Structured)+res.Text, "X")
	}
	worlds := []struct{ name, file string }{
		{"all fits", caseOf(9, 9)}, {"the subject doesn't", caseOf(3, 9)}, {"the secret doesn't", caseOf(9, 3)}, {"there is no secret", `{"name": "Case", "fields": [{"name": "Subject", "type": "string"}]}`},
		{"no fields", `{"name": "Case"}`}, {"broken", `{"name": `}, {"gone", ""},
	}
	for _, tt := range []struct {
		who  identity.Principal
		name string
		want []string // the start of the answer, for each world
	}{
		{blind, "ask", []string{"pending", "pending", "pending", "pending", "pending", "pending", "pending"}},
		{seer, "ask", []string{"pending", "invalid_argument Subject must have at most 3 characters, not 5", "pending", "pending", "pending", "pending", "pending"}},
		{blind, "file", []string{"applied", "pending", "pending", "pending", "pending", "pending", "pending"}},
		{seer, "file", []string{"applied", "invalid_argument Subject must have at most 3 characters, not 5", "pending", "pending", "pending", "pending", "pending"}},
	} {
		answers := map[string]string{}
		for i, w := range worlds {
			write(w.file)
			said := call(tt.who, tt.name, "12345", fmt.Sprintf("k%03d", n)) // a new key makes it a new change
			said = regexp.MustCompile(`k[0-9]{3}`).ReplaceAllString(said, "K")
			begins := said
			for _, state := range []string{"pending", "applied"} {
				if strings.HasPrefix(said, `{"status":"`+state) {
					begins = state
				}
			}
			if begins != tt.want[i] {
				t.Errorf("%s by %s where %s: %s", tt.name, tt.who.ID, w.name, said)
			}
			if answers[begins] == "" {
				answers[begins] = said
			}
			if answers[begins] != said {
				t.Errorf("%s by %s where %s tells:\n%s\nof another world\n%s", tt.name, tt.who.ID, w.name, said, answers[begins])
			}
			if w.file == "" {
				write(caseOf(9, 9))
			}
		}
	}
}
