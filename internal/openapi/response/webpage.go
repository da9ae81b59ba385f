package response

import (
	"bytes"
	"net/http"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/value"
)

// IsWebPage reports whether a response is a web page although the document of op declares none. JSON with an HTML
// media type is not a page. A bare text is not a page if the document declares no content.
func IsWebPage(op *spec.Operation, r *calls.HTTPResponse) bool {
	media := mediaType(r.MediaType)
	body := bytes.TrimSpace(bytes.TrimPrefix(decodeBody(r), []byte("\ufeff")))
	if len(body) == 0 || spec.IsJSON(media) && body[0] != '<' {
		return false
	}
	html := func(name string) bool {
		return name == "text/html" || name == "application/xhtml+xml" || name == "text/*"
	}
	if declaresHTML(op, html) {
		return false
	}
	if body[0] == '<' && (html(media) || strings.HasPrefix(http.DetectContentType(body), "text/html")) {
		return true
	}
	// Without declared content, a text may be the whole response.
	if !html(media) || allowsMediaType(op, func(name string) bool { return name == "*/*" }) {
		return false
	}
	_, err := value.Read(body, maxDepth)
	return err != nil
}

// declaresHTML reports whether the document declares a successful response that is HTML.
func declaresHTML(op *spec.Operation, html func(string) bool) bool {
	for _, r := range op.Responses {
		for _, c := range r.Contents {
			if (strings.HasPrefix(r.Status, "2") || r.Status == "default") && html(mediaType(strings.ToLower(c.MediaType))) {
				return true
			}
		}
	}
	return false
}
