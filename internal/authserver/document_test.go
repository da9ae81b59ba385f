package authserver_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/authserver"
	"github.com/bailiwick-dev/bailiwick/internal/edge"
	"github.com/bailiwick-dev/bailiwick/store/sqlite"
)

// A deal is an authorization server, a person, and the site of a client. The client's metadata document is at the
// path /client of that site.
type deal struct {
	t      *testing.T
	server *authserver.Server
	who    identity.Principal
	site   *httptest.Server
	answer func(w http.ResponseWriter, id string) // serves the document
	reads  atomic.Int32
}

func newDeal(t *testing.T) *deal {
	t.Helper()
	store, err := sqlite.Open(t.Context(), sqlite.Memory)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return dealOver(t, identity.TokenOptions{Store: store, Audit: store})
}

// dealOver returns a deal that uses a store.
func dealOver(t *testing.T, o identity.TokenOptions) *deal {
	t.Helper()
	d := &deal{t: t}
	d.site = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d.reads.Add(1)
		d.answer(w, d.id())
	}))
	t.Cleanup(d.site.Close)
	tokens := identity.NewTokens(o)
	_, link, err := tokens.Invite(t.Context(), identity.Local("test"), identity.Token{Owner: "ana", Scopes: []identity.Scope{identity.Read, identity.Write, identity.Review}}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	invited, err := tokens.Offer(t.Context(), identity.Link, link, netip.Addr{})
	if err != nil {
		t.Fatal(err)
	}
	d.who = invited.Principal
	client := edge.GuardedClient(time.Minute) // as in production, except for the address and root certificate of the test's site
	client.Transport = d.site.Client().Transport
	d.server = authserver.New(authserver.Options{Now: o.Now, Tokens: tokens, Client: client, Authorize: "/console/allow", Base: func(*http.Request) string { return "https://gate.example" },
		Allow: func(*http.Request) error { return nil }, Admit: func(context.Context, identity.Principal, string) error { return nil }})
	d.answer = func(w http.ResponseWriter, id string) { d.document(w, id, "application/json", "") }
	return d
}

func (d *deal) id() string { return d.site.URL + "/client" }

// document writes the metadata document of a client. more contains additional members.
func (d *deal) document(w http.ResponseWriter, id, mime, more string) {
	w.Header().Set("Content-Type", mime)
	fmt.Fprintf(w, `{"client_id": %q, "client_name": "Planner", "redirect_uris": ["https://planner.example/landing"]%s}`, id, more)
}

const verifier = "a-verifier-of-a-client-that-has-at-least-43-characters"

func (d *deal) ask() (*authserver.Asking, error) {
	sum := sha256.Sum256([]byte(verifier))
	q := url.Values{"response_type": {"code"}, "client_id": {d.id()}, "redirect_uri": {"https://planner.example/landing"}, "state": {"s"}, "scope": {"read"},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"}}
	asking, _, err := d.server.Ask(httptest.NewRequestWithContext(d.t.Context(), "GET", "https://gate.example/console/allow", nil), q, d.who)
	return asking, err
}

// TestClientDocument checks a client whose identifier is the address of its metadata document. The person sees its
// host, the document is read again each time, and the code and tokens are bound to the identifier.
func TestClientDocument(t *testing.T) {
	d := newDeal(t)
	asking, err := d.ask()
	if err != nil || asking.Client.Host != strings.TrimPrefix(d.site.URL, "https://") || asking.Client.DisplayName() != "Planner" || asking.Lands() != "planner.example" {
		t.Fatalf("%+v: %v", asking, err)
	}
	back, err := d.server.Grant(t.Context(), d.who, asking, []identity.Scope{identity.Read})
	if err != nil {
		t.Fatal(err)
	}
	to, err := url.Parse(back)
	if err != nil || to.Host != "planner.example" || to.Query().Get("iss") != "https://gate.example" {
		t.Fatal(back, err)
	}
	mux := http.NewServeMux()
	d.server.Mount(mux)
	redeem := func(client string) map[string]any {
		f := url.Values{"grant_type": {"authorization_code"}, "client_id": {client}, "code": {to.Query().Get("code")}, "redirect_uri": {"https://planner.example/landing"}, "code_verifier": {verifier}}
		r := httptest.NewRequestWithContext(t.Context(), "POST", "/oauth/token", strings.NewReader(f.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, r)
		var out map[string]any
		if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil {
			t.Fatal(w.Code, err)
		}
		return out
	}
	if out := redeem(d.id()); out["scope"] != "read" || !strings.HasPrefix(fmt.Sprint(out["access_token"]), "bwa_") {
		t.Error(out)
	}
	if _, err := d.ask(); err != nil || d.reads.Load() != 2 {
		t.Error("the document was read", d.reads.Load(), "times:", err)
	}
}

// TestClientDocumentRefused checks documents that aren't valid or aren't the client's own. They admit no client, and
// their redirects are not followed.
func TestClientDocumentRefused(t *testing.T) {
	d := newDeal(t)
	for name, tt := range map[string]struct {
		answer func(w http.ResponseWriter, id string)
		want   string
	}{
		"of another client": {func(w http.ResponseWriter, id string) { d.document(w, id+"x", "application/json", "") }, "another client's"},
		"with a secret": {func(w http.ResponseWriter, id string) {
			d.document(w, id, "application/json", `, "token_endpoint_auth_method": "client_secret_basic"`)
		}, "Only public clients"},
		"of another type": {func(w http.ResponseWriter, id string) { d.document(w, id, "text/html", "") }, "not JSON"},
		"that is too long": {func(w http.ResponseWriter, id string) {
			d.document(w, id, "application/json", `, "x": "`+strings.Repeat("x", 6000)+`"`)
		}, "not JSON of at most"},
		"that is elsewhere": {func(w http.ResponseWriter, id string) { w.Header().Set("Location", "/other"); w.WriteHeader(302) }, "not JSON"},
		"that is not there": {func(w http.ResponseWriter, _ string) { w.WriteHeader(404) }, "not JSON"},
		"without the redirect": {func(w http.ResponseWriter, id string) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"client_id": %q, "redirect_uris": ["https://planner.example/other"]}`, id)
		}, "isn't the client's own"},
		"with a hostile redirect": {func(w http.ResponseWriter, id string) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"client_id": %q, "redirect_uris": ["javascript:alert(1)"]}`, id)
		}, "codes can't be sent"},
		"with two lists of redirects": {func(w http.ResponseWriter, id string) {
			d.document(w, id, "application/json", `, "redirect_uris": ["https://planner.example/other"]`)
		}, "or has a name twice"},
		"that breaks off": {func(w http.ResponseWriter, _ string) { panic(http.ErrAbortHandler) }, "can't be read"},
	} {
		d.answer = tt.answer
		d.reads.Store(0)
		asking, err := d.ask()
		if asking != nil || err == nil || !strings.Contains(err.Error(), tt.want) || d.reads.Load() > 2 {
			t.Errorf("a document %s: %+v, %v, read %d times", name, asking, err, d.reads.Load())
		}
	}
	d.answer = func(w http.ResponseWriter, id string) { d.document(w, id, "application/json", "") }
	d.server.Client = edge.GuardedClient(time.Minute) // it connects only to public addresses
	if asking, err := d.ask(); asking != nil || err == nil || !strings.Contains(err.Error(), "can't be read") {
		t.Error("a document of this machine is read:", asking, err)
	}
}
