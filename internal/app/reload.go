package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/action"
	"github.com/bailiwick-dev/bailiwick/declared"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/connstring"
	"github.com/bailiwick-dev/bailiwick/internal/policyops"
	"github.com/bailiwick-dev/bailiwick/mcp"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/prompt"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// Reload applies the parts of c that can change while calls run. These are rules and gates, the served tools with
// their timeouts and rows, actions, and prompts. They are replaced in one step. If any part of c is invalid, nothing
// changes. It returns warnings.
func (p *App) Reload(ctx context.Context, c *config.Config) ([]string, error) {
	p.opens(c)
	warnings, listed := c.CheckLists(namesOf(c, p.Gateway.Catalogue()))
	prompts, prompted := Prompts(c)
	keys, keyed := p.keyUpdater(ctx, c)
	named := []error{checkTools(c), listed, prompted, keyed}
	checked := false
	var unwritable []string
	with := func(m bailiwick.Moment) (bailiwick.Parts, error) {
		checked = true
		if err := merge(&config.Config{}, append(named, checkActions(c, m.Policy(), m.Actions()))); err != nil {
			return nil, err
		}
		parts, err := p.replacing(c, callsOf(m), prompts)
		if err == nil {
			unwritable = p.openWriters(ctx, c)
			p.declare(p.Config, c) // until one of the two is in force
		}
		return parts, err
	}
	var err error
	if c.Rules.Version != p.Config.Rules.Version || !reflect.DeepEqual(declarations(c), declarations(p.Config)) {
		err = RuleFaults(c, p.Gateway.Install(ctx, c.Rules, declarations(c), with))
	} else {
		err = p.Gateway.Renew(with)
	}
	if err != nil && !checked { // the rules have faults, so other faults are reported together with them
		err = merge(&config.Config{}, append(named, err))
	}
	if err != nil {
		p.declare(p.Config)
		return nil, err
	}
	p.declare(c)
	refused := keys()
	if !reflect.DeepEqual(toolSettings(p.Config), toolSettings(c)) {
		p.Gateway.Announce(bailiwick.ToolsChanged)
	}
	if !reflect.DeepEqual(p.Config.Prompts, c.Prompts) {
		p.Gateway.Announce(bailiwick.PromptsChanged)
	}
	p.Config = c
	strays, err := p.strayTokens(ctx)
	if err != nil {
		strays = []string{"the lists of tokens could not be checked: " + err.Error()}
	}
	return slices.Concat(c.Notes, refused, unwritable, warnings, strays), nil
}

// declarations returns what c declares beside the rules.
func declarations(c *config.Config) bailiwick.Declarations {
	return bailiwick.Declarations{Actions: c.Actions, Metrics: c.Metrics, Queries: c.Queries}
}

// replacing returns c, and its tools and prompts if they differ from those in force.
func (p *App) replacing(c *config.Config, compiled compiledCalls, prompts []prompt.Prompt) (bailiwick.Parts, error) {
	parts := bailiwick.Parts{p: c}
	if !reflect.DeepEqual(toolSettings(p.Config), toolSettings(c)) {
		var out []string
		for _, t := range servedTools(p.Config, p.opened, p.room, compiledCalls{p.Gateway.AllActions(), p.Gateway.AllQueries()}) {
			out = append(out, t.Name)
		}
		set, err := p.Tools.Prepare(out, servedTools(c, p.opened, p.room, compiled))
		if err != nil {
			return nil, err
		}
		maps.Copy(parts, set)
	}
	if !reflect.DeepEqual(p.Config.Prompts, c.Prompts) {
		set, err := p.Prompts.Prepare(prompts...)
		if err != nil {
			return nil, err
		}
		maps.Copy(parts, set)
	}
	return parts, nil
}

// toolSettings returns the settings in c that determine the tools and their behaviour.
func toolSettings(c *config.Config) any {
	type decides struct {
		tools            config.Tools
		queries, samples int
		timeouts         map[string]time.Duration
		statement        time.Duration
		actions          []action.Declaration
		asked            []declared.Declaration
		packs            []string // for each API with packs: the packs, the document and the naming of the tools
		shut             bool
	}
	out := decides{c.Tools, c.Limits.QueryRows, c.Limits.SampleRows, c.Limits.Timeouts, c.Limits.Statement, c.Actions, c.Queries, nil, shut(c.Rules)}
	for _, s := range c.Sources {
		if c.Packs[s.Name] != nil {
			out.packs = append(out.packs, fmt.Sprintf("%s %s %q %v", s.Name, c.Rules.APIs[s.Name].Digest, cmp.Or(s.OpenAPI.Site, s.OpenAPI.BaseURL), s.OpenAPI.Underscore))
		}
	}
	return out
}

// Restart returns the keys that differ between two configurations and need a restart to take effect.
func Restart(started, now *config.Config) []string {
	var keys []string
	differ := func(key string, a, b any) {
		if !reflect.DeepEqual(a, b) {
			keys = append(keys, key)
		}
	}
	a, b := *started, *now
	differ("listen", cmp.Or(a.Listen, config.DefaultListen), cmp.Or(b.Listen, config.DefaultListen))
	differ("store", connstring.Userless(storePath(a.Store)), connstring.Userless(storePath(b.Store)))
	sources := map[string][2]config.Source{}
	for i, c := range []config.Config{a, b} {
		for _, s := range c.Sources {
			pair := sources[s.Name]
			pair[i] = s.WithPlaceholders()
			sources[s.Name] = pair
		}
	}
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		differ("sources."+name, sources[name][0], sources[name][1])
	}
	differ("policy.sample_values", !a.Unsampled, !b.Unsampled)
	differ("budget", a.Budget, b.Budget)
	for _, l := range []*config.Limits{&a.Limits, &b.Limits} { // these settings are applied without a restart
		l.QueryRows, l.SampleRows, l.Timeouts, l.Statement = 0, 0, nil, 0
	}
	differ("limits", a.Limits, b.Limits)
	differ("review", a.Review, b.Review)
	differ("auth", plain(a.Auth.Anonymous, a.Auth), plain(b.Auth.Anonymous, b.Auth))
	differ("stdio", plain(&a.Stdio, config.Auth{}), plain(&b.Stdio, config.Auth{}))
	differ("accounts", a.Accounts, b.Accounts)
	differ("audit.key", a.Audit.Key, b.Audit.Key)
	differ("audit.durability", a.Audit.Every, b.Audit.Every)
	differ("audit.archive", a.Audit.Archive, b.Audit.Archive)
	differ("server", a.Server, b.Server)
	differ("log", a.Log, b.Log)
	differ("telemetry", a.Telemetry, b.Telemetry)
	differ("notifications", a.Notifications, b.Notifications)
	return keys
}

// plain returns a principal and the other settings in a comparable form. Expressions in filters aren't comparable.
func plain(p *identity.Principal, auth config.Auth) any {
	auth.Anonymous = nil
	if p == nil {
		return auth
	}
	filters, principal := map[string]string{}, *p
	for name, f := range principal.Filters {
		filters[name] = query.Print(f).String()
	}
	principal.Filters = nil
	return []any{auth, principal, filters}
}

// Forms returns the form of results by client name. The name "" is the default.
func Forms(c *config.Config) map[string]mcp.Form {
	out := map[string]mcp.Form{}
	if c.Results.Default != "" {
		out[""] = mcp.Form(c.Results.Default)
	}
	for name, form := range c.Results.Clients {
		out[name] = mcp.Form(form)
	}
	return out
}

// namesOf returns the names that lists can contain.
func namesOf(c *config.Config, catalogue []schema.Class) config.Names {
	names := config.NamesOf(ToolNames(c), catalogue)
	names.APIs = c.APINames()
	return names
}

// mostNarrowed is the number of tokens whose lists are checked at the start. The cost doesn't grow with further ones.
const mostNarrowed = 1000

// mostStrays is the number of warnings about lists of tokens.
const mostStrays = 20

// strayTokens returns warnings for the active tokens whose lists contain unknown names. It reads only the newest tokens
// with lists.
func (p *App) strayTokens(ctx context.Context) ([]string, error) {
	if p.Config.Auth.TokensOff {
		return nil, nil
	}
	narrowed, err := p.Tokens.List(ctx, identity.Local(LocalUser()), identity.TokenFilter{Narrowed: true, Valid: true, Limit: mostNarrowed})
	if err != nil {
		return nil, err
	}
	var out []string
	names := namesOf(p.Config, p.Gateway.Catalogue())
	for _, t := range slices.Backward(narrowed) {
		for _, s := range names.Strays(t.Tools, t.Classes, slices.Sorted(maps.Keys(t.Filters))) {
			out = append(out, fmt.Sprintf("token %s (%s): %s: %s", t.ID, t.Name, strings.Join(s.Path, "."), s.Message))
		}
	}
	if further := len(out) - mostStrays; further > 0 {
		out = append(out[:mostStrays], fmt.Sprintf("%d further lists of tokens contain unknown names (\"bailiwick token list --state valid\" shows the lists)", further))
	}
	if len(narrowed) == mostNarrowed {
		out = append(out, fmt.Sprintf("only the newest %d tokens with lists were checked for unknown names", mostNarrowed))
	}
	return out, nil
}

// CheckToken checks the names in the lists of a new token against c. Unknown names are an error, or warnings if c is
// lenient. If c has no sources, nothing is checked. It also looks up the token's tenant, unless newTenant is true.
func CheckToken(ctx context.Context, c *config.Config, t identity.Token, newTenant bool) (warnings []string, err error) {
	if len(c.Sources) == 0 {
		return nil, nil
	}
	names := config.Names{Tools: ToolNames(c), Classes: ruledClassNames(c), APIs: c.APINames()}
	strays := names.Strays(t.Tools, t.Classes, slices.Sorted(maps.Keys(t.Filters)))
	if len(t.Filters) > 0 || slices.ContainsFunc(strays, func(s config.Stray) bool { return s.Path[0] != "tools" }) {
		// Classes that no rule names may also exist.
		var catalogue []schema.Class
		for _, s := range c.Sources {
			if s.OpenAPI != nil {
				continue
			}
			found, _, _, err := Describe(ctx, c, s)
			if err != nil {
				return nil, fmt.Errorf("the classes of the token can't be checked: %w", err)
			}
			catalogue = append(catalogue, found...)
		}
		strays = namesOf(c, catalogue).Strays(t.Tools, t.Classes, slices.Sorted(maps.Keys(t.Filters)))
		if err := filterFields(t, catalogue); err != nil {
			return nil, err
		}
	}
	for _, s := range strays {
		warnings = append(warnings, strings.Join(s.Path, ".")+": "+s.Message)
	}
	if strays != nil && !c.Lenient {
		return nil, errors.New(strings.Join(warnings, "\n"))
	}
	if t.Kind == identity.Agent && slices.Contains(t.Scopes, identity.Schema) {
		warnings = append(warnings, "scopes: with schema, the agent may propose to change classes and fields. Leave it out unless the agent maintains them (--scopes read,write,delete)")
	}
	switch ruled, closed := c.CountTenantClasses(); {
	case c.TenantSchemaSources() != nil && t.Tenant == "":
		warnings = append(warnings, "tenant: the token names none, and the schema of a caller in "+strings.Join(c.TenantSchemaSources(), ", ")+" depends on it: it sees no class there (--tenant)")
	case ruled == 0 && c.Rules.Schemas == nil && t.Tenant != "" && len(c.Sources) > 0:
		warnings = append(warnings, "tenant: no class has tenants, so that --tenant hides nothing")
	case t.Tenant != "" && !newTenant:
		warning, err := checkTenant(ctx, c, t.Tenant)
		if err != nil {
			return nil, err
		}
		if warning != "" {
			warnings = append(warnings, warning)
		}
	case closed > 0 && t.Tenant == "":
		warnings = append(warnings, fmt.Sprintf("tenant: the token names none, and it sees no record of the classes that have one, which are %d (--tenant)", closed))
	}
	return warnings, nil
}

// filterFields refuses filters on fields that don't exist, and filters that compare lists with scalars. A token with
// one of these filters would see no records.
func filterFields(t identity.Token, catalogue []schema.Class) error {
	who, err := t.Principal()
	if err != nil {
		return err
	}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(who.Filters)) {
		for i := range catalogue {
			c := &catalogue[i]
			if name != c.Name && name != c.FullName() {
				continue
			}
			policy.FilterFields(who.Filters[name], func(field string) {
				if c.Field(field) == nil {
					errs = append(errs, fmt.Errorf("filters.%s: %s has no field %q%s", name, c.FullName(), field, problem.DidYouMean(problem.Nearest(field, c.FieldNames(), 2))))
				}
			})
			policyops.Lists(who.Filters[name], c, func(f *schema.Field, message, _ string) {
				if f.Type == schema.Array { // a field of type json may contain a scalar
					errs = append(errs, fmt.Errorf("filters.%s: %s", name, message))
				}
			})
		}
	}
	return errors.Join(errs...)
}

// ruledClassNames returns the names of the classes that have rules in c, in all forms that lists can use.
func ruledClassNames(c *config.Config) []string {
	var out []string
	for name := range c.Rules.Classes {
		out = append(out, name)
		if _, bare, ok := strings.Cut(name, "."); ok {
			out = append(out, bare)
			continue
		}
		for _, s := range c.Sources {
			out = append(out, s.Name+"."+name)
		}
	}
	return out
}

// opens removes rules of APIs that are not open from c, and adds a note. Sources are opened only at the start.
func (p *App) opens(c *config.Config) {
	for _, s := range c.Sources {
		if _, ruled := c.Rules.APIs[s.Name]; ruled && p.sources[s.Name] == nil {
			c.Forget(s.Name)
			c.Notes = append(c.Notes, "agents see nothing of "+s.Name+" before a restart: it is a new source")
		}
	}
}
