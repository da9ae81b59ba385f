package demo

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"sync"
)

// An answer is the response to one call. A stored answer contains the digest of its request.
type answer struct {
	asked  [sha256.Size]byte
	status int
	header http.Header
	body   []byte
}

// run runs one operation.
func run(r *http.Request, h route) answer {
	header := http.Header{}
	status, out, err := h(r, header)
	if err != nil {
		return errorAnswer(err)
	}
	return encode(status, header, out)
}

// errorAnswer returns the response for an error. It logs internal errors and hides their text from the caller.
func errorAnswer(err error) answer {
	if r, ok := errors.AsType[*refusal](err); ok {
		return encode(r.status, http.Header{}, r.problem)
	}
	slog.Error("demo api", "err", err)
	return encode(http.StatusInternalServerError, http.Header{}, problem{"internal", "something went wrong here"})
}

func encode(status int, header http.Header, out any) answer {
	if out == nil {
		return answer{status: status, header: header}
	}
	b, err := json.Marshal(out)
	if err != nil {
		return errorAnswer(err) // can't fail for a problem
	}
	header.Set("Content-Type", "application/json")
	return answer{status: status, header: header, body: b}
}

func (k answer) write(w http.ResponseWriter) {
	for name, values := range k.header {
		w.Header()[name] = values
	}
	w.WriteHeader(k.status)
	_, _ = w.Write(k.body) // the caller may have disconnected
}

// answers stores the responses to writes with an Idempotency-Key while the server runs.
type answers struct {
	mu   sync.Mutex
	kept map[string]answer
}

// maxKept is the maximum number of stored responses. When it is reached, all are dropped.
const maxKept = 10_000

// answer runs a write. If an earlier write had the same key, it repeats the response to that write.
func (a *answers) answer(w http.ResponseWriter, r *http.Request, h route) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	if err != nil {
		fail(w, refuse(http.StatusBadRequest, "invalid_body", "the body is too large or was cut off"))
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	asked := sha256.Sum256(append([]byte(r.Method+" "+r.URL.RequestURI()+"\n"), body...))
	a.mu.Lock()
	defer a.mu.Unlock()
	key := r.Header.Get("Idempotency-Key")
	k, ok := a.kept[key]
	switch {
	case key == "" || !ok:
		k = run(r, h)
		k.asked = asked
		if key != "" && k.status < 500 {
			if len(a.kept) >= maxKept {
				clear(a.kept)
			}
			a.kept[key] = k
		}
	case k.asked != asked:
		fail(w, refuse(http.StatusUnprocessableEntity, "key_reused", "the Idempotency-Key was used for another call"))
		return
	}
	k.write(w)
}
