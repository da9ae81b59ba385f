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
	latest, err := t.latest(ctx)
	if err != nil {
		return Principal{}, err
	}
	token, _, err := latest.valid(ctx, p.TokenID)
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
