package identity

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"iter"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// TokenOptions configure Tokens. Store is always required, and Audit is required to create and revoke tokens. Other
// fields have useful zero values.
type TokenOptions struct {
	Store TokenStore
	Audit audit.Log        // records the creation and revocation of tokens. Nil refuses both
	Cache int              // maximum number of cached tokens. 0 means 4,096
	Touch time.Duration    // how long a last use may wait until a batch stores it. 0 means 30 s
	Now   func() time.Time // nil means time.Now
}

// Tokens creates, authenticates and revokes the tokens of a store. Close stores pending last uses.
type Tokens struct {
	store TokenStore
	log   audit.Log
	touch time.Duration
	now   func() time.Time

	known *cache[*entry] // by prefix
	byID  *cache[dated]
	used  usage
}

// An entry is a cached token at one version of the store.
type entry struct {
	token     Token
	principal Principal
	version   int64
}

// NewTokens returns Tokens over a store.
func NewTokens(o TokenOptions) *Tokens {
	most := cmp.Or(o.Cache, 4096)
	t := &Tokens{store: o.Store, log: o.Audit, touch: cmp.Or(o.Touch, 30*time.Second), now: o.Now, known: newCache[*entry](most), byID: newCache[dated](most)}
	if t.now == nil {
		t.now = time.Now
	}
	return t
}

// UnauthorizedError returns the refusal of a credential. It is the same for every reason. kind is the true reason, for the
// audit record.
func UnauthorizedError(kind string, err error) *problem.Error {
	return &problem.Error{Code: problem.Unauthorized, Detail: "The credential is missing or not valid",
		Suggestion: "Send a valid token as Authorization: Bearer <token>", Kind: kind, Err: err}
}

// Authenticate returns the Principal of a token that is used from remote. An invalid remote means no address, for
// example on stdio. Every refusal is Unauthorized. Any other error is a failure of the store. Principals share their
// lists, so the caller must not change them.
func (t *Tokens) Authenticate(ctx context.Context, credential string, remote netip.Addr) (Principal, error) {
	if credential == "" {
		return Principal{}, UnauthorizedError("no_credential", nil)
	}
	if strings.HasPrefix(credential, AccessStart) {
		p, _, err := t.Present(ctx, Access, credential, remote)
		return p, err
	}
	if !hasTokenForm(credential) {
		return Principal{}, UnauthorizedError("token_malformed", nil)
	}
	e, err := t.entry(ctx, publicPart(credential))
	if err != nil {
		return Principal{}, err
	}
	now, sum := t.now(), sha256.Sum256([]byte(credential))
	switch {
	case e.token.Use != UseCredential:
		return Principal{}, UnauthorizedError("token_unknown", nil)
	case subtle.ConstantTimeCompare(sum[:], e.token.Hash[:]) != 1:
		return Principal{}, UnauthorizedError("token_unknown", nil)
	case !e.token.Revoked.IsZero():
		return Principal{}, UnauthorizedError("token_revoked", nil)
	case !now.Before(e.token.Expires):
		return Principal{}, UnauthorizedError("token_expired", nil)
	case !e.token.allows(remote):
		return Principal{}, UnauthorizedError("token_address", nil)
	}
	t.used.note(e.token.ID, now, t)
	return e.principal, nil
}

// entry returns the current token with a prefix, from the cache if the store hasn't changed.
func (t *Tokens) entry(ctx context.Context, prefix string) (*entry, error) {
	version, err := t.store.TokenVersion(ctx) // before the token is read, so that a change in between outdates the entry
	if err != nil {
		return nil, storeError(err)
	}
	e, ok := t.known.get(prefix)
	if ok && e.version == version {
		return e, nil
	}
	token, err := t.store.TokenByPrefix(ctx, prefix)
	if problem.CodeOf(err) == problem.NotFound {
		t.known.forget(prefix)
		return nil, UnauthorizedError("token_unknown", nil)
	}
	if err != nil {
		return nil, storeError(err)
	}
	e = &entry{token: token, version: version}
	if e.principal, err = token.Principal(); err != nil {
		t.known.forget(prefix)
		return nil, UnauthorizedError("token_invalid", err)
	}
	t.known.put(prefix, e)
	return e, nil
}

func storeError(err error) error {
	return problem.StoreError("token_store", err)
}

// Principal returns the Principal for t, even if t is no longer valid. It fails if t has scopes that its kind may not
// have, for example because somebody wrote them directly to the store.
func (t *Token) Principal() (Principal, error) {
	if err := mayHold(t.Kind, t.Owner, t.Scopes); err != nil {
		return Principal{}, err
	}
	filters, err := t.filters()
	if err != nil {
		return Principal{}, err
	}
	var claims value.Value
	if t.Claims != "" {
		if claims, err = value.Read([]byte(t.Claims), 0); err != nil {
			return Principal{}, fmt.Errorf("claims: %w", err)
		}
	}
	p := Principal{ID: "token:" + t.ID, Name: t.Name, Kind: t.Kind, Owner: t.Owner, Tenant: t.Tenant, Scopes: t.Scopes, Claims: claims,
		TokenID: t.ID, Tools: t.Tools, Actions: t.Actions, Classes: t.Classes, Filters: filters}
	if t.Use == UsePerson && t.Subject != "" {
		p.ID = t.Subject // the same ID as with a token of the issuer itself
	}
	return p, nil
}

// Create creates a token from want and returns its record and the token itself, which can't be retrieved again. It
// ignores want's ID, Prefix, Hash, Use, Parent, Subject, Created, LastUsed and Revoked. The defaults are {read} for
// Scopes, an agent for Kind, TokenLife from now for Expires, and by's Tenant. by must be a human or service with the
// scope operator. If by has a tenant, the token must have the same tenant.
func (t *Tokens) Create(ctx context.Context, by Principal, want Token) (Token, string, error) {
	if err := t.mayChange(by); err != nil {
		return Token{}, "", err
	}
	want.Tenant = cmp.Or(want.Tenant, by.Tenant)
	if !manages(by, want) {
		return Token{}, "", foreignTenant(by)
	}
	want.Use, want.Parent, want.Subject = UseCredential, "", ""
	if len(want.Scopes) == 0 {
		want.Scopes = []Scope{Read}
	}
	return t.make(ctx, by, want)
}

func foreignTenant(by Principal) error {
	return &problem.Error{Code: problem.PermissionDenied, Kind: "tenant", Detail: "An operator of " + quote(by.Tenant) + " makes tokens only of that tenant"}
}

// make stores a token. The caller must check the authority of by before.
func (t *Tokens) make(ctx context.Context, by Principal, want Token) (Token, string, error) {
	if t.log == nil {
		return Token{}, "", noAuditError()
	}
	now := t.now().UTC().Truncate(time.Microsecond)
	want.Created, want.LastUsed, want.Revoked = now, time.Time{}, time.Time{}
	want.Kind = cmp.Or(want.Kind, Agent)
	if want.Expires.IsZero() {
		want.Expires = now.Add(TokenLife)
	}
	want.Expires = want.Expires.UTC().Truncate(time.Microsecond)
	if err := want.check(now); err != nil {
		return Token{}, "", err
	}
	want.Scopes = canonicalScopes(want.Scopes)
	var err error
	for range 3 { // a new prefix already exists with a probability of about 2^-48 per token
		var secret string
		want.ID = newID()
		secret, want.Prefix, want.Hash = mint()
		if err = t.store.AddToken(ctx, want, want.record(created, by, now)); err == nil {
			return t.recordNewToken(ctx, by, want, secret)
		}
		if problem.CodeOf(err) != problem.Conflict {
			break
		}
	}
	return Token{}, "", err
}

// recordNewToken records the creation of a token and returns the token. If that fails its secret is lost, so the token
// is revoked.
func (t *Tokens) recordNewToken(ctx context.Context, by Principal, made Token, secret string) (Token, string, error) {
	err := t.drainRecords(ctx, &made)
	if err == nil {
		return made, secret, nil
	}
	return Token{}, "", errors.Join(err, t.store.RevokeToken(context.WithoutCancel(ctx), made.ID, made.record(revoked, by, t.now())))
}

// List returns a page of the tokens that by manages and that match f, newest first: of all tokens, or of those of by's
// tenant. The next page begins After the last token. Without a Limit, a page has 50 tokens, and at most 1,000. by must be
// an operator, as for Create.
func (t *Tokens) List(ctx context.Context, by Principal, f TokenFilter) ([]Token, error) {
	f, ok, err := t.managed(by, f)
	if err != nil || !ok {
		return nil, err
	}
	page, err := t.store.FindTokens(ctx, f)
	if err != nil {
		return nil, storeError(err)
	}
	return slices.DeleteFunc(page, func(k Token) bool { return !manages(by, k) || f.Person != "" && Person(k.Owner) != f.Person }), nil
}

// managed returns f for the tokens that by manages, or false if by manages none of them.
func (t *Tokens) managed(by Principal, f TokenFilter) (_ TokenFilter, ok bool, err error) {
	if err := mayManage(by); err != nil {
		return f, false, err
	}
	if f.Tenant = cmp.Or(f.Tenant, by.Tenant); by.Tenant != "" && f.Tenant != by.Tenant {
		return f, false, nil
	}
	f.At, f.Person, f.Limit = t.now(), Person(f.Person), min(cmp.Or(f.Limit, 50), tokenPages)
	return f, true, nil
}

// All yields the tokens that by manages and that match f, newest first. It reads them in pages. by must be an operator,
// as for Create.
func (t *Tokens) All(ctx context.Context, by Principal, f TokenFilter) iter.Seq2[Token, error] {
	return func(yield func(Token, error) bool) {
		f, ok, err := t.managed(by, f)
		if err != nil {
			yield(Token{}, err)
		}
		if err != nil || !ok {
			return
		}
		for k, err := range pages(ctx, t.store, f) {
			if err != nil {
				yield(Token{}, storeError(err))
				return
			}
			if manages(by, k) && (f.Person == "" || Person(k.Owner) == f.Person) && !yield(k, nil) {
				return
			}
		}
	}
}

// Revoke revokes a token. The revocation is in force immediately in this process, and within a second in others. For an
// operator of a tenant, tokens of other tenants don't exist. If the revocation can't be recorded, Revoke returns an
// error, but the revocation is in force. Other errors are problem.NotFound, and problem.PermissionDenied if by is not
// an operator as for Create.
func (t *Tokens) Revoke(ctx context.Context, by Principal, id string) error {
	if err := t.mayChange(by); err != nil {
		return err
	}
	if by.Tenant != "" {
		now, err := t.current(ctx)
		if err != nil {
			return err
		}
		k, err := now.find(ctx, id)
		if err != nil && !refused(err) {
			return err
		}
		if err != nil || !manages(by, k) {
			return problem.New(problem.NotFound, "There is no such token")
		}
	}
	return t.end(ctx, by, id)
}

// end revokes a token. The caller must check the authority of by before.
func (t *Tokens) end(ctx context.Context, by Principal, id string) error {
	k := Token{ID: id}
	if err := t.store.RevokeToken(ctx, id, k.record(revoked, by, t.now())); err != nil {
		return err
	}
	return t.drainRecords(ctx, &k)
}

// manages reports whether the operator by may manage token k. An operator with a tenant manages only the tokens of that
// tenant.
func manages(by Principal, k Token) bool { return by.Tenant == "" || k.Tenant == by.Tenant }

// Local returns the principal of a local user at the command line. The user has access to the store's file anyway. The
// principal may only manage tokens.
func Local(user string) Principal {
	return Principal{ID: "local:" + user, Name: user, Kind: Human, Owner: user, Scopes: []Scope{Operator}}
}

// mayChange returns nil if by may create and revoke tokens, and the audit can record that.
func (t *Tokens) mayChange(by Principal) error {
	if err := mayManage(by); err != nil {
		return err
	}
	if t.log == nil {
		return noAuditError()
	}
	return nil
}

func noAuditError() error {
	return &problem.Error{Code: problem.Internal, Detail: "Internal error", Kind: "audit", Err: errors.New("tokens are made and revoked only where an audit log records it: set TokenOptions.Audit")}
}

func mayManage(by Principal) error {
	if by.Kind != Human && by.Kind != Service || !by.Has(Operator) {
		return &problem.Error{Code: problem.PermissionDenied, Detail: "Only an operator can manage tokens, and never an agent",
			Kind: "not_operator"}
	}
	return nil
}
