package parse_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/source/parse"
)

// upstream starts a hostile Parse Server. It has a class of notes, and answers every request with answers.
func upstream(t *testing.T, answers http.HandlerFunc) *asker {
	t.Helper()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		described := `{"className":"Note","fields":{"objectId":{"type":"String"},"ACL":{"type":"ACL"},"createdAt":{"type":"Date"},"updatedAt":{"type":"Date"},"text":{"type":"String"},"list":{"type":"Array"},"object":{"type":"Object"}},
			"classLevelPermissions":{"find":{"*":true},"get":{"*":true},"count":{"*":true}}}`
		switch r.URL.Path {
		case "/parse/schemas":
			fmt.Fprint(w, `{"results":[`+described+`]}`)
		case "/parse/schemas/Note":
			fmt.Fprint(w, described)
		default:
			answers(w, r)
		}
	}))
	t.Cleanup(web.Close)
	o := parse.Options{Name: "shop", URL: web.URL + "/parse", AppID: "app", RESTKey: "rest-key-4711-abcdef", MasterKey: "master-key-4711-abcdef", As: parse.Master}
	return (&server{t: t}).openWith(o, identity.Principal{ID: "token:a", Kind: identity.Agent, Owner: "ana", Scopes: []identity.Scope{identity.Read}}, nil)
}

// TestEchoedKeys has Parse Server answer with the keys from the request, as text and encoded. None of them may reach
// the caller.
func TestEchoedKeys(t *testing.T) {
	a := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		keys := r.Header.Get("X-Parse-Master-Key") + " " + r.Header.Get("X-Parse-REST-API-Key")
		if strings.Contains(r.URL.RawQuery, "gt") { // a query for the records after the first
			fmt.Fprint(w, `{"results":[]}`)
			return
		}
		text, _ := json.Marshal(keys + " " + base64.StdEncoding.EncodeToString([]byte(keys)) + " end")
		fmt.Fprintf(w, `{"results":[{"objectId":"aaaaaaaaaa","text":%s}]}`, text)
	})
	_, rows, err := a.read(&query.Find{Class: "Note", Limit: 3})
	got := shown(rows, err)
	if !strings.Contains(got, "[masked]") || !strings.Contains(got, " end") {
		t.Errorf("the record came as %s", got)
	}
	for _, key := range []string{"master-key", "rest-key", "4711", base64.RawStdEncoding.EncodeToString([]byte("master-key-4711"))} {
		if strings.Contains(got, key) {
			t.Errorf("%s is in %s", key, got)
		}
	}
}

// TestHugeAnswers makes Parse Server send an endless answer, records with more values than the memory can store, and
// records so large that few fit into an answer.
func TestHugeAnswers(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	var sent atomic.Int64
	a := upstream(t, func(w http.ResponseWriter, _ *http.Request) {
		for err := error(nil); err == nil; {
			var n int
			n, err = fmt.Fprint(w, long)
			sent.Add(int64(n))
		}
	})
	a.source.(*parse.Source).SetPage(8)
	_, rows, err := a.read(&query.Find{Class: "Note", Limit: 3})
	if p := problem.Of(err); p == nil || p.Kind != "too_large" || p.Code != problem.BudgetExceeded {
		t.Errorf("without end: %d rows, %v", len(rows), err)
	}
	if n := sent.Load(); n > 150<<20 { // one answer of 2 MiB, three of 16 MiB, and the buffers of sockets
		t.Errorf("%d bytes were taken", n)
	}
	for _, many := range []string{`"text":[`, `"list":[`, `"object":{"a":[`} {
		values := many + strings.Repeat("0,", 4<<20) + "0]" + strings.Repeat("}", strings.Count(many, "{"))
		a := upstream(t, func(w http.ResponseWriter, r *http.Request) {
			if strings.Contains(r.URL.RawQuery, "gt") {
				fmt.Fprint(w, `{"results":[]}`)
				return
			}
			fmt.Fprint(w, `{"results":[{"objectId":"aaaaaaaaaa",`+values+`}]}`)
		})
		for _, q := range []query.Query{&query.Find{Class: "Note", Limit: 3}, pipeline(t, "Note", `[{"$group":{"_id":null,"n":{"$max":{"$size":"$list"}},"o":{"$max":"$object"},"t":{"$max":"$text"}}}]`)} {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, rows, err := a.read(q)
			runtime.ReadMemStats(&after)
			if code := problem.CodeOf(err); err != nil && code != problem.Unsupported || err == nil && len(rows) != 1 {
				t.Errorf("%s: %d rows, %v", many, len(rows), err)
			}
			if n := after.TotalAlloc - before.TotalAlloc; n > 200<<20 {
				t.Errorf("%s: %d MB were taken to read %d", many, n>>20, len(values)>>20)
			}
		}
	}
	const records = 20
	a = upstream(t, func(w http.ResponseWriter, r *http.Request) {
		limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
		var where struct {
			ID struct {
				After string `json:"$gt"`
			} `json:"objectId"`
		}
		_ = json.Unmarshal([]byte(r.URL.Query().Get("where")), &where)
		var some []string
		for n := range records {
			if id := fmt.Sprintf("aaaaaaaa%02d", n); id > where.ID.After && len(some) < limit {
				some = append(some, fmt.Sprintf(`{"objectId":%q,"text":%q}`, id, long))
			}
		}
		fmt.Fprint(w, `{"results":[`+strings.Join(some, ",")+`]}`)
	})
	_, rows, err = a.read(pipeline(t, "Note", `[{"$group":{"_id":{"$strLenCP":"$text"},"n":{"$sum":1}}}]`))
	if want := fmt.Sprint(records); err != nil || len(rows) != 1 || !strings.Contains(shown(rows, err), want) {
		t.Errorf("%d records of 1 MiB: %s, %v", records, shown(rows, err), err)
	}
}

// TestNonInterferenceLarge checks that the size of hidden values changes no answer. The records exceed the maximum
// size of an answer, either one record or several together. The large field is read, or it decides whether the record
// is visible.
func TestNonInterferenceLarge(t *testing.T) {
	s := start(t)
	class := fmt.Sprintf("Large%d", len(s.must("GET", "/schemas", nil)["results"].([]any)))
	s.must("POST", "/schemas/"+class, object{"className": class, "fields": object{"body": object{"type": "String"}, "org": object{"type": "String"}, "list": object{"type": "Array"}, "at": object{"type": "Number"}}})
	t.Cleanup(func() {
		s.must("DELETE", "/purge/"+class, nil)
		s.must("DELETE", "/schemas/"+class, nil)
	})
	var ids []string
	for n := range 30 {
		made := s.must("POST", "/classes/"+class, object{"org": "acme", "body": fmt.Sprint("text ", n%5), "list": []any{n, "x"}, "at": n})
		ids = append(ids, made["objectId"].(string))
	}
	// The gateway evaluates this rule, because it isn't sent to Parse Server.
	rules := map[string]policy.ClassRule{class: {Canonical: where(t, `{"org":{"$regex":"^ac"}}`)}}
	o, p := s.options("master")
	a := s.openWith(o, p, rules)
	ask := func() string {
		var out strings.Builder
		for _, q := range []query.Query{&query.Count{Class: class}, &query.Find{Class: class, Limit: 40}, &query.Find{Class: class, Limit: 7, Skip: 3, Order: []query.Sort{{Path: query.Path{"at"}, Desc: true}}},
			&query.Find{Class: class, Limit: 5, Order: []query.Sort{{Path: query.Path{"body"}}}}, &query.Find{Class: class, Limit: 40, IDs: ids[:3]}, &query.Find{Class: class, Limit: 9, Where: where(t, `{"body":{"$gt":"text 2"}}`)},
			&query.Count{Class: class, Where: where(t, `{"body":{"$regex":"2$"}}`)},
			pipeline(t, class, `[{"$group":{"_id":"$body","n":{"$sum":1},"l":{"$max":"$at"},"s":{"$push":"$list"}}},{"$sort":{"_id":1}}]`)} {
			_, rows, err := a.read(q)
			out.WriteString(shown(rows, err) + "\n")
		}
		return out.String()
	}
	want := ask()
	for name, hidden := range map[string]object{
		"alone":           {"org": "other", "body": strings.Repeat("\u0001", 3<<20), "at": 6}, // six bytes each in an answer
		"by what decides": {"org": strings.Repeat("\u0001", 3<<20), "at": 7},
	} {
		made := s.must("POST", "/classes/"+class, hidden)
		if got := ask(); got != want {
			t.Errorf("%s:\n%.2000s\nwant\n%.2000s", name, got, want)
		}
		s.must("DELETE", "/classes/"+class+"/"+made["objectId"].(string), nil)
	}
}
