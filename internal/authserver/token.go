package authserver

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/refused"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// form reads the form in r, in which each parameter occurs once.
func form(r *http.Request) (url.Values, *refusal) {
	if err := r.ParseForm(); err != nil || r.URL.RawQuery != "" || !strings.HasPrefix(r.Header.Get("Content-Type"), "application/x-www-form-urlencoded") {
		return nil, &refusal{"invalid_request", "the body must be a form, and the address has no query"}
	}
	for name, values := range r.PostForm {
		if len(values) > 1 && name != "resource" {
			return nil, &refusal{"invalid_request", shown(name) + " occurs twice"}
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

// token answers the token endpoint: a code, or a refresh token, becomes an access token and another refresh token.
func (s *Server) token(w http.ResponseWriter, r *http.Request) {
	f, wrong := form(r)
	if wrong != nil {
		refuse(w, wrong)
		return
	}
	for _, to := range f["resource"] {
		if !ownResource(s.Base(r), to) {
			refuse(w, &refusal{"invalid_target", "tokens for " + shown(to) + " are not made here"})
			return
		}
	}
	var agent identity.Principal
	var err error
	switch f.Get("grant_type") {
	case "authorization_code":
		agent, err = s.redeem(r, f)
	case "refresh_token":
		agent, err = s.renew(r, f)
	default:
		err = &refusal{"unsupported_grant_type", "grant_type must be authorization_code or refresh_token"}
	}
	if err == nil {
		err = s.Admit(r.Context(), agent, "oauth/token")
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.issue(w, r, agent)
}

// fail refuses a request. Why a code or token is not good is for the log alone.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	if wrong, ok := err.(*refusal); ok {
		refuse(w, wrong)
		return
	}
	p := problem.Of(err)
	switch p.Code {
	case problem.Unauthorized:
		refused.Because(r.Context(), p.Kind, "")
		refused.Cause(r.Context(), p.Err)
		refuse(w, &refusal{"invalid_grant", "the code or token is not good, or no longer; sign in again"})
	case problem.RateLimited, problem.BudgetExceeded:
		refuse(w, &refusal{"temporarily_unavailable", "too many requests"})
	default:
		s.Log.ErrorContext(r.Context(), "an agent's sign-in failed", "error", err, "cause", p.Err)
		refuse(w, &refusal{"temporarily_unavailable", ""})
	}
}

// redeem returns the agent of a code.
func (s *Server) redeem(r *http.Request, f url.Values) (identity.Principal, error) {
	agent, k, err := s.Tokens.Spend(r.Context(), identity.Code, f.Get("code"), remoteOf(r))
	if err != nil {
		return identity.Principal{}, err
	}
	var g granted
	if err := json.Unmarshal([]byte(k.Data), &g); err != nil {
		return identity.Principal{}, err
	}
	sum := sha256.Sum256([]byte(f.Get("code_verifier")))
	challenge := base64.RawURLEncoding.EncodeToString(sum[:])
	switch {
	case f.Get("client_id") != g.Client:
		return s.stolen(r, agent, "client")
	case subtle.ConstantTimeCompare([]byte(challenge), []byte(g.Challenge)) != 1:
		return s.stolen(r, agent, "verifier")
	case f.Has("redirect_uri") && f.Get("redirect_uri") != g.Redirect:
		return s.stolen(r, agent, "redirect_uri")
	case s.Base(r) != g.Base:
		return s.stolen(r, agent, "issuer")
	}
	return agent, nil
}

// stolen ends the grant of a code or token that came with the wrong proof, and refuses it.
func (s *Server) stolen(r *http.Request, agent identity.Principal, kind string) (identity.Principal, error) {
	if err := s.Tokens.EndGrant(r.Context(), agent, agent.TokenID); err != nil {
		return identity.Principal{}, err
	}
	return identity.Principal{}, identity.Unauthorized("code_"+kind, nil)
}

// renewal is the Data of a refresh token: the client that it is bound to.
type renewal struct {
	Client string `json:"c"`
}

// renew returns the agent of a refresh token, which is used up.
func (s *Server) renew(r *http.Request, f url.Values) (identity.Principal, error) {
	agent, k, err := s.Tokens.Spend(r.Context(), identity.Renewal, f.Get("refresh_token"), remoteOf(r))
	if err != nil {
		return identity.Principal{}, err
	}
	var of renewal
	if err := json.Unmarshal([]byte(k.Data), &of); err != nil {
		return identity.Principal{}, err
	}
	if f.Get("client_id") != of.Client {
		return s.stolen(r, agent, "client")
	}
	for _, word := range scopeNames(f) {
		if word != offline && !agent.Has(identity.Scope(word)) {
			return identity.Principal{}, &refusal{"invalid_scope", "the person did not grant " + shown(word) + "; sign in again to ask for it"}
		}
	}
	return agent, nil
}

// issue sends an access token and a refresh token.
func (s *Server) issue(w http.ResponseWriter, r *http.Request, agent identity.Principal) {
	data, err := json.Marshal(renewal{r.PostForm.Get("client_id")})
	if err != nil {
		s.fail(w, r, err)
		return
	}
	now := s.Now()
	agent.Expires = now.Add(s.Life) // the ticket that was spent doesn't bound the next ones; the grant does
	short, access, err := s.Tokens.Issue(r.Context(), agent, identity.Ticket{Use: identity.Access, Expires: now.Add(s.Access)})
	if err != nil {
		s.fail(w, r, err)
		return
	}
	_, refresh, err := s.Tokens.Issue(r.Context(), agent, identity.Ticket{Use: identity.Renewal, Expires: now.Add(s.Idle), Data: string(data)})
	if err != nil {
		s.fail(w, r, err)
		return
	}
	answer(w, http.StatusOK, map[string]any{"access_token": access, "token_type": "Bearer", "expires_in": int(short.Expires.Sub(now).Seconds()),
		"refresh_token": refresh, "scope": strings.Join(agent.ScopeNames(), " ")})
}

// revoke answers token revocation (RFC 7009): with one of its tokens a client ends the whole grant. The answer is the same
// for a token that isn't good.
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
