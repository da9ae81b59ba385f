package parse_test

import (
	"crypto/rand"
	"fmt"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/review"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/source/parse"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// reviewed proposes a write and lets a person approve it.
func (w *writer) reviewed(of write.Write) (*review.Sheet, error) {
	s, err := w.write(of)
	if err != nil || s.State != change.Pending {
		return s, err
	}
	ben := identity.Principal{ID: "ben", Kind: identity.Human, Owner: "ben", Scopes: []identity.Scope{identity.Read, identity.Review}}
	return w.gateway.Reviewer(ben, "").Approve(w.t.Context(), s.ID, s.Digest, "")
}

// TestClasses creates a class and deletes it, each as a change. It compares the result with the classes in Parse
// Server.
func TestClasses(t *testing.T) {
	s := start(t)
	f := newFront(t, s)
	open := func(posture string) *writer {
		o, p := s.options(posture)
		o.URL = f.server.URL + "/parse"
		src, err := parse.Open(o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { src.Close() })
		into, err := src.Writable()
		if err != nil {
			t.Fatal(err)
		}
		return newWriter(t, into, p)
	}
	master, alice := open("master"), open("user alice")
	suffix := strings.ToUpper(rand.Text()[:6])
	first, second := "Made"+suffix, "Lost"+suffix
	t.Cleanup(func() {
		for _, name := range []string{first, second} {
			s.ask("DELETE", "/schemas/"+name, nil, "X-Parse-Master-Key: "+s.MasterKey)
		}
	})
	fields := func(text string) value.Value {
		v, err := value.Read([]byte(text), 0)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	good := fields(`[{"name":"title","type":"string","required":true},{"name":"n","type":"integer"},{"name":"at","type":"date"},{"name":"o","type":"json"}]`)
	for _, tt := range []struct {
		name, swallow string
		by            *writer
		write         write.Write
		want          string // the state, or a part of the error
		there         string // a class that Parse Server must have afterwards, or ""
	}{
		{"as a user", "", alice, &write.CreateClass{Source: "shop", Class: first, Fields: good}, "only the master", ""},
		{"a bad name", "", master, &write.CreateClass{Source: "shop", Class: "_X", Fields: good}, "letter first", ""},
		{"a bad field", "", master, &write.CreateClass{Source: "shop", Class: first, Fields: fields(`[{"name":"objectId","type":"string"}]`)}, "names its own", ""},
		{"a type that it hasn't", "", master, &write.CreateClass{Source: "shop", Class: first, Fields: fields(`[{"name":"a","type":"day"}]`)}, "must be one of", ""},
		{"a class", "", master, &write.CreateClass{Source: "shop", Class: first, Fields: good}, string(change.Applied), first},
		{"it is there", "", master, &write.CreateClass{Source: "shop", Class: first, Fields: good}, string(change.Failed), first},
		{"the answer is lost", "answer", master, &write.CreateClass{Source: "shop", Class: second, Fields: good}, string(change.Applied), second},
		{"with records", "", master, &write.DeleteClass{Class: "Product"}, string(change.Failed), "Product"},
		{"fields as a user", "", alice, &write.AddFields{Class: "Product", Fields: good}, "only the master", "Product"},
		{"a field that it has", "", master, &write.AddFields{Class: "Product", Fields: fields(`[{"name":"price","type":"double"}]`)}, "has a field price already", "Product"},
		{"a field that is hidden", "", master, &write.AddFields{Class: "_User", Fields: fields(`[{"name":"password","type":"string"}]`)}, string(change.Failed), "_User"},
		{"fields of a relation", "", master, &write.AddFields{Class: "_Join:related:Product", Fields: good}, "no further fields", ""},
	} {
		f.swallow.Store(tt.swallow)
		sheet, err := tt.by.reviewed(tt.write)
		f.swallow.Store("")
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = string(sheet.State)
		}
		if !strings.Contains(got, tt.want) {
			t.Errorf("%s: %s; want %s", tt.name, got, tt.want)
		}
		if tt.there != "" {
			s.must("GET", "/schemas/"+tt.there, nil)
		}
	}
	made := s.must("GET", "/schemas/"+first, nil)
	if title := made["fields"].(object)["title"].(object); title["type"] != "String" || title["required"] != true {
		t.Errorf("title is %v", title)
	}
	if status, _ := s.found(first, `{}`); status != 400 {
		t.Errorf("everybody reads the new class: %d", status)
	}
	again := open("master") // so that the writer knows the new classes
	more := fields(`[{"name":"colour","type":"string"},{"name":"weight","type":"double"}]`)
	for _, swallow := range []string{"", "answer"} {
		name := map[string]string{"": first, "answer": second}[swallow]
		f.swallow.Store(swallow)
		sheet, err := again.reviewed(&write.AddFields{Class: name, Fields: more})
		f.swallow.Store("")
		if err != nil || sheet.State != change.Applied {
			t.Errorf("fields of %s: %v, %v", name, sheet, err)
			continue
		}
		now := s.must("GET", "/schemas/"+name, nil)["fields"].(object)
		if now["colour"].(object)["type"] != "String" || now["weight"].(object)["type"] != "Number" || now["title"] == nil {
			t.Errorf("%s has the fields %v", name, now)
		}
		sheet, err = again.reviewed(&write.AddFields{Class: name, Fields: more})
		if again := fmt.Sprint(err); err == nil || !strings.Contains(again, "already") {
			t.Errorf("the same fields again: %v, %v", sheet, again)
		}
	}
	for _, swallow := range []string{"", "answer"} {
		name := map[string]string{"": first, "answer": second}[swallow]
		f.swallow.Store(swallow)
		sheet, err := again.reviewed(&write.DeleteClass{Class: name})
		f.swallow.Store("")
		if err != nil || sheet.State != change.Applied {
			t.Errorf("delete %s: %v, %v", name, sheet, err)
		}
		if status, _ := s.ask("GET", "/schemas/"+name, nil, "X-Parse-Master-Key: "+s.MasterKey); status != 400 {
			t.Errorf("%s is still there", name)
		}
	}
}

// TestCompile checks the text of the request, which must contain no values.
func TestCompile(t *testing.T) {
	s := start(t)
	a := s.open("user alice", "", nil)
	for _, tt := range []struct {
		query query.Query
		want  string
	}{
		{&query.Count{Class: "Order", Where: where(t, `{"status":"paid","total":{"$gt":5}}`)}, `GET /classes/Order?count=1&limit=0&where={"$and":[{"objectId":{"$exists":true}},{"$and":[{"status":"?"},{"total":{"$gt":"?"}}]}]}`},
		{&query.Count{Class: "Order", Where: where(t, `{"status":{"$regex":"^p"}}`)}, "GET /classes/Order?keys=ACL,objectId,status\n-- done here, over the records that this returns page by page: every condition again, and the count"},
		{pipeline(t, "Order", `[{"$match":{"customer":"x"}},{"$group":{"_id":"$status"}}]`), `GET /classes/Order?keys=ACL,customer,objectId,status&where={"customer":"?"}` + "\n-- done here, over the records that this returns page by page: 2 stages"},
	} {
		permit, err := a.policy.Read(a.who, tt.query)
		if err != nil {
			t.Fatal(err)
		}
		got, err := a.source.(source.Compiler).Compile(permit)
		if err != nil || got != tt.want {
			t.Errorf("%v\n got %s\nwant %s", err, got, tt.want)
		}
	}
}
