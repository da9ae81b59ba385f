package mcp_test

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/fair"
	"github.com/bailiwick-dev/bailiwick/mcp"
)

// TestBodiesOverMemory checks three refusals. For a body without enough memory, the error contains the limit. For a
// body with too many values, it contains the maximum number. For a stream that is too large, it contains the limit.
func TestBodiesOverMemory(t *testing.T) {
	budget := fair.NewBudget(fair.BudgetOptions{Queue: -1})
	_, url := start(t, mcp.Options{Bodies: budget})
	full := func() (release func()) {
		var held []*fair.Body
		for i := range 100 {
			text := strings.Repeat("1", 1<<20)
			r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(text))
			if b, err := budget.Read(httptest.NewRecorder(), r, fair.Who{Tenant: strconv.Itoa(i), Owner: strconv.Itoa(i), Credential: strconv.Itoa(i)}); err == nil {
				held = append(held, b)
			}
		}
		return func() {
			for _, b := range held {
				b.Close()
			}
		}
	}
	large := `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"pad":"` + strings.Repeat("x", 1<<20-1000) + `"}}`
	release := full()
	for name, c := range map[string]struct {
		body   string
		status int
		want   string
	}{
		"large while full":   {large, 503, `"message":"Too many large requests at a time: the bodies of requests of this size take at most 36 MiB of memory together. Try again in 2 seconds"`},
		"small while full":   {`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{}}`, 400, `"id":1`},
		"too many values":    {`[1` + strings.Repeat(",1", 7_900) + `]`, 400, "batch has 1 to 50"},
		"a stream too large": {`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"pad":"` + strings.Repeat("x", 9000) + `"}}`, 413, "subscriptions/listen exceeds 8192 bytes"},
	} {
		res, text := send(t, url, call{header: "Mcp-Protocol-Version: 2026-07-28", body: c.body})
		if res.StatusCode != c.status || !strings.Contains(text, c.want) {
			t.Errorf("%s: %s %s", name, res.Status, text[:min(len(text), 500)])
		}
		if res.StatusCode == http.StatusServiceUnavailable && res.Header.Get("Retry-After") != "2" {
			t.Errorf("%s: %v", name, res.Header)
		}
	}
	release()
	dense := `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"pad":[1` + strings.Repeat(",1", 500_000) + `]}}`
	if res, text := send(t, url, call{body: dense}); res.StatusCode != http.StatusRequestEntityTooLarge || !strings.Contains(text, "about 500007 values, which take 101 MiB of memory: the requests of one caller may take 14 MiB") {
		t.Errorf("dense: %s %s", res.Status, text)
	}
	if res, text := send(t, url, call{body: large}); res.StatusCode == http.StatusServiceUnavailable {
		t.Errorf("large: %s %s", res.Status, text)
	}
	if raw, parsed := budget.Load(); raw != 0 || parsed != 0 {
		t.Errorf("%d and %d bytes are still held", raw, parsed)
	}
}
