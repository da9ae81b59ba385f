package response

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// orders contains the records of two pages, with all kinds of values that APIs return.
const orders = `{"data":[
	{"id":1,"status":"paid","total":10.50,"created":"2026-11-01T10:00:00Z","day":"2026-11-01","tags":["new","gift"],"customer":{"name":"Ana","city":"Roma"},"lines":[{"sku":"a","n":2}],"gift":true,"note":null,"mixed":1,"price":"10.50"},
	{"id":2,"status":"open","total":7,"created":"2026-11-02T23:30:00+02:00","day":"2026-11-02","tags":[],"customer":{"name":"Ben","city":"Wien"},"lines":[{"sku":"b","n":9},{"sku":"a","n":1}],"gift":false,"mixed":"x"},
	{"id":3,"status":"open","total":9007199254740993,"created":null,"tags":["gift"],"customer":null,"lines":[],"price":"-3","gift":false,"note":"late","mixed":true}],"api_token":"s3cretvalue"}`

const ordersDocument = `{"openapi":"3.0.0","paths":{"/x":{"get":{"operationId":"x","responses":{"200":{"description":"","content":{"application/json":{"schema":{"properties":{"data":{"type":"array","items":{"properties":{
	"id":{"type":"integer"},"created":{"type":"string","format":"date-time"},"day":{"type":"string","format":"date"},"password":{"type":"string"},"salary":{"type":"integer"},"shade":{"type":"string"},"price":{"type":"number"}}}}}}}}}}}}}}`

// parsed parses a filter from the JSON of a where object.
func parsed(t testing.TB, text string) query.Filter {
	t.Helper()
	v, err := value.Read([]byte(text), 0)
	if err != nil {
		t.Fatal(text, err)
	}
	f, err := query.ParseWhere(v, "/where")
	if err != nil {
		t.Fatal(text, err)
	}
	return f
}

// TestWhere checks which items of a list each filter selects, and each error.
func TestWhere(t *testing.T) {
	v, op := viewed(t, ordersDocument, spec.Filter{Field: func(schema, field string) bool { return field != "salary" && field != "lair" }})
	for _, tt := range []struct{ where, want string }{
		{`{"status":"open"}`, "2 3 of 3"},
		{`{"status":{"$ne":"open"}}`, "1 of 3"},
		{`{"status":["open","paid"]}`, "1 2 3 of 3; /where/status: a list was taken as $in: status holds one value"},
		{`{"status":{"$in":["paid"]}}`, "1 of 3"},
		{`{"status":{"$regex":"^P","$options":"i"}}`, "1 of 3"},
		{`{"status":{"$startsWith":"op"}}`, "2 3 of 3"},
		{`{"total":{"$gt":7}}`, "1 3 of 3"},
		{`{"total":{"$gte":9007199254740993}}`, "3 of 3"},
		{`{"total":{"$gt":9007199254740993}}`, " of 3"},
		{`{"total":{"$lt":"10"}}`, `2 of 3; /where/total/$lt: "10" was taken as 10: total is of type decimal`},
		{`{"id":"2"}`, "2 of 3"},
		{`{"price":{"$gt":9}}`, "1 of 3"},
		{`{"price":-3.0}`, "3 of 3"},
		{`{"price":{"$lt":"9"}}`, `3 of 3; /where/price/$lt: "9" was taken as 9: price is of type decimal`},
		{`{"created":{"$gte":"2026-11-02"}}`, "2 of 3; /where/created/$gte: 2026-11-02 is the whole day in UTC"},
		{`{"created":{"$gt":"2026-11-02T21:29:59Z"}}`, "2 of 3"},
		{`{"created":{"$gt":"2026-11-02T21:30:00Z"}}`, " of 3"},
		{`{"created":null}`, "3 of 3"},
		{`{"day":"2026-11-02"}`, "2 of 3"},
		{`{"day":{"$lt":"2026-11-02"}}`, "1 of 3"},
		{`{"tags":"gift"}`, "1 3 of 3"},
		{`{"tags":{"$size":0}}`, "2 of 3"},
		{`{"tags":{"$all":["new","gift"]}}`, "1 of 3"},
		{`{"customer.city":"Wien"}`, "2 of 3"},
		{`{"customer.cty":"Wien"}`, " of 3"},
		{`{"lines":{"$elemMatch":{"sku":"a","n":{"$gt":1}}}}`, "1 of 3"},
		{`{"lines.n":{"$gt":5}}`, "2 of 3"},
		{`{"gift":true}`, "1 of 3"},
		{`{"note":{"$exists":true}}`, "3 of 3"},
		{`{"mixed":"x"}`, "2 of 3"},
		{`{"mixed":true}`, "3 of 3"},
		{`{"$or":[{"id":1},{"status":"open","total":7}]}`, "1 2 of 3"},
		{`{"$not":{"status":"open"}}`, "1 of 3"},
		{`{"shade":{"$exists":false}}`, "1 2 3 of 3"},
		{`{"statuss":"open"}`, `invalid_query: unknown field "statuss" of the items of this answer near status`},
		{`{"salary":1}`, `invalid_query: unknown field "salary" of the items of this answer; their fields are id, created, day, password, shade, price, status, total, tags, customer, lines, gift, note, mixed`},
		{`{"lair":1}`, `invalid_query: unknown field "lair" of the items of this answer; their fields are id, created, day, password, shade, price, status, total, tags, customer, lines, gift, note, mixed`},
		{`{"liar":1}`, `invalid_query: unknown field "liar" of the items of this answer; their fields are id, created, day, password, shade, price, status, total, tags, customer, lines, gift, note, mixed`},
		{`{"password":"x"}`, `invalid_query: password is masked: it is shown and can't be filtered by; filter by other fields`},
		{`{"customer.api_key":"x"}`, `invalid_query: api_key is masked: it is shown and can't be filtered by; filter by other fields`},
		{`{"lines":{"$elemMatch":{"secret":"x"}}}`, " of 3"},
		{`{"id.x":1}`, `invalid_query: "id.x": id is of type integer and has no parts`},
		{`{"status":{"$inQuery":{"className":"x","where":{"a":1}}}}`, `unsupported_by_source: conditions on an answer of an API can't name classes`},
	} {
		where, err := value.Read([]byte(tt.where), 0)
		if err != nil {
			t.Fatal(err)
		}
		f, err := query.ParseWhere(where, "/where")
		var a *Answer
		if err == nil {
			a, err = Make(v, op, ok(orders), Options{Where: f})
		}
		got := ""
		if err != nil {
			p := problem.Of(err)
			got = fmt.Sprintf("%s: %s", p.Code, p.Detail)
			if len(p.Near) > 0 {
				got += " near " + strings.Join(p.Near, ", ")
			}
			if p.Suggestion != "" {
				got += "; " + p.Suggestion
			}
		} else {
			data, _ := a.Body.Get("data")
			var ids []string
			for _, e := range data.List() {
				id, _ := e.Get("id")
				ids = append(ids, id.String())
			}
			got = fmt.Sprintf("%s of %d", strings.Join(ids, " "), a.Looked)
			for _, note := range a.Notes {
				if !strings.HasPrefix(note, "masked") {
					got += "; " + note
				}
			}
			if !a.Where || a.Shown != len(ids) || a.Of != len(ids) {
				t.Errorf("%s: %+v", tt.where, a)
			}
		}
		if got != tt.want {
			t.Errorf("%s\n got %s\nwant %s", tt.where, got, tt.want)
		}
	}
}

// TestWhereOfOthers checks answers that can't be filtered.
func TestWhereOfOthers(t *testing.T) {
	v, op := viewed(t, `{"openapi":"3.0.0","paths":{"/x":{"get":{"operationId":"x","responses":{"200":{"description":""}}}}}}`, spec.Filter{})
	for _, tt := range []struct{ media, body, want string }{
		{"application/json", `{"a":1}`, "invalid_argument: the answer has no list that where could filter"},
		{"application/json", `[1,2]`, "invalid_argument: the items of the list are not objects, so they have no fields to filter by"},
		{"application/json", `[]`, `invalid_query: unknown field "a" of the items of this answer`},
		{"text/csv", "a,b", "invalid_argument: the API answered with text/csv: it has no list to filter"},
		{"image/png", "\x89PNG", "invalid_argument: the API answered with image/png: it has no list to filter"},
		{"application/x-ndjson", "{\"a\":1}\n{\"a\":2}", `[{"a":1}] 1/1`},
	} {
		got := shown(Make(v, op, &calls.HTTPResponse{Status: 200, MediaType: tt.media, Header: http.Header{}, Body: []byte(tt.body)}, Options{Where: parsed(t, `{"a":1}`)}))
		if got != tt.want {
			t.Errorf("%s %s\n got %s\nwant %s", tt.media, tt.body, got, tt.want)
		}
	}
}

// TestLocation checks which Locations are returned, and how.
func TestLocation(t *testing.T) {
	for _, tt := range []struct {
		location, body string
		view           spec.Filter
		want           string
	}{
		{"/teams/9", `{}`, spec.Filter{}, "/teams/9"},
		{"https://api.example/teams/9?x=1", ``, spec.Filter{}, "https://api.example/teams/9?x=1"},
		{"https://store.example/f?X-Amz-Signature=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", `{}`, spec.Filter{}, "https://store.example/f?X-Amz-Signature=[masked]"},
		{"https://ana:s3cretpassw0rd@api.example/teams", `{}`, spec.Filter{}, "https://[masked]@api.example/teams"},
		{"/teams/9", `{}`, spec.Filter{Field: func(_, field string) bool { return field != "salary" }}, ""},
		{"/teams/\x1b", `{}`, spec.Filter{}, ""},
		{strings.Repeat("/teams", 200), `{}`, spec.Filter{}, ""},
	} {
		v, op := viewed(t, ordersDocument, tt.view)
		a, err := Make(v, op, &calls.HTTPResponse{Status: 202, MediaType: "application/json", Header: http.Header{"Location": {tt.location}}, Body: []byte(tt.body)}, Options{})
		if err != nil || a.Location != tt.want {
			t.Errorf("%s: %q, %v; want %q", tt.location, a.Location, err, tt.want)
		}
	}
}

// TestVersion checks when an answer contains the ETag and the total from the headers.
func TestVersion(t *testing.T) {
	choices := `{"openapi":"3.0.0","paths":{"/x":{"get":{"operationId":"x","responses":{"200":{"description":"","content":{"application/json":{"schema":{"type":"array","items":{"oneOf":[{"$ref":"#/components/schemas/A"},{"$ref":"#/components/schemas/B"}],"discriminator":{"propertyName":"k"}}}}}}}}}},"components":{"schemas":{"A":{"type":"object"},"B":{"type":"object"}}}}`
	for _, tt := range []struct {
		name, document string
		view           spec.Filter
		body           string
		header         http.Header
		tag, total     string
	}{
		{"nothing is hidden", ordersDocument, spec.Filter{}, `[{"id":1}]`, http.Header{"Etag": {`W/"7"`}, "X-Total-Count": {"70"}}, `W/"7"`, "70"},
		{"a range", ordersDocument, spec.Filter{}, `[{"id":1}]`, http.Header{"Content-Range": {"items 0-0/319"}}, "", "319"},
		{"a range without a total", ordersDocument, spec.Filter{}, `[{"id":1}]`, http.Header{"Content-Range": {"items 0-0/*"}}, "", ""},
		{"no list", ordersDocument, spec.Filter{}, `{"id":1}`, http.Header{"Etag": {`"7"`}, "X-Total-Count": {"70"}}, `"7"`, ""},
		{"a text", ordersDocument, spec.Filter{}, `"x"`, http.Header{"Etag": {`"7"`}}, `"7"`, ""},
		{"something is masked", ordersDocument, spec.Filter{}, `[{"password":"x"}]`, http.Header{"Etag": {`"7"`}, "X-Total-Count": {"70"}}, "", "70"},
		{"a field is hidden somewhere", ordersDocument, spec.Filter{Field: func(_, field string) bool { return field != "salary" }}, `[{"id":1}]`, http.Header{"Etag": {`"7"`}, "X-Total-Count": {"70"}}, "", "70"},
		{"items may be hidden", choices, spec.Filter{Schema: func(name string) bool { return name != "B" }}, `[{"k":"A"}]`, http.Header{"Etag": {`"7"`}, "X-Total-Count": {"70"}}, "", ""},
		{"no body", ordersDocument, spec.Filter{}, ``, http.Header{"Etag": {`"7"`}}, `"7"`, ""},
		{"a secret", ordersDocument, spec.Filter{}, `[]`, http.Header{"Etag": {"ghp_0123456789abcdefghijABCDEFGHIJ012345"}}, "", ""},
		{"control characters", ordersDocument, spec.Filter{}, `[]`, http.Header{"Etag": {"a\x1b[2J"}}, "", ""},
	} {
		v, op := viewed(t, tt.document, tt.view)
		a, err := Make(v, op, &calls.HTTPResponse{Status: 200, MediaType: "application/json", Header: tt.header, Body: []byte(tt.body)}, Options{})
		if err != nil {
			t.Fatal(tt.name, err)
		}
		total := ""
		if a.Total != nil {
			total = fmt.Sprint(*a.Total)
		}
		if a.ETag != tt.tag || total != tt.total {
			t.Errorf("%s: %q %q, want %q %q", tt.name, a.ETag, total, tt.tag, tt.total)
		}
	}
}
