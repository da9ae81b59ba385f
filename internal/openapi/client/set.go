package client

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/identity"
)

// A MemberCredential is one credential of a CredentialSet.
type MemberCredential struct {
	Name       string // the name used in calls.HTTPRequest.Credentials, or "" for the only credential
	Credential Credential
}

// A CredentialSet contains several credentials of one API. Each operation is called with some of them.
type CredentialSet struct {
	Always  []HeaderCredential // added to each request, such as the key of an application
	Members []MemberCredential // in the order in which they are applied
}

// CredentialFor returns the credential for one call. If c is a CredentialSet, this is a set of the members with the
// given names. Nil names mean all members. Any other credential is returned unchanged, or nil if names is an empty
// list.
func CredentialFor(c Credential, names []string) Credential {
	set, ok := c.(*CredentialSet)
	switch {
	case !ok && names != nil && len(names) == 0:
		return nil
	case !ok || names == nil:
		return c
	}
	out := &CredentialSet{Always: set.Always}
	for _, name := range names {
		i := slices.IndexFunc(set.Members, func(m MemberCredential) bool { return m.Name == name })
		if i < 0 {
			return missingCredential{}
		}
		out.Members = append(out.Members, set.Members[i])
	}
	if len(out.Members)+len(out.Always) == 0 {
		return nil
	}
	return out
}

// missingCredential is the credential for a name that isn't configured.
type missingCredential struct{}

// Apply implements Credential.
func (missingCredential) Apply(context.Context, identity.Principal, *http.Request) error {
	return missing()
}

// Apply implements Credential.
func (s *CredentialSet) Apply(ctx context.Context, who identity.Principal, r *http.Request) error {
	for _, h := range s.Always {
		if err := h.Apply(ctx, who, r); err != nil {
			return err
		}
	}
	for _, m := range s.Members {
		if m.Credential == nil {
			return missing()
		}
		if err := m.Credential.Apply(ctx, who, r); err != nil {
			return err
		}
	}
	return nil
}

// Renew implements Renewer. It renews all members that can be renewed.
func (s *CredentialSet) Renew(who identity.Principal, r *http.Request) bool {
	renewed := false
	for _, m := range s.Members {
		if renewer, ok := m.Credential.(Renewer); ok && renewer.Renew(who, r) {
			renewed = true
		}
	}
	return renewed
}

// Whose implements named. It joins different owners.
func (s *CredentialSet) Whose(who identity.Principal) string {
	return strings.Join(owners(s, who), " and ")
}

// owners returns the owners of the credentials in c for a principal, without duplicates.
func owners(c Credential, who identity.Principal) (all []string) {
	s, ok := c.(*CredentialSet)
	if !ok {
		if whose := Whose(c, who); whose != "" {
			all = append(all, whose)
		}
		return all
	}
	for _, m := range s.Members {
		if whose := Whose(m.Credential, who); whose != "" && !slices.Contains(all, whose) {
			all = append(all, whose)
		}
	}
	if len(s.Always) > 0 && len(s.Members) == 0 {
		all = append(all, "gateway")
	}
	return all
}

// Secrets implements CredentialHolder.
func (s *CredentialSet) Secrets() (all []string) {
	for _, h := range s.Always {
		all = append(all, h.Secrets()...)
	}
	for _, m := range s.Members {
		if h, ok := m.Credential.(CredentialHolder); ok {
			all = append(all, h.Secrets()...)
		}
	}
	return all
}

// Close closes the connections of the members.
func (s *CredentialSet) Close() {
	for _, m := range s.Members {
		if c, ok := m.Credential.(interface{ Close() }); ok {
			c.Close()
		}
	}
}
