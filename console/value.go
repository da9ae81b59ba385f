package console

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"github.com/bailiwick-dev/bailiwick/internal/review"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// A valuePage shows a field in full, one page at a time.
type valuePage struct {
	*review.Whole
	Parts   []stagePart
	Changed int // number of parts on this page that differ
	Of      []exact
	Pages   []chip
	Back    string // the page of the change
}

// An exact is a value that can be downloaded.
type exact struct {
	Name, Href string
	Size       *review.Size
}

// value shows a field of a change in full, or sends one of its values as a file. Both record that the reviewer has
// opened the field.
func (c *Console) value(v *visit) error {
	q := v.r.URL.Query()
	at := review.Place{Side: q.Get("side"), Digest: q.Get("digest")}
	for name, n := range map[string]*int{"item": &at.Item, "field": &at.Field, "page": &at.Page} {
		if text := q.Get(name); text != "" {
			var err error
			if *n, err = strconv.Atoi(text); err != nil || *n < 0 {
				return problem.New(problem.InvalidArgument, "The address is not one of a value.")
			}
		}
	}
	id := v.r.PathValue("id")
	w, err := c.reviewer(v).Value(v.ctx(), id, at)
	if err != nil {
		return err
	}
	if at.Side != "" {
		sendFile(v.w, fmt.Sprintf("%s-%d-%d-%s.txt", w.Change, at.Item, at.Field, at.Side), "text/plain; charset=utf-8", w.Exact)
		return nil
	}
	base := Path + "/changes/" + url.PathEscape(w.Change)
	href := func(name, value string) string {
		q := url.Values{"item": {strconv.Itoa(at.Item)}, "field": {strconv.Itoa(at.Field)}, "digest": {w.Digest}, name: {value}}
		return base + "/value?" + q.Encode()
	}
	p := valuePage{Whole: w, Back: base}
	p.Parts, p.Changed = stageParts(w.Words)
	for _, s := range []exact{{"before", href("side", "before"), w.Before}, {"after", href("side", "after"), w.After}} {
		if s.Size != nil {
			p.Of = append(p.Of, s)
		}
	}
	for n := 1; n <= w.Pages && w.Pages > 1; n++ {
		p.Pages = append(p.Pages, chip{Href: href("page", strconv.Itoa(n)), Label: "Page", Count: n, Here: n == w.Page})
	}
	return c.render(v, "value", frame{Title: w.Path + " of " + w.Title, At: Path + "/changes", Page: p})
}

// sendFile sends text of the content type kind as a download that the browser never displays.
func sendFile(w http.ResponseWriter, name, kind, text string) {
	sum := sha256.Sum256([]byte(text))
	head := w.Header()
	head.Set("Content-Type", kind)
	head.Set("Content-Disposition", `attachment; filename="`+name+`"`)
	head.Set("Content-Length", strconv.Itoa(len(text)))
	head.Set("Repr-Digest", "sha-256=:"+base64.StdEncoding.EncodeToString(sum[:])+":")
	_, _ = io.WriteString(w, text) // an error means that the client has disconnected
}
