package parse_test

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/internal/review"
	"github.com/bailiwick-dev/bailiwick/source/parse"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// A front is a proxy in front of Parse Server that can drop answers, or requests, of writes.
type front struct {
	swallow atomic.Value // "", "answer" or "request"
	sent    atomic.Int64 // the number of writes that it received
	server  *httptest.Server
}

func newFront(t *testing.T, s *server) *front {
	f := &front{}
	f.swallow.Store("")
	to, err := url.Parse(strings.TrimSuffix(s.URL(), "/parse"))
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(to)
	f.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet || strings.HasSuffix(r.URL.Path, "/loginAs") {
			proxy.ServeHTTP(w, r)
			return
		}
		f.sent.Add(1)
		switch f.swallow.Load() {
		case "answer":
			proxy.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler)
		case "request":
			panic(http.ErrAbortHandler)
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(f.server.Close)
	return f
}

func number(field string, n float64) value.Value {
	return value.OfObject([]value.Member{{Name: field, Value: value.OfFloat(n)}})
}

// TestWriteOnce checks that a write with a lost answer is sent once, and settled by reading the record back.
func TestWriteOnce(t *testing.T) {
	s := start(t)
	m := newMatrix(t)
	open := m.names[slicesIndex(m.names, "Open")]
	f := newFront(t, s)
	o, p := s.options("user alice")
	o.URL = f.server.URL + "/parse"
	src, err := parse.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	into, err := src.Writable()
	if err != nil {
		t.Fatal(err)
	}
	w := newWriter(t, into, p)
	id := m.records[open][0]
	for _, tt := range []struct {
		name, swallow string
		write         write.Write
		want          change.State
	}{
		{"answered", "", &write.Update{Class: open, ID: id, Data: data("note", "a")}, change.Applied},
		{"the answer is lost", "answer", &write.Update{Class: open, ID: id, Data: data("note", "b")}, change.Applied},
		{"the request is lost", "request", &write.Update{Class: open, ID: id, Data: data("note", "c")}, change.Unknown},
		{"a create whose answer is lost", "answer", &write.Create{Class: open, Data: data("note", "d")}, change.Unknown},
		{"a delete whose answer is lost", "answer", &write.Delete{Class: open, ID: m.records[open][3]}, change.Applied},
	} {
		f.swallow.Store(tt.swallow)
		before := f.sent.Load()
		sheet, err := w.write(tt.write)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if sent := f.sent.Load() - before; sheet.State != tt.want || sent != 1 {
			t.Errorf("%s: %s after %d requests, want %s after 1", tt.name, sheet.State, sent, tt.want)
		}
	}
	f.swallow.Store("")
	if record := s.must("GET", "/classes/"+open+"/"+id, nil); record["note"] != "b" {
		t.Errorf("the record holds %v", record["note"])
	}
}

func slicesIndex(names []string, prefix string) int {
	for i, n := range names {
		if strings.HasPrefix(n, prefix) {
			return i
		}
	}
	return -1
}

// TestWriteRefuses checks that unsupported writes fail.
func TestWriteRefuses(t *testing.T) {
	s := start(t)
	o, p := s.options("user alice")
	src, err := parse.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	into, err := src.Writable()
	if err != nil {
		t.Fatal(err)
	}
	w := newWriter(t, into, p)
	orders := w.orders(t)
	for _, tt := range []struct {
		write write.Write
		want  string
	}{
		{&write.Update{Class: "_User", ID: "x", Data: data("username", "x")}, "class of Parse itself"},
		{&write.Update{Class: "Product", ID: "x", Data: number("stock", 1)}, "don't grant update"},
		{&write.Update{Class: "Order", ID: "nothere", Data: number("quantity", 1)}, "nothere"},
		{&write.Update{Class: "Order", ID: orders, Data: number("margin", 1)}, "unknown field"},
		{&write.Create{Class: "Note", Data: data("text", "x")}, "there is no class"},
	} {
		if _, err := w.write(tt.write); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v: %v; want %s", tt.write, err, tt.want)
		}
	}
	if role, err := parse.Open(parse.Options{Name: "shop", URL: s.URL(), AppID: "a", MasterKey: "m", As: parse.Role, Role: "support"}); err != nil {
		t.Fatal(err)
	} else if _, err := role.Writable(); err == nil || !strings.Contains(err.Error(), "acts as a role") {
		t.Errorf("a role writes: %v", err)
	}
}

// TestWriteTypes writes fields whose types the rules declare, and checks the values in Parse Server.
func TestWriteTypes(t *testing.T) {
	s := start(t)
	class := "Typed" + strings.ToUpper(rand.Text()[:6])
	s.must("POST", "/schemas/"+class, object{"className": class, "fields": object{"serial": object{"type": "String"}, "payload": object{"type": "String"}, "due": object{"type": "Date"}, "meta": object{"type": "Object"}, "list": object{"type": "Array"}}})
	t.Cleanup(func() { s.must("DELETE", "/schemas/"+class, nil) })
	o, p := s.options("master")
	src, err := parse.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	into, err := src.Writable()
	if err != nil {
		t.Fatal(err)
	}
	w := newWriter(t, into, p)
	read := func(text string) value.Value {
		v, err := value.Read([]byte(text), 0)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	made, err := w.write(&write.Create{Class: class, Data: read(`{"serial":9007199254740993,"payload":[1,"a",{"b":null}],"due":"2026-07-01"}`)})
	if err != nil || made.State != change.Applied {
		t.Fatal(made, err)
	}
	record := s.must("GET", "/classes/"+class, nil)["results"].([]any)[0].(object)
	id := record["objectId"].(string)
	t.Cleanup(func() { s.must("DELETE", "/purge/"+class, nil) })
	if due := record["due"].(object)["iso"]; record["serial"] != "9007199254740993" || record["payload"] != `[1,"a",{"b":null}]` || due != "2026-07-01T00:00:00.000Z" {
		t.Errorf("Parse Server holds %v", record)
	}
	sheet, err := w.write(&write.Update{Class: class, ID: id, Data: read(`{"serial":-5,"due":null}`)})
	if err != nil || sheet.State != change.Applied || !strings.Contains(review.Text(sheet), "serial: 9007199254740993 → -5") || !strings.Contains(review.Text(sheet), "due: 2026-07-01 → ") {
		t.Errorf("%v\n%s", err, review.Text(sheet))
	}
	// Parse Server would treat this value as an operation, which is not the reviewed value.
	if sheet, err := w.write(&write.Update{Class: class, ID: id, Data: read(`{"meta":{"a":{"__op":"Delete"}},"list":[{"__op":"Delete"}]}`)}); err != nil || sheet.State != change.Applied {
		t.Error(sheet, err)
	} else if record := s.must("GET", "/classes/"+class+"/"+id, nil); fmt.Sprint(record["meta"], record["list"]) != "map[a:map[__op:Delete]] [map[__op:Delete]]" {
		t.Errorf("Parse Server holds %v", record)
	}
	for data, want := range map[string]string{`{"meta":{"__op":"Delete"}}`: "__op", `{"meta":{"__type":"Pointer","className":"_User","objectId":"x"}}`: "__type", `{"meta":{"b":1,"__op":"Increment","amount":1}}`: "__op", `{"serial":1.5}`: "whole number", `{"serial":"five"}`: "number", `{"due":"2026-07-01T12:00:00Z"}`: "without a time"} {
		if _, err := w.write(&write.Update{Class: class, ID: id, Data: read(data)}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %s", data, err, want)
		}
	}
	if record := s.must("GET", "/classes/"+class+"/"+id, nil); record["serial"] != "-5" || record["due"] != nil {
		t.Errorf("Parse Server holds %v", record)
	}
}

// orders returns the id of an order that the user alice can see.
func (w *writer) orders(t *testing.T) string {
	m := start(t)
	_, token := m.session("alice")
	_, found := m.found("Order", `{}`, "X-Parse-Session-Token: "+token)
	return idsOf(found)[0]
}
