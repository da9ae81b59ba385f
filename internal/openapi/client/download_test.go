package client_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/client"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// TestDownloads checks which redirects to other hosts are followed, and that no part of the API's credential is sent
// there.
func TestDownloads(t *testing.T) {
	came := ""
	files := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		came = fmt.Sprintf("%s %s %s %q %q %q", r.Method, r.URL.Path, r.URL.Query().Get("signature"), r.Header.Get("Authorization"), r.Header.Get("X-Org"), r.Header.Get("Accept"))
		if strings.HasPrefix(r.URL.Path, "/again") {
			http.Redirect(w, r, "/x", http.StatusFound)
			return
		}
		w.Header().Set("Content-Type", "text/csv")
		fmt.Fprint(w, "a,b with hunter2secret")
	}))
	defer files.Close()
	host := strings.TrimPrefix(files.URL, "http://")
	to := ""
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", to)
		w.WriteHeader(http.StatusFound)
	}))
	defer api.Close()
	for _, row := range []struct {
		name, location, method string
		downloads              []string
		want, came             string
	}{
		{"a listed host", files.URL + "/f?signature=s", "GET", []string{"127.0.0.1"}, "text/csv a,b with [masked]", `GET /f s "" "" "text/csv"`},
		{"with its port", files.URL + "/f?signature=s", "GET", []string{host}, "text/csv a,b with [masked]", `GET /f s "" "" "text/csv"`},
		{"another one", files.URL + "/f", "GET", []string{"files.example", "*.0.0.1.example"}, "the API redirects (status 302) to another host, scheme or port", ""},
		{"none", files.URL + "/f", "GET", nil, "the API redirects (status 302) to another host, scheme or port", ""},
		{"a host below a listed one that is of a private network", strings.Replace(files.URL, "127.0.0.1", "files.localhost", 1) + "/f", "GET", []string{"*.localhost"}, "upstream_error", ""},
		{"on from there", files.URL + "/again", "GET", []string{"127.0.0.1"}, "the API redirects (status 302) to another host, scheme or port", `GET /again  "" "" "text/csv"`},
		{"with a name and a password", strings.Replace(files.URL, "http://", "http://u:p@", 1) + "/f", "GET", []string{"127.0.0.1"}, "the API redirects (status 302) to another host, scheme or port", ""},
		{"another scheme", "ftp://127.0.0.1/f", "GET", []string{"127.0.0.1"}, "the API redirects (status 302) to another host, scheme or port", ""},
		{"of a write", files.URL + "/f", "POST", []string{"127.0.0.1"}, "the API redirects (status 302) elsewhere", ""},
	} {
		came, to = "", row.location
		s, err := client.New(client.Options{Base: api.URL, Credential: client.BearerHeader("hunter2secret"), Headers: http.Header{"X-Org": {"acme"}}, Downloads: row.downloads, Attempts: 1})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		r, err := s.Send(t.Context(), client.Message{Request: &calls.HTTPRequest{Method: row.method, Path: "/report", Header: http.Header{"Accept": {"text/csv"}}}, Repeat: row.method == "GET",
			Redirected: func(string, string) (*calls.HTTPRequest, error) { return nil, problem.LoggableError("no") }})
		if err != nil {
			got = problem.Of(err).Detail
			if row.want == "upstream_error" {
				got = string(problem.CodeOf(err))
			}
		} else {
			got = r.MediaType + " " + string(r.Body)
		}
		if got != row.want || came != row.came {
			t.Errorf("%s: %s, want %s; %s, want %s", row.name, got, row.want, came, row.came)
		}
		s.Close()
	}
}
