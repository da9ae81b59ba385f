package console

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"slices"
)

// An asset is one static file. The zero asset is empty.
type asset struct {
	body []byte
	kind string
	tag  string
}

// readAssets returns the files of the directory assets by name.
func readAssets(files fs.FS) (map[string]asset, error) {
	kinds := map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".woff2": "font/woff2",
		".svg": "image/svg+xml", ".txt": "text/plain; charset=utf-8"}
	entries, err := fs.ReadDir(files, "assets")
	if err != nil {
		return nil, fmt.Errorf("console: list the assets: %w", err)
	}
	out := map[string]asset{}
	bodies := map[string][]byte{}
	for _, e := range entries {
		body, err := fs.ReadFile(files, "assets/"+e.Name())
		if err != nil {
			return nil, fmt.Errorf("console: read the asset %s: %w", e.Name(), err)
		}
		kind, ok := kinds[path.Ext(e.Name())]
		if !ok {
			return nil, fmt.Errorf("console: the asset %s has no known kind", e.Name())
		}
		bodies[e.Name()] = body
		out[e.Name()] = newAsset(body, kind)
	}
	// Both scripts are in one file. htmx starts as soon as it is loaded, so an extension in another file could be too
	// late.
	out["live.js"] = newAsset(slices.Concat(bodies["htmx.min.js"], []byte("\n;\n"), bodies["hx-sse.min.js"]), kinds[".js"])
	return out, nil
}

func newAsset(body []byte, kind string) asset {
	sum := sha256.Sum256(body)
	return asset{body: body, kind: kind, tag: `"` + hex.EncodeToString(sum[:8]) + `"`}
}

// ServeHTTP sends the file. A browser may cache it, but must revalidate it.
func (a asset) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "no-cache")
	h.Set("ETag", a.tag)
	if r.Header.Get("If-None-Match") == a.tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", a.kind)
	_, _ = w.Write(a.body) // an error means that the client has disconnected
}
