package app

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestAbout checks the description at the root of a gateway.
func TestAbout(t *testing.T) {
	rec := httptest.NewRecorder()
	mux := http.NewServeMux()
	mux.Handle("/", http.NotFoundHandler())
	mux.HandleFunc("GET /{$}", about(true))
	mux.ServeHTTP(rec, httptest.NewRequest("GET", "/", nil))
	for _, want := range []string{"This is Bailiwick", "/mcp", "bailiwick token create", "/console"} {
		if !strings.Contains(rec.Body.String(), want) {
			t.Errorf("no %q in %q", want, rec.Body)
		}
	}
	{
		rec := httptest.NewRecorder()
		about(false)(rec, httptest.NewRequest("GET", "/", nil))
		if strings.Contains(rec.Body.String(), "token") {
			t.Errorf("a gateway without tokens asks for one: %q", rec.Body)
		}
	}
}
