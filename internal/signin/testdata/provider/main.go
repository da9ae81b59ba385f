// Command provider is a real OpenID Connect provider: that of github.com/zitadel/oidc, with one person who has groups.
//
// It prints its issuer, and serves until its standard input ends. GET /test/groups?set=a,b changes the groups of the person.
package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"

	"github.com/zitadel/oidc/v3/example/server/exampleop"
	"github.com/zitadel/oidc/v3/example/server/storage"
	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"
)

// A grouped storage adds the groups of a person to what their tokens and user info say.
type grouped struct {
	*storage.Storage
	mu     sync.Mutex
	groups []string
}

func (g *grouped) add(info *oidc.UserInfo) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if info.Claims == nil {
		info.Claims = map[string]any{}
	}
	info.Claims["groups"] = g.groups
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
	back := os.Args[1] // the redirect URI of the one client
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	issuer := fmt.Sprintf("http://localhost:%d/", l.Addr().(*net.TCPAddr).Port)
	storage.RegisterClients(storage.WebClient("gate", "secret", back))
	g := &grouped{Storage: storage.NewStorage(storage.NewUserStore(issuer)), groups: []string{"reviewers"}}
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
