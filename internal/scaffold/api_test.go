package scaffold

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/policy"
)

const shop = `{"openapi": "3.0.3", "info": {"title": "Shop API", "version": "1"}, "servers": [{"url": "/v1"}],
"components": {
  "securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}, "user": {"type": "http", "scheme": "basic"}},
  "schemas": {"User": {"type": "object", "properties": {"password": {"type": "string"}, "password_expired": {"type": "boolean"}, "nextPageToken": {"type": "string"}, "tokenType": {"type": "string"}}}}},
"paths": {
  "/orgs/{orgId}/orders": {"parameters": [{"name": "orgId", "in": "path", "required": true, "schema": {"type": "string"}}],
    "get": {"tags": ["Orders"], "operationId": "listOrders", "summary": "List\norders # all", "responses": {"200": {"description": "ok"}}},
    "post": {"tags": ["Orders"], "operationId": "on", "deprecated": true, "responses": {"200": {"description": "ok"}}}},
  "/orders/{id}:cancel": {"parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "string"}}], "delete": {"summary": "Cancel an order", "responses": {"200": {"description": "ok"}}}},
  "/orders/search": {"post": {"summary": "Search", "responses": {"200": {"description": "ok"}}}},
  "/logs/confirm": {"get": {"responses": {"200": {"description": "ok"}}}},
  "/user/tokens": {"get": {"responses": {"200": {"description": "ok"}}}, "post": {"responses": {"200": {"description": "ok"}}}}}}`

// TestOfAPI checks every line of the configuration generated for a document.
func TestOfAPI(t *testing.T) {
	d, err := OfAPI(API{Name: "shop", Document: "shop.json", Contents: document(t, shop)})
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(d.Text, "sources:\n")
	want := `  shop:
    openapi:
      document: "shop.json"   # Shop API, 7 operations
      # confirm: the document doesn't say where the API is. Write its address here.
      base_url: "https://shop.example"
      # The document says that callers show who they are like this. The secret comes from the environment: let it be
      # one that may do no more than agents should.
      credential: {header: {name: "X-Key", value: "${SHOP_KEY}"}}   # key
      #credential: {basic: {user: "${SHOP_USER}", password: "${SHOP_PASSWORD}"}}   # user

gates: {writes: review}   # what isn't read waits for a person. off lets agents only read

apis:
  shop:
    # Each operation has its class here. One that a later document has is absent, by the last rule, until somebody
    # classes it. Take a line out to hide an operation, move it to class it otherwise.
    access:
      # confirm: never for agents: by their names, it makes, changes or ends credentials or sign-ins.
      - class: forbidden
        reason: "it makes, changes or ends credentials or sign-ins"
        instead: "A person does it in Shop"
        operations:
          - POST /user/tokens
      # confirm: its answer may hold credentials. They are absent.
      - class: excluded
        operations:
          - GET /user/tokens
      - class: read
        operations:
          - listOrders   # GET /orgs/{orgId}/orders: List orders # all
      # confirm: by their names they may only read. With class: read, agents call them without a person.
      - class: write
        operations:
          - POST /orders/search   # Search
      - class: write
        operations:
          # Orders
          - "on"   # POST /orgs/{orgId}/orders  # (deprecated)
          # logs
          - GET /logs/confirm
      - class: destructive
        operations:
          - "DELETE /orders/{id}:cancel"   # Cancel an order
      - {operations: ["*"], class: excluded}
    hidden:
      # confirm: they look like credentials by their names. They are in no answer, and no argument.
      - fields:
          - password
    # confirm: 2 operations say by orgId whose things they are about. This keeps each agent to those of the tenant of
    # its token. Operations without it are not kept to anything.
    #parameters:
    #  - {name: orgId, is: principal.tenant}
`
	if diff := cmp.Diff(want, text); diff != "" || d.Operations != 7 || d.Confirm != 6 {
		t.Errorf("%d operations, %d guesses\n%s", d.Operations, d.Confirm, diff)
	}
}

// TestOfAPIWhere checks the lines about the address and the credentials. Their values come from the document or the
// caller.
func TestOfAPIWhere(t *testing.T) {
	const paths = `"info": {"title": "x"}, "paths": {"/a": {"get": {"responses": {"200": {"description": "ok"}}}}}}`
	three := func(keys string) string { return `{"openapi": "3.0.3", ` + keys + paths }
	scheme := func(s string) string { return three(`"components": {"securitySchemes": {"s": ` + s + `}}, `) }
	for _, row := range []struct {
		a    API
		want string
	}{
		{API{Contents: document(t, three(`"servers": [{"url": "ftp://x"}, {"url": "https://shop.test/v1/"}], `))}, `base_url: "https://shop.test/v1"`},
		{API{Contents: document(t, three(`"servers": [{"url": "/v2"}], `)), Document: "https://shop.test/docs/openapi.json"}, `base_url: "https://shop.test/v2"`},
		{API{Contents: document(t, three(``)), Document: "https://shop.test/docs/openapi.json"}, `base_url: "https://shop.test"`},
		{API{Contents: document(t, three(`"servers": [{"url": "https://shop.test"}], `)), BaseURL: "http://10.0.0.1"}, `base_url: "http://10.0.0.1"`},
		{API{Contents: document(t, scheme(`{"type": "http", "scheme": "Bearer"}`))}, `credential: {bearer: "${MY_SHOP_TOKEN}"}   # s`},
		{API{Contents: document(t, scheme(`{"type": "apiKey", "in": "query", "name": "k: {1}"}`))}, `credential: {query: {name: "k: {1}", value: "${MY_SHOP_KEY}"}}   # s`},
		{API{Contents: document(t, scheme(`{"type": "apiKey", "in": "header", "name": "authorization"}`))}, `credential: {header: {name: Authorization, value: "${MY_SHOP_AUTHORIZATION}"}}   # s`},
		{API{Contents: document(t, scheme(`{"type": "apiKey", "in": "header", "name": "Cookie"}`))}, `#credential: {bearer: "${MY_SHOP_TOKEN}"}`},
		{API{Contents: document(t, scheme(`{"type": "apiKey", "in": "cookie", "name": "sid"}`))}, `credential: {cookie: {name: "sid", value: "${MY_SHOP_COOKIE}"}}   # s`},
		{API{Contents: document(t, scheme(`{"type": "oauth2", "flows": {"clientCredentials": {"tokenUrl": "https://login.test/token"}}}`))},
			`credential: {oauth: {token_url: "https://login.test/token", client_id: "${MY_SHOP_CLIENT_ID}", client_secret: "${MY_SHOP_CLIENT_SECRET}"}}   # s`},
		{API{Contents: document(t, scheme(`{"type": "oauth2", "flows": {"implicit": {}}}`))}, `credential: {bearer: "${MY_SHOP_TOKEN}"}   # s`},
		{API{Contents: document(t, `{"swagger": "2.0", "host": "shop.test", "basePath": "/v1", "schemes": ["https"], "securityDefinitions": {"s": {"type": "basic"}}, `+paths)},
			`credential: {basic: {user: "${MY_SHOP_USER}", password: "${MY_SHOP_PASSWORD}"}}   # s`},
		{API{Contents: document(t, `{"swagger": "2.0", "host": "shop.test", "basePath": "/v1", "schemes": ["https"], `+paths)}, `base_url: "https://shop.test/v1"`},
	} {
		row.a.Name = "my-shop"
		d, err := OfAPI(row.a)
		if err != nil || !strings.Contains(d.Text, "\n      "+row.want+"\n") {
			t.Errorf("%v: not %s in\n%s", err, row.want, d.Text)
		}
	}
}

// document parses a document.
func document(t *testing.T, text string) config.Document {
	t.Helper()
	c, err := config.ReadDocument(strings.NewReader(text), int64(len(text)), nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestOfDocuments generates a configuration for every test document and parses it. Every operation must have the
// class that its line says, and no credential may be visible.
func TestOfDocuments(t *testing.T) {
	folder := filepath.Join("..", "openapi", "testdata")
	files, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	read := 0
	for _, f := range files {
		data, err := os.ReadFile(filepath.Join(folder, f.Name()))
		if err != nil || !strings.HasSuffix(f.Name(), ".json") && !strings.HasSuffix(f.Name(), ".yaml") {
			continue
		}
		read++
		d, err := OfAPI(API{Name: "app", Document: f.Name(), Contents: document(t, string(data))})
		if err != nil {
			t.Errorf("%s: %v", f.Name(), err)
			continue
		}
		c, err := config.Parse(filepath.Join(folder, "bailiwick.yaml"), []byte(d.Text), func(name string) (string, bool) { return "", strings.HasPrefix(name, "APP_") })
		if err != nil {
			t.Errorf("%s: %v", f.Name(), err)
			continue
		}
		p, err := policy.New(c.Rules, nil)
		if err != nil {
			t.Errorf("%s: %v", f.Name(), err)
			continue
		}
		r, err := p.APIs().Reach(identity.Principal{ID: "a", Scopes: []identity.Scope{identity.Read}}, "app", "")
		if err != nil {
			t.Fatal(err)
		}
		rules := c.Rules.APIs["app"]
		classes, err := rules.Classes()
		if err != nil {
			t.Fatal(err)
		}
		count := map[spec.Class]int{}
		for _, op := range rules.Document.Operations {
			decided := classes.Of(op)
			if count[decided.Class]++; decided.Rule < 0 || decided.Rule == len(rules.Access.Rules)-1 {
				t.Errorf("%s: no line classes %s", f.Name(), op.ID)
			}
		}
		if seen := len(r.View.Operations()); seen != count[spec.ClassRead]+count[spec.ClassWrite]+count[spec.ClassDestructive] || count[spec.ClassForbidden] < 4 || count[spec.ClassRead] < 40 || count[spec.ClassWrite] < 30 {
			t.Errorf("%s: %d operations are seen; %v", f.Name(), seen, count)
		}
	}
	if read < 2 {
		t.Errorf("%d documents were read", read)
	}
}
