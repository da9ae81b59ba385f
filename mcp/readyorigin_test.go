package mcp_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/bailiwick-dev/bailiwick/mcp"
)

// TestReadyOrigin checks that a page of another site can't trigger the readiness check. Probes may use any host name
// and send no Origin.
func TestReadyOrigin(t *testing.T) {
	asked := 0
	_, url := start(t, mcp.Options{AllowedOrigins: []string{"https://app.example"}, Ready: func(context.Context) error { asked++; return nil }})
	for _, tt := range []struct {
		host, origin string
		want         int
	}{{"", "", 200}, {"10.0.0.7", "", 200}, {"", "https://app.example", 200}, {"", url, 200}, {"", "https://evil.example", 403}, {"", "null", 403}} {
		r, err := http.NewRequestWithContext(t.Context(), "GET", url+"/readyz", nil)
		if err != nil {
			t.Fatal(err)
		}
		if tt.host != "" {
			r.Host = tt.host
		}
		if tt.origin != "" {
			r.Header.Set("Origin", tt.origin)
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != tt.want {
			t.Errorf("as %q from %q: %d, want %d", tt.host, tt.origin, res.StatusCode, tt.want)
		}
	}
	if asked != 4 {
		t.Errorf("it looked %d times, want 4", asked)
	}
}
