package edge_test

import (
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/edge"
)

// TestMalformed checks that requests are counted that net/http refuses before a handler sees them. Requests that a
// handler refuses must not be counted here.
func TestMalformed(t *testing.T) {
	b := open(t, edge.Options{Linger: short}, refuse)
	for i, text := range []string{"GARBAGE\r\n\r\n", "GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nX: " + strings.Repeat("a", 1<<20) + "\r\n\r\n", "GET / HTTP/3.7\r\nHost: a\r\n\r\n"} {
		ended(t, b.dial(t, text))
		until(t, "counted", func() bool { return b.refused("malformed") == i+1 })
	}
	if got := ended(t, b.dial(t, "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")); !strings.HasPrefix(got, "HTTP/1.1 401") || b.refused("malformed") != 4 {
		t.Errorf("%d refused, got %q", b.refused("malformed"), got)
	}
}
