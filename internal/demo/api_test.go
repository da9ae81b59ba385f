package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/getkin/kin-openapi/openapi3"
	"go.yaml.in/yaml/v3"
)

const key = "trk_test"

func open(t *testing.T) *API {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tracker.db")
	if err := Create(context.Background(), path); err != nil {
		t.Fatal(err)
	}
	a, err := OpenAPI(context.Background(), path, key)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	return a
}

// oracle parses the document with kin-openapi.
func oracle(t *testing.T) *openapi3.T {
	t.Helper()
	var plain any // kin-openapi's own YAML reader doesn't support merge keys
	if err := yaml.Unmarshal(APIDocument, &plain); err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(plain)
	if err != nil {
		t.Fatal(err)
	}
	d, err := openapi3.NewLoader().LoadFromData(b)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Validate(context.Background()); err != nil {
		t.Fatal(err)
	}
	return d
}

// TestDocument checks that the document is valid and lists exactly the operations of the server.
func TestDocument(t *testing.T) {
	oracle(t)
	d, err := spec.Load(APIDocument)
	if err != nil || len(d.Warnings) > 0 {
		t.Fatal(err, d.Warnings)
	}
	var told, served []string
	for _, op := range d.Operations {
		told = append(told, op.Name())
		if !op.Declared || op.Summary == "" || len(op.Tags) != 1 {
			t.Errorf("%s has no id, summary or tag", op.Name())
		}
	}
	for pattern := range open(t).routes() {
		served = append(served, pattern)
	}
	slices.Sort(told)
	slices.Sort(served)
	if !slices.Equal(told, served) {
		t.Errorf("the document tells of\n%q, and served is\n%q", told, served)
	}
}

// fits returns an error if a response doesn't match the document.
func fits(d *openapi3.T, method, path string, status int, body []byte) error {
	op := d.Paths.Find(path).GetOperation(method)
	r := op.Responses.Status(status)
	if r == nil {
		r = op.Responses.Default()
	}
	content := r.Value.Content.Get("application/json")
	if content == nil {
		if len(body) > 0 {
			return fmt.Errorf("a body where there is to be none")
		}
		return nil
	}
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		return err
	}
	return content.Schema.Value.VisitJSON(v)
}

// TestCalls checks the status and the relevant part of the response for a sequence of calls. Every response must
// match the document.
func TestCalls(t *testing.T) {
	a, d := open(t), oracle(t)
	const issue, issues, comments = "/v1/orgs/{org}/issues/{key}", "/v1/orgs/{org}/issues", "/v1/orgs/{org}/issues/{key}/comments"
	tags := map[string]string{}
	for i, tt := range []struct{ method, path, query, headers, body, want string }{
		{"GET", "/v1/orgs/{org}/projects", "", "", "", `200 {"items":[{"key":"MOB"`},
		{"GET", issues, "project=PAY&limit=2", "", "", `200 "total":`},
		{"GET", issues, "status=Nope", "", "", `200 {"items":[],"total":0}`},
		{"GET", issues, "limit=101", "", "", `400 {"code":"invalid_parameter"`},
		{"GET", issues, "text=payout&type=Bug&priority=High&assignee_id=x&offset=3", "", "", `200 {"items":[]`},
		{"GET", issue, "", "", "", `200 {"key":"PAY-17"`},
		{"PATCH", issue, "", "If-Match: old", `{"status":"Done","estimate":2.5,"due_date":"2026-12-01"}`, `200 "status":"Done"`},
		{"PATCH", issue, "", "If-Match: old", `{"status":"Todo"}`, `412 {"code":"changed","message":"the issue was changed since it was read"}`},
		{"PATCH", issue, "", "", `{"status":"Doing"}`, `422 {"code":"invalid","message":"status is one of Backlog, Todo, InProgress, Review, Done, Cancelled"}`},
		{"PATCH", issue, "", "", `{"state":"Done"}`, `400 {"code":"invalid_body"`},
		{"PATCH", issue, "", "", `{}`, `422 {"code":"invalid","message":"the body changes nothing"}`},
		{"PATCH", issue, "", "", `{"assignee_id":"nobody"}`, `422 {"code":"invalid","message":"assignee_id is nobody who works here"}`},
		{"PATCH", issue, "", "", `{"due_date":"soon"}`, `422 {"code":"invalid","message":"due_date is a date`},
		{"PATCH", issue, "", "", `{"estimate":-1}`, `422 {"code":"invalid","message":"estimate is`},
		{"PATCH", issue, "", "", `{"custom":[]}`, `422 {"code":"invalid","message":"custom is an object"}`},
		{"GET", issue, "", "", "", `200 "estimate":2.5,"due_date":"2026-12-01"`},
		{"PUT", issue, "", "", `{"title":"T"}`, `422 {"code":"invalid","message":"title, status and priority are needed"}`},
		{"PUT", issue, "", "", `{"title":"T","status":"Todo","priority":"Low"}`, `200 "body":"","parent":"PAY-`},
		{"GET", issue, "", "", "", `200 "estimate":null,"due_date":null,"custom":{}`},
		{"POST", comments, "", "Idempotency-Key: one", `{"body":"first"}`, `201 "author":"api","body":"first"`},
		{"POST", comments, "", "Idempotency-Key: one", `{"body":"first"}`, `201 same`},
		{"POST", comments, "", "Idempotency-Key: one", `{"body":"other"}`, `422 {"code":"key_reused"`},
		{"POST", comments, "", "", `{"body":" "}`, `422 {"code":"invalid","message":"body is empty"}`},
		{"GET", comments, "limit=1", "", "", `200 "next_cursor":"`},
		{"GET", comments, "limit=100", "", "", `200 "next_cursor":null`},
		{"GET", comments, "cursor=zzz", "", "", `400 {"code":"invalid_parameter"`},
		{"POST", issues, "", "", `{"project":"PAY","type":"Epic","title":"New"}`, `201 "type":"Epic","status":"Backlog","priority":"Medium","title":"New"`},
		{"POST", issues, "", "", `{"project":"PAY","type":"Task","title":"New"}`, `422 {"code":"invalid","message":"a task needs a parent"}`},
		{"POST", issues, "", "", `{"project":"PAY","type":"Bug","title":"New","parent":"PAY-1","priority":"High"}`, `201 "parent":"PAY-1"`},
		{"POST", issues, "", "", `{"project":"PAY","type":"Epic","title":"New","parent":"PAY-1"}`, `422 {"code":"invalid","message":"a story stands under`},
		{"POST", issues, "", "", `{"project":"PAY","type":"Bug","title":"New","parent":"PAY-999999"}`, `422 {"code":"invalid","message":"there is no issue PAY-999999"}`},
		{"POST", issues, "", "", `{"project":"NO","type":"Bug","title":"New"}`, `422 {"code":"invalid","message":"there is no project NO that takes issues"}`},
		{"GET", "/v1/orgs/{org}/users", "", "", "", `200 "email":"`},
		{"POST", "/v1/orgs/{org}/keys", "", "", `{"name":"ci"}`, `201 {"name":"ci","key":"trk_`},
		{"POST", "/v1/orgs/{org}/keys", "", "", `{"name":""}`, `422 {"code":"invalid"`},
		{"DELETE", issue, "", "If-Match: first", "", `412 {"code":"changed"`},
		{"DELETE", issue, "", "", "", `204 `},
		{"GET", issue, "", "", "", `404 {"code":"not_found","message":"there is no issue PAY-17"}`},
		{"DELETE", issue, "", "", "", `404 {"code":"not_found"`},
	} {
		r := httptest.NewRequest(tt.method, strings.NewReplacer("{org}", "acme", "{key}", "PAY-17").Replace(tt.path)+"?"+tt.query, strings.NewReader(tt.body))
		r.Header.Set("Authorization", "Bearer "+key)
		if name, v, ok := strings.Cut(tt.headers, ": "); ok {
			if name == "If-Match" {
				v = tags[v]
			}
			r.Header.Set(name, v)
		}
		w := httptest.NewRecorder()
		a.ServeHTTP(w, r)
		if tag := w.Header().Get("ETag"); tt.method == "GET" && tag != "" {
			tags["old"] = tag
			if tags["first"] == "" {
				tags["first"] = tag
			}
		}
		status, want, _ := strings.Cut(tt.want, " ")
		if want == "same" {
			want = tags["answer"]
		}
		if fmt.Sprint(w.Code) != status || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%d: %s %s %s\n got %d %s\nwant %s", i, tt.method, tt.path, tt.body, w.Code, w.Body, tt.want)
		}
		tags["answer"] = w.Body.String()
		if err := fits(d, tt.method, tt.path, w.Code, w.Body.Bytes()); err != nil {
			t.Errorf("%d: %s %s answers otherwise than the document says: %v\n%s", i, tt.method, tt.path, err, w.Body)
		}
	}
}

// TestDoor checks that refused requests reveal nothing. Such requests have no key, another organisation, or an
// unknown route.
func TestDoor(t *testing.T) {
	a := open(t)
	for _, tt := range []struct{ path, key, want string }{
		{"/v1/orgs/acme/users", "", `401 {"code":"unauthorized"`},
		{"/v1/orgs/acme/users", "trk_other", `401 {"code":"unauthorized"`},
		{"/v1/orgs/nope/users", key, `404 {"code":"not_found","message":"there is no such organisation"}`},
		{"/v2", key, `404 {"code":"no_route"`},
		{"/v1/orgs/globex/issues/PAY-17", key, `404 {"code":"not_found","message":"there is no issue PAY-17"}`},
	} {
		r := httptest.NewRequest(http.MethodGet, tt.path, nil)
		r.Header.Set("Authorization", "Bearer "+tt.key)
		w := httptest.NewRecorder()
		a.ServeHTTP(w, r)
		if got := fmt.Sprintf("%d %s", w.Code, w.Body); !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s: %s, want %s", tt.path, got, tt.want)
		}
	}
	if _, err := OpenAPI(context.Background(), filepath.Join(t.TempDir(), "none.db"), key); err == nil {
		t.Error("a file that is not there is opened")
	}
}
