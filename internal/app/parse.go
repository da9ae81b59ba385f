package app

import (
	"context"
	"errors"
	"fmt"

	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/source/parse"
	"github.com/bailiwick-dev/bailiwick/source/postgres"
)

// openParse opens an application on Parse Server.
func openParse(ctx context.Context, c *config.Config, s config.Source) (Opened, error) {
	p := s.Parse
	address, _ := p.URLOf(s.URL)
	o := parse.Options{Name: s.Name, URL: address, AppID: p.AppID, MasterKey: p.MasterKey, RESTKey: p.RESTKey, As: parse.Posture(p.As),
		Session: p.Session, User: p.User, Role: p.Role, LocalRows: s.LocalRows, System: p.System}
	if p.Direct != "" {
		db, err := postgres.OpenOverLink(ctx, s.Name, p.Direct, source.Link{Fresh: c.Renewal(s.Name).URL})
		if err != nil {
			return nil, unreachable(config.Source{Name: s.Name, URL: p.Direct}, err)
		}
		o.Direct = db
	}
	opened, err := parse.Open(o)
	if err != nil {
		if o.Direct != nil {
			err = errors.Join(err, o.Direct.Close())
		}
		return nil, err
	}
	return &keptParse{Source: opened, config: c, from: s}, nil
}

// keptParse is a Parse application restricted to the classes that its configuration allows.
type keptParse struct {
	*parse.Source
	config *config.Config
	from   config.Source

	late
}

// Describe implements source.Source.
func (k *keptParse) Describe(ctx context.Context) ([]schema.Class, []string, error) {
	classes, warnings, err := k.Source.Describe(ctx)
	if err != nil {
		address, _ := k.from.Parse.URLOf(k.from.URL)
		return nil, nil, fmt.Errorf("source %s can't be read at %s: %s", k.from.Name, address, because(err))
	}
	classes, err = k.config.Keep(k.from.Name, classes)
	return classes, warnings, err
}

// openWriter implements laterWritable.
func (k *keptParse) openWriter(context.Context, config.Source) error {
	opened, err := k.Writable()
	if err != nil {
		return err
	}
	var w writable = opened
	k.writer.Store(&w)
	return nil
}

// because returns the reason why an application on Parse Server can't be read, for the operator.
func because(err error) string {
	p := problem.Of(err)
	if p.Err != nil {
		return p.Err.Error()
	}
	return p.Detail
}

// parseOf returns the settings for a Parse Server that is named on the command line. They come from environment
// variables, and use the master key.
func parseOf(env func(string) string) *config.ParseServer {
	return &config.ParseServer{AppID: env("PARSE_APP_ID"), MasterKey: env("PARSE_MASTER_KEY"), RESTKey: env("PARSE_REST_KEY"), As: "master"}
}
