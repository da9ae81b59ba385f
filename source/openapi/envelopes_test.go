package openapi

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/expression"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/client"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A shape is one call of a service, and the answer to a GET of its path.
type shape struct {
	name, call  string // METHOD /path/template
	id          string // the value of the path's parameter
	takes       string // the schema of the body
	gives       string // the schema of the answer
	body        string
	answer      string
	contentType string // the content type of the body
}

// effect returns the effect of the call on a server that gives the answer.
func (s shape) effect(t testing.TB) change.Effect {
	t.Helper()
	method, path, _ := strings.Cut(s.call, " ")
	parameters := ""
	if strings.Contains(path, "{id}") {
		parameters = `{"name":"id","in":"path","required":true,"schema":{"type":"string"}}`
	}
	if s.contentType == "" {
		s.contentType = "application/json"
	}
	takes, gives := `{"type":"object"}`, `{"type":"object"}`
	if s.takes != "" {
		takes = s.takes
	}
	if s.gives != "" {
		gives = s.gives
	}
	body := fmt.Sprintf(`,"requestBody":{"content":{%q:{"schema":%s}}}`, s.contentType, takes)
	if s.body == "" {
		body = ""
	}
	d, err := spec.Load(fmt.Appendf(nil, `{"openapi":"3.0.3","info":{"title":"t","version":"1"},"paths":{%q:{"parameters":[%s],
		"get":{"operationId":"reads","responses":{"200":{"description":"ok","content":{"application/json":{"schema":%s}}}}},
		%q:{"operationId":"writes"%s,"responses":{"200":{"description":"ok"}}}}}}`, path, parameters, gives, strings.ToLower(method), body))
	if err != nil {
		t.Fatal(s.name, err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, s.answer)
	}))
	defer server.Close()
	sender, err := client.New(client.Options{Base: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	defer sender.Close()
	all, err := calls.New(map[string]calls.Rules{"x": {Document: d, OpenBodies: true}}, expression.NewCompiler())
	if err != nil {
		t.Fatal(s.name, err)
	}
	who := identity.Principal{ID: "token:1", Kind: identity.Agent, Owner: "ana", Scopes: []identity.Scope{identity.Read, identity.Write, identity.Delete}}
	reach, err := all.Reach(who, "x", "")
	if err != nil {
		t.Fatal(err)
	}
	ask := `{}`
	if parameters != "" {
		ask = fmt.Sprintf(`{"path":{"id":%q}}`, s.id)
	}
	if s.body != "" {
		ask = strings.Replace(strings.Replace(ask, "}}", `},"body":`+s.body+`}`, 1), "{}", `{"body":`+s.body+`}`, 1)
	}
	given, err := value.Read([]byte(ask), 0)
	if err != nil {
		t.Fatal(s.name, ask, err)
	}
	args, err := calls.Arguments(given)
	if err != nil {
		t.Fatal(err)
	}
	permit, err := reach.Permit(t.Context(), who, calls.Request{Operation: "writes", Arguments: args, Writes: true})
	if err != nil {
		t.Fatal(s.name, err)
	}
	plan, err := permit.Plan()
	if err != nil {
		t.Fatal(err)
	}
	e, _, err := New("x", sender).effect(t.Context(), &plan)
	if err != nil {
		t.Fatal(s.name, err)
	}
	return e
}

// seen returns an effect in one line: the unknown parts, and the fields before and after.
func seen(e change.Effect) string {
	out := string(e.Present) + " " + e.Before.String() + " → " + e.After.String()
	if e.NotKnown != nil {
		out += " not known: " + strings.Join(e.NotKnown, ", ")
	}
	return strings.TrimSpace(out)
}

const (
	orderBody = `{"type":"object","properties":{"status":{"type":"string"},"note":{"type":"string"}}}`
	draft     = `{"id":"7","status":"draft","note":"n"}`
	toSent    = `{"status":"draft"} → {"status":"sent"}`
)

// TestEnvelopes has a row for each form in which a service returns a record, and the expected review of a call.
func TestEnvelopes(t *testing.T) {
	const send = `{"status":"sent"}`
	order := func(answer string) shape {
		return shape{call: "PATCH /orders/{id}", id: "7", body: send, answer: answer}
	}
	with := func(s shape, change func(*shape)) shape { change(&s); return s }
	const orderList = `{"type":"array","items":{"type":"object","properties":{"id":{"type":"integer"},"status":{"type":"string"},"note":{"type":"string"}}}}`
	const three = `[{"id":1,"status":"open","note":"a"},{"id":2,"status":"open"},{"id":3,"status":"paid"}]`
	rows := []struct {
		name  string
		shape shape
		want  string
	}{
		{"bare", order(draft), toSent},
		{"data", order(`{"data":` + draft + `}`), toSent},
		{"by the name of the path", order(`{"order":` + draft + `}`), toSent},
		{"in the plural", order(`{"orders":` + draft + `}`), toSent},
		{"a list of one", order(`[` + draft + `]`), toSent},
		{"data with a list of one", order(`{"data":[` + draft + `]}`), toSent},
		{"orders with a list of one", order(`{"orders":[` + draft + `],"total":1}`), toSent},
		{"a list of two", order(`{"data":[` + draft + `,` + draft + `]}`), `unknown  → {"status":"sent"}`},
		{"JSend", order(`{"status":"success","data":` + draft + `}`), toSent},
		{"JSend with a name", order(`{"status":"success","data":{"order":` + draft + `}}`), toSent},
		{"success and result", order(`{"success":true,"errors":[],"messages":[],"result":` + draft + `}`), toSent},
		{"code, message, data", order(`{"code":0,"message":"ok","data":` + draft + `,"request_id":"x"}`), toSent},
		{"Data with capitals", order(`{"Status":"OK","Data":` + draft + `}`), toSent},
		{"OData v2", order(`{"d":` + draft + `}`), toSent},
		{"OData v2 with results", order(`{"d":{"results":[` + draft + `]}}`), toSent},
		{"OData v4", order(`{"@odata.context":"$metadata#orders/$entity","id":"7","status":"draft"}`), toSent},
		{"response and docs", order(`{"response":{"order":` + draft + `}}`), toSent},
		{"HAL", order(`{"_links":{"self":{"href":"/orders/7"}},"id":"7","status":"draft","_embedded":{"customer":{"id":"3","status":"vip"}}}`), toSent},
		{"HAL embedded", order(`{"_links":{"self":{"href":"/orders/7"}},"_embedded":{"order":` + draft + `}}`), toSent},
		{"payload", order(`{"meta":{"status":200},"payload":` + draft + `}`), toSent},
		{"the id is not in the record", order(`{"meta":{"took":1},"data":{"status":"draft"}}`), toSent},
		{"an own name alone", order(`{"purchase":` + draft + `}`), toSent},
		{"a record with a part that has the field as well", order(`{"id":"7","status":"draft","data":{"status":"inner"}}`), toSent},
		{"a record with an author of the same field", shape{call: "PATCH /posts/{id}", id: "1", body: `{"name":"new"}`, answer: `{"id":"1","title":"t","author":{"id":"2","name":"Bob"}}`},
			`{} → {"name":"new"}`},
		{"its fields are not in the answer", order(`{"data":{"id":"7","state":"draft"}}`), `{} → {"status":"sent"}`},
		{"nothing speaks for it", order(`{"ok":true}`), `unknown  → {"status":"sent"}`},
		{"two that may be it", order(`{"data":{"status":"a"},"result":{"status":"b"}}`), `unknown  → {"status":"sent"}`},
		{"JSON:API", shape{call: "PATCH /articles/{id}", id: "1", body: `{"data":{"type":"articles","id":"1","attributes":{"title":"new"}}}`,
			answer: `{"jsonapi":{"version":"1.1"},"data":{"type":"articles","id":"1","attributes":{"title":"old","body":"b"},"links":{"self":"/articles/1"}}}`},
			`{"data":{"type":"articles","id":"1","attributes":{"title":"old","body":"b"},"links":{"self":"/articles/1"}}} → {"data":{"links":{"self":"/articles/1"},"type":"articles","id":"1","attributes":{"body":"b","title":"new"}}}`},
		{"JSON:API, bare body", shape{call: "PATCH /articles/{id}", id: "1", body: `{"title":"new"}`, answer: `{"data":{"type":"articles","id":"1","attributes":{"title":"old"}}}`},
			`{"title":"old"} → {"title":"new"}`},
		{"Strapi 4", shape{call: "PUT /articles/{id}", id: "1", takes: `{"type":"object","properties":{"data":{"type":"object","properties":{"title":{"type":"string"}}}}}`,
			body: `{"data":{"title":"new"}}`, answer: `{"data":{"id":1,"attributes":{"title":"old","createdAt":"x"}},"meta":{}}`},
			`{"data":{"title":"old"}} → {"data":{"title":"new"}}`},
		{"Rails: the body has the envelope", shape{call: "PATCH /orders/{id}", id: "7", body: `{"order":{"status":"sent"}}`, answer: draft},
			`{"order":` + draft + `} → {"order":{"id":"7","note":"n","status":"sent"}}`},
		{"both have it", shape{call: "PATCH /servers/{id}", id: "7", body: `{"server":{"status":"sent"}}`, answer: `{"server":` + draft + `}`},
			`{"server":` + draft + `} → {"server":{"id":"7","note":"n","status":"sent"}}`},
		{"PUT through an envelope", shape{call: "PUT /orders/{id}", id: "7", takes: orderBody, body: send, answer: `{"data":` + draft + `}`},
			`{"status":"draft","note":"n"} → {"status":"sent"}`},
		{"DELETE through an envelope", shape{call: "DELETE /orders/{id}", id: "7", answer: `{"data":` + draft + `}`}, draft + ` →`},
		{"a POST that updates", shape{call: "POST /v1/customers/{id}", id: "cus_1", body: `{"name":"new"}`, answer: `{"id":"cus_1","object":"customer","name":"old"}`},
			`{"name":"old"} → {"name":"new"}`},
		{"a POST to a thing without an id", shape{call: "POST /account", body: `{"name":"new"}`, answer: `{"data":{"name":"old"}}`}, `{"name":"old"} → {"name":"new"}`},
		{"a POST to a list", shape{call: "POST /orders", body: send, answer: `{"data":[` + draft + `]}`}, `unread  → {"status":"sent"}`},
		{"a declared field that is absent", shape{call: "PATCH /orders/{id}", id: "7", body: `{"note":"x"}`, gives: `{"type":"object","properties":{"data":` + orderBody + `}}`, answer: `{"data":{"id":"7","status":"draft"}}`},
			`{} → {"note":"x"}`},
		{"a field that answers don't have", shape{call: "PATCH /users/{id}", id: "7", body: `{"password":"x"}`, gives: `{"type":"object","properties":{"id":{"type":"string"},"name":{"type":"string"}}}`, answer: `{"id":"7","name":"n"}`},
			`{} → {"password":"x"} not known: password`},
		{"a field that is only written", shape{call: "PATCH /users/{id}", id: "7", takes: `{"type":"object","properties":{"pin":{"type":"string","writeOnly":true},"name":{"type":"string"}}}`, body: `{"pin":"x"}`, answer: `{"id":"7","name":"n"}`},
			`{} → {"pin":"x"} not known: pin`},
		{"a JSON Patch", shape{call: "PATCH /orders/{id}", id: "7", contentType: "application/json-patch+json", takes: `{"type":"array","items":{"type":"object"}}`,
			body: `[{"op":"replace","path":"/status","value":"sent"},{"op":"remove","path":"/note"},{"op":"add","path":"/tag","value":1}]`, answer: draft},
			`{"status":"draft","note":"n"} → {"status":"sent","tag":1}`},
		{"a JSON Patch that doesn't fit", shape{call: "PATCH /orders/{id}", id: "7", contentType: "application/json-patch+json", takes: `{"type":"array","items":{"type":"object"}}`,
			body: `[{"op":"replace","path":"/state","value":"sent"}]`, answer: draft}, `unknown  → {"body":[{"op":"replace","path":"/state","value":"sent"}]}`},
		{"a list", shape{call: "PUT /tags/{id}", id: "7", takes: `{"type":"array","items":{"type":"string"}}`, gives: `{"type":"array","items":{"type":"string"}}`, body: `["a"]`, answer: `["a","b"]`},
			`{"body":["a","b"]} → {"body":["a"]}`},
		{"a list in an envelope", shape{call: "PUT /tags/{id}", id: "7", takes: `{"type":"array","items":{"type":"string"}}`, body: `["a"]`, answer: `{"names":["a","b"]}`},
			`{"body":["a","b"]} → {"body":["a"]}`},
		{"a list of something else", shape{call: "PUT /tags/{id}", id: "7", takes: `{"type":"array","items":{"type":"string"}}`, body: `["a"]`, answer: `{"names":["a","b"],"colours":["c"]}`},
			`unknown  → {"body":["a"]}`},
		{"a list of records, two of them", shape{call: "PATCH /orders", takes: orderList, gives: orderList, body: `[{"id":3,"status":"sent"},{"id":1,"note":"m"}]`, answer: three},
			`{"body":[{"id":3,"status":"paid"},{"id":1,"note":"a"}]} → {"body":[{"id":3,"status":"sent"},{"id":1,"note":"m"}]}`},
		{"a list of records in an envelope", shape{call: "PATCH /orders", takes: orderList, body: `[{"id":2,"status":"sent"}]`, answer: `{"data":` + three + `}`},
			`{"body":[{"id":2,"status":"open"}]} → {"body":[{"id":2,"status":"sent"}]}`},
		{"a list of records, one of which isn't there", shape{call: "PATCH /orders", takes: orderList, body: `[{"id":2,"status":"sent"},{"id":9,"status":"sent"}]`, answer: three},
			`unknown  → {"body":[{"id":2,"status":"sent"},{"id":9,"status":"sent"}]}`},
		{"a list of records, one of them twice", shape{call: "PATCH /orders", takes: orderList, body: `[{"id":2,"status":"sent"},{"id":2,"note":"x"}]`, answer: three},
			`unknown  → {"body":[{"id":2,"status":"sent"},{"id":2,"note":"x"}]}`},
		{"a list of records without ids", shape{call: "PATCH /orders", takes: orderList, body: `[{"status":"sent"}]`, answer: three}, `unknown  → {"body":[{"status":"sent"}]}`},
		{"a list of records by code", shape{call: "PATCH /orders", takes: orderList, body: `[{"code":"b","status":"sent"}]`, answer: `[{"code":"a","status":"x"},{"code":"b","status":"y"}]`},
			`{"body":[{"code":"b","status":"y"}]} → {"body":[{"code":"b","status":"sent"}]}`},
		{"a list of records that replaces", shape{call: "PUT /orders", takes: orderList, body: `[{"id":2,"status":"sent"}]`, answer: three},
			`{"body":` + three + `} → {"body":[{"id":2,"status":"sent"}]}`},
		{"records in an envelope of the body", shape{call: "PATCH /orders", body: `{"records":[{"id":1,"fields":{"status":"sent"}}],"typecast":true}`, answer: `{"records":[{"id":1,"fields":{"status":"open","note":"a"},"createdTime":"t"},{"id":2,"fields":{}}],"offset":"o"}`},
			`{"records":[{"id":1,"fields":{"status":"open","note":"a"}}]} → {"records":[{"id":1,"fields":{"note":"a","status":"sent"}}],"typecast":true} not known: typecast`},
		{"records in an envelope of the body, one of which isn't there", shape{call: "PATCH /orders", body: `{"records":[{"id":7,"fields":{"status":"sent"}}]}`, answer: `{"records":[{"id":1,"fields":{"status":"open"}}]}`},
			`unknown  → {"records":[{"id":7,"fields":{"status":"sent"}}]}`},
		{"ids and what to set on them", shape{call: "PATCH /orders", body: `{"keys":[1,2],"data":{"status":"sent"}}`, answer: `{"data":` + three + `}`},
			`unknown  → {"keys":[1,2],"data":{"status":"sent"}}`},
		{"no body, something is done", with(order(draft), func(s *shape) { s.call, s.body = "POST /orders/{id}", "" }), `→`},
	}
	if len(rows) < 40 {
		t.Errorf("%d rows", len(rows))
	}
	for _, row := range rows {
		row.shape.name = row.name
		if got := seen(row.shape.effect(t)); got != row.want {
			t.Errorf("%s: %s\n got %s\nwant %s", row.name, row.shape.answer, got, row.want)
		}
	}
}

// TestNeverFalse checks reviews of generated records, envelopes and bodies. A review must never show a wrong present
// value. It may show that there is no value only if the record has none.
func TestNeverFalse(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		names := []string{"status", "name", "note", "size", "kind", "data", "result", "message"}
		scalar := rapid.SampledFrom([]string{`"a"`, `"b"`, `1`, `2`, `true`, `null`, `"draft"`})
		part := rapid.SampledFrom([]string{`{"status":"inner"}`, `[{"name":"inner","status":"inner"}]`, `{"data":{"status":"inner"}}`})
		record := map[string]string{}
		for _, n := range rapid.SliceOfDistinct(rapid.SampledFrom(names), func(s string) string { return s }).Draw(rt, "fields") {
			record[n] = scalar.Draw(rt, n)
			if slices.Contains([]string{"note", "size", "kind"}, n) && rapid.Bool().Draw(rt, "part") { // an object called data can't be distinguished from an envelope
				record[n] = part.Draw(rt, n)
			}
		}
		if rapid.Bool().Draw(rt, "has an id") {
			record["id"] = `"7"`
		}
		answer := print(record)
		for range rapid.IntRange(0, 2).Draw(rt, "envelopes") {
			outer := map[string]string{rapid.SampledFrom([]string{"data", "result", "order", "orders", "payload", "wrapped", "attributes"}).Draw(rt, "envelope"): answer}
			if rapid.Bool().Draw(rt, "listed") {
				for k := range outer {
					outer[k] = "[" + outer[k] + "]"
				}
			}
			for _, n := range rapid.SliceOfN(rapid.SampledFrom([]string{"status", "message", "code", "meta", "links"}), 0, 3).Draw(rt, "beside") {
				if outer[n] == "" {
					outer[n] = rapid.SampledFrom([]string{`"success"`, `0`, `7`, `{"status":"x"}`, `null`}).Draw(rt, "beside "+n)
				}
			}
			answer = print(outer)
		}
		sets := map[string]string{}
		for _, n := range rapid.SliceOfNDistinct(rapid.SampledFrom(names), 1, 3, func(s string) string { return s }).Draw(rt, "sets") {
			sets[n] = `"new"`
		}
		s := shape{name: "generated", call: rapid.SampledFrom([]string{"PATCH", "PUT", "POST"}).Draw(rt, "method") + " /orders/{id}", id: "7", body: print(sets), answer: answer}
		e := s.effect(t)
		if e.Present != "" {
			return
		}
		for _, m := range e.After.Members() {
			is, has := record[m.Name]
			was, shows := e.Before.Get(m.Name)
			if shows != has || shows && string(was.AppendJSON(nil)) != is {
				rt.Fatalf("%s of %s: shown as %v %s\n%s", m.Name, print(record), shows, was, answer)
			}
		}
	})
}

// print returns members as a JSON object, in order of their names.
func print(members map[string]string) string {
	var out []string
	for _, n := range []string{"id", "status", "name", "note", "size", "kind", "data", "result", "message", "code", "meta", "links", "order", "orders", "payload", "wrapped", "attributes"} {
		if v, ok := members[n]; ok {
			out = append(out, fmt.Sprintf("%q:%s", n, v))
		}
	}
	return "{" + strings.Join(out, ",") + "}"
}
