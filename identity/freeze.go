package identity

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// frozen is the JSON form of a Principal.
type frozen struct {
	ID      string                 `json:"id"`
	Name    string                 `json:"name,omitzero"`
	Kind    Kind                   `json:"kind"`
	Owner   string                 `json:"owner,omitzero"`
	Tenant  string                 `json:"tenant,omitzero"`
	Scopes  []Scope                `json:"scopes"`
	Claims  value.Value            `json:"claims"`
	TokenID string                 `json:"token_id,omitzero"`
	Tools   []List                 `json:"tools,omitzero"` // the outermost first
	Actions []List                 `json:"actions,omitzero"`
	Classes []List                 `json:"classes,omitzero"`
	Filters map[string]value.Value `json:"filters,omitzero"` // printed by query.Print
	Parent  string                 `json:"parent,omitzero"`
	Depth   int                    `json:"depth,omitzero"`
	Above   *frozen                `json:"above,omitzero"`
}

// Freeze encodes p and its ancestors as JSON, for Thaw.
func Freeze(p Principal) []byte {
	text, err := json.Marshal(freeze(&p))
	if err != nil {
		panic(err) // a frozen always encodes
	}
	return text
}

// freeze returns the JSON form of p and its ancestors, or nil for nil.
func freeze(p *Principal) *frozen {
	if p == nil {
		return nil
	}
	f := &frozen{ID: p.ID, Name: p.Name, Kind: p.Kind, Owner: p.Owner, Tenant: p.Tenant, Scopes: p.Scopes, Claims: p.Claims, TokenID: p.TokenID,
		Tools: lists(p.Tools), Actions: lists(p.Actions), Classes: lists(p.Classes), Parent: p.Parent, Depth: p.Depth, Above: freeze(p.Above)}
	for class, filter := range p.Filters {
		if f.Filters == nil {
			f.Filters = map[string]value.Value{}
		}
		f.Filters[class] = query.Print(filter)
	}
	return f
}

// lists returns the lists in l, those of the authenticated principal first.
func lists(l List) []List {
	out := slices.Collect(l.All())
	slices.Reverse(out)
	return out
}

// Thaw decodes a Principal encoded by Freeze.
func Thaw(text []byte) (Principal, error) {
	var f frozen
	if err := json.Unmarshal(text, &f); err != nil {
		return Principal{}, fmt.Errorf("identity: a kept principal can't be read: %w", err)
	}
	return f.thaw()
}

// thaw returns the principal with its ancestors. A filter that can't be read is an error, because without it the
// principal would see more.
func (f *frozen) thaw() (Principal, error) {
	p := Principal{ID: f.ID, Name: f.Name, Kind: f.Kind, Owner: f.Owner, Tenant: f.Tenant, Scopes: f.Scopes, Claims: f.Claims, TokenID: f.TokenID,
		Tools: intersectLists(f.Tools), Actions: intersectLists(f.Actions), Classes: intersectLists(f.Classes), Parent: f.Parent, Depth: f.Depth}
	for class, text := range f.Filters {
		filter, err := query.ParseRule(text, "")
		if err == nil && filter == nil {
			err = errors.New("it is empty")
		}
		if err != nil {
			return Principal{}, fmt.Errorf("identity: the filter of %s of a kept principal can't be read: %w", class, err)
		}
		if p.Filters == nil {
			p.Filters = map[string]query.Filter{}
		}
		p.Filters[class] = filter
	}
	if f.Above != nil {
		above, err := f.Above.thaw()
		if err != nil {
			return Principal{}, err
		}
		p.Above = &above
	}
	return p, nil
}

func intersectLists(parts []List) List {
	var out List
	for _, l := range parts {
		out = out.And(l)
	}
	return out
}

// Refresh returns the current state of p. If p has no TokenID, it returns p unchanged. Otherwise it reads p's token
// from the store, and the result has only the rights that both p and the token grant. It fails with Unauthorized if the
// token is revoked, expired or missing. It reads the store because another process may have revoked the token.
func (t *Tokens) Refresh(ctx context.Context, p Principal) (Principal, error) {
	if p.Above != nil {
		above, err := t.Refresh(ctx, *p.Above)
		if err != nil {
			return Principal{}, err
		}
		p.Above, p.Owner, p.Tenant, p.Claims = &above, above.Owner, above.Tenant, above.Claims
		p.Scopes = slices.DeleteFunc(slices.Clone(p.Scopes), func(s Scope) bool { return !above.Has(s) })
		p.Tools, p.Actions, p.Classes = above.Tools.And(p.Tools), above.Actions.And(p.Actions), above.Classes.And(p.Classes)
		return p, nil
	}
	if p.TokenID == "" {
		return p, nil
	}
	all, err := t.latest(ctx)
	if err != nil {
		return Principal{}, storeError(err)
	}
	token, err := t.valid(all, p.TokenID)
	if err != nil {
		return Principal{}, err
	}
	now, err := token.Principal()
	if err != nil {
		return Principal{}, UnauthorizedError("token_invalid", err)
	}
	now.Proven = p.Proven
	now.Scopes = slices.DeleteFunc(slices.Clone(now.Scopes), func(s Scope) bool { return !p.Has(s) }) // a ticket may have fewer scopes than its token
	return now, nil
}

// valid returns the token with an ID. It fails if the token has ended or, for a grant, if the person's token has ended.
func (t *Tokens) valid(all map[string]Token, id string) (Token, error) {
	token, there := all[id]
	switch {
	case !there:
		return Token{}, UnauthorizedError("token_unknown", nil)
	case !token.Revoked.IsZero():
		return Token{}, UnauthorizedError("token_revoked", nil)
	case !t.now().Before(token.Expires):
		return Token{}, UnauthorizedError("token_expired", nil)
	case token.Use != UseGrant:
		return token, nil
	}
	if parent := all[token.Parent]; parent.Use == UseGrant { // a grant is a person's
		return Token{}, UnauthorizedError("token_invalid", nil)
	}
	_, err := t.valid(all, token.Parent)
	return token, err
}

// byID returns the current tokens by ID. It reads them again if one has changed. The caller must not change the map.
func (t *Tokens) byID(ctx context.Context) (map[string]Token, error) {
	return t.asOf(ctx, t.store.TokenVersion)
}

// latest is like byID, but includes all changes that any process has made before the call.
func (t *Tokens) latest(ctx context.Context) (map[string]Token, error) {
	return t.asOf(ctx, t.store.LatestTokenVersion)
}

// asOf returns the tokens by ID, at least as new as the version that of returns.
func (t *Tokens) asOf(ctx context.Context, of func(context.Context) (int64, error)) (map[string]Token, error) {
	version, err := of(ctx) // before the tokens are read, so that a change in between outdates them
	if err != nil {
		return nil, err
	}
	if last := t.all.Load(); last != nil && last.version == version {
		return last.byID, nil
	}
	return t.read(ctx, version)
}

// with is like byID, but reads the tokens again if id is missing, because another process may have created it a moment
// ago.
func (t *Tokens) with(ctx context.Context, id string) (map[string]Token, error) {
	all, err := t.byID(ctx)
	if err != nil {
		return nil, storeError(err)
	}
	if _, there := all[id]; there {
		return all, nil
	}
	version, err := t.store.TokenVersion(ctx)
	if err == nil {
		all, err = t.read(ctx, version)
	}
	if err != nil {
		return nil, storeError(err)
	}
	return all, nil
}

// read reads the tokens, which are at least as new as version.
func (t *Tokens) read(ctx context.Context, version int64) (map[string]Token, error) {
	list, err := t.store.Tokens(ctx)
	if err != nil {
		return nil, err
	}
	now := &snapshot{version, make(map[string]Token, len(list))}
	for _, k := range list {
		now.byID[k.ID] = k
	}
	t.all.Store(now)
	return now.byID, nil
}
