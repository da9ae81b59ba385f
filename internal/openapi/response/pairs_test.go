package response

import (
	"net/http"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
)

// TestPairs has a row for each form in which an object marks a value as secret, and for objects with a similar form.
func TestPairs(t *testing.T) {
	for _, row := range []struct{ body, not, has string }{
		{`{"name":"DB_PASSWORD","value":"canary"}`, "canary", "DB_PASSWORD"},
		{`[{"key":"API_TOKEN","value":"canary"}]`, "canary", "API_TOKEN"},
		{`{"env":[{"name":"API_TOKEN","value":{"plain":"canary"}}]}`, "canary", "API_TOKEN"},
		{`{"variable":{"key":"DB_PASSWORD"},"value":"canary"}`, "canary", "DB_PASSWORD"},
		{`{"id":"1","attributes":{"key":"DB_PASSWORD","value":"canary"}}`, "canary", "DB_PASSWORD"},
		{`{"attributes":{"name":"DB_PASSWORD"},"data":{"value":"canary"}}`, "canary", "DB_PASSWORD"},
		{`{"name":"REGION","value":"canary","secret":true}`, "canary", "REGION"},
		{`{"name":"REGION","value":1234,"sensitive":true}`, "1234", "REGION"},
		{`{"key":"REGION","value":"canary","masked":true}`, "canary", "REGION"},
		{`{"Name":"/app/region","Type":"SecureString","Value":"canary"}`, "canary", "region"},
		{`{"name":"REGION","type":"secret","value":"canary"}`, "canary", "REGION"},
		{`{"name":"REGION","value":"canary","secret":false}`, "-", "canary"},
		{`{"name":"REGION","type":"string","value":"canary"}`, "-", "canary"},
		{`{"note":"see Authorization: Bearer aB3dE5fG7hJ9kL1mN2pQ"}`, "aB3dE5", "see"},
		{`{"log":"{\"password\":\"canary1\",\"user\":\"ada\"}"}`, "canary1", "ada"},
	} {
		v, op := seen(t, "", "")
		a, err := Make(v, op, &calls.HTTPResponse{Status: 200, MediaType: "application/json", Header: http.Header{}, Body: []byte(row.body)}, Options{})
		if err != nil {
			t.Fatal(row.body, err)
		}
		if got := a.Body.String(); strings.Contains(got, row.not) || !strings.Contains(got, row.has) {
			t.Errorf("%s\n%s", row.body, got)
		}
	}
}
