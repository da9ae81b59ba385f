package authserver

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// A held is a connection that records its read deadline.
type held struct {
	*httptest.ResponseRecorder
	until time.Time
}

func (h *held) SetReadDeadline(until time.Time) error {
	if h.until.IsZero() {
		h.until = until
	}
	return nil
}

// TestBodiesHaveADeadline checks that a body that never arrives doesn't block an endpoint, even under an http.Server
// that sets no deadlines.
func TestBodiesHaveADeadline(t *testing.T) {
	s := New(Options{Allow: func(*http.Request) error { return errors.New("not for the test") }})
	mux := http.NewServeMux()
	s.Mount(mux)
	for _, path := range []string{"/oauth/register", "/oauth/token", "/oauth/revoke"} {
		w := &held{ResponseRecorder: httptest.NewRecorder()}
		mux.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "POST", path, strings.NewReader("x")))
		if left := time.Until(w.until); w.until.IsZero() || left > time.Minute {
			t.Errorf("%s: until %v", path, w.until)
		}
	}
}
