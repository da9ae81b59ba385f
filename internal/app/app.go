// Package app builds the running parts that a configuration or flags name.
//
//	config.Config ─Build→ App: store, sources, gateway, tools ─Serving→ handlers of the transports
//	configuration files ─ConfigWatcher→ new config.Config ─Reload→ the same App
//
// It is the only package that names the adapters and wires packages together. The commands and package serve use it.
// A configuration whose rules name something that its sources lack is refused, with the position in the file.
//
// A ConfigWatcher watches the configuration's files, the included files, and the files of secrets. A new
// configuration is applied as a whole or refused as a whole. After a refusal, the previous configuration stays in
// force, and the reason is logged once. Files are read again every second, which also works for editors that replace
// files and for network file systems. A change is applied only if it is the same a second later, because half of a
// file can be valid YAML.
//
// An InboundHandler accepts decisions of people from other systems: buttons in Slack, and programs that sign as
// package webhook does. It rejects messages that are unsigned, older than a few minutes, or repeated. The sender must
// be mapped to a person who has been invited or has signed in. That person's current rights and all rules of review
// apply.
//
// The package also creates credentials for HTTP APIs, fetches documents at https addresses, and opens SSH tunnels.
// DeclarationWarnings counts the records that contradict declared pointers and types.
package app

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"time"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/action"
	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/declared"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/connect"
	"github.com/bailiwick-dev/bailiwick/internal/edge"
	"github.com/bailiwick-dev/bailiwick/internal/fair"
	"github.com/bailiwick-dev/bailiwick/internal/health"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/internal/telemetry"
	"github.com/bailiwick-dev/bailiwick/internal/tools"
	"github.com/bailiwick-dev/bailiwick/limit"
	"github.com/bailiwick-dev/bailiwick/mcp"
	"github.com/bailiwick-dev/bailiwick/metric"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/prompt"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/tool"
)

// An App contains the running parts of a configuration. Close closes them, in the reverse order of opening.
type App struct {
	Config   *config.Config
	Store    Store
	Tokens   *identity.Tokens
	Gateway  *bailiwick.Gateway
	Tools    *tool.Set
	room     *tools.ChangeTools
	Prompts  *prompt.Set
	Warnings []string // about parts that sources omit
	Address  string   // "http://host:port" for links, set before serving. "" makes links without a host
	lets     bool     // agents can sign in by themselves
	serves   bool     // long-running: signs its own records and records of others

	Telemetry *telemetry.Telemetry // nil if telemetry is off
	Refused   *edge.RefusalLog     // records refused requests, or nil unless built with Observed
	sources   map[string]source.Source
	opened    []config.Source // the sources with which it was built

	log         *slog.Logger         // nil for a short-lived program
	connections *connect.Connections // connected accounts of people, or nil
	signing     string               // the identifier of the key that signs the audit
	shares      atomic.Pointer[health.ReplicaKeeper]
	answers     *fair.Answers // the memory for the responses of all APIs

	closers []func() error
}

// Build opens everything that c names: the store, the sources, and a gateway with tools.
func Build(ctx context.Context, c *config.Config) (*App, error) {
	p := &App{Config: c}
	return p, p.open(ctx)
}

// open opens everything that p's configuration names. On an error, it closes everything again.
func (p *App) open(ctx context.Context) (err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, p.Close())
		}
	}()
	if err := p.openStore(ctx); err != nil {
		return err
	}
	p.sources, p.opened, p.answers = map[string]source.Source{}, p.Config.Sources, fair.NewAnswers(0, 0)
	if p.connections, err = p.openConnections(); err != nil {
		return err
	}
	for _, s := range p.Config.Sources {
		opened, err := p.openSource(ctx, s)
		if err != nil {
			return err
		}
		p.closers = append(p.closers, opened.Close)
		p.sources[s.Name] = opened
	}
	p.Config.Notes = append(p.Config.Notes, p.openWriters(ctx, p.Config)...)
	p.declare(p.Config)
	return p.openGateway(ctx)
}

// inForce returns the configuration in force, for code that runs concurrently with Reload. Reload replaces the
// configuration as the App's part of the gateway.
func (p *App) inForce() *config.Config {
	if p.Gateway != nil {
		if c, ok := p.Gateway.Part(p).(*config.Config); ok {
			return c
		}
	}
	return p.Config
}

// openSource opens a source of p.
func (p *App) openSource(ctx context.Context, s config.Source) (Opened, error) {
	if s.OpenAPI != nil {
		return openAPI(p.Config, s, p.connections, p.answers)
	}
	return OpenSource(ctx, p.Config, s)
}

// Close closes the running parts.
func (p *App) Close() error {
	var errs []error
	for _, c := range slices.Backward(p.closers) {
		errs = append(errs, c())
	}
	p.closers = nil
	return errors.Join(errs...)
}

// openGateway creates the gateway over the opened sources and store. It checks settings that require the catalogue:
// lists, tools, tokens and actions. Then it creates the tools for the rules and actions in force. The store creates
// keys on first use, so that replicas share them.
func (p *App) openGateway(ctx context.Context) error {
	keys := map[string][]byte{"audit arguments": nil, "cursors": nil}
	for name := range keys {
		key, err := p.Store.Secret(ctx, name)
		if err != nil {
			return err
		}
		keys[name] = key
	}
	args, err := audit.NewArgHasher(keys["audit arguments"])
	if err != nil {
		return err
	}
	c := p.Config
	var warnings []string
	observer, log, err := p.observers(ctx)
	if err != nil {
		return err
	}
	p.Tokens = identity.NewTokens(identity.TokenOptions{Store: p.Store, Audit: log})
	p.closers = append(p.closers, func() error { return p.Tokens.Close(context.WithoutCancel(ctx)) })
	p.Gateway, warnings, err = bailiwick.New(ctx, bailiwick.Options{
		Sources: p.sources, Rules: c.Rules, Observer: observer, Audit: log, Args: args, Limits: limits(c.Limits, p.Store), Price: c.Limits.Price,
		Actions: c.Actions, Metrics: c.Metrics, Queries: c.Queries,
		Secret: keys["cursors"], Budget: c.Budget, Changes: p.queue(), Refresher: p.Tokens, History: p.Store, Used: p.Store, Log: p.log, Sampling: bailiwick.Sampling{Off: c.Unsampled},
	})
	if err != nil {
		return RuleFaults(c, err)
	}
	p.closers = append(p.closers, func() error { return p.Gateway.Close(context.WithoutCancel(ctx)) })
	listed, err := c.CheckLists(namesOf(c, p.Gateway.Catalogue()))
	if err := merge(&config.Config{}, []error{checkTools(c), err}); err != nil {
		return err
	}
	strays, err := p.strayTokens(ctx)
	if err != nil {
		return err
	}
	p.Warnings = slices.Concat(p.Warnings, c.Notes, c.Postures(), warnings, listed, strays)
	p.room = tools.NewChangeTools(tools.ChangeOptions{Gateway: p.Gateway, Link: p.link})
	var compiled compiledCalls
	err = p.Gateway.Renew(func(m bailiwick.Moment) (bailiwick.Parts, error) {
		compiled = callsOf(m)
		return bailiwick.Parts{p: c}, checkActions(c, m.Policy(), m.Actions())
	})
	if err != nil {
		return err
	}
	if p.Tools, err = tool.NewSet(p.Gateway, servedTools(c, p.opened, p.room, compiled)...); err != nil {
		return err
	}
	return p.openPrompts()
}

// RuleFaults converts faults of rules and declarations to faults at their positions in the file. Other errors are returned unchanged.
func RuleFaults(c *config.Config, err error) error {
	var faults []config.Fault
	var walk func(error) bool
	walk = func(err error) bool {
		if f, ok := err.(*policy.RuleFault); ok {
			faults = append(faults, c.WrongRule(f.Class, f.Message))
			return true
		}
		if f, ok := err.(*calls.RuleFault); ok {
			faults = append(faults, c.WrongAPI(f))
			return true
		}
		if f, ok := err.(*action.DeclarationFault); ok {
			faults = append(faults, c.WrongAction(f))
			return true
		}
		if f, ok := err.(*metric.DeclarationFault); ok {
			faults = append(faults, c.WrongMetric(f))
			return true
		}
		if f, ok := err.(*policy.NativeFault); ok {
			faults = append(faults, c.WrongNative(f))
			return true
		}
		if f, ok := err.(*declared.DeclarationFault); ok {
			faults = append(faults, c.WrongQuery(f))
			return true
		}
		joined, ok := err.(interface{ Unwrap() []error })
		if !ok {
			return false
		}
		for _, e := range joined.Unwrap() {
			if !walk(e) {
				return false
			}
		}
		return true
	}
	if !walk(err) {
		return err
	}
	return &config.Error{Faults: faults}
}

func limits(l config.Limits, store Store) limit.Options {
	o := limit.Options{Burst: l.Burst, Concurrency: l.Concurrency, Ledger: store, Daily: daily(l.Daily), TokenDaily: daily(l.TokenDaily)}
	o.Store, _ = store.(limit.Store) // a file store doesn't store rates, because each call would wait for the disk
	if l.Rate.Per > 0 {
		o.Every = max(l.Rate.Per/time.Duration(l.Rate.Calls), 1)
	}
	return o
}

func daily(d config.Daily) limit.Use {
	return limit.Use{Calls: int64(d.Calls), Rows: int64(d.Rows), Bytes: int64(d.Bytes), Tokens: int64(d.Tokens), Cost: d.Cost}
}

// Door returns the options of the HTTP server for the configuration.
func (p *App) Door() mcp.Options {
	c := p.Config
	o := mcp.Options{
		Tools: p.Tools, Prompts: p.Prompts, Version: Version(), Guide: p.guide, Ready: p.ready,
		Anonymous: c.Auth.Anonymous, AllowedOrigins: c.Server.Origins, AllowedHosts: c.Server.Hosts,
		MaxBody: int64(c.Server.MaxBody), Concurrency: c.Server.Concurrency, ConcurrencyEach: cmp.Or(c.Limits.Concurrency, limit.Concurrency), Queue: c.Server.Queue, Heartbeat: c.Server.Heartbeat, Streams: c.Server.Streams,
		Sessions: c.Server.Sessions.Max, SessionsEach: c.Server.Sessions.Each, SessionTimeout: c.Server.Sessions.Idle,
		Results: Forms(c), Refused: p.Refused,
		Drain: drain(c.Server), Patience: patience,
		Connections: c.Server.Connections.Max, ConnectionsEach: c.Server.Connections.Each,
	}
	if !c.Auth.TokensOff {
		o.Tokens = p.Tokens
	}
	p.observeDoor(&o)
	return o
}

// patience is the maximum time that a call waits for its turn.
const patience = 30 * time.Second

// drain returns how long a server that is asked to end continues to serve.
func drain(s config.Server) time.Duration {
	return max(cmp.Or(s.Drain, 5*time.Second), 0)
}

// Version returns the version of the build: a release, or the commit it was built from.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
