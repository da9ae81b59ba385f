package authserver

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// An Asking is a client's request to act for a person.
type Asking struct {
	Client   *Client
	Redirect string
	// Asked are the requested scopes. If the client names none, Asked contains all scopes that a person may lend.
	Asked []identity.Scope
	// May are the scopes in Asked that the person may lend. Never are the other scopes in Asked.
	May   []identity.Scope
	Never []identity.Scope

	state, challenge, base string
}

// challenges matches an S256 code challenge.
var challenges = regexp.MustCompile(`^[A-Za-z0-9_-]{43}$`)

// Ask checks the authorization request in r, for a person. If the request can't be shown to the person, the error is
// a *problem.Error. If the client may learn the reason for a refusal, back is the address to which the person is
// redirected.
func (s *Server) Ask(r *http.Request, q url.Values, p identity.Principal) (asking *Asking, back string, err error) {
	wrong := func(detail string) (*Asking, string, error) {
		return nil, "", &problem.Error{Code: problem.InvalidArgument, Kind: "authorization_request", Detail: "This request of an agent can't be answered: " + detail,
			Suggestion: "Nothing was allowed. Begin again in the agent's program"}
	}
	for name, values := range q {
		if len(values) > 1 && name != "resource" {
			return wrong("it says " + quoteWord(name) + " twice")
		}
	}
	client, err := s.client(r.Context(), q.Get("client_id"))
	if err != nil {
		return wrong(err.Error())
	}
	a := &Asking{Client: client, Redirect: q.Get("redirect_uri"), state: q.Get("state"), challenge: q.Get("code_challenge"), base: s.Base(r)}
	if !client.redirects(a.Redirect) || checkRedirect(a.Redirect) != nil {
		return wrong("it wants to be answered at an address that isn't the client's own")
	}
	if wrong := a.read(q, p); wrong != nil {
		return nil, a.back(url.Values{"error": {wrong.Code}, "error_description": {wrong.Detail}}), wrong
	}
	return a, "", nil
}

// read parses the request into a. A refusal may be sent to the client, because the client's address has been checked.
func (a *Asking) read(q url.Values, p identity.Principal) *refusal {
	switch {
	case q.Get("response_type") != "code":
		return &refusal{"unsupported_response_type", "response_type must be code"}
	case q.Has("response_mode") && q.Get("response_mode") != "query":
		return &refusal{"invalid_request", "response_mode must be query"}
	case q.Has("request") || q.Has("request_uri"):
		return &refusal{"request_not_supported", "request objects are not read"}
	case q.Get("code_challenge_method") != "S256" || !challenges.MatchString(a.challenge):
		return &refusal{"invalid_request", "PKCE is missing: code_challenge with code_challenge_method S256"}
	case len(a.state) > 2000:
		return &refusal{"invalid_request", "state is too long"}
	}
	for _, to := range q["resource"] {
		if !a.own(to) {
			return &refusal{"invalid_target", "tokens for " + quoteWord(to) + " are not made here"}
		}
	}
	lendable := identity.Lendable(p)
	for _, word := range scopeNames(q) {
		scope := identity.Scope(word)
		switch {
		case word == offline:
		case !slices.Contains(scopes(), scope):
			return &refusal{"invalid_scope", "there is no scope " + quoteWord(word) + " for agents"}
		default:
			a.Asked = append(a.Asked, scope)
		}
	}
	if a.Asked == nil {
		a.Asked = lendable
	}
	for _, scope := range scopes() {
		switch asked := slices.Contains(a.Asked, scope); {
		case asked && slices.Contains(lendable, scope):
			a.May = append(a.May, scope)
		case asked:
			a.Never = append(a.Never, scope)
		}
	}
	return nil
}

// scopeNames returns the scopes that a request names. Only spaces separate them (RFC 6749, 3.3). Any other white
// space is part of a name, so the name matches no scope.
func scopeNames(q url.Values) []string {
	return slices.DeleteFunc(strings.Split(q.Get("scope"), " "), func(s string) bool { return s == "" })
}

// own reports whether a resource indicator refers to the MCP endpoint of this host.
func (a *Asking) own(to string) bool { return ownResource(a.base, to) }

func ownResource(base, to string) bool {
	u, err := url.Parse(to)
	b, _ := url.Parse(base)
	return err == nil && b != nil && u.Fragment == "" && u.RawQuery == "" && u.User == nil && strings.EqualFold(u.Scheme, b.Scheme) && strings.EqualFold(u.Host, b.Host) &&
		(u.Path == "" || u.Path == "/" || strings.TrimSuffix(u.Path, "/") == "/mcp")
}

// back returns the address to which the client's answer is sent. The address contains the issuer's name, so that a
// client of several servers doesn't confuse their answers (RFC 9207).
func (a *Asking) back(with url.Values) string {
	u, err := url.Parse(a.Redirect)
	if err != nil {
		return "" // the redirect URI has been checked before
	}
	q := u.Query()
	for name, values := range with {
		q[name] = values
	}
	if a.state != "" {
		q.Set("state", a.state)
	}
	q.Set("iss", a.base)
	u.RawQuery = q.Encode()
	return u.String()
}

// Deny returns the address to which a person who refuses is redirected.
func (a *Asking) Deny() string {
	return a.back(url.Values{"error": {"access_denied"}, "error_description": {"the person did not allow it"}})
}

// granted is the Data in the ticket of a code.
type granted struct {
	Client    string `json:"c"`
	Redirect  string `json:"r"`
	Challenge string `json:"h"`
	Base      string `json:"b"`
}

// Grant lets the client of a act for p with the chosen scopes. It returns the address to which the person is
// redirected.
func (s *Server) Grant(ctx context.Context, p identity.Principal, a *Asking, chosen []identity.Scope) (back string, err error) {
	if len(chosen) == 0 || slices.ContainsFunc(chosen, func(c identity.Scope) bool { return !slices.Contains(a.May, c) }) {
		return "", problem.New(problem.InvalidArgument, "Choose what the agent may do, of what it asks for")
	}
	agent, err := s.Tokens.Grant(ctx, p, identity.Granting{Client: a.Client.ID, Name: a.Client.DisplayName(), Scopes: chosen, Life: s.Life})
	if err != nil {
		return "", err
	}
	data, err := json.Marshal(granted{a.Client.ID, a.Redirect, a.challenge, a.base})
	if err != nil {
		return "", errors.New("authserver: a code can't be written")
	}
	_, code, err := s.Tokens.Issue(ctx, agent, identity.Ticket{Use: identity.Code, Expires: s.Now().Add(codeAge), Data: string(data)})
	if err != nil {
		return "", err
	}
	return a.back(url.Values{"code": {code}}), nil
}

// DisplayName returns the name of a client to show to people: its own name, or its host.
func (c *Client) DisplayName() string {
	switch name := strings.TrimSpace(c.Name); {
	case name != "":
		return name
	case c.Host != "":
		return c.Host
	}
	return "an agent without a name"
}

// Lands describes for people where the answer is sent: a host, or an app on this machine.
func (a *Asking) Lands() string {
	u, err := url.Parse(a.Redirect)
	switch {
	case err != nil:
		return ""
	case u.Scheme == "http":
		return "a program on your own machine"
	case u.Scheme == "https":
		return u.Host
	}
	return "the app that opens " + u.Scheme + ": links"
}

// Source returns the address of the answer as a source expression for a content security policy. The browser may send
// the consent form to no other address.
func (a *Asking) Source() string {
	u, err := url.Parse(a.Redirect)
	if err != nil {
		return ""
	}
	if u.Scheme == "http" || u.Scheme == "https" {
		return u.Scheme + "://" + u.Host
	}
	return u.Scheme + ":"
}
