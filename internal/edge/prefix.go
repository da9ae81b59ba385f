package edge

import (
	"bytes"
	"net/http"
	"net/url"
	"strings"
)

// WithPrefix serves h below the path of base, which is the URL of the server for clients. A proxy in front may remove
// this path from requests or leave it. WithPrefix adds the path to addresses of this host in pages and redirects. It
// returns h itself if base has no path.
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

// below returns r without the prefix of its path. In addresses of metadata, the prefix is at the end of the path (RFC
// 8414, RFC 9728).
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

// local is the beginning of a console address in a page. html/template writes attributes with these quotes, and
// escapes quotes in text. So local does not occur in the text of a page.
var local = []byte(`="/console`)

// A prefixed is a ResponseWriter that adds the prefix to addresses of the console.
type prefixed struct {
	http.ResponseWriter
	prefix string
	begun  bool
	pages  bool   // the response is a page, or a stream with parts of pages
	held   []byte // the last bytes, not yet written, if they may be the beginning of local
}

// Unwrap is for [http.ResponseController].
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

// send writes a part of a page, with the prefix in its addresses.
func (w *prefixed) send(b []byte) error {
	_, err := w.ResponseWriter.Write(bytes.ReplaceAll(b, local, []byte(`="`+w.prefix+`/console`)))
	return err
}

// end writes the remaining bytes in held.
func (w *prefixed) end() {
	if len(w.held) > 0 {
		_ = w.send(w.held) // an error means that the client has disconnected
	}
}
