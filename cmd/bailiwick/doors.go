package main

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/bailiwick-dev/bailiwick/console"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/app"
	"github.com/bailiwick-dev/bailiwick/mcp"
	"github.com/bailiwick-dev/bailiwick/reviewapi"
)

// doors are what people and agents come in by over HTTP.
type doors struct {
	plant       *app.Plant
	server      *mcp.Server
	credentials identity.Authenticator // what people sign in with; nil where nobody can
	log         *slog.Logger

	handler http.Handler
	console *console.Console // nil without credentials
}

// open puts the doors for people beside agents, that for agents, until ctx ends.
func (d *doors) open(ctx context.Context, agents http.Handler) error {
	mux := http.NewServeMux()
	d.handler = mux
	mux.Handle("/", agents)
	mux.Handle("/api/", reviewapi.New(reviewapi.Options{Desk: d.plant.Gateway.Desk, Identify: d.server.Identify, Challenge: d.server.Challenge(),
		Deliveries: d.plant.Store, Record: d.plant.Gateway.Do, Closing: ctx, Logger: d.log}).Handler())
	if d.credentials == nil {
		return nil
	}
	var err error
	if d.console, err = d.plant.Console(ctx, d.server, d.credentials, d.log); err != nil {
		return err
	}
	pages := d.console.Handler()
	mux.Handle(console.Path, pages)
	mux.Handle(console.Path+"/", pages)
	return nil
}
