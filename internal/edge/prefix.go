package edge

import (
	"bytes"
	"net/http"
	"net/url"
	"strings"
)

// WithPrefix serves h below the path of base, the URL by which clients know the server. A proxy in front may remove the
// path from requests or leave it. Addresses of this host in pages and redirects get the path. h is returned as it is if
// base has no path.
func WithPrefix(h http.Handler, base string) http.Handler {
	u, err := url.Parse(base)
	if err != nil || strings.Trim(u.Path, "/") == "" {
		return h
	}
	prefix := strings.TrimSuffix(u.Path, "/")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out := &prefixed{ResponseWriter: w, prefix: prefix}
		h.ServeHTTP(out, below(r, prefix))
		out.end()
	})
}

const wellKnown = "/.well-known/"

// below returns r without the prefix of its path. Addresses of metadata have it behind their own (RFC 8414, RFC 9728).
func below(r *http.Request, prefix string) *http.Request {
	path := r.URL.Path
	if rest, ok := strings.CutPrefix(path, wellKnown); ok {
		name, after, _ := strings.Cut(rest, "/")
		if after, ok = strings.CutPrefix("/"+after, prefix); ok && (after == "" || after[0] == '/') {
			path = wellKnown + name + after
		}
	} else if rest, ok := strings.CutPrefix(path, prefix); ok && (rest == "" || rest[0] == '/') {
		path = rest
	}
	if path == r.URL.Path {
		return r
	}
	if path == "" {
		path = "/"
	}
	out := *r
	at := *r.URL
	at.Path, at.RawPath = path, strings.TrimPrefix(r.URL.RawPath, prefix)
	out.URL = &at
	return &out
}

// local is how an address of the console begins in a page. html/template writes attributes with these quotes, and
// escapes quotes in texts, so no text of a page contains local.
var local = []byte(`="/console`)

// A prefixed is a ResponseWriter that puts the prefix before addresses of the console.
type prefixed struct {
	http.ResponseWriter
	prefix string
	begun  bool
	pages  bool   // the response is a page, or a stream of parts of pages
	held   []byte // the end of the written bytes, which may be the beginning of local
}

// Unwrap serves [http.ResponseController].
func (w *prefixed) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader implements [http.ResponseWriter].
func (w *prefixed) WriteHeader(status int) {
	if !w.begun {
		w.begun = status >= 200
		h := w.Header()
		if to := h.Get("Location"); strings.HasPrefix(to, "/") && !strings.HasPrefix(to, "//") {
			h.Set("Location", w.prefix+to)
		}
		form := h.Get("Content-Type")
		w.pages = strings.HasPrefix(form, "text/html") || strings.HasPrefix(form, "text/event-stream")
		if w.pages {
			h.Del("Content-Length")
		}
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements [http.ResponseWriter].
func (w *prefixed) Write(b []byte) (int, error) {
	if !w.begun {
		w.WriteHeader(http.StatusOK)
	}
	if !w.pages {
		return w.ResponseWriter.Write(b)
	}
	all := append(w.held, b...)
	keep := 0
	for n := min(len(local)-1, len(all)); n > 0; n-- {
		if bytes.HasSuffix(all, local[:n]) {
			keep = n
			break
		}
	}
	w.held = bytes.Clone(all[len(all)-keep:])
	return len(b), w.send(all[:len(all)-keep])
}

// send writes a part of a page.
func (w *prefixed) send(b []byte) error {
	_, err := w.ResponseWriter.Write(bytes.ReplaceAll(b, local, []byte(`="`+w.prefix+`/console`)))
	return err
}

// end writes the bytes that were held back.
func (w *prefixed) end() {
	if len(w.held) > 0 {
		_ = w.send(w.held) // an error means that the client has disconnected
	}
}
