package tools_test

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/client"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/internal/tools"
	"github.com/bailiwick-dev/bailiwick/limit"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/source/openapi"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
	"pgregory.net/rapid"
)

// marketDocument has hidden parts of each kind: a field, a schema that list items may have, and an operation.
const marketDocument = `{"openapi":"3.0.0","paths":{
	"/orders":{"get":{"operationId":"listOrders","parameters":[{"in":"query","name":"offset","schema":{"type":"integer"}},{"in":"query","name":"limit","schema":{"type":"integer"}}],
		"responses":{"200":{"description":"","content":{"application/json":{"schema":{"type":"object","properties":{"data":{"type":"array","items":{"$ref":"#/components/schemas/Order"}}}}}}}}}},
	"/events":{"get":{"operationId":"listEvents","responses":{"200":{"description":"","content":{"application/json":{"schema":{"type":"array","items":{"oneOf":[{"$ref":"#/components/schemas/Order"},{"$ref":"#/components/schemas/Internal"}],
		"discriminator":{"propertyName":"kind","mapping":{"order":"#/components/schemas/Order","internal":"#/components/schemas/Internal"}}}}}}}}}},
	"/orders/{id}":{"get":{"operationId":"getOrder","parameters":[{"in":"path","name":"id","required":true,"schema":{"type":"string"}}],"responses":{"200":{"description":"","content":{"application/json":{"schema":{"$ref":"#/components/schemas/Order"}}}}}}},
	"/secrets":{"get":{"operationId":"listSecrets","responses":{"200":{"description":""}}}}},
	"components":{"schemas":{"Order":{"type":"object","properties":{"kind":{"type":"string"},"id":{"type":"integer"},"note":{"type":"string"},"margin":{"type":"integer"},"password":{"type":"string"}}},
		"Internal":{"type":"object","properties":{"kind":{"type":"string"},"id":{"type":"integer"},"why":{"type":"string"}}}}}}`

// A market is the data of the API. Two tested markets differ only in hidden parts.
type market struct {
	notes    []string // of the visible orders
	margins  []int    // of the orders, or -1 for an order without the field
	internal []int    // indexes of the events that an internal event precedes
	// bare omits headers. The gateway removes counts, versions and places of the service only if something may be
	// hidden.
	bare bool
}

func (m market) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	order := func(i int) string {
		margin := ""
		if m.margins[i] >= 0 {
			margin = fmt.Sprintf(`"margin":%d,`, m.margins[i])
		}
		return fmt.Sprintf(`{"kind":"order",%s"id":%d,"note":%q,"password":"x"}`, margin, i+1, m.notes[i])
	}
	var all []string
	for i := range m.notes {
		all = append(all, order(i))
	}
	body := ""
	switch {
	case r.URL.Path == "/orders":
		body = `{"data":[` + strings.Join(all, ",") + `]}`
		w.Header().Set("X-Total-Count", fmt.Sprint(len(all)))
	case r.URL.Path == "/events":
		var events []string
		for i, o := range all {
			for _, at := range m.internal {
				if at == i {
					events = append(events, fmt.Sprintf(`{"kind":"internal","id":%d,"why":"CANARY"}`, i))
				}
			}
			events = append(events, o)
		}
		body = "[" + strings.Join(events, ",") + "]"
		w.Header().Set("X-Total-Count", fmt.Sprint(len(events)))
		w.Header().Set("Content-Range", fmt.Sprintf("items 0-%d/%d", len(events), len(events)))
	case r.URL.Path == "/orders/1" && len(all) > 0:
		body = all[0]
	case r.URL.Path == "/secrets":
		body = fmt.Sprintf(`["CANARY",%d]`, len(m.internal))
	default:
		w.WriteHeader(404)
		return
	}
	if m.bare {
		clear(w.Header())
	}
	w.Header().Set("Content-Type", "application/json")
	if m.bare {
		fmt.Fprint(w, body)
		return
	}
	w.Header().Set("ETag", fmt.Sprintf(`"%x"`, sha256.Sum256([]byte(body))))
	w.Header().Set("Location", fmt.Sprintf("/orders/%d", m.margins[0]))
	fmt.Fprint(w, body)
}

// asks contains calls for random batches. Many of them name hidden parts.
var asks = []string{
	`{"operationId":"listOrders"}`, `{"operationId":"listOrders","where":{"margin":{"$gt":3}}}`, `{"operationId":"listOrders","where":{"note":"a"}}`, `{"operationId":"listOrders","where":{"nothing":1}}`,
	`{"operationId":"listOrders","where":{"note":{"$ne":"a"}},"from":2}`, `{"operationId":"listOrders","from":2}`, `{"operationId":"listOrders","at":"data[0].margin"}`, `{"operationId":"listOrders","at":"data[1].note","from":2}`,
	`{"operationId":"listOrders","fields":["data.margin","data.id"]}`, `{"operationId":"listOrders","where":{"password":"x"}}`, `{"operationId":"listOrders","where":{"$or":[{"margin":{"$exists":true}},{"id":1}]}}`,
	`{"operationId":"listEvents"}`, `{"operationId":"listEvents","where":{"why":"CANARY"}}`, `{"operationId":"listEvents","where":{"kind":"internal"}}`, `{"operationId":"listEvents","where":{"id":{"$gte":1}}}`, `{"operationId":"listEvents","from":2}`,
	`{"operationId":"listEvents","at":"[0]"}`, `{"operationId":"listEvents","at":"[1].why"}`, `{"operationId":"getOrder","id":"1"}`, `{"operationId":"getOrder","id":"1","at":"margin"}`, `{"operationId":"getOrder","id":"7"}`,
	`{"operationId":"listSecrets"}`, `{"operationId":"listSecrets","from":2}`, `{"operationId":"GET /secrets"}`,
}

// bareDocument is marketDocument without its hidden parts. Its objects are closed, because the gateway must treat an
// undeclared name as possibly hidden.
var bareDocument = strings.NewReplacer(`,"margin":{"type":"integer"}`, "", `"password":{"type":"string"}}}`, `"password":{"type":"string"}},"additionalProperties":false}`,
	`,{"$ref":"#/components/schemas/Internal"}`, "", `,"internal":"#/components/schemas/Internal"`, "",
	`,
		"Internal":{"type":"object","properties":{"kind":{"type":"string"},"id":{"type":"integer"},"why":{"type":"string"}}}`, "",
	`,
	"/secrets":{"get":{"operationId":"listSecrets","responses":{"200":{"description":""}}}}`, "").Replace(marketDocument)

// marketTools returns the tools for a service with this document and these rules.
func marketTools(t *testing.T, document, base string, hidden []calls.Hidden, budget int) *tool.Set {
	t.Helper()
	d, err := spec.Load([]byte(document))
	if err != nil {
		t.Fatal(err)
	}
	sender, err := client.New(client.Options{Base: base})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sender.Close)
	g, _, err := bailiwick.New(t.Context(), bailiwick.Options{Sources: map[string]source.Source{"shop": openapi.New("shop", sender)}, Audit: &audit.Memory{}, Budget: budget,
		Limits: limit.Options{PerMinute: 1 << 30, Burst: 1 << 30, Queue: 1000}, Rules: policy.Rules{Version: "v1", APIs: map[string]calls.Rules{"shop": {Document: d, Hidden: hidden}}}})
	if err != nil {
		t.Fatal(err)
	}
	set, err := tool.NewSet(g, tools.NewAPITools(tools.NewChangeTools(tools.ChangeOptions{Gateway: g})).Tools()...)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// hiddenParts contains rules that hide a field, a schema and an operation.
var hiddenParts = []calls.Hidden{{Operations: []string{"GET /secrets"}}, {Fields: []string{"Order.margin"}}, {Schemas: []string{"Internal"}}}

// TestInterferenceTwins compares two services through batches, filters and parts. One has a hidden operation, a
// hidden field and hidden records. Its twin doesn't have them at all. Both must return the same bytes. Neither sends
// headers, because the gateway removes the service's counts if something is hidden.
func TestInterferenceTwins(t *testing.T) {
	if strings.Contains(bareDocument, "nternal") || strings.Contains(bareDocument, "margin") || strings.Contains(bareDocument, "secrets") {
		t.Fatal(bareDocument)
	}
	var full, bare atomic.Pointer[market]
	serving := func(now *atomic.Pointer[market], lacks string) string {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == lacks {
				w.WriteHeader(404)
				return
			}
			now.Load().ServeHTTP(w, r)
		}))
		t.Cleanup(server.Close)
		return server.URL
	}
	at, twinAt := serving(&full, ""), serving(&bare, "/secrets")
	var sets, twins []*tool.Set
	for _, budget := range []int{0, 1200} {
		sets, twins = append(sets, marketTools(t, marketDocument, at, hiddenParts, budget)), append(twins, marketTools(t, bareDocument, twinAt, nil, budget))
	}
	rapid.Check(t, func(rt *rapid.T) {
		one := market{bare: true, notes: rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", strings.Repeat("long ", 80)}), 1, 6).Draw(rt, "notes")}
		one.margins = rapid.SliceOfN(rapid.IntRange(0, 9), len(one.notes), len(one.notes)).Draw(rt, "margins")
		one.internal = rapid.SliceOfN(rapid.IntRange(0, 5), 0, 4).Draw(rt, "internal")
		none := market{bare: true, notes: one.notes}
		for range one.notes {
			none.margins = append(none.margins, -1)
		}
		full.Store(&one)
		bare.Store(&none)
		in, err := value.Read([]byte(`{"calls":[`+strings.Join(rapid.SliceOfN(rapid.SampledFrom(asks), 1, 6).Draw(rt, "calls"), ",")+`]}`), 0)
		if err != nil {
			rt.Fatal(err)
		}
		i := rapid.IntRange(0, 1).Draw(rt, "set")
		if a, b := readBatch(t, sets[i], in), readBatch(t, twins[i], in); a != b {
			rt.Fatalf("%s\n%+v\nhidden %s\nabsent %s", in, one, a, b)
		}
	})
}

// readBatch returns everything in the answer of call_api_read.
func readBatch(t *testing.T, set *tool.Set, in value.Value) string {
	r, err := set.Call(t.Context(), reader, tool.Request{Name: "call_api_read", Arguments: in})
	if err != nil {
		return problem.Of(err).Error()
	}
	return string(r.Structured) + r.Text
}

// TestInterference checks random worlds. Batches, filters, parts, totals and headers must reveal nothing about hidden
// parts.
func TestInterference(t *testing.T) {
	var now atomic.Pointer[market]
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { now.Load().ServeHTTP(w, r) }))
	defer server.Close()
	sets := []*tool.Set{marketTools(t, marketDocument, server.URL, hiddenParts, 0), marketTools(t, marketDocument, server.URL, hiddenParts, 1200)}
	rapid.Check(t, func(rt *rapid.T) {
		one := market{notes: rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", strings.Repeat("long ", 80)}), 1, 6).Draw(rt, "notes")}
		other := market{notes: one.notes}
		for _, m := range []*market{&one, &other} {
			m.margins = rapid.SliceOfN(rapid.IntRange(-1, 9), len(one.notes), len(one.notes)).Draw(rt, "margins")
			m.internal = rapid.SliceOfN(rapid.IntRange(0, 5), 0, 4).Draw(rt, "internal")
		}
		in, err := value.Read([]byte(`{"calls":[`+strings.Join(rapid.SliceOfN(rapid.SampledFrom(asks), 1, 6).Draw(rt, "calls"), ",")+`]}`), 0)
		if err != nil {
			rt.Fatal(err)
		}
		set := rapid.SampledFrom(sets).Draw(rt, "set")
		tell := func(m market) string {
			now.Store(&m)
			return readBatch(t, set, in)
		}
		if a, b := tell(one), tell(other); a != b || strings.Contains(a, "CANARY") && !strings.Contains(in.String(), "CANARY") {
			rt.Fatalf("%s\n%+v\n%s\n%+v\n%s", in, one, a, other, b)
		}
	})
}
