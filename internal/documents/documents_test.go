package documents

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestFetchDocument checks the document or the error for each response. No message contains the URL, whose query may be
// a secret.
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
		data, err := getter(server.Client().Transport)(server.URL + path + "?key=hunter2")
		got := string(data)
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}
