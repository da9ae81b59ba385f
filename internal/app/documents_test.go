package app

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestFetchDocument checks the document or the error for each response. No message contains the URL, because its
// query may be a secret.
func TestFetchDocument(t *testing.T) {
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	mux := http.NewServeMux()
	mux.HandleFunc("/there", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("openapi: 3.0.0")) })
	mux.HandleFunc("/moved", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/there", http.StatusFound) })
	mux.HandleFunc("/plain", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, plain.URL, http.StatusFound) })
	mux.HandleFunc("/round", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/round", http.StatusFound) })
	mux.HandleFunc("/huge", func(w http.ResponseWriter, _ *http.Request) {
		for b := []byte(strings.Repeat("x", 1<<20)); ; {
			if _, err := w.Write(b); err != nil {
				return
			}
		}
	})
	server := httptest.NewTLSServer(mux)
	defer server.Close()
	for path, want := range map[string]string{
		"/there": "openapi: 3.0.0",
		"/moved": "openapi: 3.0.0",
		"/gone":  "the document can't be fetched: the answer is 404 Not Found",
		"/plain": "the document can't be fetched: it leads elsewhere, not by https or too often",
		"/round": "the document can't be fetched: it leads elsewhere, not by https or too often",
		"/huge":  "the document can't be fetched: it is larger than 67108864 bytes",
	} {
		data, err := getter(t.Context(), server.Client().Transport, func(string) bool { return true })(server.URL + path + "?key=hunter2")
		got := string(data)
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

// TestFetchFiles checks that a redirect to another origin is followed for the document, but not for the files that it
// refers to.
func TestFetchFiles(t *testing.T) {
	secret := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("type: object\nproperties: {secret: {type: string}}"))
	}))
	defer secret.Close()
	document := ""
	mux := http.NewServeMux()
	mux.HandleFunc("/api.json", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(document)) })
	mux.HandleFunc("/here.yaml", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("type: object")) })
	mux.HandleFunc("/near.yaml", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/here.yaml", http.StatusFound) })
	mux.HandleFunc("/far.yaml", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, secret.URL, http.StatusFound) })
	mux.HandleFunc("/twice.yaml", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/far.yaml", http.StatusFound) })
	server := httptest.NewTLSServer(mux)
	defer server.Close()
	elsewhere := httptest.NewTLSServer(http.RedirectHandler(server.URL+"/api.json", http.StatusFound))
	defer elsewhere.Close()
	refers := func(to string) string {
		return `{"openapi":"3.0.0","paths":{"/a":{"get":{"operationId":"a","responses":{"200":{"content":{"application/json":{"schema":{"$ref":"` + to + `"}}}}}}}}}`
	}
	for to, want := range map[string]bool{"here.yaml": true, "near.yaml": true, "far.yaml": false, "twice.yaml": false, secret.URL: false} {
		document = refers(to)
		c, err := fetchDocument(server.Client().Transport)(server.URL + "/api.json")
		if err != nil || (c.Document.Operation("a") != nil) != want {
			t.Errorf("%s: %v, %v", to, c.Odd(), err)
		}
	}
	document = refers("#/none")
	if c, err := fetchDocument(server.Client().Transport)(elsewhere.URL); err != nil || c.Document == nil {
		t.Error("a document that has moved:", err)
	}
}
