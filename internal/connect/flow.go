package connect

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// flowLife is the maximum time for a person to connect.
const flowLife = 10 * time.Minute

// A Visit is a visit of a person who connects a source.
type Visit struct {
	Who     identity.Principal
	Source  string
	Session string // a secret of the person's session. Only this session can Finish the flow that it began
	Back    string // the URL to which the provider redirects the person, for this source only
}

// Begin returns the URL at which a person agrees to connect a source.
func (c *Connections) Begin(v Visit) (to string, err error) {
	a, k, err := c.account(v.Who, v.Source)
	if err != nil {
		return "", err
	}
	s := state{random: rand.Text(), until: c.o.Now().Add(flowLife).Unix()}
	extra := []oauth2.AuthCodeOption{oauth2.S256ChallengeOption(s.mac(v.Session, k, "verifier"))}
	for name, text := range a.provider.Params {
		extra = append(extra, oauth2.SetAuthURLParam(name, text))
	}
	return a.config(v.Back).AuthCodeURL(s.text(v.Session, k), extra...), nil
}

// Finish connects a person who returned with an answer. It fails with problem.InvalidArgument if the answer doesn't
// belong to a Begin of the same person, source and session. It also fails if the answer comes twice or too late. Then
// it sends nothing to the provider.
func (c *Connections) Finish(ctx context.Context, v Visit, answer url.Values) error {
	a, k, err := c.account(v.Who, v.Source)
	if err != nil {
		return err
	}
	s, err := c.answerState(a, k, v.Session, answer)
	if err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(s.random))
	first, err := c.o.Used.UseUp(ctx, "connect "+hex.EncodeToString(sum[:]), time.Unix(s.until, 0))
	if err != nil {
		return storeError(err)
	}
	if !first {
		return notBegunError("replayed", nil)
	}
	if answer.Has("error") {
		return &problem.Error{Code: problem.PermissionDenied, Kind: "connection_denied", Detail: "Nothing was connected: you did not agree, or " + v.Source + " refused",
			Err: problem.LoggableError(problem.Cut(answer.Get("error")))}
	}
	got, err := a.config(v.Back).Exchange(a.with(ctx), answer.Get("code"), oauth2.VerifierOption(s.mac(v.Session, k, "verifier")))
	switch {
	case isInvalidGrant(err):
		return notBegunError("code_refused", err)
	case err != nil:
		return tokenRequestError(err)
	case !strings.EqualFold(got.Type(), "Bearer"):
		return unavailable("token_type", problem.LoggableError("the token URL answered with a token that is not a bearer token"))
	}
	sealed, err := c.seal(k, a.tokensFrom(got, c.o.Now().UTC(), ""))
	if err != nil {
		return storeError(err)
	}
	return c.put(ctx, k, func(r *Row) { r.Sealed, r.Busy, r.Ended = sealed, false, false })
}

// answerState returns the state in an answer. It checks that k's person began the flow in the same session.
func (c *Connections) answerState(a *Account, k Key, session string, answer url.Values) (state, error) {
	for name, values := range answer {
		if len(values) > 1 {
			return state{}, notBegunError("ambiguous", problem.LoggableError(problem.Cut(name)))
		}
	}
	s, ok := readState(answer.Get("state"))
	left := s.until - c.o.Now().Unix()
	switch {
	case session == "" || !ok || !hmac.Equal([]byte(s.text(session, k)), []byte(answer.Get("state"))):
		return s, notBegunError("state", nil)
	case left <= 0 || left > 2*int64(flowLife/time.Second): // a clock that was set back must not extend a state's life
		return s, notBegunError("late", nil)
	case a.provider.Issuer != "" && answer.Get("iss") != a.provider.Issuer:
		return s, notBegunError("issuer", nil) // the answer came from another server (RFC 9207)
	case !answer.Has("error") && answer.Get("code") == "":
		return s, notBegunError("no_code", nil)
	}
	return s, nil
}

func notBegunError(kind string, err error) error {
	return &problem.Error{Code: problem.InvalidArgument, Kind: "connect_" + kind, Err: err,
		Detail: "Nothing was connected: this was not begun in this session, was used before, or took too long. Connect again"}
}

// put changes a connection, regardless of its version.
func (c *Connections) put(ctx context.Context, k Key, change func(*Row)) error {
	for range 10 { // a round fails if another process changes the connection
		was, err := c.o.Store.Connection(ctx, k)
		if err != nil {
			return storeError(err)
		}
		next := was
		next.Key, next.Version = k, was.Version+1
		if was.Version == 0 { // versions of a removed connection are never reused
			next.Version = c.o.Now().UnixMicro()
		}
		if change(&next); was.Version == 0 && next.Sealed == nil {
			return nil
		}
		if done, err := c.o.Store.SwapConnection(ctx, was.Version, next); err != nil || done {
			if err != nil {
				err = storeError(err)
			}
			return err
		}
	}
	return storeError(errors.New("the connection is changed again and again"))
}

// account returns the account of a source and the key of a person's connection.
func (c *Connections) account(p identity.Principal, source string) (*Account, Key, error) {
	a := c.accounts[source]
	if a == nil {
		return nil, Key{}, problem.New(problem.NotFound, "There is no such account to connect")
	}
	if p.Kind != identity.Human || p.Depth > 0 {
		return nil, Key{}, &problem.Error{Code: problem.PermissionDenied, Kind: "not_a_person", Detail: "Only a person connects their account"}
	}
	k, err := a.key(p)
	return a, k, err
}

// A state binds an answer to the session that began the flow. The state and the code verifier are derived from the
// session's secret. So neither the browser nor the store needs to remember them.
type state struct {
	random string
	until  int64 // Unix seconds
}

// mac returns an authentication code of the state for one purpose. It can't be computed without the session's secret.
func (s state) mac(session string, k Key, purpose string) string {
	m := hmac.New(sha256.New, []byte(session))
	fmt.Fprintf(m, "bailiwick connect %q %q %q %q %q %d", purpose, k.Source, k.Tenant, k.Person, s.random, s.until)
	return base64.RawURLEncoding.EncodeToString(m.Sum(nil))
}

func (s state) text(session string, k Key) string {
	return fmt.Sprintf("%s.%d.%s", s.random, s.until, s.mac(session, k, "state"))
}

// readState parses a state without checking its authentication code.
func readState(text string) (s state, ok bool) {
	random, rest, ok := strings.Cut(text, ".")
	if !ok || random == "" {
		return s, false
	}
	s.random = random
	_, err := fmt.Sscanf(rest, "%d.", &s.until)
	return s, err == nil
}
