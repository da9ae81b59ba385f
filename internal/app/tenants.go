package app

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
)

// checkTenant looks up the tenant of a new token in the classes whose records are the tenants. These are the classes with
// a tenant rule on their key. It returns an error if they have no such record, and a warning if it can't look.
func checkTenant(ctx context.Context, c *config.Config, tenant string) (warning string, err error) {
	unchecked, looked := "", ""
	ruled := false
	for _, name := range slices.Sorted(maps.Keys(c.Rules.Classes)) {
		rule := c.Rules.Classes[name].Tenant
		if rule == nil || rule.Is != "" && !strings.Contains(rule.Is, "principal.tenant") {
			continue
		}
		ruled = true
		if rule.Field == "" || rule.Contains {
			continue
		}
		for _, s := range c.Sources {
			if s.OpenAPI != nil || strings.Contains(name, ".") && !strings.HasPrefix(name, s.Name+".") || c.Rules.Schemas[s.Name] != "" {
				continue
			}
			listed, found, err := lookUpTenant(ctx, c, s, name, tenant)
			switch {
			case err != nil:
				unchecked = s.Name
			case found:
				return "", nil
			case listed:
				looked = name
			}
		}
	}
	switch {
	case unchecked != "":
		return fmt.Sprintf("tenant: %q was not looked up, because the source %s can't be read now. bailiwick check says why", problem.Cut(tenant), unchecked), nil
	case looked != "":
		return "", fmt.Errorf("tenant: %s has no record %q, so the token would see nothing. Write a tenant that exists, or add --new-tenant for one that has no records yet", looked, problem.Cut(tenant))
	case ruled:
		return fmt.Sprintf("tenant: %q was not looked up, because no class has the tenants as its records (tenant: {field: …} with the key of the class)", problem.Cut(tenant)), nil
	}
	return "", nil
}

// lookUpTenant looks up a tenant in a class of s. listed is false if the class isn't in s, or if its tenant rule isn't about
// its key. No other rule of the class applies: a tenant that is not live exists.
func lookUpTenant(ctx context.Context, c *config.Config, s config.Source, name, tenant string) (listed, found bool, err error) {
	classes, _, _, err := Describe(ctx, c, s)
	if err != nil {
		return false, false, err
	}
	rule := *c.Rules.Classes[name].Tenant
	rule.Bypass = ""
	p, err := policy.New(policy.Rules{Unlisted: true, Classes: map[string]policy.ClassRule{name: {Tenant: &rule, Types: c.Rules.Classes[name].Types}}}, classes)
	if err != nil {
		return false, false, nil // the class is in another source
	}
	p = p.AtMost()
	class, _, _, err := p.VisibleClass(name)
	if err != nil || len(class.Key) != 1 || class.Key[0] != rule.Field {
		return false, false, nil
	}
	opened, err := openAsOperator(ctx, c, s)
	if err != nil {
		return false, false, err
	}
	defer CloseAfter(opened, &err)
	ctx, cancel := context.WithTimeout(ctx, countTimeout)
	defer cancel()
	who := identity.Principal{ID: "check", Tenant: tenant, Scopes: []identity.Scope{identity.Read}}
	permit, err := p.Read(who, &query.Count{Class: class.FullName()})
	if err != nil {
		return false, false, err
	}
	rows, err := opened.Read(ctx, permit)
	if err != nil {
		return false, false, err
	}
	for row, err := range rows {
		return true, err == nil && row[0].Int() > 0, err
	}
	return true, false, ctx.Err()
}
