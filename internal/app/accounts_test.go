package app_test

import (
	"context"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/app"
	"github.com/bailiwick-dev/bailiwick/test/services"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
)

// TestMongoDBRotates changes the user and the password of a MongoDB source in its file. A reload applies them and
// requires no restart. If the server refuses them, the reload reports it, and the previous ones stay in use. A change
// of any other setting requires a restart.
func TestMongoDBRotates(t *testing.T) {
	root := services.FerretDBUsers(t)
	client, err := mongo.Connect(options.Client().ApplyURI(root))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Disconnect(context.Background())
	u, err := url.Parse(root)
	if err != nil {
		t.Fatal(err)
	}
	db := client.Database(strings.TrimPrefix(u.Path, "/"))
	user := func(command, name, password string) {
		t.Helper()
		if err := db.RunCommand(t.Context(), bson.D{{Key: command, Value: name}, {Key: "pwd", Value: password}, {Key: "roles", Value: bson.A{}}}).Err(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := db.Collection("notes").InsertOne(t.Context(), bson.D{{Key: "_id", Value: "n1"}}); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	put := func(name, text string) {
		t.Helper()
		written(t, filepath.Join(dir, name), []byte(text))
	}
	file := filepath.Join(dir, "bailiwick.yaml")
	const account = `${file:user}:${file:password}`
	configured := func(more string) string {
		return "store: sqlite:b.db\nsources:\n  docs: {url: \"mongodb://" + account + "@" + u.Host + u.Path + "?authSource=" + db.Name() + more + "\"}\npolicy: {unlisted: visible}\n"
	}
	put("user", "first\n")
	put("password", "one\n")
	put("bailiwick.yaml", configured(""))
	user("createUser", "first", "one")
	started, err := app.LoadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	p, err := app.Build(t.Context(), started)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	read := func() {
		t.Helper()
		who := identity.Principal{ID: "token:1", Kind: identity.Agent, Owner: "ann", Scopes: []identity.Scope{identity.Read}}
		r, err := p.Tools.Call(t.Context(), who, tool.Request{Name: "count_objects", Arguments: value.OfObject([]value.Member{{Name: "class_name", Value: value.OfString("notes")}})})
		if err != nil || r.Text != "1" {
			t.Error(r.Text, err)
		}
	}
	reload := func(warns string, restart ...string) {
		t.Helper()
		c, err := app.LoadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if keys := app.Restart(started, c); !slices.Equal(keys, restart) {
			t.Errorf("a restart is needed for %v, want %v", keys, restart)
		}
		warnings, err := p.Reload(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(warnings, "\n"); got != warns {
			t.Errorf("got  %s\nwant %s", got, warns)
		}
		read()
	}
	read()
	put("user", "first\n")
	put("password", "two\n")
	reload("the former user and password stay in use, and the new ones are tried again when the server refuses these: source docs: the server refuses (AuthenticationFailed, code 18)")
	user("updateUser", "first", "two")
	read()
	user("createUser", "second", "three")
	put("user", "second\n")
	put("password", "three\n")
	reload("")
	if err := db.RunCommand(t.Context(), bson.D{{Key: "dropUser", Value: "first"}}).Err(); err != nil {
		t.Fatal(err)
	}
	read()
	put("bailiwick.yaml", configured("&maxPoolSize=7"))
	reload("", "sources.docs")
}
