package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"sync/atomic"
	"time"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// TokenColumns contains the lists of a token, encoded as text.
type TokenColumns struct {
	Scopes  string // separated by spaces
	IPs     string // CIDR ranges separated by spaces
	Tools   string // JSON {only, except}
	Actions string // JSON {only, except}
	Classes string // JSON {only, except}
	Filters string // JSON: class to the text of a where object
	More    string // JSON of more
}

// more contains the fields of tokens that are not credentials.
type more struct {
	Use     identity.Use `json:"use,omitempty"`
	Parent  string       `json:"parent,omitempty"`
	Subject string       `json:"subject,omitempty"`
	Claims  string       `json:"claims,omitempty"`
}

// WriteToken encodes the lists of t.
func WriteToken(t *identity.Token) (TokenColumns, error) {
	c := TokenColumns{Scopes: words(t.Scopes), IPs: words(t.IPs)}
	m := more{t.Use, t.Parent, t.Subject, t.Claims}
	for _, f := range []struct {
		from any
		into *string
	}{{m, &c.More}, {t.Tools, &c.Tools}, {t.Actions, &c.Actions}, {t.Classes, &c.Classes}, {t.Filters, &c.Filters}} {
		b, err := json.Marshal(f.from)
		if err != nil {
			return TokenColumns{}, err
		}
		*f.into = string(b)
	}
	return c, nil
}

// Read sets the lists of t, and its hash.
func (c *TokenColumns) Read(t *identity.Token, hash []byte) error {
	if len(hash) != len(t.Hash) {
		return fmt.Errorf("token %s has a hash of %d bytes", t.ID, len(hash))
	}
	copy(t.Hash[:], hash)
	for _, w := range strings.Fields(c.Scopes) {
		t.Scopes = append(t.Scopes, identity.Scope(w))
	}
	for _, w := range strings.Fields(c.IPs) {
		p, err := netip.ParsePrefix(w)
		if err != nil {
			return fmt.Errorf("token %s: %w", t.ID, err)
		}
		t.IPs = append(t.IPs, p)
	}
	var m more
	err := errors.Join(json.Unmarshal([]byte(c.More), &m), json.Unmarshal([]byte(c.Tools), &t.Tools), json.Unmarshal([]byte(c.Actions), &t.Actions),
		json.Unmarshal([]byte(c.Classes), &t.Classes), json.Unmarshal([]byte(c.Filters), &t.Filters))
	if err != nil {
		return fmt.Errorf("token %s: %w", t.ID, err)
	}
	t.Use, t.Parent, t.Subject, t.Claims = m.Use, m.Parent, m.Subject, m.Claims
	return nil
}

// words joins the elements of a list with spaces. A scope or CIDR range contains no space.
func words[T any](list []T) string {
	var b strings.Builder
	for i, w := range list {
		if i > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprint(&b, w)
	}
	return b.String()
}

// NoToken returns the error for a token that doesn't exist.
func NoToken() *problem.Error { return problem.New(problem.NotFound, "There is no such token") }

// TokenTakenError returns the error for a new token whose ID or prefix is already in use.
func TokenTakenError(err error) *problem.Error {
	return &problem.Error{Code: problem.Conflict, Detail: "There is such a token already", Err: err}
}

// versionAge is the maximum age of a cached version. It is also the maximum delay until a revocation by another
// process takes effect.
const versionAge = 400 * time.Millisecond

// A TokenVersion caches the version of the tokens for a short time. The zero TokenVersion is empty.
type TokenVersion struct{ last atomic.Pointer[version] }

// A version is the version of a store's tokens, with the time when it was read.
type version struct {
	number int64
	read   time.Time
}

// Get returns the cached version. If it is old, Get calls read.
func (v *TokenVersion) Get(ctx context.Context, read func(context.Context) (int64, error)) (int64, error) {
	if last := v.last.Load(); last != nil && time.Since(last.read) < versionAge {
		return last.number, nil
	}
	return v.Latest(ctx, read)
}

// Latest returns the present version from read.
func (v *TokenVersion) Latest(ctx context.Context, read func(context.Context) (int64, error)) (int64, error) {
	now := time.Now()
	number, err := read(ctx)
	if err != nil {
		return 0, err
	}
	return v.saw(number, now), nil
}

// saw caches a version unless a later one is cached. It returns the later of the two.
func (v *TokenVersion) saw(number int64, at time.Time) int64 {
	for {
		last := v.last.Load()
		if last != nil && (last.number > number || last.number == number && last.read.After(at)) {
			return last.number
		}
		if v.last.CompareAndSwap(last, &version{number, at}) {
			return number
		}
	}
}

// Change runs do, which changes tokens and returns the new version. If do fails, the version is unknown and the cache
// is cleared.
func (v *TokenVersion) Change(do func() (int64, error)) error {
	now := time.Now()
	number, err := do()
	if err != nil {
		v.last.Store(nil)
		return err
	}
	v.saw(number, now)
	return nil
}
