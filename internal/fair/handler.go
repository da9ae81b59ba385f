package fair

import (
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/edge"
)

// form is the assumed size of a body without a declared length. It is also the maximum size that a handler behind
// Handler reads.
const form = 256 << 10

// Handler returns a handler for h that reserves memory for each request with a body until the request is answered. It
// is for handlers that know the caller only after reading the body, such as handlers of forms and signed messages.
// The memory counts for the network address of the sender. h can read at most 256 KiB.
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

// address returns the network of the sender of r, by which memory is shared.
func address(r *http.Request) string {
	at, _ := netip.ParseAddrPort(r.RemoteAddr) // all senders without an address count as one
	return edge.NetworkOf(at.Addr()).String()
}
