package reviewapi

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/internal/review"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// whole returns a page of a field that a sheet shows only partially, or one of its values as a file.
func whole(ctx context.Context, reviewer bailiwick.Reviewer, r *request) (any, error) {
	p, err := parameters(r.http.URL, []string{"item", "field", "page", "side", "digest"})
	if err != nil {
		return nil, err
	}
	at := review.Place{Side: p["side"], Digest: p["digest"]}
	for name, n := range map[string]*int{"item": &at.Item, "field": &at.Field, "page": &at.Page} {
		if p[name] == "" {
			continue
		}
		if *n, err = strconv.Atoi(p[name]); err != nil || *n < 0 {
			return nil, problem.New(problem.InvalidArgument, name+" must be a number")
		}
	}
	w, err := reviewer.Value(ctx, r.id, at)
	if err != nil {
		return nil, err
	}
	if at.Side != "" {
		return file{fmt.Sprintf("%s-%d-%d-%s.txt", w.Change, at.Item, at.Field, at.Side), w.Exact}, nil
	}
	return w, nil
}

// A file is a text to download unchanged.
type file struct{ name, text string }

func (f file) write(w http.ResponseWriter) {
	sum := sha256.Sum256([]byte(f.text))
	head := w.Header()
	head.Set("Content-Type", "text/plain; charset=utf-8")
	head.Set("Content-Disposition", `attachment; filename="`+f.name+`"`)
	head.Set("Content-Length", strconv.Itoa(len(f.text)))
	head.Set("Repr-Digest", "sha-256=:"+base64.StdEncoding.EncodeToString(sum[:])+":") // RFC 9530
	_, _ = io.WriteString(w, f.text)                                                   // an error means that the client has disconnected
}
