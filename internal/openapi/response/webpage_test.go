package response

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
)

// TestIsWebPage checks which answers are web pages instead of the declared content.
func TestIsWebPage(t *testing.T) {
	const (
		asJSON  = `"200":{"description":"","content":{"application/json":{}}}`
		asAny   = `"200":{"description":"","content":{"*/*":{}}}`
		asHTML  = `"200":{"description":"","content":{"text/html; charset=utf-8":{}}}`
		asEmpty = `"204":{"description":""}`
		page    = "<!DOCTYPE html>\n<html><head><title>Sign in</title></head><body><form><input type=password></form></body></html>"
	)
	for _, row := range []struct {
		responses, media, body string
		want                   bool
	}{
		{asJSON, "text/html", page, true},
		{asJSON, "application/xhtml+xml", `<?xml version="1.0"?><html/>`, true},
		{asJSON, "application/json", page, true},
		{asJSON, "", "\ufeff \n" + page, true},
		{asJSON, "text/plain", "<html><body>Sign in</body></html>", true},
		{asJSON, "text/html", "Please sign in", true},
		{asJSON, "text/html", `{"id": 7}`, false},
		{asJSON, "text/html", "", false},
		{asJSON, "application/json", "", false},
		{asJSON, "application/json", `{"page": "<html>"}`, false},
		{asJSON, "application/xml", "<order/>", false},
		{asJSON, "text/plain", "done", false},
		{asAny, "text/html", page, true},
		{asAny, "text/html", "OK", false},
		{asEmpty, "text/html", page, true},
		{asEmpty, "text/html", "OK", false},
		{asHTML, "text/html", page, false},
		{asJSON + `,"400":{"description":"","content":{"text/html":{}}}`, "text/html", page, true},
	} {
		_, op := viewed(t, fmt.Sprintf(`{"openapi":"3.0.0","paths":{"/x":{"post":{"operationId":"x","responses":{%s}}}}}`, row.responses), spec.Filter{})
		r := &calls.HTTPResponse{Status: 200, MediaType: row.media, Header: http.Header{}, Body: []byte(row.body)}
		if got := IsWebPage(op, r); got != row.want {
			t.Errorf("%s: %s %q: %t", row.responses, row.media, row.body, got)
		}
	}
}
