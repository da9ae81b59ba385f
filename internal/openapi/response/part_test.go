package response

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
	"pgregory.net/rapid"
)

// plainDocument has one operation, whose responses are not described.
const plainDocument = `{"openapi":"3.0.0","paths":{"/x":{"get":{"operationId":"x","responses":{"200":{"description":""}}}}}}`

// TestParts checks the parts of an answer that at and from select, and each error.
func TestParts(t *testing.T) {
	v, op := viewed(t, plainDocument, spec.Filter{Field: func(_, field string) bool { return field != "salary" }})
	body := `{"items":[{"id":1,"log":"abcdefghij"},{"id":2,"log":"` + strings.Repeat("é", 300) + `","steps":[1,2,3]},{"id":3}],"a.b":{"c":"x"},"salary":5,"api_token":"s3cretvalue"}`
	for _, tt := range []struct {
		at   string
		from int
		want string
	}{
		{"items[0].log", 0, `"abcdefghij"`},
		{"items[0].log", 4, `"defghij"`},
		{"items[0].log", 10, `"j"`},
		{"items[0].log", 11, `""` + "\nfrom: there are only 10 characters"},
		{"items[1].log", 51, `"` + strings.Repeat("é", 117) + `… [300 characters]"` + "\nitems[1].log: characters 51 to 167 of 300 are shown. Continue with at: \"items[1].log\", from: 168\nfields picks what you need, and more of it fits\nat items[1].log from 168"},
		{"items[1].steps", 2, `[2,3] 2/3`},
		{"items[1].steps", 9, `[] 0/3` + "\nfrom: there are only 3 items"},
		{"items[2]", 0, `{"id":3}`},
		{"a.b.c", 0, `"x"`},
		{"a.b", 0, `{"c":"x"}`},
		{"a.b", 2, "invalid_argument: the answer is not a text and has no list, so it has no item to begin from"},
		{"items", 2, `[{"id":2,"log":"` + strings.Repeat("é", 100) + `… [300 characters]","steps":[1,2,3]}] 1/3` + "\nitems: items 2 to 2 of 3 are shown, for more is too long. Continue with at: \"items\", from: 3\nitems[1].log: the first 100 of 300 characters are shown. Continue with at: \"items[1].log\", from: 101\nfields picks what you need, and more of it fits\nat items from 3"},
		{"api_token", 0, `"[masked]"`},
		{"salary", 0, `invalid_argument: at: the answer has nothing at "salary"`},
		{"lasary", 0, `invalid_argument: at: the answer has nothing at "lasary"`},
		{"item", 0, `invalid_argument: at: the answer has nothing at "item". Did you mean items?`},
		{"items[3]", 0, `invalid_argument: at: the answer has nothing at "items[3]"`},
		{"items[x]", 0, `invalid_argument: at: the answer has nothing at "items[x]"`},
		{"items.log", 0, `invalid_argument: at: the answer has nothing at "items.log"`},
		{"items[0].log.x", 0, `invalid_argument: at: the answer has nothing at "items[0].log.x"`},
	} {
		a, err := Make(v, op, ok(body), Options{At: tt.at, From: tt.from, Budget: MinBudget})
		got := shown(a, err)
		got = strings.ReplaceAll(got, "masked, for their names are those of credentials: api_token", "")
		if err == nil && a.Rest != nil {
			got += fmt.Sprintf("\nat %s from %d", a.Rest.At, a.Rest.From)
		}
		if got = strings.ReplaceAll(strings.TrimRight(got, "\n"), "\n\n", "\n"); got != tt.want {
			t.Errorf("%s %d\n got %s\nwant %s", tt.at, tt.from, got, tt.want)
		}
	}
}

// TestTextContinues checks that a text body continues at a character position. Credentials are masked before
// positions are counted.
func TestTextContinues(t *testing.T) {
	v, op := viewed(t, plainDocument, spec.Filter{})
	text := strings.Repeat("line of a log\n", 40) + "token=ghp_0123456789abcdefghijABCDEFGHIJ012345\nend"
	got, from := "", 1
	for range 20 {
		a, err := Make(v, op, &calls.HTTPResponse{Status: 200, MediaType: "text/plain", Header: http.Header{}, Body: []byte(text)}, Options{From: from, Budget: MinBudget})
		if err != nil {
			t.Fatal(err)
		}
		part, _, _ := strings.Cut(a.Body.Text(), "… [")
		if got += part; a.Rest == nil {
			break
		}
		from = a.Rest.From
	}
	if want := strings.Repeat("line of a log\n", 40) + "token=[masked]\nend"; got != want {
		t.Errorf("%q", got)
	}
}

// TestContinuing checks that an agent can read a cut answer to its end by following the continuations. It expects
// each item that the filter selects, once and in order, and the whole of each text. The answer may have been cut
// twice.
func TestContinuing(t *testing.T) {
	v, op := viewed(t, plainDocument, spec.Filter{})
	rapid.Check(t, func(rt *rapid.T) {
		var items []value.Value
		for i := range rapid.IntRange(0, 30).Draw(rt, "items") {
			long := strings.Repeat(rapid.SampledFrom([]string{"x", "é", "\"", "\u0001"}).Draw(rt, "char"), rapid.SampledFrom([]int{0, 3, 40, 400}).Draw(rt, "length"))
			items = append(items, value.OfObject([]value.Member{{Name: "id", Value: value.OfInt(int64(i))}, {Name: "even", Value: value.OfBool(i%2 == 0)}, {Name: "a.text", Value: value.OfString(long)}}))
		}
		body := value.OfArray(items)
		if rapid.Bool().Draw(rt, "envelope") {
			body = value.OfObject([]value.Member{{Name: "n", Value: value.OfInt(1)}, {Name: "data", Value: body}})
		}
		o := Options{Budget: rapid.IntRange(MinBudget, 900).Draw(rt, "budget")}
		want := items
		if rapid.Bool().Draw(rt, "where") {
			o.Where, want = query.Compare{Path: query.Path{"even"}, Op: query.Eq, Value: value.OfBool(true), At: "/where/even"}, nil
			for i := 0; i < len(items); i += 2 {
				want = append(want, items[i])
			}
			if len(items) == 0 {
				o.Where = nil
			}
		}
		again := rapid.IntRange(MinBudget, 900).Draw(rt, "again")
		ask := func(o Options) *Answer {
			a, err := Make(v, op, ok(string(body.AppendJSON(nil))), o)
			if err != nil {
				rt.Fatal(err)
			}
			a.Fit(again)
			if n := len(a.Body.AppendJSON(nil)); n > max(min(o.Budget, again), MinBudget) {
				rt.Fatalf("%d bytes", n)
			}
			return a
		}
		var got []value.Value
		for turn := 0; ; turn++ {
			if turn > len(items)+1 {
				rt.Fatal("it doesn't end")
			}
			a := ask(o)
			shown := mainList(a.Body).of(a.Body)
			for i, e := range shown {
				text, _ := e.Get("a.text")
				whole, _ := want[len(got)].Get("a.text")
				if text.Text() != whole.Text() {
					e = rejoined(rt, e, whole.Text(), a, i, o, ask)
				}
				got = append(got, e)
			}
			if a.Rest == nil || strings.Contains(a.Rest.At, "text") {
				break
			}
			o.From = a.Rest.From
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			rt.Fatalf("\n got %v\nwant %v", got, want)
		}
	})
}

// rejoined returns an item whose text was cut, with the text completed from the answers that continue it.
func rejoined(rt *rapid.T, e value.Value, want string, a *Answer, i int, o Options, ask func(Options) *Answer) value.Value {
	note := ""
	for _, n := range a.Notes {
		if strings.Contains(n, "a.text: ") {
			note = n
		}
	}
	if i != 0 || note == "" {
		rt.Fatalf("item %d is cut: %v", i, a.Notes)
	}
	var at string
	var from int
	_, with, _ := strings.Cut(note, "Continue with at: ")
	if _, err := fmt.Sscanf(strings.Replace(with, ",", " ", 1), "%q  from: %d", &at, &from); err != nil {
		rt.Fatal(note, err)
	}
	short, _ := e.Get("a.text")
	got, _, _ := strings.Cut(short.Text(), "… [")
	for turn := 0; turn < 50 && at != ""; turn++ {
		part := ask(Options{At: at, From: from, Budget: o.Budget, Where: o.Where})
		text, _, _ := strings.Cut(part.Body.Text(), "… [")
		if got += text; part.Rest == nil {
			break
		}
		at, from = part.Rest.At, part.Rest.From
	}
	if got != want {
		rt.Fatalf("%s\n got %q\nwant %q", note, got, want)
	}
	members := append([]value.Member{}, e.Members()...)
	members[len(members)-1].Value = value.OfString(got)
	return value.OfObject(members)
}
