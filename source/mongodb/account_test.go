package mongodb_test

import (
	"bytes"
	"context"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/source/mongodb"
	"github.com/bailiwick-dev/bailiwick/test/services"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest/writing"
)

// accounts is a server with users, and the configuration of one user.
type accounts struct {
	*mongo.Database
	t    *testing.T
	base *url.URL
	now  atomic.Pointer[string] // the configured URL
}

// newAccounts configures a new user. further contains additional options for the URL.
func newAccounts(t *testing.T, user, password, further string) *accounts {
	t.Helper()
	root := services.FerretDBUsers(t)
	client, err := mongo.Connect(options.Client().ApplyURI(root))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Disconnect(context.Background()) })
	a := &accounts{t: t}
	if a.base, err = url.Parse(root); err != nil {
		t.Fatal(err)
	}
	a.Database = client.Database(strings.TrimPrefix(a.base.Path, "/"))
	a.base.RawQuery = "authSource=" + a.Name() + further
	a.run(bson.D{{Key: "createUser", Value: user}, {Key: "pwd", Value: password}, {Key: "roles", Value: bson.A{}}})
	a.configure(user, password)
	return a
}

func (a *accounts) run(command bson.D) {
	a.t.Helper()
	if err := a.RunCommand(a.t.Context(), command).Err(); err != nil {
		a.t.Fatal(err)
	}
}

// configure sets the user and the password in the configuration.
func (a *accounts) configure(user, password string) {
	u := *a.base
	u.User = url.UserPassword(user, password)
	text := u.String()
	a.now.Store(&text)
}

// password changes a user's password on the server.
func (a *accounts) password(user, password string) {
	a.t.Helper()
	a.run(bson.D{{Key: "updateUser", Value: user}, {Key: "pwd", Value: password}, {Key: "roles", Value: bson.A{}}})
}

// open opens the database for reading and writing.
func (a *accounts) open() *mongodb.Writable {
	a.t.Helper()
	s, err := mongodb.Open(a.t.Context(), mongodb.Options{Name: "app", URL: *a.now.Load(), Declared: written,
		Current: func(string) (string, bool) { return *a.now.Load(), true }})
	if err != nil {
		a.t.Fatal(err)
	}
	w, err := s.Writable(a.t.Context(), "")
	if err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(func() { w.Close() })
	return w
}

// one waits until there is only one client for reading and one for writing. Former clients close when their calls
// have ended.
func (a *accounts) one(w *mongodb.Writable) {
	a.t.Helper()
	ctx, cancel := context.WithTimeout(a.t.Context(), time.Minute)
	defer cancel()
	for reading, writing := w.Clients(); reading != 1 || writing != 1; reading, writing = w.Clients() {
		if runtime.Gosched(); ctx.Err() != nil {
			a.t.Fatalf("%d clients for reading and %d for writing are open", reading, writing)
		}
	}
}

// TestRenew first changes the password in the configuration. The former password must stay in use until the server
// accepts the new one. No call may fail, with or without a reload.
func TestRenew(t *testing.T) {
	a := newAccounts(t, "reader", "one", "&maxIdleTimeMS=1") // each command opens a new connection
	w := a.open()
	a.configure("reader", "two")
	if err := w.Renew(t.Context()); err == nil || strings.Contains(err.Error(), "two") || !strings.Contains(err.Error(), "AuthenticationFailed") {
		t.Errorf("a password that the server doesn't know: %v", err)
	}
	if err := w.Ping(t.Context()); err != nil {
		t.Error(err)
	}
	a.password("reader", "two")
	if err := w.Ping(t.Context()); err != nil {
		t.Error(err)
	}
	if err := w.Renew(t.Context()); err != nil {
		t.Error(err)
	}
	a.one(w)
	a.password("reader", "three")
	if err := w.Ping(t.Context()); err == nil {
		t.Error("the server takes a password that it no longer has")
	}
	a.configure("reader", "three")
	if err := w.Ping(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestRenewUnderLoad changes the password and then the user, while records are read and changes applied. No call may
// fail, each change must be made once, and the former clients must be closed.
func TestRenewUnderLoad(t *testing.T) {
	a := newAccounts(t, "first", "one", "")
	if _, err := a.Collection("hits").InsertOne(t.Context(), bson.D{{Key: "nr", Value: int32(-1)}}); err != nil {
		t.Fatal(err)
	}
	w := a.open()
	classes, _, err := w.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	rules, err := policy.New(policy.Rules{Unlisted: true}, classes)
	if err != nil {
		t.Fatal(err)
	}
	permit, err := rules.Read(identity.Principal{ID: "test", Scopes: []identity.Scope{identity.Read}}, &query.Count{Class: "hits"})
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	var reads atomic.Int64
	ended, end := context.WithCancel(t.Context())
	read := make(chan struct{})
	for range 3 {
		all.Go(func() {
			for ended.Err() == nil {
				if rows, err := sourcetest.Collect(t.Context(), w, permit); err != nil || len(rows) != 1 {
					t.Errorf("a read of %d rows: %v", len(rows), err)
					return
				}
				reads.Add(1)
				select {
				case read <- struct{}{}:
				default:
				}
			}
		})
	}
	const changes = 60
	var said bytes.Buffer
	all.Go(func() {
		defer end()
		if err := (writing.Executor{From: 1, To: changes, Each: 1, Fence: 1, Beside: 3}).Execute(w, &said); err != nil {
			t.Error(err)
		}
	})
	further := func() { // waits until more reads have ended
		for range 10 {
			select {
			case <-read:
			case <-ended.Done(): // the test has failed
			}
		}
	}
	further()
	a.configure("first", "two")
	a.password("first", "two")
	further()
	if err := w.Renew(t.Context()); err != nil {
		t.Error(err)
	}
	further()
	a.run(bson.D{{Key: "createUser", Value: "second"}, {Key: "pwd", Value: "three"}, {Key: "roles", Value: bson.A{}}})
	a.configure("second", "three")
	if err := w.Renew(t.Context()); err != nil {
		t.Error(err)
	}
	a.run(bson.D{{Key: "dropUser", Value: "first"}})
	if ended.Err() != nil {
		t.Error("all changes were applied before the last user came")
	}
	all.Wait()
	a.one(w)
	for n := 1; n <= changes; n++ {
		if made, err := a.Collection("hits").CountDocuments(t.Context(), bson.D{{Key: "nr", Value: n}}); made != 1 || err != nil {
			t.Errorf("change %d was made %d times: %v", n, made, err)
		}
	}
	t.Logf("%d reads beside %d changes", reads.Load(), changes)
}
