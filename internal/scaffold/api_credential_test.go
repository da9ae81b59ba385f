package scaffold

import (
	"strings"
	"testing"
)

// TestOfAPICredentials checks which credentials are proposed for the security requirements of a document's
// operations.
func TestOfAPICredentials(t *testing.T) {
	const schemes = `"components": {"securitySchemes": {"user": {"type": "http", "scheme": "basic"}, "api": {"type": "apiKey", "in": "header", "name": "DD-API-KEY"}, "appKeyAuth": {"type": "apiKey", "in": "header", "name": "DD-APPLICATION-KEY"},
		"cert": {"type": "mutualTLS"}, "digest": {"type": "http", "scheme": "digest"}, "token": {"type": "http", "scheme": "bearer"}}},`
	get := func(path, keys string) string {
		return `"` + path + `": {"get": {` + keys + `"responses": {"200": {"description": "ok"}}}}`
	}
	of := func(keys string, paths ...string) string {
		return `{"openapi": "3.1.0", "servers": [{"url": "https://shop.test"}], "info": {"title": "x"}, ` + schemes + keys + `"paths": {` + strings.Join(paths, ", ") + `}}`
	}
	for _, row := range []struct{ name, document, want string }{
		{"two together", of(`"security": [{"api": [], "appKeyAuth": []}],`, get("/a", "")), `
      credentials:   # each operation is called with those that the document requires for it
        "api": {header: {name: "DD-API-KEY", value: "${SHOP_API_KEY}"}}
        "appKeyAuth": {header: {name: "DD-APPLICATION-KEY", value: "${SHOP_APP_KEY_AUTH_KEY}"}}
        #"user": {basic: {user: "${SHOP_USER}", password: "${SHOP_USER_PASSWORD}"}}
        #"token": {bearer: "${SHOP_TOKEN}"}
`},
		{"one for most, another for some", of(`"security": [{"token": []}],`, get("/a", ""), get("/b", ""), get("/c", `"security": [{"user": []}],`), get("/d", `"security": [{"user": []}, {"token": []}],`)), `
        "user": {basic: {user: "${SHOP_USER}", password: "${SHOP_USER_PASSWORD}"}}
        "token": {bearer: "${SHOP_TOKEN}"}
`},
		{"one that all take", of(`"security": [{"user": []}, {"token": []}],`, get("/a", ""), get("/b", `"security": [{"token": []}],`)), `
      credential: {bearer: "${SHOP_TOKEN}"}   # token
      #credential: {basic: {user: "${SHOP_USER}", password: "${SHOP_PASSWORD}"}}   # user
`},
		{"the first of equal ones", of(`"security": [{"token": []}, {"user": []}],`, get("/a", "")), `
      credential: {basic: {user: "${SHOP_USER}", password: "${SHOP_PASSWORD}"}}   # user
`},
		{"a certificate", of(`"security": [{"cert": []}],`, get("/a", "")), `
      tls: {certificate: client.pem, key: client.key}
`},
		{"what there is no credential for", of(`"security": [{"token": []}],`, get("/a", ""), get("/b", `"security": [{"digest": []}],`)), `
      # confirm: the gateway has no credential of this kind: digest (http digest). Operations that require it: 1
`},
		{"another server", of(`"security": [{"token": []}],`, get("/a", ""), get("/b", `"servers": [{"url": "https://files.test/v1/"}], `)), `
      #servers:
      #  "https://files.test/v1": {credential: {bearer: "${SHOP_TOKEN}"}}   # operations: 1
`},
		{"nothing is required", of(`"security": [],`, get("/a", "")), `
      credential: {basic: {user: "${SHOP_USER}", password: "${SHOP_PASSWORD}"}}   # user
`},
	} {
		d, err := OfAPI(API{Name: "shop", Contents: document(t, row.document)})
		if err != nil || !strings.Contains(d.Text, row.want) {
			t.Errorf("%s: %v: not %s in\n%s", row.name, err, row.want, d.Text)
		}
	}
}
