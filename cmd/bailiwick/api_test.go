package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/bailiwick-dev/bailiwick/internal/demo"
)

// serveAPI DATABASE serves the API of the demo's tracker. It sets $API to the URL and $API_KEY to the key, and writes
// the document to openapi.yaml.
func serveAPI(ts *testscript.TestScript, _ bool, args []string) {
	const key = "key-of-the-gateway"
	a, err := demo.OpenAPI(context.Background(), ts.MkAbs(args[0]), key)
	ts.Check(err)
	ts.Defer(func() { ts.Check(a.Close()) })
	mux := http.NewServeMux()
	mux.Handle("/", a)
	mux.HandleFunc("GET /openapi.yaml", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(demo.APIDocument) })
	server := httptest.NewServer(mux)
	ts.Defer(server.Close)
	ts.Check(os.WriteFile(ts.MkAbs("openapi.yaml"), demo.APIDocument, 0o600))
	ts.Setenv("API", server.URL)
	ts.Setenv("API_KEY", key)
}
