package identity

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/base64"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// TokenStart is the prefix of every token that this package issues.
const TokenStart = "bw_"

// TokenLife is the default lifetime of a token.
const TokenLife = 90 * 24 * time.Hour

// The text of a token is TokenStart and 32 random bytes in base64url. The first prefixLength characters after
// TokenStart are public and identify the record. 26 bytes stay secret.
const (
	tokenBytes   = 32
	prefixLength = 8
)

// A Use is the purpose of a token.
type Use string

// The uses of tokens. Clients can only send tokens of UseCredential. The others are records of rights: their secrets
// are never given out, and clients use Tickets for them.
const (
	UseCredential Use = ""       // its holder sends it
	UsePerson     Use = "person" // a person who signs in by a link or through an issuer
	UseGrant      Use = "grant"  // an agent that a person let in
)

// A Token is the stored record of a token. It contains the SHA-256 of the token, not the token itself.
type Token struct {
	ID     string            `json:"id"`
	Prefix string            `json:"prefix"` // public and unique
	Hash   [sha256.Size]byte `json:"-"`      // of the token's text

	Name    string            `json:"name"` // for people
	Kind    Kind              `json:"kind"`
	Owner   string            `json:"owner,omitempty"`
	Tenant  string            `json:"tenant,omitempty"`
	Scopes  []Scope           `json:"scopes"`
	Tools   List              `json:"tools,omitzero"`
	Actions List              `json:"actions,omitzero"`
	Classes List              `json:"classes,omitzero"`
	Use     Use               `json:"use,omitempty"`
	Parent  string            `json:"parent,omitempty"`  // for a grant: the ID of the person's token, with which the grant ends
	Subject string            `json:"subject,omitempty"` // for a person of an issuer: the ID of their Principal. For a grant: the client
	Claims  string            `json:"-"`                 // an object of further claims for rules, as JSON text, or ""
	Filters map[string]string `json:"-"`                 // by class or "default": a where object of query.ParseRule as JSON text
	IPs     []netip.Prefix    `json:"ips,omitempty"`     // allowed client addresses. Empty allows all

	Created  time.Time `json:"created_at"`
	Expires  time.Time `json:"expires_at"`
	LastUsed time.Time `json:"last_used_at,omitzero"` // zero if never used. Up to a minute late
	Revoked  time.Time `json:"revoked_at,omitzero"`   // zero if not revoked
}

// mint returns a new token, its public prefix and its hash.
func mint() (secret, prefix string, hash [sha256.Size]byte) {
	var b [tokenBytes]byte
	rand.Read(b[:]) // never fails: crypto/rand ends the program if the system has no randomness
	secret = TokenStart + base64.RawURLEncoding.EncodeToString(b[:])
	return secret, publicPart(secret), sha256.Sum256([]byte(secret))
}

func publicPart(secret string) string {
	return secret[len(TokenStart) : len(TokenStart)+prefixLength]
}

// hasTokenForm reports whether text has the form of a token, with canonical base64url.
func hasTokenForm(text string) bool {
	rest, ok := strings.CutPrefix(text, TokenStart)
	if !ok || len(rest) != base64.RawURLEncoding.EncodedLen(tokenBytes) {
		return false
	}
	var b [tokenBytes]byte
	n, err := base64.RawURLEncoding.Strict().Decode(b[:], []byte(rest))
	return err == nil && n == tokenBytes
}

func newID() string {
	var b [10]byte
	rand.Read(b[:])
	return strings.ToLower(base32.StdEncoding.EncodeToString(b[:]))
}

// check validates a new token, created at now. It returns nil or an InvalidArgument error.
func (t *Token) check(now time.Time) error {
	for _, f := range []struct{ name, text string }{{"name", t.Name}, {"owner", t.Owner}, {"tenant", t.Tenant}} {
		if len(f.text) > 200 || !utf8.ValidString(f.text) || strings.ContainsFunc(f.text, unicode.IsControl) {
			return problem.New(problem.InvalidArgument, "The "+f.name+" must be at most 200 bytes of text without control characters")
		}
	}
	switch {
	case strings.TrimSpace(t.Name) == "":
		return problem.New(problem.InvalidArgument, "A token needs a name")
	case t.Kind != Agent && t.Kind != Human && t.Kind != Service:
		return &problem.Error{Code: problem.InvalidArgument, Detail: "There is no kind " + quote(string(t.Kind)),
			Near: problem.Nearest(string(t.Kind), []string{"agent", "human", "service"}, 1), Suggestion: "Use agent, human or service"}
	case !t.Expires.After(now):
		return problem.New(problem.InvalidArgument, "A token must expire in the future")
	}
	for _, p := range t.IPs {
		if !p.IsValid() {
			return problem.New(problem.InvalidArgument, "The list of addresses has an invalid one")
		}
	}
	if err := mayHold(t.Kind, t.Owner, t.Scopes); err != nil {
		return err
	}
	_, err := t.filters()
	return err
}

// filters parses t's filters. A filter that is invalid or matches everything is an error, because without it the
// principal would see more.
func (t *Token) filters() (map[string]query.Filter, error) {
	if len(t.Filters) == 0 {
		return nil, nil
	}
	out := make(map[string]query.Filter, len(t.Filters))
	for class, text := range t.Filters {
		v, err := value.Read([]byte(text), 0)
		if err != nil {
			return nil, fmt.Errorf("filter of %s: %w", class, err)
		}
		f, err := query.ParseRule(v, "")
		if err != nil {
			return nil, fmt.Errorf("filter of %s: %w", class, err)
		}
		if f == nil {
			return nil, problem.New(problem.InvalidArgument, "The filter of "+quote(class)+" is empty")
		}
		out[class] = f
	}
	return out, nil
}

// allows reports whether t may be used from remote.
func (t *Token) allows(remote netip.Addr) bool {
	remote = remote.Unmap().WithZone("")
	return len(t.IPs) == 0 || slices.ContainsFunc(t.IPs, func(p netip.Prefix) bool { return p.Contains(remote) })
}

// ParseIPs parses addresses and CIDR ranges separated by commas or spaces. A range with set bits after its mask is an
// error. An IPv4 address in IPv6 form is also an error, because it would match nothing.
func ParseIPs(text string) ([]netip.Prefix, error) {
	var out []netip.Prefix
	for _, w := range strings.FieldsFunc(text, func(c rune) bool { return c == ',' || c == ' ' }) {
		p, err := netip.ParsePrefix(w)
		if a, errAddr := netip.ParseAddr(w); errAddr == nil && a.Zone() == "" {
			p, err = netip.PrefixFrom(a, a.BitLen()), nil
		}
		if err != nil || p.Addr().Is4In6() || p != p.Masked() {
			return nil, &problem.Error{Code: problem.InvalidArgument, Detail: quote(w) + " is not an IP address or a CIDR range",
				Suggestion: "Write it as 192.0.2.7, 192.0.2.0/24 or 2001:db8::/32"}
		}
		out = append(out, p)
	}
	return out, nil
}

// A TokenFilter selects tokens. Zero fields are ignored.
type TokenFilter struct {
	IDs      []string // these, unless nil
	Valid    bool     // in force at At
	Ended    bool     // revoked, or expired at At
	Kind     Kind
	Tenant   string
	Person   string // the canonical name of the owner. See Person
	Subject  string
	Text     string    // each of its words is in the name, the owner, the tenant, the ID or the prefix. For people: in their name
	Narrowed bool      // not revoked, and with lists of tools or classes, or with filters
	At       time.Time // Tokens sets it
	After    string    // begins after this token, by ID. For people: after PersonEntry.Place
	Limit    int
}

// A TokenStore stores tokens. It also stores the records of their steps until the audit has them. It returns copies.
type TokenStore interface {
	TokenFinder
	TokenKeeper
	TicketStore
	audit.Outbox
}

// A TokenFinder is the part of a store that authentication needs.
type TokenFinder interface {
	// TokenByPrefix returns the token with a public prefix, or problem.NotFound.
	TokenByPrefix(ctx context.Context, prefix string) (Token, error)
	// TokenVersion returns a number that changes with every AddToken and RevokeToken. It changes immediately for calls
	// of this process, and within a second for other processes. It is called for each request and must be cheap.
	TokenVersion(ctx context.Context) (int64, error)
	// LatestTokenVersion returns the same number, but includes all changes of all processes before the call. It reads
	// the store each time.
	LatestTokenVersion(ctx context.Context) (int64, error)
	// TouchTokens updates LastUsed, by ID, if the given time is later.
	TouchTokens(ctx context.Context, used map[string]time.Time) error
}

// A TokenKeeper is the part of a store that token management needs.
type TokenKeeper interface {
	// AddToken stores a new token, and r in the outbox, in one transaction. It returns problem.Conflict if its ID or
	// Prefix is taken.
	AddToken(ctx context.Context, t Token, r audit.Record) error
	// FindTokens returns the tokens that match f, newest first, at most f.Limit unless it is 0. Its cost doesn't depend on
	// the number of other tokens, unless f has a Text, a Kind or a state that most tokens lack.
	FindTokens(ctx context.Context, f TokenFilter) ([]Token, error)
	// People returns the humans with valid tokens that match f, by canonical name and tenant, without their Sessions.
	People(ctx context.Context, f TokenFilter) ([]PersonEntry, error)
	// RevokeToken sets Revoked to r's Time and stores r in the outbox, in one transaction. It does nothing if the token
	// is already revoked. It returns problem.NotFound if there is no such token.
	RevokeToken(ctx context.Context, id string, r audit.Record) error
	// EndConnections ends all connections of a person with accounts that agents use for them. person is the canonical
	// name.
	EndConnections(ctx context.Context, person, tenant string) error
}

// quote quotes s for a message, cut to 60 bytes.
func quote(s string) string {
	if len(s) > 60 {
		s = strings.ToValidUTF8(s[:60], "") + "…"
	}
	return "“" + strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return '\uFFFD'
		}
		return r
	}, s) + "”"
}
