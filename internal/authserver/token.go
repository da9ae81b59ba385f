package authserver

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/edge"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// form reads the form in r. Each parameter may occur only once.
func form(r *http.Request) (url.Values, *refusal) {
	if err := r.ParseForm(); err != nil || r.URL.RawQuery != "" || !strings.HasPrefix(r.Header.Get("Content-Type"), "application/x-www-form-urlencoded") {
		return nil, &refusal{"invalid_request", "the body must be a form, and the address has no query"}
	}
	for name, values := range r.PostForm {
		if len(values) > 1 && name != "resource" {
			return nil, &refusal{"invalid_request", quoteWord(name) + " occurs twice"}
		}
	}
	if r.Header.Get("Authorization") != "" || r.PostForm.Has("client_secret") || r.PostForm.Has("client_assertion") {
		return nil, &refusal{"invalid_client", "clients are public here: client_id without a secret"}
	}
	if r.PostForm.Get("client_id") == "" {
		return nil, &refusal{"invalid_client", "client_id is missing"}
	}
	return r.PostForm, nil
}

// token handles the token endpoint. A code or a refresh token is exchanged for an access token and another refresh
// token.
func (s *Server) token(w http.ResponseWriter, r *http.Request) {
	f, wrong := form(r)
	if wrong != nil {
		refuse(w, wrong)
		return
	}
	for _, to := range f["resource"] {
		if !ownResource(s.Base(r), to) {
			refuse(w, &refusal{"invalid_target", "tokens for " + quoteWord(to) + " are not made here"})
			return
		}
	}
	var body []byte
	var err error
	switch f.Get("grant_type") {
	case "authorization_code":
		body, err = s.exchange(r, f, identity.Code, f.Get("code"))
	case "refresh_token":
		body, err = s.exchange(r, f, identity.Renewal, f.Get("refresh_token"))
	default:
		err = &refusal{"unsupported_grant_type", "grant_type must be authorization_code or refresh_token"}
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	answer(w, http.StatusOK, json.RawMessage(body))
}

// exchange returns the answer for a code or refresh token, and uses it up. All checks that can refuse the request
// come before. If another request uses it up in the meantime, that request's answer is repeated, or the grant ends.
func (s *Server) exchange(r *http.Request, f url.Values, use identity.TicketUse, secret string) ([]byte, error) {
	for tries := range 2 {
		o, err := s.Tokens.Offer(r.Context(), use, secret, remoteOf(r))
		if err != nil {
			return nil, err
		}
		asked := o.Principal.Scopes
		if use == identity.Code {
			err = s.checkCode(r, f, &o)
		} else {
			asked, err = checkRenewal(f, &o)
		}
		if err == nil && tries == 0 {
			err = s.Admit(r.Context(), o.Principal, "oauth/token")
		}
		if err != nil {
			return nil, err
		}
		if o.Answer != nil {
			return repeat(o.Answer, asked)
		}
		if body, first, err := s.issue(r, o, asked); err != nil || first {
			return body, err
		}
	}
	return nil, identity.UnauthorizedError("ticket_ended", nil)
}

// fail refuses a request. The reason why a code or token is invalid is only in the log.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	if wrong, ok := err.(*refusal); ok {
		refuse(w, wrong)
		return
	}
	p := problem.Of(err)
	switch p.Code {
	case problem.Unauthorized:
		edge.RefusedBecause(r.Context(), p.Kind, "")
		edge.RefusalCause(r.Context(), p.Err)
		refuse(w, &refusal{"invalid_grant", "the code or token is not good, or no longer. Sign in again"})
	case problem.RateLimited, problem.BudgetExceeded:
		refuse(w, &refusal{"temporarily_unavailable", "too many requests"})
	default:
		s.Log.ErrorContext(r.Context(), "an agent's sign-in failed", "error", err, "cause", p.Err)
		refuse(w, &refusal{"temporarily_unavailable", ""})
	}
}

// checkCode checks that a request for the tokens of a code comes from the client that the person allowed.
func (s *Server) checkCode(r *http.Request, f url.Values, o *identity.Offer) error {
	var g granted
	if err := json.Unmarshal([]byte(o.Ticket.Data), &g); err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(f.Get("code_verifier")))
	challenge := base64.RawURLEncoding.EncodeToString(sum[:])
	switch {
	case f.Get("client_id") != g.Client:
		return identity.UnauthorizedError("code_client", nil)
	case subtle.ConstantTimeCompare([]byte(challenge), []byte(g.Challenge)) != 1:
		return identity.UnauthorizedError("code_verifier", nil)
	case f.Has("redirect_uri") && f.Get("redirect_uri") != g.Redirect:
		return identity.UnauthorizedError("code_redirect_uri", nil)
	case s.Base(r) != g.Base:
		return identity.UnauthorizedError("code_issuer", nil)
	}
	return nil
}

// renewal is the Data in the ticket of a refresh token. It contains the client to which the token is bound.
type renewal struct {
	Client string `json:"c"`
}

// checkRenewal returns the scopes of the next access token. These are all scopes that the person granted, or those
// among them that the request names.
func checkRenewal(f url.Values, o *identity.Offer) ([]identity.Scope, error) {
	var of renewal
	if err := json.Unmarshal([]byte(o.Ticket.Data), &of); err != nil {
		return nil, err
	}
	if f.Get("client_id") != of.Client {
		return nil, identity.UnauthorizedError("code_client", nil)
	}
	asked := map[identity.Scope]bool{}
	for _, word := range scopeNames(f) {
		if word == offline {
			continue
		}
		if !o.Principal.Has(identity.Scope(word)) {
			return nil, &refusal{"invalid_scope", "the person did not grant " + quoteWord(word) + ". Sign in again to ask for it"}
		}
		asked[identity.Scope(word)] = true
	}
	if len(asked) == 0 {
		return o.Principal.Scopes, nil
	}
	return slices.DeleteFunc(slices.Clone(o.Principal.Scopes), func(s identity.Scope) bool { return !asked[s] }), nil
}

// An issued is the answer of the token endpoint.
type issued struct {
	Access  string `json:"access_token"`
	Type    string `json:"token_type"`
	Seconds int    `json:"expires_in"`
	Refresh string `json:"refresh_token"`
	Scope   string `json:"scope"`
}

// issue uses up o for an access token and a refresh token. The access token has the requested scopes. The refresh
// token has all scopes of the grant (RFC 6749, section 6). first is false if another request was faster.
func (s *Server) issue(r *http.Request, o identity.Offer, asked []identity.Scope) (body []byte, first bool, err error) {
	data, err := json.Marshal(renewal{r.PostForm.Get("client_id")})
	if err != nil {
		return nil, false, err
	}
	now := s.Now()
	names := identity.Principal{Scopes: asked}.ScopeNames()
	access := identity.Ticket{Use: identity.Access, Expires: now.Add(min(s.Access, s.Life))}
	if len(asked) < len(o.Principal.Scopes) {
		access.Scopes = strings.Join(names, " ")
	}
	refresh := identity.Ticket{Use: identity.Renewal, Expires: now.Add(min(s.Idle, s.Life)), Data: string(data)}
	return s.Tokens.Exchange(r.Context(), o, []identity.Ticket{access, refresh}, func(made []identity.Issued) ([]byte, error) {
		return json.Marshal(issued{made[0].Secret, "Bearer", int(made[0].Expires.Sub(now).Seconds()), made[1].Secret, strings.Join(names, " ")})
	})
}

// repeat returns the answer of an exchange a moment ago again. It refuses a request for fewer scopes, because this is
// not a repetition.
func repeat(body []byte, asked []identity.Scope) ([]byte, error) {
	var was issued
	if err := json.Unmarshal(body, &was); err != nil {
		return nil, err
	}
	for _, name := range strings.Fields(was.Scope) {
		if !slices.Contains(asked, identity.Scope(name)) {
			return nil, &refusal{"invalid_scope", "this refresh token was used a moment ago for other scopes. Use the refresh token of that answer"}
		}
	}
	return body, nil
}

// revoke handles token revocation (RFC 7009). With one of its tokens, a client ends the whole grant. The answer is
// the same for an invalid token.
func (s *Server) revoke(w http.ResponseWriter, r *http.Request) {
	f, wrong := form(r)
	if wrong != nil {
		refuse(w, wrong)
		return
	}
	for _, use := range []identity.TicketUse{identity.Renewal, identity.Access} {
		agent, _, err := s.Tokens.Present(r.Context(), use, f.Get("token"), remoteOf(r))
		if err == nil {
			err = s.Tokens.EndGrant(r.Context(), agent, agent.TokenID)
		}
		if err != nil && problem.CodeOf(err) != problem.Unauthorized {
			s.fail(w, r, err)
			return
		}
	}
	w.WriteHeader(http.StatusOK)
}

func remoteOf(r *http.Request) netip.Addr {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return at.Addr().Unmap()
}
