package app

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestOwnPages checks that a page of another site can't send answers to notifications. Other programs can, and people
// can follow links.
func TestOwnPages(t *testing.T) {
	h := own(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), "https://gate.example")
	for _, tt := range []struct {
		method, name, value string
		want                int
	}{
		{"POST", "User-Agent", "curl", 200}, {"POST", "Origin", "https://gate.example", 200}, {"POST", "Origin", "http://example.com", 200}, {"POST", "Sec-Fetch-Site", "same-origin", 200},
		{"POST", "Origin", "https://evil.example", 403}, {"POST", "Origin", "null", 403}, {"POST", "Sec-Fetch-Site", "cross-site", 403}, {"GET", "Origin", "https://evil.example", 403},
	} {
		r := httptest.NewRequest(tt.method, "/notifications/ops", nil) // to example.com
		r.Header.Set(tt.name, tt.value)
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != tt.want {
			t.Errorf("%s with %s: %s: %d, want %d", tt.method, tt.name, tt.value, w.Code, tt.want)
		}
	}
	r := httptest.NewRequest("GET", "/notifications/ops", nil)
	for name, value := range map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"} {
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	if h.ServeHTTP(w, r); w.Code != 200 {
		t.Errorf("a link: %d", w.Code)
	}
}
