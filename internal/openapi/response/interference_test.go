package response

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/validate"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
	"pgregory.net/rapid"
)

// A world is a set of schemas S0, S1, … with hidden parts: S1, or S1.a.
type world struct {
	schemas []definition
	hidden  map[string]bool
}

// A definition is an object with fields and possibly allOf parts, or a choice of alternatives.
type definition struct {
	fields []string
	// of maps a field to the schema of its value. -1 is a string, and -2 is a list of strings. 100 + n is a list of
	// schema n.
	of      map[string]int
	parts   []int
	choices []int
	says    bool // "a" names the chosen alternative
}

func draw(t *rapid.T) world {
	w := world{hidden: map[string]bool{}}
	n := rapid.IntRange(1, 5).Draw(t, "schemas")
	for i := range n {
		d := definition{of: map[string]int{}}
		for _, f := range []string{"a", "b", "items", "token"} {
			if rapid.Bool().Draw(t, "has") {
				d.fields = append(d.fields, f)
				d.of[f] = rapid.SampledFrom([]int{-1, -1, -2, rapid.IntRange(0, n-1).Draw(t, "to"), 100 + rapid.IntRange(0, n-1).Draw(t, "of")}).Draw(t, "kind")
				w.hidden[fmt.Sprintf("S%d.%s", i, f)] = rapid.IntRange(0, 3).Draw(t, "hidden") == 0
			}
		}
		switch {
		case i == 0:
		case rapid.IntRange(0, 3).Draw(t, "shape") == 0:
			d.parts = []int{rapid.IntRange(0, i-1).Draw(t, "part")}
		case rapid.IntRange(0, 3).Draw(t, "shape") == 0:
			d = definition{choices: []int{rapid.IntRange(0, i-1).Draw(t, "choice"), rapid.IntRange(0, i-1).Draw(t, "choice")}, says: rapid.Bool().Draw(t, "says")}
		}
		w.hidden[fmt.Sprintf("S%d", i)] = rapid.IntRange(0, 4).Draw(t, "hidden") == 0
		w.schemas = append(w.schemas, d)
	}
	return w
}

func (w world) document() string {
	var b strings.Builder
	to := func(n int) string {
		switch {
		case n == -1:
			return `{"type":"string"}`
		case n == -2:
			return `{"type":"array","items":{"type":"string"}}`
		case n >= 100:
			return fmt.Sprintf(`{"type":"array","items":{"$ref":"#/components/schemas/S%d"}}`, n-100)
		}
		return fmt.Sprintf(`{"$ref":"#/components/schemas/S%d"}`, n)
	}
	list := func(all []int) string {
		var out []string
		for _, n := range all {
			out = append(out, to(n))
		}
		return "[" + strings.Join(out, ",") + "]"
	}
	fmt.Fprintf(&b, `{"openapi":"3.0.0","paths":{"/x":{"get":{"operationId":"x","parameters":[{"in":"query","name":"offset","schema":{"type":"integer"}}],"responses":{"200":{"content":{"application/json":{"schema":%s}}}}}}},"components":{"schemas":{"Z":{}`, to(len(w.schemas)-1))
	for i, d := range w.schemas {
		fmt.Fprintf(&b, `,"S%d":{"x":0`, i)
		if len(d.fields) > 0 {
			var fields []string
			for _, f := range d.fields {
				fields = append(fields, fmt.Sprintf("%q:%s", f, to(d.of[f])))
			}
			fmt.Fprintf(&b, `,"properties":{%s}`, strings.Join(fields, ","))
		}
		if len(d.parts) > 0 {
			b.WriteString(`,"allOf":` + list(d.parts))
		}
		if len(d.choices) > 0 {
			b.WriteString(`,"oneOf":` + list(d.choices))
		}
		if d.says {
			b.WriteString(`,"discriminator":{"propertyName":"a"}`)
		}
		b.WriteString("}")
	}
	b.WriteString("}}}")
	return b.String()
}

// canary is part of all hidden values.
const canary = "CANARY"

// A twin is one value in two worlds that differ only in hidden parts.
type twin struct{ one, other any }

func text(t *rapid.T) string {
	return rapid.SampledFrom([]string{"x", "", "S0", "S1", strings.Repeat("y", 300)}).Draw(t, "text")
}

// of draws a value of schema n in both worlds.
func (w world) of(t *rapid.T, n, depth int) twin {
	switch {
	case n == -1:
		s := text(t)
		return twin{s, s}
	case n == -2 || n >= 100:
		one, other := []any{}, []any{}
		for range rapid.IntRange(0, 3).Draw(t, "length") {
			e := twin{"e", "e"}
			if n >= 100 {
				e = w.of(t, n-100, depth+1)
			}
			one, other = append(one, e.one), append(other, e.other)
		}
		return twin{one, other}
	case w.hidden[fmt.Sprintf("S%d", n)]:
		return w.secret(t, n, depth)
	}
	one, other := map[string]any{}, map[string]any{}
	w.fill(t, n, depth, one, other)
	if rapid.IntRange(0, 4).Draw(t, "more") == 0 {
		one["more"], other["more"] = "m", "m"
	}
	return twin{one, other}
}

// secret draws two different values for a hidden part.
func (w world) secret(t *rapid.T, n, depth int) twin {
	draw := func() any {
		switch rapid.IntRange(0, 3).Draw(t, "secret") {
		case 0:
			return canary + text(t)
		case 1:
			return []any{canary}
		}
		out := map[string]any{"b": canary, "more": canary + text(t)}
		if n >= 0 && n < 100 {
			for _, f := range w.schemas[n].fields {
				out[f] = canary
			}
		}
		return out
	}
	return twin{draw(), draw()}
}

// fill sets the missing fields of schema n.
func (w world) fill(t *rapid.T, n, depth int, one, other map[string]any) {
	d := w.schemas[n]
	for _, f := range d.fields {
		if _, ok := one[f]; ok || depth > 4 {
			continue
		}
		if _, ok := other[f]; ok {
			continue
		}
		if !w.hidden[fmt.Sprintf("S%d.%s", n, f)] {
			v := w.of(t, d.of[f], depth+1)
			one[f], other[f] = v.one, v.other
			continue
		}
		v := w.secret(t, d.of[f], depth)
		if rapid.Bool().Draw(t, "there") {
			one[f] = v.one
		}
		if rapid.Bool().Draw(t, "there") {
			other[f] = v.other
		}
	}
	for _, part := range d.parts {
		if !w.hidden[fmt.Sprintf("S%d", part)] {
			w.fill(t, part, depth, one, other)
			continue
		}
		for _, f := range []string{"zz", "more"} {
			one[f], other[f] = canary, canary+"2"
		}
	}
	if len(d.choices) > 0 {
		as := rapid.SampledFrom(d.choices).Draw(t, "as")
		if w.hidden[fmt.Sprintf("S%d", as)] {
			one["zz"], other["zz"] = canary, canary+"2"
		} else {
			w.fill(t, as, depth, one, other)
		}
		// The value names its alternative if the schema has a discriminator.
		if d.says {
			one["a"] = fmt.Sprintf("S%d", as)
			other["a"] = one["a"]
		}
	}
}

// wheres are filters of lists. "" means no filter. Some filters name hidden parts.
var wheres = []string{"", "", "", `{"a":"x"}`, `{"b":{"$exists":true}}`, `{"a":{"$regex":"CANARY"}}`, `{"items.b":{"$ne":"e"}}`, `{"zz":"CANARY"}`, `{"more":"m"}`, `{"token":"x"}`,
	`{"$or":[{"items":{"$size":1}},{"a":{"$gt":"w"}}]}`, `{"items":{"$elemMatch":{"b":{"$regex":"C"}}}}`, `{"none":1}`}

// TestInterference checks that hidden parts never appear in an answer and never change it.
func TestInterference(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := draw(rt)
		v, op := viewed(t, w.document(), spec.Filter{
			Schema: func(name string) bool { return !w.hidden[name] },
			Field:  func(schema, field string) bool { return !w.hidden[schema+"."+field] },
		})
		body := w.of(rt, len(w.schemas)-1, 0)
		status := rapid.SampledFrom([]int{200, 200, 200, 201, 404}).Draw(rt, "status")
		o := Options{Budget: rapid.IntRange(0, 900).Draw(rt, "budget"), Fields: rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b.a", "items", "items.b", "c", "token"}), 0, 2).Draw(rt, "fields"),
			At:   rapid.SampledFrom([]string{"", "", "", "a", "zz", "items", "items[0]", "items[1].b", "[0]", "b.a"}).Draw(rt, "at"),
			From: rapid.IntRange(0, 3).Draw(rt, "from"),
		}
		if where := rapid.SampledFrom(wheres).Draw(rt, "where"); where != "" {
			o.Where = parsed(t, where)
		}
		answer := func(body any) string {
			b, err := json.Marshal(body)
			if err != nil {
				t.Fatal(err)
			}
			tag := fmt.Sprintf("%x", sha256.Sum256(b)) // a hidden part changes the tag
			a, err := Make(v, op, &calls.HTTPResponse{Status: status, MediaType: "application/json", Header: http.Header{"Etag": {tag}}, Body: b}, o)
			out := shown(a, err)
			if err == nil {
				if a.Fit(o.Budget / 2); a.ETag != "" && v.Whole() == false {
					rt.Fatal("an ETag leaves: ", a.ETag)
				}
				out += fmt.Sprintf("%+v %v %v", *a, a.Rest, shown(a, nil))
				out = strings.Replace(out, fmt.Sprintf("%p", a.cut), "", 1)
				if a.Rest != nil {
					out = strings.Replace(out, fmt.Sprintf("%p", a.Rest), "", 1)
				}
			}
			return out
		}
		one, other := answer(body.one), answer(body.other)
		if one != other || strings.Contains(one, canary) {
			rt.Fatalf("%s\nhidden %v\n%v\n%v\n%s\n%s", w.document(), w.hidden, body.one, body.other, one, other)
		}
	})
}

// FuzzMake checks that Make does not panic, and that its result is JSON within the budget and without hidden names.
// It also checks that no items are lost between the shown list and the next call.
func FuzzMake(f *testing.F) {
	for _, seed := range []string{`{"items":[{"id":1,"plan":"p","salary":2}],"total":9}`, `[[{"salary":1}],{"env":[{"name":"token","value":"v"}]}]`, `"` + strings.Repeat("é\\u0001", 300) + `"`,
		`{"token\n\u001b":"x","long\n":"` + strings.Repeat("y", 900) + `"}`, `{"error":{"code":7,"message":"at /srv/x.js:1 token=abc"}}`, `{"a":{"b":{"c":[1,2,` + strings.Repeat("9", 400) + `]}}}`, "a,b\n1,2", "<html>", "\x00", ``} {
		for _, media := range []string{"application/json", "text/plain", "image/png", ""} {
			f.Add([]byte(seed), media, 200, 300, "items.id a.b")
		}
		f.Add([]byte(seed), "application/json", 404, 0, "")
	}
	var views []*spec.View
	for _, s := range []string{"Page", "Team", "Said", "ByName", "Boss"} {
		v, _ := seen(f, ref(s), `{"in":"query","name":"page","schema":{"type":"integer"}},{"in":"query","name":"limit","schema":{"type":"integer","default":5}}`)
		views = append(views, v)
	}
	f.Fuzz(func(t *testing.T, body []byte, media string, status, budget int, fields string) {
		for _, v := range views {
			r := &calls.HTTPResponse{Status: status, MediaType: media, Header: http.Header{"Content-Disposition": {fields}, "Link": {fields}, "Retry-After": {fields}}, Body: body}
			o := Options{Budget: budget, Fields: strings.Fields(fields), Denied: func(name string) bool { return name == "internal" }, Arguments: validate.Arguments{}}
			a, err := Make(v, v.Operations()[0], r, o)
			if err != nil {
				p := problem.Of(err)
				if p.Code == problem.Internal || len([]rune(p.Detail)) > maxMessage+maxRest+300 || strings.ContainsAny(p.Detail, "\n\x00") {
					t.Fatalf("%+v", p)
				}
				continue
			}
			out := a.Body.AppendJSON(nil)
			most := max(budget, MinBudget)
			if budget == 0 {
				most = DefaultBudget
			}
			if !json.Valid(out) || len(out) > most {
				t.Fatalf("%d bytes of %d: %s", len(out), most, out)
			}
			if strings.ContainsAny(strings.Join(a.Notes, ""), "\n\x00\x1b") {
				t.Fatalf("%q", a.Notes)
			}
			if len(a.Notes) > 40 || a.Shown > a.Of || !a.Next.IsNull() && a.Next.Kind() != value.Object {
				t.Fatalf("%+v", a)
			}
			if a.Body.Kind() != value.String && (bytes.Contains(out, []byte(`"salary":`)) || bytes.Contains(out, []byte(`"internal":`))) {
				t.Fatalf("hidden names leave: %s", out)
			}
		}
	})
}
