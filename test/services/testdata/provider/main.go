// Command provider is a real OpenID Connect provider: that of github.com/zitadel/oidc, with one person who has groups.
//
// It prints its issuer, and serves until its standard input ends. GET /test/groups?set=a,b changes the groups of the person.
// A client that asks for the level "gold" gets it; otherwise a sign-in has no level.
package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/zitadel/oidc/v3/example/server/exampleop"
	"github.com/zitadel/oidc/v3/example/server/storage"
	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"
)

// A grouped storage adds the groups of a person to what their tokens and user info say, and levels to sign-ins.
type grouped struct {
	*storage.Storage
	out    string // where a person is sent after they signed out
	mu     sync.Mutex
	groups []string
	golden map[string]bool // the requests that asked for gold, by id
}

// A client may send people to its own page after they signed out.
type client struct {
	op.Client
	out string
}

func (c client) PostLogoutRedirectURIs() []string { return []string{c.out} }

func (g *grouped) GetClientByClientID(ctx context.Context, id string) (op.Client, error) {
	found, err := g.Storage.GetClientByClientID(ctx, id)
	return client{found, g.out}, err
}

// A golden request is one with the level gold.
type golden struct{ *storage.AuthRequest }

func (golden) GetACR() string { return "gold" }

func (g *grouped) CreateAuthRequest(ctx context.Context, asked *oidc.AuthRequest, user string) (op.AuthRequest, error) {
	made, err := g.Storage.CreateAuthRequest(ctx, asked, user)
	if err == nil && slices.Contains(asked.ACRValues, "gold") {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.golden[made.GetID()] = true
	}
	return made, err
}

func (g *grouped) AuthRequestByCode(ctx context.Context, code string) (op.AuthRequest, error) {
	found, err := g.Storage.AuthRequestByCode(ctx, code)
	g.mu.Lock()
	defer g.mu.Unlock()
	if r, ok := found.(*storage.AuthRequest); ok && err == nil && g.golden[r.ID] {
		return golden{r}, nil
	}
	return found, err
}

func (g *grouped) CreateAccessToken(ctx context.Context, request op.TokenRequest) (string, time.Time, error) {
	if r, ok := request.(golden); ok {
		request = r.AuthRequest // the storage knows its own type alone
	}
	return g.Storage.CreateAccessToken(ctx, request)
}

func (g *grouped) add(info *oidc.UserInfo) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if info.Claims == nil {
		info.Claims = map[string]any{}
	}
	info.Claims["groups"], info.Claims["org"] = g.groups, os.Args[2]
}

func (g *grouped) SetUserinfoFromScopes(ctx context.Context, info *oidc.UserInfo, user, client string, scopes []string) error {
	defer g.add(info)
	return g.Storage.SetUserinfoFromScopes(ctx, info, user, client, scopes)
}

func (g *grouped) SetUserinfoFromToken(ctx context.Context, info *oidc.UserInfo, token, subject, origin string) error {
	defer g.add(info)
	return g.Storage.SetUserinfoFromToken(ctx, info, token, subject, origin)
}

func (g *grouped) SetUserinfoFromRequest(ctx context.Context, info *oidc.UserInfo, request op.IDTokenRequest, scopes []string) error {
	defer g.add(info)
	return g.Storage.SetUserinfoFromRequest(ctx, info, request, scopes)
}

func main() {
	backs := strings.Split(os.Args[1], " ") // the redirect URIs of the one client; the next argument is the claim org of the person
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	issuer := fmt.Sprintf("http://localhost:%d/", l.Addr().(*net.TCPAddr).Port)
	storage.RegisterClients(storage.WebClient("gate", "secret", backs...))
	g := &grouped{Storage: storage.NewStorage(storage.NewUserStore(issuer)), out: strings.TrimSuffix(backs[0], "/callback"), groups: []string{"reviewers"}, golden: map[string]bool{}}
	handler := exampleop.SetupServer(issuer, g, slog.New(slog.NewTextHandler(os.Stderr, nil)), false)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /test/groups", func(w http.ResponseWriter, r *http.Request) {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.groups = strings.Split(r.URL.Query().Get("set"), ",")
	})
	mux.Handle("/", handler)
	fmt.Println(issuer)
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	panic(http.Serve(l, mux))
}
