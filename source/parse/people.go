package parse

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"time"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// fresh is the time for which the facts about a user are cached.
const fresh = 30 * time.Second

// maxRoles is the maximum number of roles that are followed for one user. mostKnown is the maximum number of cached
// users.
const (
	maxRoles  = 1000
	mostKnown = 10_000
)

// A person contains Parse Server's facts about an identity that a source acts as.
type person struct {
	groups policy.Groups
	as     credential
	until  time.Time
}

// Groups implements source.Guarded.
func (s *Source) Groups(ctx context.Context, p identity.Principal) (policy.Groups, error) {
	who, err := s.person(ctx, p)
	if err != nil {
		return policy.Groups{}, err
	}
	return who.groups, nil
}

// person returns the identity that the source acts as for p.
func (s *Source) person(ctx context.Context, p identity.Principal) (*person, error) {
	var key string
	if s.whose != nil {
		v, err := s.whose.Eval(p)
		if key = v.Text(); err != nil || v.Kind() != value.String || key == "" {
			return nil, &problem.Error{Code: problem.PermissionDenied, Kind: "parse_" + string(s.options.As) + "_missing", Err: err,
				Detail: "this credential has no " + string(s.options.As) + " of the Parse application", Suggestion: "sign in with one that has"}
		}
	}
	sum := sha256.Sum256([]byte(key))
	at := hex.EncodeToString(sum[:])
	s.mu.Lock()
	who := s.known[at]
	s.mu.Unlock()
	if who != nil && time.Now().Before(who.until) {
		return who, nil
	}
	if who != nil && s.options.As == User { // another loginAs would create another session
		if again, err := s.meetSession(ctx, who.as.value); err == nil && again.groups.User == who.groups.User {
			return s.know(at, again), nil
		}
	}
	who, err := s.meet(ctx, key)
	if err != nil {
		return nil, err
	}
	return s.know(at, who), nil
}

// know caches who for the time fresh.
func (s *Source) know(at string, who *person) *person {
	who.until = time.Now().Add(fresh)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.known) > mostKnown {
		clear(s.known)
	}
	s.known[at] = who
	return who
}

// forget drops the cached users, and marks the known classes as possibly outdated.
func (s *Source) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.doubted = true
	clear(s.known)
}

// meet asks Parse Server for the identity that key belongs to. key is a session token, a user's id, or unused for the
// other postures.
func (s *Source) meet(ctx context.Context, key string) (*person, error) {
	switch s.options.As {
	case Master:
		return &person{groups: policy.Groups{All: true}, as: s.master()}, nil
	case Public:
		return &person{groups: policy.Groups{Names: []string{schema.Everybody}}, as: nobody}, nil
	case Role:
		roles, err := s.roles(ctx, equal("name", value.OfString(s.options.Role)))
		if err == nil && len(roles) == 0 {
			err = &problem.Error{Code: problem.PermissionDenied, Kind: "parse_role_missing", Detail: "the Parse application has no longer the role that this source acts as"}
		}
		if err != nil {
			return nil, err
		}
		return &person{groups: policy.Groups{Names: append([]string{schema.Everybody}, roles...), Users: "_User"}, as: s.master()}, nil
	case Session:
		return s.meetSession(ctx, key)
	}
	body := restObject("userId", value.OfString(key))
	in, err := s.ask(ctx, request{method: http.MethodPost, path: "/loginAs", body: body, as: s.master()})
	if problem.CodeOf(err) == problem.NotFound {
		err = &problem.Error{Code: problem.PermissionDenied, Kind: "parse_user_missing", Detail: "the Parse application has no such user"}
	}
	if err != nil {
		return nil, err
	}
	token, _ := in.Get("sessionToken")
	return s.user(ctx, in, token.Text())
}

// meetSession asks Parse Server for the user of a session.
func (s *Source) meetSession(ctx context.Context, token string) (*person, error) {
	me, err := s.ask(ctx, request{method: http.MethodGet, path: "/users/me", as: session(token)})
	if err != nil {
		return nil, err
	}
	return s.user(ctx, me, token)
}

func session(token string) credential { return credential{"X-Parse-Session-Token", token} }

// user returns the person of a user's record and session.
func (s *Source) user(ctx context.Context, record value.Value, token string) (*person, error) {
	id, _ := record.Get("objectId")
	if id.Text() == "" || token == "" {
		return nil, unexpectedAnswerError(&refusal{status: http.StatusOK}, "a session without a user")
	}
	roles, err := s.roles(ctx, equal("users", restPointer("_User", id.Text())))
	if err != nil {
		return nil, err
	}
	names := append([]string{schema.Everybody, id.Text()}, roles...)
	return &person{groups: policy.Groups{Names: names, User: id.Text(), Users: "_User"}, as: session(token)}, nil
}

// roles returns the groups of the roles that match where, and of all roles that contain these roles.
func (s *Source) roles(ctx context.Context, where value.Value) ([]string, error) {
	var names []string
	seen := map[string]bool{}
	for len(names) < maxRoles {
		query := url.Values{"where": {string(where.AppendJSON(nil))}, "keys": {"name"}, "limit": {"1000"}}
		found, err := s.ask(ctx, request{method: http.MethodGet, path: "/roles", query: query, as: s.master()})
		if err != nil {
			return nil, err
		}
		results, _ := found.Get("results")
		var parents []value.Value
		for _, r := range results.List() {
			id, _ := r.Get("objectId")
			name, _ := r.Get("name")
			if !seen[id.Text()] {
				seen[id.Text()] = true
				names = append(names, "role:"+name.Text())
				parents = append(parents, restPointer("_Role", id.Text()))
			}
		}
		if len(parents) == 0 {
			return names, nil
		}
		where = restObject("roles", restObject("$in", value.OfArray(parents)))
	}
	return nil, &problem.Error{Code: problem.Unsupported, Kind: "parse_roles", Detail: "the user has too many roles"}
}

// equal returns the condition that a field equals v.
func equal(field string, v value.Value) value.Value { return restObject(field, v) }
