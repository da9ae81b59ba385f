package parse_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/source/parse"
	"github.com/bailiwick-dev/bailiwick/source/postgres"
	"github.com/bailiwick-dev/bailiwick/test/services"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A server is the tests' Parse Server, with direct access to its REST API.
type server struct {
	services.ParseServer
	t testing.TB
}

func start(t testing.TB) *server { return &server{services.Parse(t), t} }

// ask sends a request with headers "Name: value". It returns the status and the answer.
func (s *server) ask(method, path string, body any, headers ...string) (int, map[string]any) {
	s.t.Helper()
	var sent io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			s.t.Fatal(err)
		}
		sent = bytes.NewReader(text)
	}
	r, err := http.NewRequestWithContext(context.WithoutCancel(s.t.Context()), method, s.URL()+path, sent)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("X-Parse-Application-Id", s.AppID)
	r.Header.Set("X-Parse-REST-API-Key", s.RESTKey)
	r.Header.Set("Content-Type", "application/json")
	for _, h := range headers {
		name, v, _ := strings.Cut(h, ": ")
		r.Header.Set(name, v)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	answer := map[string]any{}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		s.t.Fatal(err)
	}
	return resp.StatusCode, answer
}

// must is like ask, as master, for requests that must succeed.
func (s *server) must(method, path string, body any, headers ...string) map[string]any {
	s.t.Helper()
	status, answer := s.ask(method, path, body, append([]string{"X-Parse-Master-Key: " + s.MasterKey}, headers...)...)
	if status >= 300 {
		s.t.Fatalf("%s %s: %d %v", method, path, status, answer)
	}
	return answer
}

// session signs a user in and returns the user's id and session token.
func (s *server) session(name string) (id, token string) {
	s.t.Helper()
	in := s.must("POST", "/login", map[string]any{"username": name, "password": s.Users[name]})
	return in["objectId"].(string), in["sessionToken"].(string)
}

// found returns the results of a find.
func (s *server) found(class, where string, headers ...string) (int, []any) {
	status, answer := s.ask("GET", "/classes/"+class+"?limit=1000&where="+url.QueryEscape(where), nil, headers...)
	results, _ := answer["results"].([]any)
	return status, results
}

// options returns the options of a source in a posture: "public", "master", "role NAME", "user NAME" or "session
// NAME".
func (s *server) options(posture string) (parse.Options, identity.Principal) {
	s.t.Helper()
	as, name, _ := strings.Cut(posture, " ")
	o := parse.Options{Name: "shop", URL: s.URL(), AppID: s.AppID, RESTKey: s.RESTKey, MasterKey: s.MasterKey, As: parse.Posture(as)}
	p := identity.Principal{ID: "test", Kind: identity.Agent, Scopes: []identity.Scope{identity.Read}}
	switch o.As {
	case parse.Role:
		o.Role = name
	case parse.User:
		id, _ := s.session(name)
		o.User = fmt.Sprintf("%q", id)
	case parse.Session:
		_, token := s.session(name)
		o.Session = "principal.claims.parse_session"
		p.Claims = value.OfObject([]value.Member{{Name: "parse_session", Value: value.OfString(token)}})
	}
	return o, p
}

// An asker reads a source as one principal.
type asker struct {
	t      testing.TB
	source source.Source
	policy *policy.Policy
	who    identity.Principal
}

// open opens a source and compiles rules against it. Without rules, every class is visible.
func (s *server) open(posture, direct string, rules map[string]policy.ClassRule) *asker {
	s.t.Helper()
	o, p := s.options(posture)
	if direct != "" {
		db, err := postgres.Open(s.t.Context(), o.Name, direct)
		if err != nil {
			s.t.Fatal(err)
		}
		o.Direct = db
	}
	return s.openWith(o, p, rules)
}

func (s *server) openWith(o parse.Options, p identity.Principal, rules map[string]policy.ClassRule) *asker {
	s.t.Helper()
	src, err := parse.Open(o)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { src.Close() })
	classes, _, err := src.Describe(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	compiled, err := policy.New(policy.Rules{Unlisted: true, Classes: rules}, classes)
	if err != nil {
		s.t.Fatal(err)
	}
	compiled = compiled.Under(func(p identity.Principal, _ string) (policy.Groups, error) { return src.Groups(s.t.Context(), p) })
	return &asker{s.t, src, compiled, p}
}

// read returns the rows of a query.
func (a *asker) read(q query.Query) (*policy.Plan, []value.Row, error) {
	permit, err := a.policy.Read(a.who, q)
	if err != nil {
		return nil, nil, err
	}
	plan, err := permit.Plan()
	if err != nil {
		return nil, nil, err
	}
	rows, err := a.source.Read(a.t.Context(), permit)
	if err != nil {
		return nil, nil, err
	}
	var out []value.Row
	for row, err := range rows {
		if err != nil {
			return nil, nil, err
		}
		if plan.Program != nil {
			row = row[:len(plan.ReturnedColumns())] // without the counts of values that groups omit
		}
		out = append(out, append(value.Row{}, row...))
	}
	return &plan, out, nil
}

// where parses a where object.
func where(t testing.TB, text string) query.Filter {
	t.Helper()
	v, err := value.Read([]byte(text), 0)
	if err != nil {
		t.Fatal(err)
	}
	f, err := query.ParseWhere(v, "/where")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// pipeline parses the stages of a pipeline.
func pipeline(t testing.TB, class, stages string) *query.Pipeline {
	t.Helper()
	v, err := value.Read([]byte(stages), 0)
	if err != nil {
		t.Fatal(err)
	}
	p, err := query.ParsePipeline(v, "/pipeline")
	if err != nil {
		t.Fatal(err)
	}
	return &query.Pipeline{Class: class, Stages: p, Limit: 1000}
}

// shown returns rows as text, one per line.
func shown(rows []value.Row, err error) string {
	if err != nil {
		return err.Error()
	}
	var b strings.Builder
	for _, row := range rows {
		for i, v := range row {
			if i > 0 {
				b.WriteByte(' ')
			}
			b.Write(v.AppendJSON(nil))
		}
		b.WriteByte('\n')
	}
	return b.String()
}
