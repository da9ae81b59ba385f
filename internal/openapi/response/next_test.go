package response

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/validate"
)

// TestNext checks the arguments of the next page for each request and response.
func TestNext(t *testing.T) {
	const (
		size   = `{"in":"query","name":"limit","schema":{"type":"integer","default":4}}`
		offset = `{"in":"query","name":"offset","schema":{"type":"integer"}},` + size
		paged  = `{"in":"query","name":"page","schema":{"type":"integer","minimum":1}},` + size
		cursor = `{"in":"query","name":"cursor","schema":{"type":"string"}},` + size
		stripe = `{"in":"query","name":"starting_after","schema":{"type":"string"}},` + size
		four   = `[{"id":1},{"id":2},{"id":3},{"id":4}]`
	)
	for _, tt := range []struct{ parameters, query, link, body, want string }{
		{offset, ``, ``, four, `4/4 next {"query":{"offset":4}}`},
		{offset, `{"offset":8}`, ``, four, `4/4 next {"query":{"offset":12}}`},
		{offset, `{"offset":8}`, ``, `{"items":` + four + `,"total":12}`, `4/4 of 12`},
		{offset, `{"offset":4}`, ``, `{"items":` + four + `,"meta":{"total_count":"13"}}`, `4/4 of 13 next {"query":{"offset":8}}`},
		{offset, `{"offset":4}`, ``, `[{"id":1}]`, `1/1`},
		{offset, `{"offset":4}`, ``, `{"items":[{"id":1}],"has_more":true}`, `1/1 next {"query":{"offset":5}}`},
		{paged, ``, ``, four, `4/4 next {"query":{"page":2}}`},
		{paged, `{"page":3}`, ``, `{"data":` + four + `,"meta":{"pageCount":4}}`, `4/4 next {"query":{"page":4}}`},
		{paged, `{"page":4}`, ``, `{"data":` + four + `,"meta":{"pageCount":4}}`, `4/4`},
		{paged, `{"page":2}`, ``, `{"content":` + four + `,"last":true}`, `4/4`},
		{cursor, ``, ``, `{"meta":{"next_cursor":"c2"},"count":9,"teams":` + four + `}`, `4/4 of 9 next {"query":{"cursor":"c2"}}`},
		{cursor, ``, ``, `{"meta":{"next_cursor":""},"count":4,"teams":` + four + `}`, `4/4`},
		{cursor, ``, ``, `{"nextPageToken":"n","items":[{"id":1}]}`, `1/1 next {"query":{"cursor":"n"}}`},
		{cursor, ``, ``, `{"pageInfo":{"endCursor":"e","hasNextPage":false},"items":[{"id":1}]}`, `1/1`},
		{size, ``, ``, `{"next_cursor":"c2","items":[{"id":1}]}`, "1/1\nthe API has a further page, and the operation no parameter that asks for it"},
		{stripe, ``, ``, `{"has_more":true,"data":` + four + `}`, `4/4 next {"query":{"starting_after":4}}`},
		{paged, ``, `<https://api.test/x?page=2&limit=4&sig=s>; rel="next", <https://api.test/x?page=9>; rel="last"`, four, `4/4 next {"query":{"page":2,"limit":4}}`},
		{paged, `{"limit":4}`, `<https://api.test/x?page=8>; rel=last, </x?page=2&limit=4>; title="a, b"; rel="nofollow next"`, four, `4/4 next {"query":{"page":2}}`},
		{paged, ``, `<https://api.test/x?page=1>; rel="prev"`, `[{"id":1}]`, `1/1`},
		{cursor, ``, ``, `{"links":{"next":"/x?cursor=c3"},"items":[{"id":1}]}`, `1/1 next {"query":{"cursor":"c3"}}`},
		{cursor, ``, ``, `{"_links":{"next":{"href":"/x?cursor=c4"}},"items":[{"id":1}]}`, `1/1 next {"query":{"cursor":"c4"}}`},
		{``, ``, ``, `{"total":7,"lines":[1]}`, `1/1`},
		{offset, ``, ``, `{"total":7,"x":1}`, ``},
		{offset, ``, ``, `{"data":{"items":` + four + `,"total":9}}`, `4/4 of 9 next {"query":{"offset":4}}`},
		{offset, ``, ``, `{"errors":[],"items":` + four + `}`, `4/4 next {"query":{"offset":4}}`},
		{offset, ``, ``, `{"a":[1],"b":[2]}`, ``},
		{offset, ``, ``, `{"data":{"a":[1],"b":[2]}}`, ``},
		{offset, ``, ``, `{"other":{"items":` + four + `}}`, ``},
		{offset, ``, ``, `{"data":{"data":{"items":` + four + `}}}`, ``},
		{offset, ``, ``, `{"total":5,"count":9,"items":` + four + `}`, `4/4 of 5 next {"query":{"offset":4}}`},
		{`{"in":"header","name":"offset","schema":{"type":"integer"}},` + size, ``, ``, four, `4/4`},
		{`{"in":"query","name":"offset","schema":{"type":"number"}},{"in":"query","name":"limit","schema":{"type":"string","default":"4"}}`, ``, ``, four, `4/4`},
		{`{"in":"query","name":"offset","schema":{"type":"number"}},` + size, ``, ``, four, `4/4 next {"query":{"offset":4}}`},
		{paged, ``, ``, `{"next_page":3,"items":` + four + `}`, `4/4 next {"query":{"page":3}}`},
		{paged, ``, ``, `{"next_cursor":"c","items":` + four + `}`, "4/4\nthe API has a further page, and the operation no parameter that asks for it"},
		{size, ``, ``, `{"next_page":3,"items":` + four + `}`, "4/4\nthe API has a further page, and the operation no parameter that asks for it"},
		{paged, `{"page":3}`, ``, `{"total":12,"items":` + four + `}`, `4/4 of 12`},
		{paged, `{"page":3}`, ``, `{"total":13,"items":` + four + `}`, `4/4 of 13 next {"query":{"page":4}}`},
		{paged + "," + cursor, `{"cursor":"d","page":2}`, ``, four, `4/4`},
		{stripe, ``, ``, `{"has_more":true,"data":[]}`, ``},
		{stripe, ``, ``, `{"has_more":true,"data":[{"id":null}]}`, `1/1`},
		{stripe, ``, ``, `{"has_more":true,"data":[{"key":1}]}`, `1/1`},
		{stripe, ``, ``, `{"data":` + four + `}`, `4/4`},
		{size, ``, `</x?page=2>; rel=next`, four, `4/4`},
		{``, ``, `</x?page=2>; rel=next`, four, "4/4\nthe API has a further page, and the operation no parameter that asks for it"},
		{cursor, ``, `</x?cursor=12>; rel=next`, four, `4/4 next {"query":{"cursor":"12"}}`},
		{paged, ``, `</x?page=2>; rel=next`, `{"has_more":false,"items":` + four + `}`, `4/4 next {"query":{"page":2}}`},
		{paged, ``, `<page=2; rel=next`, `[{"id":1}]`, `1/1`},
		{paged, ``, `</x?page=%zz>; rel=next`, `[{"id":1}]`, `1/1`},
	} {
		v, op := seen(t, "", tt.parameters)
		r := ok(tt.body)
		if tt.link != "" {
			r.Header.Set("Link", tt.link)
		}
		got := shown(Make(v, op, r, Options{Arguments: validate.Arguments{Query: read(t, tt.query)}}))
		_, got, _ = strings.Cut(got, " ")
		if got != tt.want {
			t.Errorf("%s %s\n got %s\nwant %s", tt.query, tt.body, got, tt.want)
		}
	}
}

// TestNextInBody checks pagination parameters in request bodies, as in APIs that use only POST.
func TestNextInBody(t *testing.T) {
	for media, want := range map[string]string{
		"application/json":                  `{"items":[{"id":1}],"nextPageToken":"n"} 1/1 next {"body":{"pageToken":"n"}}`,
		"application/x-www-form-urlencoded": `{"items":[{"id":1}],"nextPageToken":"n"} 1/1` + "\nthe API has a further page, and the operation no parameter that asks for it",
	} {
		v, op := viewed(t, fmt.Sprintf(`{"openapi":"3.0.0","paths":{"/x":{"post":{"operationId":"x","requestBody":{"content":{%q:{"schema":{"properties":{"pageToken":{"type":"string"},"salary":{}}}}}},
			"responses":{"200":{"description":""}}}}},%s}`, media, components), hiding)
		if got := shown(Make(v, op, ok(`{"items":[{"id":1}],"nextPageToken":"n"}`), Options{})); got != want {
			t.Errorf("%s\n got %s\nwant %s", media, got, want)
		}
	}
}

// TestNextOfCut checks that cut items can be requested and that no item is lost.
func TestNextOfCut(t *testing.T) {
	const (
		size   = `{"in":"query","name":"limit","schema":{"type":"integer","default":20}}`
		offset = `{"in":"query","name":"offset","schema":{"type":"integer"}},` + size
		paged  = `{"in":"query","name":"page","schema":{"type":"integer"}},` + size
		zero   = `{"in":"query","name":"page","schema":{"type":"integer","default":0}},` + size
		cursor = `{"in":"query","name":"cursor","schema":{"type":"string"}},` + size
		stripe = `{"in":"query","name":"starting_after","schema":{"type":"string"}},` + size
	)
	var all []string
	for i := range 20 {
		all = append(all, fmt.Sprintf(`{"id":%d,"name":%q}`, i, strings.Repeat("x", 20)))
	}
	rows := "[" + strings.Join(all, ",") + "]"
	for _, tt := range []struct{ parameters, query, body, want string }{
		{offset, ``, rows, `6/20 next {"query":{"offset":6}}`},
		{offset, `{"offset":40}`, rows, `6/20 next {"query":{"offset":46}}`},
		{paged, ``, rows, `6/20 next {"query":{"page":2,"limit":6}}`},
		{paged, `{"page":2}`, rows, `5/20 next {"query":{"page":6,"limit":5}}`},
		{paged, `{"page":2,"limit":"20"}`, rows, `5/20 next {"query":{"page":6,"limit":5}}`},
		{zero, `{"page":1}`, rows, `5/20 next {"query":{"page":5,"limit":5}}`},
		{cursor, ``, `{"next_cursor":"c","items":` + rows + `}`, `5/20 from 6`},
		{paged + "," + cursor, `{"cursor":"d"}`, rows, `6/20 from 7`},
		{stripe, ``, `{"has_more":true,"items":` + rows + `}`, `5/20 next {"query":{"starting_after":4}}`},
		{``, ``, rows, `6/20 from 7`},
		{offset, `{"offset":-1}`, rows, `6/20 from 7`},
		{offset, ``, `{"data":{"n":1,"items":` + rows + `}}`, `5/20 next {"query":{"offset":5}}`},
		{paged, `{"page":3}`, `{"data":{"n":1,"items":` + rows + `}}`, `5/20 next {"query":{"page":10,"limit":5}}`},
		{paged, `{"page":"x"}`, rows, `6/20 from 7`},
		{stripe, ``, `{"has_more":true,"items":` + strings.ReplaceAll(rows, `"id"`, `"key"`) + `}`, `5/20 from 6`},
		{`{"in":"query","name":"page","schema":{"type":"integer"}}`, ``, rows, `6/20 from 7`},
	} {
		v, op := seen(t, "", tt.parameters)
		a, err := Make(v, op, ok(tt.body), Options{Budget: MinBudget, Arguments: validate.Arguments{Query: read(t, tt.query)}})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := strings.Join(a.Notes, "\n"), fmt.Sprintf("the first %d of %d items are shown", a.Shown, a.Of); !strings.Contains(got, want) {
			t.Errorf("%s %s: notes %s, want %s", tt.parameters, tt.query, got, want)
		}
		got := fmt.Sprintf("%d/%d", a.Shown, a.Of)
		if !a.Next.IsNull() {
			got += " next " + string(a.Next.AppendJSON(nil))
		}
		if a.Rest != nil {
			got += fmt.Sprintf(" from %d", a.Rest.From)
		}
		if got != tt.want {
			t.Errorf("%s %s\n got %s\nwant %s", tt.parameters, tt.query, got, tt.want)
		}
	}
}
