package connect

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/problem"
)

const (
	sweepEvery = time.Minute
	giveUp     = 7 * 24 * time.Hour // when to stop revoking at a provider that doesn't answer
)

// End disconnects a person from a source. This takes effect immediately in the gateway. At the provider, it takes
// effect if the provider answers now. Otherwise Sweep continues.
func (c *Connections) End(ctx context.Context, p identity.Principal, source string) error {
	_, k, err := c.account(p, source)
	if err != nil {
		return err
	}
	if err := c.put(ctx, k, func(r *Row) { r.Ended = true }); err != nil {
		return err
	}
	row, err := c.o.Store.Connection(ctx, k)
	if err != nil {
		return storeError(err)
	}
	if row.Ended {
		c.retire(ctx, row)
	}
	return nil
}

// Keep sweeps now and each minute, until stop is called. stop returns when no sweep is in progress. From then on, c
// logs to log.
func (c *Connections) Keep(ctx context.Context, log *slog.Logger) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	c.log.Store(log)
	go func() {
		defer close(done)
		tick := time.NewTicker(sweepEvery)
		defer tick.Stop()
		for ctx.Err() == nil {
			if err := c.Sweep(ctx); err != nil && ctx.Err() == nil {
				log.WarnContext(ctx, "the connections of people can't be read. The gateway tries again in a minute", "error", err)
			}
			select {
			case <-tick.C:
			case <-ctx.Done():
			}
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

// Sweep revokes ended connections at the providers. It also reseals connections with the newest key.
func (c *Connections) Sweep(ctx context.Context) error {
	rows, err := c.o.Store.Connections(ctx)
	if err != nil {
		return err
	}
	for _, r := range rows {
		switch {
		case r.Ended:
			c.retire(ctx, r)
		case !r.Busy && !c.current(r):
			if err := c.reseal(ctx, r); err != nil {
				return err
			}
		}
	}
	return nil
}

// reseal seals r with the newest key. It doesn't change a row that it can't open, because another process may have
// the key for it.
func (c *Connections) reseal(ctx context.Context, r Row) error {
	t, err := c.open(r)
	if err != nil {
		return nil
	}
	next := r
	next.Version++
	if next.Sealed, err = c.seal(r.Key, t); err != nil {
		return err
	}
	_, err = c.o.Store.SwapConnection(ctx, r.Version, next)
	return err
}

// retire revokes the tokens of an ended connection and removes the connection. If the provider doesn't answer, the
// connection remains for the next Sweep.
func (c *Connections) retire(ctx context.Context, r Row) {
	a := c.accounts[r.Source]
	t, err := c.open(r)
	if a != nil && err == nil {
		err := a.revoke(ctx, t)
		if err != nil && c.o.Now().Sub(r.Changed) < giveUp {
			c.log.Load().WarnContext(ctx, "the provider can't be asked to revoke a connection that has ended. The gateway tries again", "source", r.Source, "person", r.Person, "error", err)
			return
		}
	}
	r.Sealed = nil
	if _, err := c.o.Store.SwapConnection(ctx, r.Version, r); err != nil {
		c.log.Load().WarnContext(ctx, "a connection that has ended can't be removed. The gateway tries again", "source", r.Source, "person", r.Person, "error", err)
	}
}

// revoke requests that the provider revoke t (RFC 7009). A permanent refusal counts as done.
func (a *Account) revoke(ctx context.Context, t tokens) error {
	if a.provider.RevokeURL == "" {
		return nil
	}
	form := url.Values{"token": {t.Refresh}, "token_type_hint": {"refresh_token"}}
	if t.Refresh == "" {
		form = url.Values{"token": {t.Access}, "token_type_hint": {"access_token"}}
	}
	inBody := a.provider.InBody || a.provider.Secret == ""
	if inBody {
		form.Set("client_id", a.provider.ID)
		if a.provider.Secret != "" {
			form.Set("client_secret", a.provider.Secret)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, a.provider.RevokeURL, strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if !inBody {
		r.SetBasicAuth(url.QueryEscape(a.provider.ID), url.QueryEscape(a.provider.Secret))
	}
	res, err := a.http.Do(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()                                      //nolint:errcheck // it was only read
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, 1<<16)) // so that the HTTP connection can be reused
	if res.StatusCode >= 500 || res.StatusCode == http.StatusTooManyRequests {
		return problem.LoggableError(fmt.Sprintf("the revocation URL answered %d", res.StatusCode))
	}
	return nil
}
