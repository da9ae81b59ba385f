package search

import (
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/problem"
)

const shop = `{"openapi":"3.0.0","paths":{"/carts":{"post":{"operationId":"create","parameters":[
	{"name":"expand","in":"query","description":"What to <b>expand</b>.","schema":{"type":"array","items":{"type":"string"}}},
	{"name":"created","in":"query","style":"deepObject","schema":{"type":"object","properties":{"gte":{"type":"integer"}}}}],
	"requestBody":{"content":{"application/json":{"schema":{"type":"object","properties":{"line_items":{"type":"array","items":{"type":"object","properties":{
		"price_data":{"type":"object","description":"See [the *guide*](https://x.example/a_b) for **all** of it.<br>\n- one &amp; two","required":["currency"],"properties":{"currency":{"type":"string"},"secret":{"type":"string"},
			"recurring":{"type":"object","properties":{"interval":{"type":"string","enum":["","day","week"]}}}}}}}},
		"source":{"oneOf":[{"$ref":"#/components/schemas/card"},{"type":"object","properties":{"iban":{"type":"string"}}}]},
		"meta":{"type":"object","additionalProperties":{"type":"object","properties":{"v":{"type":"integer"}}}},"a.b":{"type":"boolean"}}}}}},
	"responses":{"200":{"description":"","content":{"application/json":{"schema":{"$ref":"#/components/schemas/card"}}}}}}}},
	"components":{"schemas":{"card":{"type":"object","properties":{"number":{"type":"string"},"owner":{"type":"object","properties":{"name":{"type":"string"}}}}}}}}`

// TestPart checks the description of each part, or the error for it.
func TestPart(t *testing.T) {
	v := see(t, []byte(shop), spec.Filter{Field: func(_, field string) bool { return field != "secret" }})
	op := v.Operations()[0]
	for _, row := range []struct{ at, want string }{
		{"body.line_items.price_data", "body.line_items.price_data: object\nSee the *guide* for all of it. one & two\n  currency: string (required)\n  recurring: object\n    interval: enum(\"\"|day|week)\n"},
		{"body.line_items.price_data.recurring.interval", "body.line_items.price_data.recurring.interval: enum(\"\"|day|week)\n"},
		{"body.line_items.price_data.secret", `body.line_items.price_data has no "secret". It has currency, recurring`},
		{"body.line_items.price_dat", `body.line_items has no "price_dat". Did you mean price_data?`},
		{"body.source", "body.source: one of card, {iban: string}\n  card:\n    number: string\n    owner: object\n      name: string\n  2:\n    iban: string\n"},
		{"body.source.card.owner", "body.source.card.owner: object\n  name: string\n"},
		{"body.source.2", "body.source.2: object\n  iban: string\n"},
		{"body.source.iban", "body.source.iban: string\n"},
		{"body.meta.anything", "body.meta.anything: object\n  v: integer\n"},
		{"body.a.b", "body.a.b: boolean\n"},
		{"query", "Query:\n  expand: array<string> // What to expand .\n  created: object\n    gte: integer\n"},
		{"query.created", "query.created: object\n  gte: integer\n"},
		{"query.creatd", `query has no "creatd". Did you mean created?`},
		{"response.owner", "response.owner: object\n  name: string\n"},
		{"line_items.price_data", `no part "line_items". Did you mean body.line_items.price_data?`},
		{"owner", `no part "owner". Did you mean response.owner?`},
		{"secret", `no part "secret"`},
		{"boddy", `no part "boddy". Did you mean body?`},
	} {
		text, err := DescribePart(v, op, row.at)
		if err != nil {
			text = problem.Of(err).Detail
		}
		if text != row.want {
			t.Errorf("%s\n got %q\nwant %q", row.at, text, row.want)
		}
	}
	if text, err := DescribeSchemaPart(v, "card", "owner"); err != nil || text != "owner: object\n  name: string\n" {
		t.Error(text, err)
	}
	// A detail describes how to get the first part that it omits.
	if text := DescribeOperation(v, op); !strings.Contains(text, "A part in full: at=\"body.line_items.price_data\"\n") {
		t.Error(text)
	}
}
