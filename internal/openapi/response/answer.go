// Package response turns an HTTP API's response into an answer that an agent may see.
//
//	calls.HTTPResponse ─Make: View→ visible fields ─filter, pick, cut→ Answer, or problem.Error
//
// A body is filtered with the response's schema and the principal's View. Hidden fields are removed at any depth and
// leave no trace. Without a declared schema, only field names decide. Values of fields with names of credentials are
// masked.
//
// Then a filter selects items of the list, and the requested fields are picked. The result is cut to a budget and
// stays valid JSON. Notes describe the omitted parts and how to continue. A response that reports a failure becomes a
// problem.Error with the API's message, cleaned. Streams are refused. Bodies that can't be filtered are refused if
// some of their parts are hidden.
package response

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/validate"
	"github.com/bailiwick-dev/bailiwick/internal/secretnames"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// Options select the parts of a response to return.
type Options struct {
	Arguments validate.Arguments // the call's arguments, from which the arguments for the next page are computed
	Fields    []string           // dotted paths into the body, through arrays: items.name, or nil for all
	Where     query.Filter       // selects the items of the main list. Nil selects all
	Context   context.Context    // cancels the evaluation of Where. Nil never cancels
	At        string             // the requested part of the body, as notes name it: items[3].log, or "" for all
	// The first item of the list, or character of the text, to return. 0 and 1 mean the first.
	From   int
	Budget int                    // maximum bytes of Body as JSON. 0 is DefaultBudget, the minimum is MinBudget
	Denied func(name string) bool // reports names that are always removed. May be nil
	Mask   func(name string) bool // reports names whose values are replaced by Masked. Nil means names of credentials
}

// DefaultBudget is the default maximum size of a body in bytes, about 25,000 tokens.
const DefaultBudget = 100_000

// MinBudget is the minimum budget in bytes. A smaller one would leave no useful text.
const MinBudget = 256

// maxDepth is the maximum nesting of a response's JSON. It is larger than the maximum for requests from agents.
const maxDepth = 64

// An Answer is the part of a response that an agent may see.
type Answer struct {
	Status   int
	Body     value.Value // JSON, or a string. Numbers are exact
	HasBody  bool        // whether Body is set. It may be null
	Notes    []string    // one sentence for each part that was cut or masked, and for each unknown field
	Part     bool        // the answer is incomplete: parts were cut, or the API has further pages
	Counts   *int64      // the same as Total, but also set if the answer has no further pages
	List     []string    // the names on the path to the main list, empty if the body is the list, or nil
	Shown    int         // items of the main list in Body, or 0 if there is no list
	Of       int         // items of that list in the API's response for which Where is true
	Skipped  int         // items before the first item in Body
	Total    *int64      // items on all pages, if the API reports it
	Counted  bool        // Total comes from a header, so Body does not contain it
	Next     value.Value // changes to the arguments for the next page ({query: {page: 2}}), or null
	Rest     *Rest       // where this response continues. Nil if it doesn't, or if Next continues it
	Link     *Blob       // a body that is neither JSON nor text, or nil
	ETag     string      // the version of the body, if the view hides no part of it
	Location string      // the Location header, under the same condition
	Where    bool        // the list was filtered
	Looked   int         // items of the list visible to the caller, on which the filter was evaluated
	Further  bool        // the API has more items than this response

	cut *cutting
}

// A Rest is the place where a cut response continues. It contains the options that return the rest.
type Rest struct {
	At   string
	From int // 0 for the whole value at At
}

// A Blob is a binary body.
type Blob struct {
	MediaType string
	Name      string // the file name, without folders, if the API gives one
	Size      int
	SHA256    string // in hexadecimal
	Bytes     []byte
}

// Make returns the Answer for the response of op. v is the principal's View of the document. Make returns these
// errors:
//
//   - a problem.Error with a problem.Reply for a status of 300 or more,
//   - problem.Upstream for a body that doesn't match its media type,
//   - problem.Unsupported for a stream,
//   - problem.SecurityBlocked for a body that can't be filtered although parts of it are hidden,
//   - problem.NotFound if op is not in v.
func Make(v *spec.View, op *spec.Operation, r *calls.HTTPResponse, o Options) (*Answer, error) {
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
	if spec.IsJSON(media) || validate.IsText(media) {
		body = bytes.TrimSpace(decodeBody(r))
	}
	if spec.IsJSON(media) {
		body = inJSON(body)
	}
	switch {
	case r.Status >= 300 && r.Status != http.StatusNotModified || r.Status < 200:
		return nil, w.refusal(op, r)
	case validate.IsLines(media):
		if read, ok := eachLine(bytes.ReplaceAll(body, []byte("\x1e"), nil)); ok {
			return a, a.json(w, op, read, r.Header)
		}
		return a, a.plain(w, op, r, media)
	case isStream(media):
		return nil, &problem.Error{Code: problem.Unsupported, Suggestion: "look for an operation that answers with a list, in pages",
			Detail: fmt.Sprintf("%s answers with a stream (%s), which tools can't follow", op.ID, media)}
	case len(body) == 0:
		a.headers(w, r.Header)
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
		// JSON with another media type is filtered like JSON.
		if read, err := value.Read(body, maxDepth); err == nil {
			return a, a.json(w, op, read, r.Header)
		}
	}
	return a, a.plain(w, op, r, media)
}

// json fills a from a JSON body, after filtering it.
func (a *Answer) json(w *walker, op *spec.Operation, read value.Value, header http.Header) error {
	root := w.nodeOf(w.responseSchemas(op, a.Status))
	body, ok := w.walk(read, root, open)
	if !ok {
		return nil
	}
	a.HasBody = true
	// The pager must read the whole body, before items are filtered, fields are picked and lists are cut.
	p := newPager(w.v, op, w.o.Arguments)
	l := mainList(body)
	item := w.item(root, l)
	p.tell(body, header, !item.drops())
	seen, all := l.of(body), len(l.of(read))
	k := &cutting{p: p, l: l, all: all, whole: len(seen) == all && w.o.Where == nil}
	if l.is {
		a.List, a.Counts = append([]string{}, l.names...), p.total
		k.next = p.next(all, seen)
		a.Looked, k.first, k.begun = len(seen), 0, true
		if p.byCursor() || p.param(byOffset) != nil || p.param(byPage) != nil {
			k.first, k.begun = p.start()
		}
		a.further(k)
	}
	whole := body
	if w.o.Where != nil {
		kept, err := a.filter(w, l, item, seen)
		if err != nil {
			return err
		}
		body, seen, k.where = l.with(body, kept), kept, true
	}
	picked := len(w.o.Fields) > 0
	if picked {
		body = a.pick(w, root, whole, body)
	}
	// This counts only the masks in the requested part.
	asked := body
	if w.o.At != "" {
		found, err := find(body, w.o.At)
		if err != nil {
			return err
		}
		asked = found
	}
	if !picked && w.o.At == "" || bytes.Contains(asked.AppendJSON(nil), []byte(Masked)) {
		w.masks(a)
	}
	if l.is && (len(p.params) > 0 || p.counts) {
		a.Total, a.Counted = p.total, p.counts
	}
	a.headers(w, header)
	k.seen = seen
	return a.part(w.o, body, k)
}

// masks adds notes to a about the parts that w has masked.
func (w *walker) masks(a *Answer) {
	if len(w.masked) > 0 {
		a.note("masked, for their names are those of credentials: %s", some(w.masked))
	}
	if w.shaped > 0 {
		a.note("parts of %s are masked, for they look like credentials", map[bool]string{true: "a text", false: fmt.Sprint(w.shaped, " texts")}[w.shaped == 1])
	}
}

// plain fills a from a body that can't be filtered. The body is returned only if none of its parts is hidden.
func (a *Answer) plain(w *walker, op *spec.Operation, r *calls.HTTPResponse, media string) error {
	if w.hides(op) {
		return &problem.Error{Code: problem.SecurityBlocked, Kind: "unfiltered_answer", Suggestion: "ask for JSON, if the operation has a parameter for that",
			Detail: fmt.Sprintf("%s answered with %s, which can't be given out: only JSON can be taken through the rules for this API", op.ID, mediaTypeName(media))}
	}
	if w.o.Where != nil || w.o.At != "" {
		return partless(w.o, mediaTypeName(media))
	}
	a.headers(w, r.Header)
	raw := decodeBody(r)
	// Text never contains a NUL.
	isText := (validate.IsText(media) || media == "" && utf8.Valid(r.Body)) && bytes.IndexByte(raw, 0) < 0
	if isText && !allowsMediaType(op, func(name string) bool { return validate.IsText(name) || strings.HasPrefix(name, "*/") }) {
		if IsWebPage(op, r) {
			return upstream(fmt.Sprintf("the API answered with a web page (%s), and its document knows no such answer of %s. It probably wants a sign-in", mediaTypeName(media), op.ID))
		}
		return upstream(fmt.Sprintf("the API answered with %s, and its document knows no such answer of %s", mediaTypeName(media), op.ID))
	}
	if isText {
		text := strings.ToValidUTF8(string(raw), "\uFFFD")
		masked, err := w.table(media, text)
		if err != nil {
			return err
		}
		if masked = secretnames.Mask(masked, Masked); masked != text {
			a.ETag, a.Location = "", ""
		}
		a.HasBody = true
		return a.part(w.o, value.OfString(masked), &cutting{})
	}
	data := r.Body
	if w.inBase64(op, media) {
		if read, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(string(data)), "")); err == nil {
			data = read
		}
	}
	sum := sha256.Sum256(data)
	if sniffed := http.DetectContentType(data); strings.HasPrefix(sniffed, "image/") && (media == "" || media == "application/octet-stream" || strings.HasPrefix(media, "image/")) {
		media = sniffed // image/jpg is a common mistake, and some services declare all files as octet streams
	}
	a.Link = &Blob{MediaType: mediaTypeName(media), Name: fileName(r.Header), Size: len(data), SHA256: hex.EncodeToString(sum[:]), Bytes: data}
	return nil
}

// inBase64 reports whether the document declares that successful responses with a media type are base64.
func (w *walker) inBase64(op *spec.Operation, media string) bool {
	for _, r := range op.Responses {
		for _, c := range r.Contents {
			if strings.HasPrefix(r.Status, "2") && strings.EqualFold(mediaType(c.MediaType), media) && validate.InBase64(w.v.Schema(c.Schema)) {
				return true
			}
		}
	}
	return false
}

func (a *Answer) note(format string, args ...any) {
	a.Notes = append(a.Notes, fmt.Sprintf(format, args...))
}

func upstream(detail string) *problem.Error {
	return &problem.Error{Code: problem.Upstream, Kind: "odd_answer", Detail: detail}
}

// allowsMediaType reports whether the document declares a successful response whose media type satisfies like. It
// also returns true if the document declares no media type for any successful response.
func allowsMediaType(op *spec.Operation, like func(string) bool) bool {
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

// mediaType returns a media type without parameters, or "" if it is invalid.
func mediaType(s string) string {
	name, _, err := mime.ParseMediaType(s)
	if err != nil || len(name) > 100 || !strings.Contains(name, "/") {
		return ""
	}
	return name
}

func mediaTypeName(media string) string {
	if media == "" {
		return "application/octet-stream"
	}
	return media
}

// isStream reports whether responses with a media type are endless streams.
func isStream(media string) bool {
	switch media {
	case "text/event-stream", "application/stream+json", "application/grpc", "application/connect+json", "multipart/x-mixed-replace":
		return true
	}
	return false
}

// fileName returns the file name of a body, reduced to characters that are safe to show.
func fileName(h http.Header) string {
	_, params, err := mime.ParseMediaType(h.Get("Content-Disposition"))
	if err != nil {
		return ""
	}
	name := params["filename"]
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	return cut(oneLine(name), 100)
}
