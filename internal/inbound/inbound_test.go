package inbound

import (
	"bytes"
	"log/slog"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/refused"
	"github.com/bailiwick-dev/bailiwick/internal/webhook"
)

// TestRefusedQuietly checks that requests without a good signature are left to the count of refusals: no line of the log each.
func TestRefusedQuietly(t *testing.T) {
	secret := []byte("the secret of the hook")
	var log bytes.Buffer
	d := New(Options{Hooks: []webhook.Hook{{Name: "ops", Secret: secret, People: map[string]webhook.Person{"u1": {}}, As: webhook.Person{Owner: "ana"}}}, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	old := time.Now().Add(-time.Hour)
	for _, tt := range []struct{ path, signature, kind string }{
		{"ops", "", "signature"},
		{"ops", webhook.Sign([]byte("another"), "m1", old, []byte("{}")), "signature"},
		{"none", webhook.Sign(secret, "m1", old, []byte("{}")), "signature"},
		{"ops", webhook.Sign(secret, "m1", old, []byte("{}")), "signature_time"},
	} {
		ctx, trace := refused.Traced(t.Context())
		r := httptest.NewRequestWithContext(ctx, "POST", Path+tt.path, strings.NewReader("{}"))
		r.Header.Set("Webhook-Id", "m1")
		r.Header.Set("Webhook-Timestamp", strconv.FormatInt(old.Unix(), 10))
		r.Header.Set("Webhook-Signature", tt.signature)
		w := httptest.NewRecorder()
		d.ServeHTTP(w, r)
		if got := trace.Refusal("http", netip.Addr{}); w.Code != 401 || got.Kind != tt.kind {
			t.Errorf("%s %q: %d, %q; want 401, %q", tt.path, tt.signature, w.Code, got.Kind, tt.kind)
		}
	}
	if log.Len() > 0 {
		t.Errorf("logged: %s", &log)
	}
}

// TestSentence checks how the parts of a refusal are joined.
func TestSentence(t *testing.T) {
	for text, want := range map[string]string{"": "", "the change is another": "The change is another. ", "Until then:": "Until then: ", "It is so. ": "It is so. ", "é": "É. "} {
		if got := sentence(text); got != want {
			t.Errorf("sentence(%q) = %q, want %q", text, got, want)
		}
	}
}
