package fair

import (
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/edge"
)

// form is the assumed size of a body that doesn't declare one, and the maximum that a handler behind Handler reads.
const form = 256 << 10

// Handler returns a handler for h, whose callers are known only after their bodies are read, such as forms and signed
// messages. Each request with a body reserves memory until it is answered. The reservation counts for the network
// address of the sender. h can read at most 256 KiB.
func (b *Budget) Handler(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength == 0 || r.Body == nil || r.Body == http.NoBody {
			h.ServeHTTP(w, r)
			return
		}
		n := r.ContentLength
		if n < 0 || n > form {
			n = form
		}
		from := address(r)
		body := &Body{budget: b, who: Who{Owner: from, Credential: from}, lane: &b.small, until: time.Now().Add(b.patience)}
		if n > small {
			body.lane = &b.large
		}
		if err := body.take(r.Context(), body.lane.parsed, copies*n); err != nil {
			edge.RefusedBecause(r.Context(), "body_memory", "")
			b.Discard(w, r)
			w.Header().Set("Retry-After", strconv.Itoa(Again))
			http.Error(w, Busy(err), http.StatusServiceUnavailable)
			return
		}
		defer body.Close()
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(late)) // not every ResponseWriter supports it
		h.ServeHTTP(w, r)
	})
}

// address returns the network whose share of the memory the sender of r has.
func address(r *http.Request) string {
	at, _ := netip.ParseAddrPort(r.RemoteAddr) // senders without an address share one
	return edge.NetworkOf(at.Addr()).String()
}
