// Package response makes of what an HTTP API answered what may leave to an agent.
//
// It stands behind package send: send.Response → Answer. A body is walked with the response's schema through the
// asker's View: what is hidden is gone, at any depth, and never tells of itself; where the document declares nothing,
// names alone decide. Texts under names of credentials are masked. Then the fields that were asked for are picked, and
// what is left is cut to a budget as valid JSON, which says what was cut and how to go on. An answer that tells of a
// failure is a problem.Error in the API's words, cleaned. It refuses streams, and bodies that can't be filtered where
// something of them is hidden.
package response

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/client"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/validate"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/visible"
	"github.com/bailiwick-dev/bailiwick/internal/rules/denylist"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// Options say what is wanted of an answer.
type Options struct {
	Arguments validate.Arguments     // what was asked: where the next page is counted from
	Fields    []string               // dotted paths into the body, through arrays: items.name; nil for all
	Budget    int                    // most bytes of Body as JSON; 0 takes DefaultBudget, and MinBudget is the least
	Denied    func(name string) bool // names that never leave wherever they stand; nil for none
	Mask      func(name string) bool // names whose texts leave as "[masked]"; nil for Secret
}

// DefaultBudget is the most bytes of a body: what a page of records may have (design 03: about 25,000 tokens).
const DefaultBudget = 100_000

// MinBudget is the least a body is cut to: in less, nothing would be told.
const MinBudget = 256

// maxDepth is how deep the JSON of an answer may nest: deeper than what agents send, which nobody reads.
const maxDepth = 64

// An Answer is what may leave of what an API answered.
type Answer struct {
	Status  int
	Body    value.Value // JSON, or a text; numbers exact
	HasBody bool        // Body is there, be it null
	Notes   []string    // what was cut, masked or named wrongly, a sentence each
	Part    bool        // it isn't all there is: something was cut, or the API has further pages
	Shown   int         // items of the list in Body that an answer is mostly about; 0 where there is none
	Of      int         // how many the API answered with
	Total   *int64      // how many there are on all pages, where the API tells
	Next    value.Value // what changes in the arguments of the call that goes on ({query: {page: 2}}); null for none
	Link    *Blob       // a body that is neither JSON nor text; nil for none
}

// A Blob is a body of bytes.
type Blob struct {
	MediaType string
	Name      string // the file's name, where the API gives one; without folders
	Size      int
	SHA256    string // in hexadecimal
	Bytes     []byte
}

// Make makes an Answer of what op answered; v is the asker's View of the document. An answer of a status from 300 on is
// a problem.Error with a problem.Reply; one that is not what it says it is, problem.Upstream; a stream,
// problem.Unsupported; one that can't be filtered though something of it is hidden, problem.SecurityBlocked.
func Make(v *visible.View, op *spec.Operation, r *client.Response, o Options) (*Answer, error) {
	if v == nil || op == nil || r == nil || !v.Has(op) {
		return nil, &problem.Error{Code: problem.NotFound, Detail: "unknown operation"}
	}
	w := newWalker(v, o)
	media := mediaType(r.MediaType)
	if encoding := r.Header.Get("Content-Encoding"); encoding != "" && !strings.EqualFold(encoding, "identity") {
		return nil, upstream("the API answered in a content encoding that nobody asked for")
	}
	a := &Answer{Status: r.Status}
	body := bytes.TrimSpace(r.Body)
	switch {
	case r.Status >= 300 && r.Status != http.StatusNotModified || r.Status < 200:
		return nil, w.refusal(op, r)
	case isStream(media):
		return nil, &problem.Error{Code: problem.Unsupported, Suggestion: "look for an operation that answers with a list, in pages",
			Detail: fmt.Sprintf("%s answers with a stream (%s), which tools can't follow", op.ID, media)}
	case len(body) == 0:
		return a, nil
	case spec.IsJSON(media):
		read, err := value.Read(body, maxDepth)
		if err != nil {
			return nil, &problem.Error{Code: problem.Upstream, Kind: "answer_not_json", Err: err,
				Detail: fmt.Sprintf("the API said that its answer is %s, and it can't be read as that", media)}
		}
		return a, a.json(w, op, read, r.Header)
	}
	if body[0] == '{' || body[0] == '[' {
		// JSON under another name is filtered like JSON.
		if read, err := value.Read(body, maxDepth); err == nil {
			return a, a.json(w, op, read, r.Header)
		}
	}
	return a, a.plain(w, op, r, media)
}

// json is an answer that can be filtered.
func (a *Answer) json(w *walker, op *spec.Operation, read value.Value, header http.Header) error {
	root := w.nodeOf(w.answered(op, a.Status))
	body, ok := w.walk(read, root, open)
	if !ok {
		return nil
	}
	a.HasBody = true
	if len(w.masked) > 0 {
		a.note("masked, for their names are those of credentials: %s", some(w.masked))
	}
	if w.shaped > 0 {
		a.note("parts of %d texts are masked, for they look like credentials", w.shaped)
	}
	p := newPager(w.v, op, w.o.Arguments)
	p.tell(body, header)
	l := mainList(body)
	seen, all := l.of(body), len(l.of(read))
	if len(w.o.Fields) > 0 {
		body = a.pick(w, root, body)
	}
	c := &cutter{}
	body = c.fit(body, max(w.o.Budget, MinBudget), "")
	if has := len(l.of(body)); 0 < has && has < len(seen) {
		// The API's own next page is behind what was cut here, which has to be reached first.
		keep, next := p.after(seen[:has], all, len(seen) == all)
		if keep < has {
			body = l.shorten(body, keep)
			c.kept(l, keep)
		}
		a.Next, c.stuck = next, next.IsNull()
	} else if l.is {
		a.Next = p.next(all, seen)
	}
	a.Shown, a.Of, a.Body = len(l.of(body)), len(seen), body
	if l.is && len(p.params) > 0 {
		a.Total = p.total
	}
	a.Part = len(c.cuts) > 0 || p.further(len(seen)) || !a.Next.IsNull()
	a.Notes = append(a.Notes, c.notes(p)...)
	return nil
}

// plain is an answer that can't be filtered: it leaves where nothing of it is hidden.
func (a *Answer) plain(w *walker, op *spec.Operation, r *client.Response, media string) error {
	if w.hides(op) {
		return &problem.Error{Code: problem.SecurityBlocked, Kind: "unfiltered_answer", Suggestion: "ask for JSON, if the operation has a parameter for that",
			Detail: fmt.Sprintf("%s answered with %s, which can't be given out: only JSON can be taken through the rules for this API", op.ID, named(media))}
	}
	isText := validate.IsText(media) || media == "" && utf8.Valid(r.Body)
	if isText && !documented(op, func(name string) bool { return validate.IsText(name) || strings.HasPrefix(name, "*/") }) {
		return upstream(fmt.Sprintf("the API answered with %s, and its document knows no such answer of %s", named(media), op.ID))
	}
	if isText {
		c := &cutter{}
		a.Body, a.HasBody = c.fit(value.OfString(denylist.Mask(strings.ToValidUTF8(string(r.Body), "\uFFFD"), Masked)), max(w.o.Budget, MinBudget), ""), true
		a.Part, a.Notes = len(c.cuts) > 0, append(a.Notes, c.notes(nil)...)
		return nil
	}
	sum := sha256.Sum256(r.Body)
	a.Link = &Blob{MediaType: named(media), Name: fileName(r.Header), Size: len(r.Body), SHA256: hex.EncodeToString(sum[:]), Bytes: r.Body}
	return nil
}

func (a *Answer) note(format string, args ...any) {
	a.Notes = append(a.Notes, fmt.Sprintf(format, args...))
}

func upstream(detail string) *problem.Error {
	return &problem.Error{Code: problem.Upstream, Kind: "odd_answer", Detail: detail}
}

// documented reports whether the document has an answer of a media type like that, or none at all for calls that went well.
func documented(op *spec.Operation, like func(string) bool) bool {
	declares := false
	for _, r := range op.Responses {
		if !strings.HasPrefix(r.Status, "2") && r.Status != "default" {
			continue
		}
		for _, c := range r.Contents {
			declares = true
			if like(strings.ToLower(c.MediaType)) {
				return true
			}
		}
	}
	return !declares
}

// mediaType is a media type as it is to be, or "".
func mediaType(s string) string {
	name, _, err := mime.ParseMediaType(s)
	if err != nil || len(name) > 100 || !strings.Contains(name, "/") {
		return ""
	}
	return name
}

func named(media string) string {
	if media == "" {
		return "application/octet-stream"
	}
	return media
}

// isStream reports whether a media type has no end by its nature.
func isStream(media string) bool {
	switch media {
	case "text/event-stream", "application/x-ndjson", "application/ndjson", "application/jsonl", "application/x-jsonlines", "application/json-lines",
		"application/json-seq", "application/stream+json", "application/grpc", "application/connect+json", "multipart/x-mixed-replace":
		return true
	}
	return false
}

// fileName is the name that an API gives to a body: what is safe to show of it.
func fileName(h http.Header) string {
	_, params, err := mime.ParseMediaType(h.Get("Content-Disposition"))
	if err != nil {
		return ""
	}
	name := params["filename"]
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	return cut(oneLine(name), 100)
}
