package demo

import (
	"context"
	"crypto/subtle"
	"database/sql"
	_ "embed" // the document
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	_ "modernc.org/sqlite" // the driver for the file
)

// APIDocument is the OpenAPI document of the API, as YAML.
//
//go:embed openapi.yaml
var APIDocument []byte

// An API serves one tracker over HTTP. It is safe for concurrent use. It runs writes one at a time.
type API struct {
	db   *sql.DB
	key  string
	mux  *http.ServeMux
	once answers
}

// OpenAPI opens the tracker in the SQLite file at path. The file must exist. Callers must send the key as a bearer
// token.
func OpenAPI(ctx context.Context, path, key string) (*API, error) {
	const pragmas = "?mode=rw&_txlock=immediate&_pragma=busy_timeout(5000)&_pragma=foreign_keys(on)"
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+pragmas)
	if err == nil {
		err = db.PingContext(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("demo: open the tracker: %w", err)
	}
	a := &API{db: db, key: key, mux: http.NewServeMux(), once: answers{kept: map[string]answer{}}}
	for pattern, h := range a.routes() {
		a.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { a.answer(w, r, h) })
	}
	return a, nil
}

// Close closes the tracker.
func (a *API) Close() error { return a.db.Close() }

// A route handles one operation. It returns a status and the value to write as JSON, or nil for no body.
type route func(r *http.Request, w http.Header) (int, any, error)

// routes returns the handlers of the document's operations.
func (a *API) routes() map[string]route {
	return map[string]route{
		"GET /v1/orgs/{org}/projects":               a.listProjects,
		"GET /v1/orgs/{org}/issues":                 a.listIssues,
		"POST /v1/orgs/{org}/issues":                a.createIssue,
		"GET /v1/orgs/{org}/issues/{key}":           a.getIssue,
		"PUT /v1/orgs/{org}/issues/{key}":           a.replaceIssue,
		"PATCH /v1/orgs/{org}/issues/{key}":         a.updateIssue,
		"DELETE /v1/orgs/{org}/issues/{key}":        a.deleteIssue,
		"GET /v1/orgs/{org}/issues/{key}/comments":  a.listComments,
		"POST /v1/orgs/{org}/issues/{key}/comments": a.addComment,
		"GET /v1/orgs/{org}/users":                  a.listUsers,
		"POST /v1/orgs/{org}/keys":                  a.createKey,
	}
}

// ServeHTTP implements http.Handler.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	key, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok || subtle.ConstantTimeCompare([]byte(key), []byte(a.key)) != 1 {
		fail(w, refuse(http.StatusUnauthorized, "unauthorized", "show the API key as a bearer token"))
		return
	}
	if _, pattern := a.mux.Handler(r); pattern == "" {
		fail(w, refuse(http.StatusNotFound, "no_route", "there is no such operation"))
		return
	}
	a.mux.ServeHTTP(w, r)
}

func (a *API) answer(w http.ResponseWriter, r *http.Request, h route) {
	var one string
	err := a.db.QueryRowContext(r.Context(), "SELECT id FROM organisations WHERE id = ?", r.PathValue("org")).Scan(&one)
	if errors.Is(err, sql.ErrNoRows) {
		fail(w, refuse(http.StatusNotFound, "not_found", "there is no such organisation"))
		return
	}
	if err != nil {
		fail(w, err)
		return
	}
	if r.Method == http.MethodGet {
		run(r, h).write(w)
		return
	}
	a.once.answer(w, r, h)
}

// A problem is the body of an error response.
type problem struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// A refusal is a problem with its HTTP status.
type refusal struct {
	status int
	problem
}

func (r *refusal) Error() string { return r.Code + ": " + r.Message }

func refuse(status int, code, format string, args ...any) error {
	return &refusal{status, problem{code, fmt.Sprintf(format, args...)}}
}

func invalid(format string, args ...any) error {
	return refuse(http.StatusUnprocessableEntity, "invalid", format, args...)
}

func fail(w http.ResponseWriter, err error) { errorAnswer(err).write(w) }

// read strictly decodes the JSON body of a request into the value into.
func read(r *http.Request, into any) error {
	d := json.NewDecoder(http.MaxBytesReader(nil, r.Body, 1<<20))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return refuse(http.StatusBadRequest, "invalid_body", "the body is not the JSON that this operation takes")
	}
	return nil
}
