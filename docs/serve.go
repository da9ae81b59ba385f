package docs

import (
	"bytes"
	"html/template"
	"io/fs"
	"net/http"
	"strings"
)

// maxFound is the number of sections that the page of a search shows.
const maxFound = 30

// maxQuery bounds the words of a search, in bytes.
const maxQuery = 500

// A shownPage is what site.html draws.
type shownPage struct {
	Title string
	Base  string // from the page to this folder: "" or "../"
	Menu  []group
	Here  string        // the page's file
	Body  template.HTML // of a page

	Searched bool
	Query    string
	Found    []Found
	All      bool // Found holds every word of Query
}

// ServeHTTP serves the pages, the pictures and the search. It answers GET and HEAD.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", "default-src 'none'; img-src 'self'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.Set("Allow", "GET, HEAD")
		http.Error(w, "the documentation can only be read", http.StatusMethodNotAllowed)
		return
	}
	name := strings.TrimPrefix(r.URL.Path, "/")
	switch {
	case name == "":
		s.write(w, http.StatusOK, shownPage{Title: s.pages[start].title, Here: start, Body: s.pages[start].body})
	case name == "search":
		s.search(w, r.URL.Query().Get("q"))
	case name == "site/site.css":
		http.FileServerFS(assets).ServeHTTP(w, r)
	case s.pages[name] != nil:
		p := s.pages[name]
		s.write(w, http.StatusOK, shownPage{Title: p.title, Here: name, Body: p.body})
	case strings.HasSuffix(name, ".md") || strings.HasSuffix(name, "/"):
		s.missing(w, name)
	default:
		if info, err := fs.Stat(files, name); err != nil || info.IsDir() {
			s.missing(w, name)
			return
		}
		s.other.ServeHTTP(w, r)
	}
}

// search writes the sections that hold the words of query.
func (s *Site) search(w http.ResponseWriter, query string) {
	query = strings.TrimSpace(query)
	if len(query) > maxQuery {
		query = strings.ToValidUTF8(query[:maxQuery], "")
	}
	p := shownPage{Title: "Search", Searched: true, Query: query}
	p.Found, p.All = s.Search(query, maxFound)
	s.write(w, http.StatusOK, p)
}

// missing writes a page for an unknown name, with a search for its words.
func (s *Site) missing(w http.ResponseWriter, name string) {
	query := strings.Join(words(strings.TrimSuffix(name, ".md")), " ")
	p := shownPage{Title: "There is no such page", Searched: true, Query: query}
	p.Found, p.All = s.Search(query, maxFound)
	s.write(w, http.StatusNotFound, p)
}

// write writes p with the menu.
func (s *Site) write(w http.ResponseWriter, status int, p shownPage) {
	p.Menu = s.menu
	p.Base = strings.Repeat("../", strings.Count(p.Here, "/"))
	var b bytes.Buffer
	if err := s.view.ExecuteTemplate(&b, "site.html", p); err != nil {
		http.Error(w, "the page could not be drawn", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes())
}
