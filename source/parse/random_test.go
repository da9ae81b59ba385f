package parse_test

import (
	"crypto/rand"
	"fmt"
	mathrand "math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source/memory"
	"github.com/bailiwick-dev/bailiwick/source/parse"
	"github.com/bailiwick-dev/bailiwick/value"
)

// probes are the values on which databases differ: null, case and accents, numbers at the limits of a double, dates,
// lists and objects.
var probes = map[string][]string{
	"s":    {"null", `"apple"`, `"Apple"`, `"\u00e9tude"`, `"e\u0301tude"`, `""`, `"100%_sure"`, `"it's"`, `"null"`, `"42"`, `"straße"`, `"zebra"`},
	"n":    {"null", "0", "-1", "0.1", "1e300", "9007199254740992", "42", "1.5", "-0.25"},
	"d":    {"null", `"2026-01-31T08:00:00.123Z"`, `"2026-01-31T08:00:00Z"`, `"1969-12-31T23:59:59.999Z"`, `"1970-01-01T00:00:00Z"`},
	"b":    {"null", "true", "false"},
	"l":    {"null", "[]", `["a"]`, `["a","b"]`, `[1,"1",null]`},
	"o":    {"null", "{}", `{"a":1}`, `{"a":[1,2],"b":{"c":"x"}}`, `{"a":null}`},
	"next": {"null"},
}

// newProbes creates a class with these values in a Parse Server, and returns its name.
func newProbes(t *testing.T, s *server) string {
	class := "Probe" + strings.ToUpper(rand.Text()[:6])
	s.must("POST", "/schemas/"+class, object{"className": class, "fields": object{"s": object{"type": "String"}, "n": object{"type": "Number"}, "d": object{"type": "Date"},
		"b": object{"type": "Boolean"}, "l": object{"type": "Array"}, "o": object{"type": "Object"}, "next": object{"type": "Pointer", "targetClass": class}}})
	last := ""
	var ids []string
	t.Cleanup(func() {
		for _, id := range ids {
			s.must("DELETE", "/classes/"+class+"/"+id, nil)
		}
		s.must("DELETE", "/schemas/"+class, nil)
	})
	for i := range 70 {
		record := object{}
		for field, values := range probes {
			text := values[(i*7+len(field)*3+i/len(values))%len(values)]
			if text == "null" {
				continue
			}
			v, err := value.Read([]byte(text), 0)
			if err != nil {
				t.Fatal(err)
			}
			if field == "d" {
				record[field] = object{"__type": "Date", "iso": v.Text()}
				continue
			}
			record[field] = v
		}
		if last != "" && i%3 == 0 {
			record["next"] = object{"__type": "Pointer", "className": class, "objectId": last}
		}
		last = s.must("POST", "/classes/"+class, record)["objectId"].(string)
		ids = append(ids, last)
	}
	return class
}

// oracle returns an asker over the same records in memory.
func (a *asker) oracle(class string) *asker {
	var classes []schema.Class
	for _, c := range a.policy.Catalogue() {
		if c.Name == class {
			c.Guard = nil
			classes = append(classes, c)
		}
	}
	plan, found, err := a.read(&query.Find{Class: class, Limit: 1000})
	if err != nil {
		a.t.Fatal(err)
	}
	rows := make([]value.Row, len(found))
	for i := range found {
		for _, f := range classes[0].Fields {
			v := value.Value{}
			for at, c := range plan.Columns {
				if c.Path.String() == f.Name {
					v = found[i][at]
				}
			}
			rows[i] = append(rows[i], v)
		}
	}
	p, err := policy.New(policy.Rules{Unlisted: true}, classes)
	if err != nil {
		a.t.Fatal(err)
	}
	return &asker{t: a.t, source: memory.New(classes, map[string][]value.Row{class: rows}), policy: p, who: a.who}
}

// condition returns a random where object.
func condition(r *mathrand.Rand, depth int) string {
	if depth > 0 && r.IntN(2) == 0 {
		op := []string{"$and", "$or", "$nor"}[r.IntN(3)]
		return fmt.Sprintf(`{"%s":[%s,%s]}`, op, condition(r, depth-1), condition(r, depth-1))
	}
	field := []string{"s", "n", "d", "b", "l", "o", "o.a", "s", "n", "d", "next.n"}[r.IntN(11)]
	from := probes[field[:1]]
	switch field {
	case "o.a":
		from = []string{"1", "null", "2", `"x"`}
	case "next.n":
		from = probes["n"]
	}
	v := func() string { return from[r.IntN(len(from))] }
	switch r.IntN(8) {
	case 0:
		return fmt.Sprintf(`{"%s":%s}`, field, v())
	case 1:
		return fmt.Sprintf(`{"%s":{"$ne":%s}}`, field, v())
	case 2:
		return fmt.Sprintf(`{"%s":{"$in":[%s,%s]}}`, field, v(), v())
	case 3:
		return fmt.Sprintf(`{"%s":{"$nin":[%s,%s]}}`, field, v(), v())
	case 4:
		return fmt.Sprintf(`{"%s":{"$exists":%v}}`, field, r.IntN(2) == 0)
	case 5:
		return fmt.Sprintf(`{"%s":{"$not":{"$gt":%s}}}`, field, v())
	}
	return fmt.Sprintf(`{"%s":{"%s":%s}}`, field, []string{"$gt", "$gte", "$lt", "$lte"}[r.IntN(4)], v())
}

// TestRandomQueries compares random finds page by page, counts and groups, over REST and from the database, with the
// oracle over the same records.
func TestRandomQueries(t *testing.T) {
	s := start(t)
	class := newProbes(t, s)
	rest, direct := s.open("master", "", nil), s.open("master", s.Database, nil)
	right := rest.oracle(class)
	r := mathrand.New(mathrand.NewPCG(1, 2))
	rounds, compared, rows := 150, 0, 0
	if testing.Short() {
		rounds = 40
	}
	for range rounds {
		text := condition(r, 2)
		v, err := value.Read([]byte(text), 0)
		if err != nil {
			t.Fatal(err)
		}
		f, err := query.ParseWhere(v, "/where")
		if err != nil {
			continue // the language doesn't support this comparison
		}
		order := []query.Sort{{Path: query.Path{[]string{"n", "d", "s", "b", "createdAt"}[r.IntN(5)]}, Desc: r.IntN(2) == 0}}
		if r.IntN(4) == 0 {
			order = nil
		}
		group := pipeline(t, class, `[{"$match":`+text+`},{"$group":{"_id":"$s","n":{"$sum":1},"least":{"$min":"$d"},"sum":{"$sum":"$n"}}},{"$sort":{"_id":1}}]`)
		ask := func(a *asker) string {
			_, counted, err := a.read(&query.Count{Class: class, Where: f})
			_, grouped, err2 := a.read(group)
			return shown(counted, err) + a.pages(&query.Find{Class: class, Where: f, Order: order, Limit: 9, Keys: []query.Path{{"n"}}}) + shown(grouped, err2)
		}
		want := ask(right)
		for name, a := range map[string]*asker{"REST": rest, "direct": direct} {
			compared++
			if got := ask(a); got != want {
				t.Errorf("%s: %s, order %v:\n%swant\n%s", name, text, order, got, want)
			}
		}
		rows += strings.Count(want, "\n")
	}
	if compared < rounds || rows < rounds {
		t.Errorf("only %d comparisons with %d rows", compared, rows)
	}
	t.Logf("%d comparisons, %d rows", compared, rows)
}

// pages returns the rows of a find, read page by page.
func (a *asker) pages(q *query.Find) string {
	var out strings.Builder
	permit, err := a.policy.Read(a.who, q)
	for range 100 {
		if err != nil {
			return err.Error()
		}
		plan, _ := permit.Plan()
		rows, err := a.source.Read(a.t.Context(), permit)
		if err != nil {
			return err.Error()
		}
		n := 0
		var last value.Row
		for row, err := range rows {
			if err != nil {
				return err.Error()
			}
			if n++; n <= plan.Limit {
				last = append(value.Row{}, row...)
				out.WriteString(shown([]value.Row{last[:len(plan.Columns)]}, nil))
			}
		}
		if n <= plan.Limit {
			return out.String()
		}
		permit, _ = permit.From(policy.Position{After: last[len(plan.Columns):]})
	}
	return "no end"
}

// TestSmallPages is like TestRandomQueries, with a server that returns few records per request. So each query needs
// many requests, and ids are read by their prefixes.
func TestSmallPages(t *testing.T) {
	s := start(t)
	class := newProbes(t, s)
	small := s.open("master", "", nil)
	right := small.oracle(class)
	small.source.(*parse.Source).SetPage(7)
	for _, text := range []string{`{}`, `{"n":{"$gte":0}}`, `{"s":{"$gt":"b"}}`, `{"b":{"$ne":true}}`} {
		for _, order := range []string{"", "n", "-n", "d", "-d", "-createdAt", "s"} {
			q := &query.Find{Class: class, Where: where(t, text), Limit: 9, Keys: []query.Path{{"s"}}}
			if order != "" {
				q.Order = []query.Sort{{Path: query.Path{strings.TrimPrefix(order, "-")}, Desc: order[0] == '-'}}
			}
			if got, want := small.pages(q), right.pages(q); got != want || len(want) == 0 {
				t.Errorf("%s by %s:\n%swant\n%s", text, order, got, want)
			}
		}
	}
}

// TestBudget checks that the gateway's evaluation is limited, and that hidden records don't count.
func TestBudget(t *testing.T) {
	s := start(t)
	for posture, want := range map[string]problem.Code{"session alice": "", "role support": problem.Unsupported} {
		o, p := s.options(posture)
		o.LocalRows = 20
		a := s.openWith(o, p, nil)
		_, rows, err := a.read(pipeline(t, "Order", `[{"$group":{"_id":"$status","n":{"$sum":1}}}]`))
		if problem.CodeOf(err) != want || err == nil && len(rows) == 0 {
			t.Errorf("%s: %v, %v; want %s", posture, rows, err, want)
		}
		// An order by a date reads only as many records as it needs to decide the page.
		if _, rows, err := a.read(&query.Find{Class: "Order", Limit: 3, Order: []query.Sort{{Path: query.Path{"placed"}}}}); want == "" && (err != nil || len(rows) != 4) {
			t.Errorf("%s: %v, %v", posture, rows, err)
		}
	}
}

// TestInterference changes data that the user alice can't see, and checks that her answers don't change.
func TestInterference(t *testing.T) {
	s := start(t)
	alice, token := s.session("alice")
	bob, _ := s.session("bob")
	classes := newMatrix(t)
	var secret []string
	for _, class := range classes.names {
		for _, id := range classes.records[class] {
			if status, _ := s.ask("GET", "/classes/"+class+"/"+id, nil, "X-Parse-Session-Token: "+token); status != 200 {
				if _, found := s.found(class, `{"objectId":{"$in":["`+id+`"]}}`, "X-Parse-Session-Token: "+token); len(found) == 0 {
					secret = append(secret, class+"/"+id)
				}
			}
		}
	}
	if len(secret) < 15 {
		t.Fatalf("only %d hidden records", len(secret))
	}
	songs := newLinked(t, nil)
	askers := []*asker{s.open("user alice", "", nil), s.open("user alice", s.Database, nil)}
	ask := func() string {
		var out strings.Builder
		for _, a := range askers {
			for _, class := range classes.names {
				for _, q := range []query.Query{&query.Count{Class: class}, &query.Find{Class: class, Limit: 3, Order: []query.Sort{{Path: query.Path{"createdAt"}, Desc: true}}},
					&query.Find{Class: class, Limit: 2, Where: where(t, `{"title":{"$gte":"t"},"inner":{"$ne":"x"}}`)},
					pipeline(t, class, `[{"$lookup":{"from":"`+classes.names[0]+`","localField":"title","foreignField":"title","as":"x"}},{"$group":{"_id":"$title","n":{"$sum":1},"x":{"$max":"$note"}}}]`)} {
					_, rows, err := a.read(q)
					out.WriteString(shown(rows, err))
				}
			}
			for _, q := range []query.Query{&query.Count{Class: songs.pairs()}, &query.Find{Class: songs.pairs(), Limit: 2},
				pipeline(t, songs.owner, `[{"$lookup":{"from":"`+songs.pairs()+`","localField":"objectId","foreignField":"owningId","as":"p"}},{"$project":{"n":{"$size":"$p"}}}]`)} {
				_, rows, err := a.read(q)
				out.WriteString(shown(rows, err))
			}
		}
		return out.String()
	}
	seed, _ := strconv.ParseUint(os.Getenv("BAILIWICK_SEED"), 10, 64) // the long form runs in parts
	r := mathrand.New(mathrand.NewPCG(3, 4+seed))
	before, rounds := ask(), 12
	if testing.Short() {
		rounds = 4
	}
	if soak, err := strconv.Atoi(os.Getenv("BAILIWICK_SOAK")); err == nil {
		rounds = max(rounds, soak/(2*(4*len(classes.names)+3))) // pairs of answers
	}
	for n := range rounds {
		for range 3 {
			at := secret[r.IntN(len(secret))]
			class, _, _ := strings.Cut(at, "/")
			pairOp := []string{"RemoveRelation", "AddRelation"}[r.IntN(2)]
			switch r.IntN(5) {
			case 3: // a pair with an owner that she can't see
				s.must("PUT", "/classes/"+songs.owner+"/"+songs.owners[2], object{"songs": object{"__op": pairOp, "objects": []object{{"__type": "Pointer", "className": songs.target, "objectId": songs.targets[r.IntN(3)]}}}})
			case 4: // a pair with a target that she can't see
				s.must("PUT", "/classes/"+songs.owner+"/"+songs.owners[r.IntN(3)], object{"songs": object{"__op": pairOp, "objects": []object{{"__type": "Pointer", "className": songs.target, "objectId": songs.targets[2]}}}})
			case 0:
				s.must("PUT", "/classes/"+at, object{"title": fmt.Sprint("t", r.IntN(9)), "inner": fmt.Sprint("n", n), "note": "psst"})
			case 1:
				s.must("POST", "/classes/"+class, object{"title": "t1", "owner": object{"__type": "Pointer", "className": "_User", "objectId": bob}, "ACL": object{bob: object{"read": true}}})
			case 2:
				s.must("PUT", "/classes/"+at, object{"ACL": object{bob: object{"read": true, "write": true}}, "owner": object{"__type": "Pointer", "className": "_User", "objectId": bob}})
			}
		}
		if after := ask(); after != before {
			t.Fatalf("after changes of what %s doesn't see, round %d:\n%s\nbefore\n%s", alice, n, after, before)
		}
	}
	t.Logf("%d rounds over %d hidden records, %d bytes each", rounds, len(secret), len(before))
}
