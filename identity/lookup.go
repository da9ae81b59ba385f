package identity

import (
	"context"
	"iter"
	"sync"

	"github.com/bailiwick-dev/bailiwick/problem"
)

// A cache keeps at most a fixed number of values.
type cache[V any] struct {
	mu   sync.RWMutex
	most int
	kept map[string]V
}

func newCache[V any](most int) *cache[V] { return &cache[V]{most: most, kept: map[string]V{}} }

func (c *cache[V]) get(key string) (V, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	v, ok := c.kept[key]
	return v, ok
}

// put keeps a value. If the cache is full, it replaces an arbitrary one.
func (c *cache[V]) put(key string, v V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.kept[key]; !ok && len(c.kept) >= c.most {
		for old := range c.kept {
			delete(c.kept, old)
			break
		}
	}
	c.kept[key] = v
}

func (c *cache[V]) forget(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.kept, key)
}

// A dated is a token as it was at one version of the store, or later.
type dated struct {
	Token
	version int64
}

// A lookup finds tokens by ID, each as it was at one version of the store, or later. It reads only the tokens that are
// asked for.
type lookup struct {
	t       *Tokens
	version int64
}

// current returns a lookup that includes all changes of this process, and those of others after a short time.
func (t *Tokens) current(ctx context.Context) (lookup, error) {
	return t.lookup(ctx, t.store.TokenVersion)
}

// latest returns a lookup that includes all changes that any process has made before the call.
func (t *Tokens) latest(ctx context.Context) (lookup, error) {
	return t.lookup(ctx, t.store.LatestTokenVersion)
}

func (t *Tokens) lookup(ctx context.Context, of func(context.Context) (int64, error)) (lookup, error) {
	version, err := of(ctx) // before a token is read, so that a change in between outdates it
	if err != nil {
		return lookup{}, storeError(err)
	}
	return lookup{t, version}, nil
}

// find returns the token with an ID. If there is none, the error is Unauthorized. A missing token is looked up each
// time, because another process may have created it a moment ago.
func (l lookup) find(ctx context.Context, id string) (Token, error) {
	if id == "" {
		return Token{}, UnauthorizedError("token_unknown", nil)
	}
	if k, ok := l.t.byID.get(id); ok && k.version == l.version {
		return k.Token, nil
	}
	found, err := l.t.store.FindTokens(ctx, TokenFilter{IDs: []string{id}, At: l.t.now(), Limit: 1})
	if err != nil {
		return Token{}, storeError(err)
	}
	if len(found) == 0 {
		l.t.byID.forget(id)
		return Token{}, UnauthorizedError("token_unknown", nil)
	}
	l.t.byID.put(id, dated{found[0], l.version})
	return found[0], nil
}

// load reads those tokens with these IDs that the cache lacks, together.
func (l lookup) load(ctx context.Context, ids map[string]bool) error {
	var missing []string
	for id := range ids {
		if k, ok := l.t.byID.get(id); id != "" && (!ok || k.version != l.version) {
			missing = append(missing, id)
		}
	}
	for len(missing) > 0 {
		n := min(len(missing), tokenPages)
		found, err := l.t.store.FindTokens(ctx, TokenFilter{IDs: missing[:n], At: l.t.now()})
		if err != nil {
			return storeError(err)
		}
		for _, k := range found {
			l.t.byID.put(k.ID, dated{k, l.version})
		}
		missing = missing[n:]
	}
	return nil
}

// valid returns the token with an ID and, for a grant, the person's token. It fails with Unauthorized if one of them has
// ended. Any other error is a failure of the store.
func (l lookup) valid(ctx context.Context, id string) (token, parent Token, err error) {
	if token, err = l.alive(ctx, id); err != nil || token.Use != UseGrant {
		return token, Token{}, err
	}
	if parent, err = l.alive(ctx, token.Parent); err != nil {
		return Token{}, Token{}, err
	}
	if parent.Use == UseGrant { // a grant is a person's
		return Token{}, Token{}, UnauthorizedError("token_invalid", nil)
	}
	return token, parent, nil
}

// alive returns the token with an ID if it has not ended.
func (l lookup) alive(ctx context.Context, id string) (Token, error) {
	token, err := l.find(ctx, id)
	switch {
	case err != nil:
		return Token{}, err
	case !token.Revoked.IsZero():
		return Token{}, UnauthorizedError("token_revoked", nil)
	case !l.t.now().Before(token.Expires):
		return Token{}, UnauthorizedError("token_expired", nil)
	}
	return token, nil
}

// refused reports whether err means that a token isn't valid. Other errors are failures of the store.
func refused(err error) bool { return problem.CodeOf(err) == problem.Unauthorized }

// tokenPages is the maximum number of tokens that are read at once.
const tokenPages = 1000

// pages yields all tokens that match f, newest first, without their number in memory.
func pages(ctx context.Context, s TokenStore, f TokenFilter) iter.Seq2[Token, error] {
	return func(yield func(Token, error) bool) {
		f.Limit = tokenPages
		for {
			page, err := s.FindTokens(ctx, f)
			if err != nil {
				yield(Token{}, err)
				return
			}
			for _, k := range page {
				if !yield(k, nil) {
					return
				}
			}
			if len(page) < f.Limit {
				return
			}
			f.After = page[len(page)-1].ID
		}
	}
}
