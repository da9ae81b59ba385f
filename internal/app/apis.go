package app

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"time"

	"github.com/bailiwick-dev/bailiwick/console"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/connect"
	"github.com/bailiwick-dev/bailiwick/internal/connstring"
	"github.com/bailiwick-dev/bailiwick/internal/fair"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/client"
	"github.com/bailiwick-dev/bailiwick/source/openapi"
)

// openAPI opens an HTTP API. It sends no request. Responses are searched for the credentials of all sources. People
// connect their accounts in connections. If connections is nil, calls that need an account are refused. If the
// embedding program provides a credential, it replaces all credentials configured for base_url. Responses use the
// memory answers, or their own memory if answers is nil.
func openAPI(c *config.Config, s config.Source, connections *connect.Connections, answers *fair.Answers) (*openapi.API, error) {
	who, servers, err := credentialsOf(c, s, connections)
	if err != nil {
		return nil, err
	}
	o := client.Options{Base: s.OpenAPI.BaseURL, Credential: who, Known: &client.KnownSecrets{}, Timeout: s.OpenAPI.Timeout, Headers: http.Header{}, Downloads: s.OpenAPI.Downloads, Answers: answers}
	o.Known.Add(secretsOf(c)...)
	for _, h := range s.OpenAPI.Headers {
		if !h.Secret {
			o.Headers.Set(h.Name, h.Value)
		}
	}
	if t := s.OpenAPI.TLS; t != nil {
		if o.Identity, err = client.NewCertificate(client.CertificateFiles{Certificate: t.Certificate, Key: t.Key, Authorities: t.Authorities}); err != nil {
			return nil, fmt.Errorf("source %s can't be opened: %w", s.Name, err)
		}
	}
	if o.Trusted, err = TrustedCertificate(s.OpenAPI.TLS); err != nil {
		return nil, fmt.Errorf("source %s can't be opened: %w", s.Name, err)
	}
	sender, err := client.New(o)
	if err != nil {
		return nil, fmt.Errorf("source %s can't be opened: %w", s.Name, err)
	}
	senders := map[string]*client.Sender{}
	for at, who := range servers {
		if senders[at], err = client.New(client.Options{Base: at, Credential: who, Known: o.Known, Timeout: o.Timeout, Downloads: o.Downloads, Identity: o.Trusted, Trusted: o.Trusted, Answers: answers}); err != nil {
			return nil, fmt.Errorf("the server %s of source %s can't be opened: %w", at, s.Name, err)
		}
	}
	return openapi.NewOver(s.Name, sender, senders), nil
}

// credentialsOf returns the credential of an API for base_url, and the credentials for its further servers, by
// address.
func credentialsOf(c *config.Config, s config.Source, connections *connect.Connections) (client.Credential, map[string]client.Credential, error) {
	who, servers, err := APICredentials(s.OpenAPI, s.Name, connections)
	if c.Credential != nil {
		if own := c.Credential(s.Name); own != nil {
			who, err = replaceCredential(who, own), nil
		}
	}
	if err != nil {
		return nil, nil, fmt.Errorf("source %s can't be opened: its credential: %w", s.Name, err)
	}
	return who, servers, nil
}

// keyUpdater returns a function that passes the changed keys in c to the open sources. Sources with other changes
// keep their keys. The function returns warnings about sources that refuse their new keys.
func (p *App) keyUpdater(ctx context.Context, c *config.Config) (func() (warnings []string), error) {
	var puts []func()
	var warnings []string
	secrets := secretsOf(c)
	in := func(all []config.Source, name string) *config.Source {
		i := slices.IndexFunc(all, func(s config.Source) bool { return s.Name == name })
		if i < 0 {
			return nil
		}
		return &all[i]
	}
	for _, s := range c.Sources {
		opened, last := in(p.opened, s.Name), in(p.Config.Sources, s.Name)
		same := opened != nil && reflect.DeepEqual(opened.WithPlaceholders(), s.WithPlaceholders())
		changed := same && (last == nil || !reflect.DeepEqual(*last, s))
		switch src := p.sources[s.Name].(type) {
		case *openapi.API:
			puts = append(puts, func() { src.Mask(secrets...) })
			if changed {
				who, servers, err := credentialsOf(c, s, p.connections)
				if err != nil {
					return nil, err
				}
				puts = append(puts, func() { src.Use(who, servers) })
			}
		case interface{ Rekey(master, rest string) }:
			if changed {
				puts = append(puts, func() { src.Rekey(s.Parse.MasterKey, s.Parse.RESTKey) })
			}
		case *kept:
			if changed {
				puts = append(puts, func() {
					ctx, cancel := context.WithTimeout(ctx, renewing)
					defer cancel()
					if err := src.renew(ctx); err != nil {
						warnings = append(warnings, fmt.Sprintf("the former user and password stay in use, and the new ones are tried again when the server refuses these: %v", err))
					}
				})
			}
		}
	}
	return func() []string {
		for _, put := range puts {
			put()
		}
		return warnings
	}, nil
}

// renewing is the maximum time that a reload waits for a database to accept a new password.
const renewing = 10 * time.Second

// openConnections returns the accounts of people for p's sources, or nil if no source uses them.
func (p *App) openConnections() (*connect.Connections, error) {
	if !slices.ContainsFunc(p.Config.Sources, func(s config.Source) bool {
		return s.OpenAPI != nil && s.OpenAPI.Person() != nil
	}) {
		return nil, nil
	}
	keys := p.Config.Accounts
	return connect.New(connect.Options{Store: p.Store, Used: p.Store, Key: keys.Key, Previous: keys.Previous, Page: func() string { return p.site() + console.Path + "/you" }})
}

// secretsOf returns the credentials of all sources, including the passwords of their databases.
func secretsOf(c *config.Config) (all []string) {
	for _, s := range c.Sources {
		for _, at := range s.URLs() {
			if _, user := connstring.Split(at); user != nil {
				if password, has := user.Password(); has {
					all = append(all, password)
				}
			}
		}
		if s.Parse != nil {
			all = append(all, s.Parse.MasterKey, s.Parse.RESTKey)
		}
		if s.OpenAPI != nil {
			all = append(all, apiSecrets(s.OpenAPI)...)
		}
	}
	return all
}
