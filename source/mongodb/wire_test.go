package mongodb_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/literals"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/source/mongodb"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest"
)

// A tape records the commands that a server receives.
type tape struct {
	sync.Mutex
	commands []string
}

// session matches text that depends on the connection or the moment.
var session = regexp.MustCompile(`,"(lsid|\$clusterTime|\$readPreference)":\{[^{}]*(\{[^{}]*(\{[^{}]*\}[^{}]*)*\}[^{}]*)*\}|,"maxTimeMS":\d+|bailiwick [0-9a-f]{24}`)

func (k *tape) add(command bson.Raw) {
	text, err := bson.MarshalExtJSON(command, false, false)
	if err != nil {
		panic(err)
	}
	k.Lock()
	defer k.Unlock()
	k.commands = append(k.commands, session.ReplaceAllStringFunc(string(text), func(s string) string {
		if strings.HasPrefix(s, ",") {
			return ""
		}
		return "bailiwick …"
	}))
}

// named returns the recorded commands with this name.
func (k *tape) named(name string) []string {
	k.Lock()
	defer k.Unlock()
	return slices.DeleteFunc(slices.Clone(k.commands), func(c string) bool { return !strings.HasPrefix(c, `{"`+name+`":`) })
}

// articles are the documents of the servers in these tests. The server returns all of them for any query, like an
// index that finds too many documents.
func articles() map[string][]bson.Raw {
	doc := func(id, org, title, body string) bson.Raw {
		return marshalled(bson.D{{Key: "_id", Value: id}, {Key: "org", Value: org}, {Key: "title", Value: title}, {Key: "body", Value: body}})
	}
	return map[string][]bson.Raw{"articles": {doc("a1", "acme", "Slow login page", "x"), doc("a2", "acme", "Logins", "slow"), doc("a3", "acme", "x", "a slow, slow login page")}}
}

// TestTextSearchSends checks the commands of a text search for MongoDB 7.0, with an index of $text and with one of
// Atlas Search. The expected commands follow MongoDB's documentation, because no such server was available.
func TestTextSearchSends(t *testing.T) {
	for _, tt := range []struct {
		name        string
		collections map[string]mongodb.Collection
		search      string
		want        string // the pipeline
		found       string
	}{
		{"text", nil, `slow "login page"`,
			`[{"$match":{"$text":{"$search":"\"slow\" \"login page\""}}},{"$match":{"$and":[{"org":{"$eq":"acme"}},{"org.0":{"$exists":false}}]}},{"$project":{"_id":1,"title":1,"body":1}}]`, "a1 a3"},
		{"Atlas", map[string]mongodb.Collection{"articles": {Index: "default", Search: []string{"title", "body", "org"}}}, `slow "login page"`,
			`[{"$search":{"index":"default","compound":{"filter":[{"phrase":{"query":"slow","path":["title","body"]}},{"phrase":{"query":"login page","path":["title","body"]}}]}}},` +
				`{"$match":{"$and":[{"org":{"$eq":"acme"}},{"org.0":{"$exists":false}}]}},{"$project":{"_id":1,"title":1,"body":1}}]`, "a1 a3"},
		{"Atlas, one field", map[string]mongodb.Collection{"articles": {Index: "default", Search: []string{"title"}}}, `slow`,
			`[{"$search":{"index":"default","compound":{"filter":[{"phrase":{"query":"slow","path":["title"]}}]}}},{"$match":{"$and":[{"org":{"$eq":"acme"}},{"org.0":{"$exists":false}}]}},{"$project":{"_id":1,"title":1,"body":1}}]`, "a1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got tape
			url := serving(t, func(command bson.Raw) []byte {
				got.add(command)
				if name, _ := command.Lookup("listIndexes").StringValueOK(); name != "" {
					return page(name, []bson.Raw{marshalled(bson.D{{Key: "v", Value: 2}, {Key: "key", Value: bson.D{{Key: "_id", Value: 1}}}, {Key: "name", Value: "_id_"}}),
						marshalled(bson.D{{Key: "v", Value: 2}, {Key: "key", Value: bson.D{{Key: "_fts", Value: "text"}, {Key: "_ftsx", Value: 1}}}, {Key: "name", Value: "words"},
							{Key: "weights", Value: bson.D{{Key: "body", Value: 1}, {Key: "title", Value: 1}}}})})
				}
				return answerTo(command, articles())
			})
			s, err := mongodb.Open(t.Context(), mongodb.Options{Name: "suite", URL: url, Collections: tt.collections})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			classes, warnings, err := s.Describe(t.Context())
			if err != nil || len(warnings) > 0 {
				t.Fatal(warnings, err)
			}
			p, err := policy.New(policy.Rules{Unlisted: true, Classes: map[string]policy.ClassRule{"articles": {Tenant: &policy.TenantRule{Field: "org"}, Denied: []string{"org"}}}}, classes)
			if err != nil {
				t.Fatal(err)
			}
			words, err := literals.ParseSearch(tt.search, "/query")
			if err != nil {
				t.Fatal(err)
			}
			before := len(got.named("aggregate"))
			permit, err := p.Read(identity.Principal{ID: "test", Tenant: "acme", Scopes: []identity.Scope{identity.Read}}, &query.Find{Class: "articles", Search: words, Limit: 10})
			if err != nil {
				t.Fatal(err)
			}
			rows, err := sourcetest.Collect(t.Context(), s, permit)
			if err != nil {
				t.Fatal(err)
			}
			var ids []string
			for _, row := range rows {
				ids = append(ids, row[0].Text())
			}
			if slices.Sort(ids); strings.Join(ids, " ") != tt.found {
				t.Errorf("found %v, want %s", ids, tt.found)
			}
			sent := got.named("aggregate")[before:]
			want := `{"aggregate":"articles","pipeline":` + tt.want + `,"cursor":{"batchSize":1000},"allowDiskUse":true,"comment":"bailiwick …","collation":{"locale":"simple"},"$db":"suite"}`
			if len(sent) != 1 || sent[0] != want {
				t.Errorf("sent\n%s\nwant\n%s", strings.Join(sent, "\n"), want)
			}
		})
	}
}

// TestCancelSends cancels a query that the server is still running. The source must ask the server for the operations
// with the query's comment, and must send a request to stop only these.
func TestCancelSends(t *testing.T) {
	var got tape
	started, killed := make(chan string, 1), make(chan struct{})
	var once sync.Once
	url := serving(t, func(command bson.Raw) []byte {
		got.add(command)
		first, _ := command.IndexErr(0)
		switch first.Key() {
		case "aggregate":
			if comment, _ := command.Lookup("comment").StringValueOK(); strings.Contains(command.String(), "stuck") {
				started <- comment
				<-killed
				return marshalled(bson.D{{Key: "ok", Value: 0.0}, {Key: "code", Value: 11601}, {Key: "codeName", Value: "Interrupted"}, {Key: "errmsg", Value: "operation was interrupted"}})
			}
		case "currentOp":
			comment, _ := command.Lookup("command.comment").StringValueOK()
			op := func(id int32, comment string) bson.D {
				return bson.D{{Key: "opid", Value: id}, {Key: "command", Value: bson.D{{Key: "aggregate", Value: "articles"}, {Key: "comment", Value: comment}}}}
			}
			return marshalled(bson.D{{Key: "inprog", Value: bson.A{op(4710, "of another"), op(4711, comment)}}, {Key: "ok", Value: 1.0}})
		case "killOp":
			once.Do(func() { close(killed) })
			return marshalled(bson.D{{Key: "ok", Value: 1.0}})
		}
		return answerTo(command, articles())
	})
	s, err := mongodb.Open(t.Context(), mongodb.Options{Name: "suite", URL: url})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	classes, _, err := s.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.New(policy.Rules{Unlisted: true}, classes)
	if err != nil {
		t.Fatal(err)
	}
	where, err := query.ParseWhere(readValue(t, `{"title":"stuck"}`), "/where")
	if err != nil {
		t.Fatal(err)
	}
	permit, err := p.Read(identity.Principal{ID: "test", Scopes: []identity.Scope{identity.Read}}, &query.Find{Class: "articles", Where: where, Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-started
		cancel()
	}()
	if _, err := sourcetest.Collect(ctx, s, permit); err == nil {
		t.Error("a query that was ended has an answer")
	}
	select {
	case <-killed:
	case <-time.After(time.Minute):
		t.Fatal("no killOp came")
	}
	want := `[{"currentOp":1,"command.comment":"bailiwick …","$db":"admin"}] [{"killOp":1,"op":4711,"$db":"admin"}]`
	if sent := fmt.Sprint(got.named("currentOp"), " ", got.named("killOp")); sent != want {
		t.Errorf("sent %s\nwant %s", sent, want)
	}
}

// TestNotMongoDB opens servers that speak another protocol or nothing. The error must be one sentence, come in time
// and not contain the password.
func TestNotMongoDB(t *testing.T) {
	deep := bytes.Repeat([]byte{3, 'a', 0, 255, 255, 255, 127}, 1000)
	for name, says := range map[string]string{"HTML": "HTTP/1.1 400 Bad Request\r\nContent-Type: text/html\r\n\r\n<html>canary</html>", "nothing": "", "zeros": strings.Repeat("\x00", 64),
		"a length of 2 GB": "\xff\xff\xff\x7f\x00\x00\x00\x00\x00\x00\x00\x00\xdd\x07\x00\x00", "garbage in a frame": "\x40\x00\x00\x00\x01\x00\x00\x00\x01\x00\x00\x00\xdd\x07\x00\x00" + strings.Repeat("\xee", 48),
		"a document of lies": string(append([]byte{0x68, 0x1b, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0xdd, 7, 0, 0, 0, 0, 0, 0, 0}, deep...))} {
		t.Run(name, func(t *testing.T) {
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer listener.Close()
			go func() {
				for {
					conn, err := listener.Accept()
					if err != nil {
						return
					}
					go func() {
						conn.Read(make([]byte, 4096))
						conn.Write([]byte(says))
						conn.Close()
					}()
				}
			}()
			s, err := mongodb.Open(t.Context(), mongodb.Options{Name: "shop", URL: "mongodb://" + listener.Addr().String() + "/shop?serverSelectionTimeoutMS=300&appName=hunter2"})
			if err == nil {
				s.Close()
				t.Fatal("it was opened")
			}
			if text := err.Error(); !strings.HasPrefix(text, "source shop: ") || strings.Contains(text, "canary") || strings.Contains(text, "hunter2") || strings.Contains(text, "\n") {
				t.Error(text)
			}
		})
	}
}
