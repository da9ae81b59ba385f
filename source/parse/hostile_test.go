package parse_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/source/parse"
)

// upstream is a Parse Server gone bad: it has a class of notes, and answers what is asked of it with answers.
func upstream(t *testing.T, answers http.HandlerFunc) *asker {
	t.Helper()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		described := `{"className":"Note","fields":{"objectId":{"type":"String"},"ACL":{"type":"ACL"},"createdAt":{"type":"Date"},"updatedAt":{"type":"Date"},"text":{"type":"String"}},
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

// TestEchoedKeys has Parse Server answer with the keys that it was sent, as text and encoded: none of them leaves.
func TestEchoedKeys(t *testing.T) {
	a := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		keys := r.Header.Get("X-Parse-Master-Key") + " " + r.Header.Get("X-Parse-REST-API-Key")
		if strings.Contains(r.URL.RawQuery, "gt") { // what follows the one record
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

// TestHugeAnswers has Parse Server answer without end, with more values than fit into memory, and with records of which
// few fit into an answer.
func TestHugeAnswers(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	var sent atomic.Int64
	for name, answer := range map[string]func(w http.ResponseWriter){
		"without end": func(w http.ResponseWriter) {
			for err := error(nil); err == nil; {
				var n int
				n, err = fmt.Fprint(w, long)
				sent.Add(int64(n))
			}
		},
		"many values": func(w http.ResponseWriter) { fmt.Fprint(w, `{"results":[`+strings.Repeat("0,", 4<<20)+`0]}`) },
	} {
		a := upstream(t, func(w http.ResponseWriter, _ *http.Request) { answer(w) })
		a.source.(*parse.Source).SetPage(8) // two answers
		_, rows, err := a.read(&query.Find{Class: "Note", Limit: 3})
		if p := problem.Of(err); p == nil || p.Kind != "too_large" || p.Code != problem.BudgetExceeded {
			t.Errorf("%s: %d rows, %v", name, len(rows), err)
		}
	}
	if n := sent.Load(); n > 100<<20 { // two answers of 16 MiB, and what sockets hold
		t.Errorf("%d bytes were taken", n)
	}
	const records = 20
	a := upstream(t, func(w http.ResponseWriter, r *http.Request) {
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
	_, rows, err := a.read(pipeline(t, "Note", `[{"$group":{"_id":{"$strLenCP":"$text"},"n":{"$sum":1}}}]`))
	if want := fmt.Sprint(records); err != nil || len(rows) != 1 || !strings.Contains(shown(rows, err), want) {
		t.Errorf("%d records of 1 MiB: %s, %v", records, shown(rows, err), err)
	}
}
