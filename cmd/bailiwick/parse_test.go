package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/bailiwick-dev/bailiwick/test/services"
)

// TestParse runs the scripts that require a Parse Server. They run one after another, because each sees the classes
// that the others create.
func TestParse(t *testing.T) {
	for _, file := range scriptsIn(t, "testdata/parse") {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) { playParse(t, services.Parse(t), file) })
	}
}

// TestParseExample runs the conversation of examples/parse, in which an agent refunds an order.
func TestParseExample(t *testing.T) {
	playParse(t, services.ParseAlone(t), "testdata/parse/alone/example.txtar")
}

// playParse runs a script. $PARSE is the address of the server, and $FRONT is the address of a proxy in front of it.
// The script command front controls the proxy.
func playParse(t *testing.T, s services.ParseServer, file string) {
	examples, err := filepath.Abs("../../examples")
	if err != nil {
		t.Fatal(err)
	}
	runScripts(t, []string{file}, func(env *testscript.Env) error {
		to, err := url.Parse(strings.TrimSuffix(s.URL(), "/parse"))
		if err != nil {
			return err
		}
		f := &parseFront{to: httputil.NewSingleHostReverseProxy(to)}
		server := httptest.NewServer(f)
		env.Defer(server.Close)
		env.Values["front"] = f
		for name, v := range map[string]string{"PARSE": s.URL(), "FRONT": server.URL + "/parse", "EXAMPLES": examples, "PARSE_APP_ID": s.AppID, "PARSE_MASTER_KEY": s.MasterKey,
			"PARSE_REST_KEY": s.RESTKey, "PARSE_URL": s.URL(), "CLASS": "Gone" + rand.Text()[:6]} {
			env.Setenv(name, v)
		}
		return nil
	})
}

// A parseFront forwards requests to a Parse Server or answers itself.
type parseFront struct {
	to     http.Handler
	answer atomic.Pointer[http.HandlerFunc] // nil forwards requests
}

func (f *parseFront) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h := f.answer.Load(); h != nil {
		(*h)(w, r)
		return
	}
	f.to.ServeHTTP(w, r)
}

// front passes|fails|html|garbage|hangs-up sets the behaviour of the proxy in front of the Parse Server. Its own
// answers contain the word "canary", which must never become visible.
func front(ts *testscript.TestScript, _ bool, args []string) {
	says := func(status int, kind, body string) *http.HandlerFunc {
		h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.WriteHeader(status)
			fmt.Fprint(w, body)
		})
		return &h
	}
	hangsUp := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	answers := map[string]*http.HandlerFunc{"passes": nil, "fails": says(500, "application/json", `{"code":1,"message":"canary"}`), "html": says(200, "text/html", "<html>canary"),
		"garbage": says(200, "application/json", "\x00\xff{canary"), "hangs-up": &hangsUp}
	h, known := answers[args[0]]
	if !known {
		ts.Fatalf("the proxy has no %s", args[0])
	}
	ts.Value("front").(*parseFront).answer.Store(h)
}

// parseRequest METHOD PATH [JSON] sends a request to the Parse Server with the master key.
func parseRequest(ts *testscript.TestScript, _ bool, args []string) {
	body := ""
	if len(args) > 2 {
		body = args[2]
	}
	path, where, asks := strings.Cut(args[1], "?where=")
	if asks {
		path += "?where=" + url.QueryEscape(where)
	}
	r, err := http.NewRequest(args[0], ts.Getenv("PARSE")+path, strings.NewReader(body))
	ts.Check(err)
	r.Header.Set("X-Parse-Application-Id", ts.Getenv("PARSE_APP_ID"))
	r.Header.Set("X-Parse-Master-Key", ts.Getenv("PARSE_MASTER_KEY"))
	r.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(r)
	ts.Check(err)
	defer resp.Body.Close()
	var answer strings.Builder
	ts.Check(resp.Write(&answer))
	if resp.StatusCode >= 300 {
		ts.Fatalf("%s %s: %s", args[0], args[1], answer.String())
	}
	if i := strings.Index(answer.String(), `"objectId":"`); i >= 0 {
		id, _, _ := strings.Cut(answer.String()[i+len(`"objectId":"`):], `"`)
		ts.Setenv("ID", id)
	}
}

// TestMongoDB runs the scripts that require a server with MongoDB's protocol. They run on FerretDB, and on an
// evaluator of aggregations that stores data which FerretDB doesn't support. $MONGODB is the URL of an empty
// database.
func TestMongoDB(t *testing.T) {
	t.Run("FerretDB", func(t *testing.T) {
		playMongoDB(t, services.FerretDB, "testdata/mongodb", "testdata/mongodb/large")
	})
	t.Run("Mingo", func(t *testing.T) { playMongoDB(t, services.Mingo, "testdata/mongodb", "testdata/mongodb/odd") })
}

func playMongoDB(t *testing.T, server func(testing.TB) string, dirs ...string) {
	server(t) // starts the server or skips the test
	var files []string
	for _, dir := range dirs {
		files = append(files, scriptsIn(t, dir)...)
	}
	runScripts(t, files, func(env *testscript.Env) error {
		database := server(t)
		host, name, _ := strings.Cut(strings.TrimPrefix(database, "mongodb://"), "/")
		env.Setenv("MONGODB", database)
		env.Setenv("MONGODB_HOST", host)
		env.Setenv("MONGODB_NAME", name)
		return nil
	})
}

// insert COLLECTION DOCUMENT... adds documents in extended JSON to $MONGODB. LONG stands for 15 MiB of text, and DEEP
// for a document of 98 levels.
func insert(ts *testscript.TestScript, _ bool, args []string) {
	address := ts.Getenv("MONGODB")
	client, err := mongo.Connect(options.Client().ApplyURI(address))
	ts.Check(err)
	defer client.Disconnect(context.Background())
	for _, text := range args[1:] {
		text = strings.NewReplacer("LONG", strings.Repeat("x", 15<<20), "DEEP", strings.Repeat(`{"a":`, 98)+"1"+strings.Repeat("}", 98)).Replace(text)
		var doc bson.D
		ts.Check(bson.UnmarshalExtJSON([]byte(text), false, &doc))
		_, err := client.Database(address[strings.LastIndexByte(address, '/')+1:]).Collection(args[0]).InsertOne(context.Background(), doc)
		ts.Check(err)
	}
}

// drop COLLECTION removes a collection from $MONGODB.
func drop(ts *testscript.TestScript, _ bool, args []string) {
	address := ts.Getenv("MONGODB")
	client, err := mongo.Connect(options.Client().ApplyURI(address))
	ts.Check(err)
	defer client.Disconnect(context.Background())
	ts.Check(client.Database(address[strings.LastIndexByte(address, '/')+1:]).Collection(args[0]).Drop(context.Background()))
}
