package parse_test

import (
	"context"
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

// TestFaults puts a proxy in front of Parse Server that answers in its place.
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
	for _, tt := range []struct {
		name string
		says http.HandlerFunc
		want problem.Code
	}{
		{"500", says(500, "application/json", `{"code":1,"message":"`+marker+`"}`), problem.Upstream},
		{"HTML", says(200, "text/html", `<html>`+marker), problem.Upstream},
		{"502 in HTML", says(502, "text/html", `<html>`+marker), problem.Upstream},
		{"garbage", says(200, "application/json", "\x00\xff{"+marker), problem.Upstream},
		{"a list", says(200, "application/json", `["`+marker+`"]`), problem.Upstream},
		{"no results", says(200, "application/json", `{"`+marker+`":1}`), problem.Upstream},
		{"results of no kind", says(200, "application/json", `{"results":"`+marker+`"}`), problem.Upstream},
		{"records that are none", says(200, "application/json", `{"results":["`+marker+`",7]}`), problem.Upstream},
		{"keys refused", says(403, "application/json", `{"error":"unauthorized `+marker+`"}`), problem.Upstream},
		{"forbidden", says(400, "application/json", `{"code":119,"error":"`+marker+`"}`), problem.PermissionDenied},
		{"a bad query", says(400, "application/json", `{"code":102,"error":"`+marker+`"}`), problem.Upstream},
		{"the session ended", says(400, "application/json", `{"code":209,"error":"`+marker+`"}`), problem.PermissionDenied},
		{"too many requests", says(400, "application/json", `{"code":155,"error":"`+marker+`"}`), problem.RateLimited},
		{"it times out", says(400, "application/json", `{"code":124,"error":"`+marker+`"}`), problem.Timeout},
		{"a redirect", says(302, "text/html", marker), problem.Upstream},
		{"cut off", func(w http.ResponseWriter, _ *http.Request) { panic(http.ErrAbortHandler) }, problem.Upstream},
	} {
		answer.Store(&tt.says)
		for _, q := range []query.Query{&query.Find{Class: "Product", Limit: 3}, &query.Count{Class: "Product"},
			pipeline(t, "Product", `[{"$group":{"_id":"$category","n":{"$sum":1}}}]`)} {
			_, rows, err := a.read(q)
			if e := problem.Of(err); err == nil || e.Code != tt.want || strings.Contains(e.Detail+e.Suggestion, marker) {
				t.Errorf("%s: %T: %v, %v; want %s", tt.name, q, rows, err, tt.want)
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

// TestDown checks what a source says whose Parse Server is not there, or isn't one.
func TestDown(t *testing.T) {
	s := start(t)
	down := httptest.NewServer(nil)
	down.Close()
	html := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") }))
	defer html.Close()
	for _, tt := range []struct {
		name string
		set  func(*parse.Options)
		kind string
	}{
		{"down", func(o *parse.Options) { o.URL = down.URL }, "unreachable"},
		{"a web site", func(o *parse.Options) { o.URL = html.URL }, "parse_broken"},
		{"another path", func(o *parse.Options) { o.URL = strings.TrimSuffix(s.URL(), "/parse") }, "parse_broken"},
		{"another application", func(o *parse.Options) { o.AppID = "nope" }, "parse_keys"},
		{"a wrong master key", func(o *parse.Options) { o.MasterKey = "nope" }, "parse_keys"},
	} {
		o, _ := s.options("master")
		tt.set(&o)
		src, err := parse.Open(o)
		if err != nil {
			t.Fatal(err)
		}
		defer src.Close()
		if _, _, err := src.Describe(t.Context()); problem.CodeOf(err) != problem.Upstream || problem.Of(err).Kind != tt.kind {
			t.Errorf("%s: %v of kind %s, want %s", tt.name, err, problem.Of(err).Kind, tt.kind)
		}
	}
}

// TestOpenRefuses checks the options.
func TestOpenRefuses(t *testing.T) {
	good := parse.Options{Name: "shop", URL: "https://parse.example/parse", AppID: "a", MasterKey: "m", As: parse.Master}
	for _, tt := range []struct {
		want string
		set  func(*parse.Options)
	}{
		{"keys are sent over https alone, except to this machine; write parse+https://parse.example", func(o *parse.Options) { o.URL = "http://parse.example/parse" }},
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
