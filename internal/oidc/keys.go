package oidc

import (
	"context"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// maxMissing is the maximum number of unknown key ids in the cache.
const maxMissing = 1000

// keys contains the issuer's keys, fetched on demand. There is only one fetch at a time, and at most one within
// pause, for any sequence of tokens.
type keys struct {
	from source
	// fresh is how long a key set is used before it is fetched again. stale is how long it is used if the fetch
	// fails. pause is the minimum time between two fetches.
	fresh, stale, pause time.Duration
	now                 func() time.Time
	failed              func(error) // reports a failed fetch. May be nil

	mu      sync.Mutex
	set     []jose.JSONWebKey
	at      time.Time            // when set was fetched, or zero if never
	tried   time.Time            // when the last fetch ended, successfully or not
	missing map[string]time.Time // key ids that the issuer doesn't have, with the time of the fetch
	flight  *flight              // the fetch in progress, or nil
}

// A flight is a fetch in progress. done is closed when it has ended.
type flight struct {
	done   chan struct{}
	cancel context.CancelFunc
	err    error // valid when done is closed
}

// find returns the keys that may have signed a token, or the kind of the refusal. An unknown key id may be new, so
// find fetches the keys again. It doesn't do so soon for the same id, or often for other ids. Old keys are fetched
// again in the background. They stay valid for a while if the issuer can't be reached.
func (k *keys) find(ctx context.Context, kid string, alg jose.SignatureAlgorithm) ([]jose.JSONWebKey, string) {
	var asked *flight
	for {
		k.mu.Lock()
		now := k.now()
		usable := now.Before(k.at.Add(k.stale))
		may := !now.Before(k.tried.Add(k.pause))
		if usable {
			if found := k.match(kid, alg); found != nil {
				if may && !now.Before(k.at.Add(k.fresh)) {
					k.fetch()
				}
				k.mu.Unlock()
				return found, ""
			}
		}
		kind := "issuer_unavailable"
		if usable && (asked == nil || asked.err == nil) {
			kind = "key_unknown"
		}
		if asked != nil && asked.err == nil {
			k.miss(kid, now)
		}
		if asked != nil || usable && now.Before(k.missing[kid].Add(6*k.pause)) || k.flight == nil && !may {
			k.mu.Unlock()
			return nil, kind
		}
		k.fetch()
		asked = k.flight
		k.mu.Unlock()
		select {
		case <-asked.done:
		case <-ctx.Done():
			return nil, "issuer_unavailable"
		}
	}
}

// match returns the keys for alg and the key id. A token without a key id is accepted only if exactly one key fits.
func (k *keys) match(kid string, alg jose.SignatureAlgorithm) []jose.JSONWebKey {
	var out []jose.JSONWebKey
	for _, key := range k.set {
		if (kid == "" || key.KeyID == kid) && fits(key, alg) {
			out = append(out, key)
		}
	}
	if kid == "" && len(out) > 1 {
		return nil
	}
	return out
}

// miss records that the issuer doesn't have a key, according to a fetch that has just ended.
func (k *keys) miss(kid string, now time.Time) {
	if k.missing == nil || len(k.missing) >= maxMissing {
		k.missing = map[string]time.Time{}
	}
	k.missing[kid] = now
}

// fetch starts a fetch of the keys unless one is in progress. The caller must hold mu.
func (k *keys) fetch() {
	if k.flight != nil {
		return
	}
	// Several calls share the fetch, so it doesn't end with the call that started it.
	ctx, cancel := context.WithTimeout(context.Background(), fetchTimeout)
	f := &flight{done: make(chan struct{}), cancel: cancel}
	k.flight = f
	go func() {
		defer close(f.done)
		defer cancel()
		set, err := k.from.fetch(ctx)
		f.err = err
		k.mu.Lock()
		k.tried, k.flight = k.now(), nil
		if err == nil {
			k.set, k.at, k.missing = set, k.tried, nil
		}
		k.mu.Unlock()
		if err != nil && k.failed != nil {
			k.failed(err)
		}
	}()
}

// close cancels the fetch in progress and waits for it.
func (k *keys) close() {
	k.mu.Lock()
	f := k.flight
	k.mu.Unlock()
	if f != nil {
		f.cancel()
		<-f.done
	}
}
