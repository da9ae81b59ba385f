package docs_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/docs"
)

func newSite(t *testing.T) *docs.Site {
	t.Helper()
	s, err := docs.New()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func get(s *docs.Site, target string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, target, nil))
	return w
}

var (
	linked = regexp.MustCompile(` (?:href|src|action)="([^"]+)"`)
	ids    = regexp.MustCompile(` id="([^"]+)"`)
)

// TestEveryLink follows each link of the site from its first page, and each section that a link names.
func TestEveryLink(t *testing.T) {
	s := newSite(t)
	bodies := map[string]string{}
	var visit func(page string)
	visit = func(page string) {
		w := get(s, page)
		if w.Code != http.StatusOK {
			t.Fatalf("%s: %d", page, w.Code)
		}
		bodies[page] = w.Body.String()
		if !strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") {
			return
		}
		for _, m := range linked.FindAllStringSubmatch(bodies[page], -1) {
			u, err := url.Parse(m[1])
			if err != nil {
				t.Fatalf("%s: %v", page, err)
			}
			if u.IsAbs() {
				continue
			}
			to := page
			if u.Path != "" {
				to = path.Join(path.Dir(page), u.Path)
			}
			if _, seen := bodies[to]; !seen {
				if get(s, to).Code != http.StatusOK {
					t.Errorf("%s: the link %s leads nowhere", page, m[1])
					continue
				}
				visit(to)
			}
			if u.Fragment != "" && !slices.ContainsFunc(ids.FindAllStringSubmatch(bodies[to], -1), func(id []string) bool { return id[1] == u.Fragment }) {
				t.Errorf("%s: %s has no section %s", page, to, u.Fragment)
			}
		}
	}
	visit("/")
	if len(bodies) < 80 {
		t.Errorf("%d pages were visited", len(bodies))
	}
}

func TestSearch(t *testing.T) {
	s := newSite(t)
	for _, tt := range []struct {
		query, first string
		all          bool
	}{
		{"search_path", "databases.md", true},
		{"SEARCH_PATH", "databases.md", true},
		{"glossary", "glossary.md", true},
		{"standby proxy", "operating.md", true},
		{"tenant zzzznothing", "", false},
	} {
		found, all := s.Search(tt.query, 5)
		if all != tt.all || len(found) == 0 || len(found) > 5 || !strings.HasPrefix(found[0].Page, tt.first) {
			t.Errorf("%q: %v, %+v", tt.query, all, found)
		}
	}
	for _, query := range []string{"zzzznothing", "", "—"} {
		if found, _ := s.Search(query, 5); found != nil {
			t.Errorf("%q: %+v", query, found)
		}
	}
}

func TestMarkdown(t *testing.T) {
	s := newSite(t)
	for _, name := range []string{"policy", "policy.md", "docs/policy.md"} {
		if text, err := s.Markdown(name); err != nil || !strings.HasPrefix(string(text), "# ") {
			t.Errorf("%s: %.40q, %v", name, text, err)
		}
	}
	found, _ := s.Search("refuse_scans", 1)
	text, err := s.Markdown(found[0].Page + "#" + found[0].Anchor)
	if err != nil || !strings.HasPrefix(string(text), "#") || !strings.Contains(string(text), "refuse_scans") {
		t.Errorf("%+v: %.80q, %v", found, text, err)
	}
	for name, want := range map[string]string{"polcy": `no page "polcy"`, "policy#nowhere": `no section "nowhere" in policy.md`, "../go.mod": "no page"} {
		if _, err := s.Markdown(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := s.Markdown("polcy"); !strings.Contains(err.Error(), "policy") {
		t.Errorf("the nearest page is not named: %v", err)
	}
}

// TestHostile sends requests that a site of files must refuse or escape.
func TestHostile(t *testing.T) {
	s := newSite(t)
	for target, code := range map[string]int{"/../go.mod": 404, "/docs.go": 404, "/site/site.html": 404, "/guides/": 404, "/guides": 404, "/none.md": 404, "/search?q=%3Cscript%3E": 200, "/search": 200} {
		w := get(s, target)
		if w.Code != code || strings.Contains(w.Body.String(), "<script") || strings.Contains(w.Body.String(), "package docs") {
			t.Errorf("%s: %d %.200s", target, w.Code, w.Body)
		}
		if !strings.HasPrefix(w.Header().Get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("%s has no policy", target)
		}
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/", nil))
	if w.Code != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", w.Code)
	}
}
