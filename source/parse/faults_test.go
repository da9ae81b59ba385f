package parse_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/source/parse"
)

// TestFaults puts a proxy in front of Parse Server that answers instead of Parse Server.
func TestFaults(t *testing.T) {
	s := start(t)
	var answer atomic.Pointer[http.HandlerFunc]
	to, _ := url.Parse(strings.TrimSuffix(s.URL(), "/parse"))
	proxy := httputil.NewSingleHostReverseProxy(to)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if h := answer.Load(); h != nil && strings.HasPrefix(r.URL.Path, "/parse/classes/") {
			(*h)(w, r)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	defer front.Close()
	o, p := s.options("user alice")
	o.URL = front.URL + "/parse"
	a := s.openWith(o, p, nil)
	says := func(status int, kind, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.WriteHeader(status)
			fmt.Fprint(w, body)
		}
	}
	const marker = "secret-4711"
	const (
		noAnswer = "upstream_error: the source could not answer"
		notParse = "what answers is not Parse Server. Its url ends with the path that it is mounted at, such as https://host/parse: status "
	)
	for _, tt := range []struct {
		name     string
		says     http.HandlerFunc
		agent    string // the complete text that an agent may read
		operator string // the text in the log
	}{
		{"500", says(500, "application/json", `{"code":1,"message":"`+marker+`"}`), noAnswer, "an error of Parse Server, which is in its own log: status 500, code 1"},
		{"HTML", says(200, "text/html", `<html>`+marker), noAnswer, notParse + "200"},
		{"404 in HTML", says(404, "text/html", `<html>`+marker), noAnswer, notParse + "404"},
		{"502 in HTML", says(502, "text/html", `<html>`+marker), noAnswer, "an error of Parse Server, which is in its own log: status 502"},
		{"garbage", says(200, "application/json", "\x00\xff{"+marker), noAnswer, notParse + "200"},
		{"a list", says(200, "application/json", `["`+marker+`"]`), noAnswer, notParse + "200"},
		{"no results", says(200, "application/json", `{"`+marker+`":1}`), noAnswer, "an answer without "},
		{"results of no kind", says(200, "application/json", `{"results":"`+marker+`"}`), noAnswer, "an answer without "},
		{"records that are none", says(200, "application/json", `{"results":["`+marker+`",7]}`), noAnswer, "a"},
		{"keys refused", says(403, "application/json", `{"error":"unauthorized `+marker+`"}`), "upstream_error: the source refuses the keys that it was configured with",
			"the server refuses app_id, master_key or rest_key, or takes the master key from other addresses only (masterKeyIps): status 403"},
		{"forbidden", says(400, "application/json", `{"code":119,"error":"`+marker+`"}`), "permission_denied: the permissions of the Parse application don't allow it", "status 400, code 119"},
		{"a bad query", says(400, "application/json", `{"code":102,"error":"`+marker+`"}`), noAnswer, "status 400, code 102"},
		{"the session ended", says(400, "application/json", `{"code":209,"error":"`+marker+`"}`), "permission_denied: the Parse session of this credential has ended", "status 400, code 209"},
		{"too many requests", says(400, "application/json", `{"code":155,"error":"`+marker+`"}`), "rate_limited: the source takes no more requests for now", "status 400, code 155"},
		{"it times out", says(400, "application/json", `{"code":124,"error":"`+marker+`"}`), "timeout: the query took too long and was stopped", "status 400, code 124"},
		{"a redirect", says(302, "text/html", marker), noAnswer, "what answers leads to another address. The url of the source has to be that of Parse Server itself: status 302"},
		{"cut off", func(w http.ResponseWriter, _ *http.Request) { panic(http.ErrAbortHandler) }, "upstream_error: the source could not be reached", "EOF"},
	} {
		answer.Store(&tt.says)
		for _, q := range []query.Query{&query.Find{Class: "Product", Limit: 3}, &query.Count{Class: "Product"},
			pipeline(t, "Product", `[{"$group":{"_id":"$category","n":{"$sum":1}}}]`)} {
			_, rows, err := a.read(q)
			e := problem.Of(err)
			if err == nil || string(e.Code)+": "+e.Detail != tt.agent || !strings.HasPrefix(fmt.Sprint(e.Err), tt.operator) {
				t.Errorf("%s: %T: %v, %s: %s (%v); want %s (%s)", tt.name, q, rows, e.Code, e.Detail, e.Err, tt.agent, tt.operator)
			}
			if strings.Contains(e.Text()+fmt.Sprint(e.Err), marker) {
				t.Errorf("%s: the answer of Parse Server is in the error: %v, %v", tt.name, e.Text(), e.Err)
			}
		}
	}
	answer.Store(nil)
	if _, rows, err := a.read(&query.Count{Class: "Order"}); err != nil || shown(rows, err) != "14\n" {
		t.Errorf("after all that: %s", shown(rows, err))
	}
	slow := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	answer.Store(&slow)
	permit, err := a.policy.Read(a.who, &query.Count{Class: "Order"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	rows, err := a.source.Read(ctx, permit)
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range rows {
		if problem.CodeOf(err) != problem.Timeout {
			t.Errorf("a server that doesn't answer: %v", err)
		}
	}
}

// TestDown checks the errors of a source whose Parse Server doesn't exist, or isn't a Parse Server.
func TestDown(t *testing.T) {
	s := start(t)
	down := httptest.NewServer(nil)
	down.Close()
	html := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") }))
	defer html.Close()
	answers := func(text string) string {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) }))
		t.Cleanup(server.Close)
		return server.URL
	}
	for _, tt := range []struct {
		name     string
		set      func(*parse.Options)
		kind     string
		operator string
	}{
		{"down", func(o *parse.Options) { o.URL = down.URL }, "unreachable", "connection refused"},
		{"a web site", func(o *parse.Options) { o.URL = html.URL }, "parse_broken", "Its url ends with the path that it is mounted at"},
		{"another path", func(o *parse.Options) { o.URL = strings.TrimSuffix(s.URL(), "/parse") }, "parse_broken", "Its url ends with the path that it is mounted at"},
		{"another API", func(o *parse.Options) { o.URL = answers(`{}`) }, "parse_broken", "/schemas lists no classes"},
		{"classes without names", func(o *parse.Options) { o.URL = answers(`{"results":[{"fields":{}},7]}`) }, "parse_broken", "/schemas lists no classes"},
		{"another application", func(o *parse.Options) { o.AppID = "nope" }, "parse_keys", "refuses app_id, master_key or rest_key"},
		{"a wrong master key", func(o *parse.Options) { o.MasterKey = "nope" }, "parse_keys", "refuses app_id, master_key or rest_key"},
		{"a wrong REST key", func(o *parse.Options) { o.RESTKey = "nope" }, "", ""},
	} {
		o, _ := s.options("master")
		tt.set(&o)
		src, err := parse.Open(o)
		if err != nil {
			t.Fatal(err)
		}
		defer src.Close()
		_, _, err = src.Describe(t.Context())
		if tt.kind == "" {
			if err != nil {
				t.Errorf("%s: %v; the master key is enough", tt.name, err)
			}
			continue
		}
		if p := problem.Of(err); p.Code != problem.Upstream || p.Kind != tt.kind || !strings.Contains(fmt.Sprint(p.Err), tt.operator) {
			t.Errorf("%s: %v of kind %s (%v); want %s (%s)", tt.name, err, p.Kind, p.Err, tt.kind, tt.operator)
		}
	}
}

// TestDrift changes classes after they were described. For unknown classes and fields, Parse Server returns no
// records. The source must not treat that as an answer.
func TestDrift(t *testing.T) {
	s := start(t)
	class := "Drift" + strings.ToUpper(rand.Text()[:6])
	fields := object{"a": object{"type": "String"}, "b": object{"type": "Number"}, "c": object{"type": "Relation", "targetClass": "Product"}}
	t.Cleanup(func() {
		s.must("DELETE", "/purge/"+class, nil)
		s.must("DELETE", "/schemas/"+class, nil)
	})
	s.must("POST", "/schemas/"+class, object{"className": class, "fields": fields})
	s.must("POST", "/classes/"+class, object{"a": "x", "b": 1})
	alter := func(change object) {
		s.must("PUT", "/schemas/"+class, object{"className": class, "fields": change})
	}
	ask := func(posture, where_ string) string {
		a := s.open(posture, "", nil)
		src := a.source.(*parse.Source)
		q := []query.Query{&query.Find{Class: class, Where: where(t, where_), Limit: 5}, &query.Count{Class: class, Where: where(t, where_)}}
		for _, q := range q {
			if _, _, err := a.read(q); err != nil {
				t.Fatal(err)
			}
		}
		alter(object{"b": object{"__op": "Delete"}})
		out := ""
		for _, q := range q {
			_, rows, err := a.read(q)
			p := problem.Of(err)
			out += fmt.Sprintln(len(rows), p.Code, p.Detail)
		}
		if !src.Stale() {
			t.Errorf("%s: the source is not described again", where_)
		}
		alter(object{"b": object{"type": "Number"}})
		return out
	}
	const changed = "0 upstream_error the classes of the source have changed\n"
	for _, where := range []string{`{"b":{"$gte":0}}`, `{"b":null}`, `{"b":{"$exists":true}}`} {
		for _, posture := range []string{"master", "session alice"} {
			if got := ask(posture, where); got != changed+changed {
				t.Errorf("%s: %s", where, got)
			}
		}
	}
	gone := s.open("master", "", nil)
	s.must("DELETE", "/purge/"+class, nil)
	if _, rows, err := gone.read(&query.Count{Class: class}); err != nil || rows[0][0].Int() != 0 {
		t.Errorf("no records: %v, %v", rows, err)
	}
	alter(object{"c": object{"__op": "Delete"}})
	s.must("DELETE", "/schemas/"+class, nil)
	for _, q := range []query.Query{&query.Count{Class: class}, &query.Find{Class: class, Limit: 1}, &query.Find{Class: "_Join:c:" + class, Limit: 1}} {
		if _, _, err := gone.read(q); problem.Of(err).Kind != "parse_changed" {
			t.Errorf("a class that vanished: %v", err)
		}
	}
	s.must("POST", "/schemas/"+class, object{"className": class, "fields": fields})
}

// TestOpenRefuses checks the options.
func TestOpenRefuses(t *testing.T) {
	good := parse.Options{Name: "shop", URL: "https://parse.example/parse", AppID: "a", MasterKey: "m", As: parse.Master}
	for _, tt := range []struct {
		want string
		set  func(*parse.Options)
	}{
		{"keys are sent over https alone, except to this machine. Write parse+https://parse.example", func(o *parse.Options) { o.URL = "http://parse.example/parse" }},
		{"needs app_id and master_key", func(o *parse.Options) { o.MasterKey = "" }},
		{"the key as is missing", func(o *parse.Options) { o.As = "" }},
		{`there is no "admin"`, func(o *parse.Options) { o.As = "admin" }},
		{"as: role needs the key role", func(o *parse.Options) { o.As = parse.Role }},
		{"user is for as: user, and this is as: master", func(o *parse.Options) { o.User = "'x'" }},
		{"session is for as: session, and this is as: user", func(o *parse.Options) { o.As, o.User, o.Session = parse.User, "'x'", "'y'" }},
	} {
		o := good
		tt.set(&o)
		if _, err := parse.Open(o); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v; want %s", err, tt.want)
		}
	}
}
