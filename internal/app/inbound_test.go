package app

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/edge"
	"github.com/bailiwick-dev/bailiwick/internal/once"
	"github.com/bailiwick-dev/bailiwick/internal/webhook"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/store/sqlite"
)

// TestRefusedQuietly checks that requests without a valid signature are only counted as refusals, without a log line
// for each.
func TestRefusedQuietly(t *testing.T) {
	secret := []byte("the secret of the hook")
	var log bytes.Buffer
	d := NewInbound(InboundOptions{Hooks: []webhook.Hook{{Name: "ops", Secret: secret, People: map[string]webhook.Person{"u1": {}}, As: webhook.Person{Owner: "ana"}}}, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	old := time.Now().Add(-time.Hour)
	for _, tt := range []struct{ path, signature, kind string }{
		{"ops", "", "signature"},
		{"ops", webhook.Sign([]byte("another"), "m1", old, []byte("{}")), "signature"},
		{"none", webhook.Sign(secret, "m1", old, []byte("{}")), "signature"},
		{"ops", webhook.Sign(secret, "m1", old, []byte("{}")), "signature_time"},
	} {
		ctx, trace := edge.WithTrace(t.Context())
		r := httptest.NewRequestWithContext(ctx, "POST", inboundPath+tt.path, strings.NewReader("{}"))
		r.Header.Set("Webhook-Id", "m1")
		r.Header.Set("Webhook-Timestamp", strconv.FormatInt(old.Unix(), 10))
		r.Header.Set("Webhook-Signature", tt.signature)
		w := httptest.NewRecorder()
		d.ServeHTTP(w, r)
		if got := trace.Refusal("http", netip.Addr{}); w.Code != 401 || got.Kind != tt.kind {
			t.Errorf("%s %q: %d, %q; want 401, %q", tt.path, tt.signature, w.Code, got.Kind, tt.kind)
		}
	}
	if log.Len() > 0 {
		t.Errorf("logged: %s", &log)
	}
}

// TestDecisionsRefused checks that signed but refused decisions are logged with their reason, even if Slack gets the
// status 200.
func TestDecisionsRefused(t *testing.T) {
	secret, now := []byte("the secret of the hook"), time.Now()
	gone := func(context.Context, webhook.Person) (identity.Principal, error) {
		return identity.Principal{}, &problem.Error{Code: problem.PermissionDenied, Kind: "person_gone", Detail: "gone"}
	}
	people := map[string]webhook.Person{"u1": {Owner: "ana"}}
	d := NewInbound(InboundOptions{Hooks: []webhook.Hook{{Name: "ops", Secret: secret, People: people, As: webhook.Person{Owner: "ana"}},
		{Name: "chat", Form: webhook.Slack, Secret: secret, People: people, As: webhook.Person{Owner: "ana"}}}, Person: gone, Used: &once.Memory{}})
	for i, tt := range []struct {
		account, kind string
		status        int
	}{{"u9", "account", 403}, {"u1", "person_gone", 403}} {
		for _, hook := range []string{"ops", "chat"} {
			name, status := strconv.Itoa(i), tt.status
			body := `{"change_id":"c","digest":"d","decision":"approve","account":"` + tt.account + `"}`
			if hook == "chat" {
				body = url.Values{"payload": {`{"type":"block_actions","user":{"id":"` + tt.account + `"},"actions":[{"action_id":"approve","value":"c d"}]}`}}.Encode()
				status = 200
			}
			ctx, trace := edge.WithTrace(t.Context())
			r := httptest.NewRequestWithContext(ctx, "POST", inboundPath+hook, strings.NewReader(body))
			stamp := strconv.FormatInt(now.Unix(), 10)
			m := hmac.New(sha256.New, secret)
			m.Write([]byte("v0:" + stamp + ":" + body))
			for name, text := range map[string]string{"Webhook-Id": name, "Webhook-Timestamp": stamp, "Webhook-Signature": webhook.Sign(secret, name, now, []byte(body)),
				"X-Slack-Request-Timestamp": stamp, "X-Slack-Signature": "v0=" + hex.EncodeToString(m.Sum(nil))} {
				r.Header.Set(name, text)
			}
			w := httptest.NewRecorder()
			d.ServeHTTP(w, r)
			if got := trace.Refusal("http", netip.Addr{}); w.Code != status || got.Kind != tt.kind || got.Principal != "hook:"+hook {
				t.Errorf("%s of %s: %d, %q by %q; want %d, %q", tt.account, hook, w.Code, got.Kind, got.Principal, status, tt.kind)
			}
		}
	}
}

// TestPeopleWithoutTenant checks that a hook without a tenant reports why its people can't decide.
func TestPeopleWithoutTenant(t *testing.T) {
	secret, now := []byte("the secret of the hook"), time.Now()
	store, err := sqlite.Open(t.Context(), sqlite.Memory)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	tokens := identity.NewTokens(identity.TokenOptions{Store: store, Audit: store})
	if _, _, err := tokens.Invite(t.Context(), identity.Local("test"), identity.Token{Owner: "rosa", Tenant: "acme", Scopes: []identity.Scope{identity.Review}}, time.Hour); err != nil {
		t.Fatal(err)
	}
	d := NewInbound(InboundOptions{Hooks: []webhook.Hook{{Name: "ops", Secret: secret, People: map[string]webhook.Person{"u1": {Owner: "rosa"}, "u2": {Owner: "nora"}}, As: webhook.Person{Owner: "rosa"}}},
		Used: &once.Memory{}, Person: func(ctx context.Context, who webhook.Person) (identity.Principal, error) {
			return tokens.FindPerson(ctx, who.Owner, who.Tenant)
		}})
	for account, want := range map[string]string{"u1": "The operator writes tenant into notifications.webhooks.ops.", "u2": "This person isn't known here"} {
		body := `{"change_id":"c","digest":"d","decision":"approve","account":"` + account + `"}`
		r := httptest.NewRequestWithContext(t.Context(), "POST", inboundPath+"ops", strings.NewReader(body))
		r.Header.Set("Webhook-Id", account)
		r.Header.Set("Webhook-Timestamp", strconv.FormatInt(now.Unix(), 10))
		r.Header.Set("Webhook-Signature", webhook.Sign(secret, account, now, []byte(body)))
		w := httptest.NewRecorder()
		d.ServeHTTP(w, r)
		if w.Code != 403 || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: %d %s, want %q", account, w.Code, w.Body, want)
		}
	}
}

// TestDecisionsReadOnce checks that a body has only one meaning. A name that occurs twice, or in another spelling,
// causes no decision.
func TestDecisionsReadOnce(t *testing.T) {
	for body, want := range map[string]string{
		`{"change_id":"c","digest":"d","decision":"reject","account":"u1"}`:                                       "reject",
		`{"change_id":"c","digest":"d","decision":"reject","account":"u1","decision":"approve"}`:                  "refused",
		`{"change_id":"c","digest":"d","decision":"reject","account":"u1","Decision":"approve"}`:                  "refused",
		`{"change_id":"c","digest":"d","decision":"reject","account":"u1","deci\u017fion":"approve"}`:             "refused",
		`{"change_id":"c","digest":"d","decision":"reject","account":"u1"}{"change_id":"c","decision":"approve"}`: "refused",
		`{"change_id":"c","digest":"d","decision":"reject","account":"u1","text":"a\u0000b"}`:                     "refused",
		`{"change_id":"c","digest":"d","decision":"reject","account":"u1","other":"approve"}`:                     "refused",
		`[{"change_id":"c","digest":"d","decision":"reject","account":"u1"}]`:                                     "refused",
	} {
		asked, err := readInbound(&webhook.Hook{}, []byte(body))
		got := asked.Verb
		if err != nil {
			got = "refused"
		}
		if got != want {
			t.Errorf("%s: %s, %v; want %s", body, got, err, want)
		}
	}
}

// TestWorkspaces checks that an account of another Slack workspace is not taken for a person's account with the same
// id.
func TestWorkspaces(t *testing.T) {
	ben, cleo := webhook.Person{Owner: "ben"}, webhook.Person{Owner: "cleo"}
	people := map[string]webhook.Person{"U1": ben, "T2/U1": cleo}
	for _, tt := range []struct{ address, parts, want string }{
		{"https://hooks.slack.com/services/T1/B1/x", `"user":{"id":"U1","team_id":"T1"},"team":{"id":"T1"}`, "ben"},
		{"https://hooks.slack.com/services/T1/B1/x", `"user":{"id":"U1"},"team":{"id":"T1"}`, "ben"},
		{"https://hooks.slack.com/services/T1/B1/x", `"user":{"id":"U1","team_id":"T2"},"team":{"id":"T1"}`, "cleo"},
		{"https://hooks.slack.com/services/T1/B1/x", `"user":{"id":"U1","team_id":"T3"},"team":{"id":"T1"}`, ""},
		{"https://hooks.slack.com/services/T1/B1/x", `"user":{"id":"U1"},"team":{"id":"T3"}`, ""},
		{"https://hooks.slack.com/services/T1/B1/x", `"user":{"id":"U1"}`, ""},
		{"https://hooks.slack-gov.com/services/T1/B1/x", `"user":{"id":"U1","team_id":"T3"}`, ""},
		{"https://hooks.slack.com/services/T1/B1/x", `"user":{"id":"T2/U1","team_id":"T1"}`, ""},
		{"https://chat.example/hook", `"user":{"id":"U1","team_id":"T3"}`, "ben"},
		{"https://chat.example/hook", `"user":{"id":"U9"}`, ""},
	} {
		h := &webhook.Hook{URL: tt.address, Form: webhook.Slack, People: people}
		asked, err := readInbound(h, []byte(url.Values{"payload": {`{"type":"block_actions",` + tt.parts + `,"actions":[{"action_id":"approve","value":"c d"}]}`}}.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := whose(h, asked); got.Owner != tt.want || ok != (tt.want != "") {
			t.Errorf("%s of %s: %q, %v; want %q", tt.parts, tt.address, got.Owner, ok, tt.want)
		}
	}
}
