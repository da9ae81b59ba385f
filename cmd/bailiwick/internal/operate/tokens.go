package operate

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bailiwick-dev/bailiwick/cmd/bailiwick/internal/terminal"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/app"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// TokenCommand returns the token commands.
func TokenCommand(t *terminal.Terminal) *cobra.Command {
	cmd := terminal.Group(&cobra.Command{Use: "token", Short: "Make, list and revoke the tokens that let agents in"})
	cmd.AddCommand(tokenCreate(t), tokenList(t), tokenRevoke(t))
	return cmd
}

// tokenCreate returns the command token create. The lifetime comes from --expires, else from the configuration, else
// it is 90 days. Tool names are checked against the tools that the configuration serves.
func tokenCreate(t *terminal.Terminal) *cobra.Command {
	var k app.Keep
	var want identity.Token
	var kind, scopes, ips, expires string
	var filters []string
	var newTenant bool
	cmd := &cobra.Command{
		Use:     "create --name NAME",
		Short:   "Make a token and show it, once",
		Example: "  bailiwick token create --name support-bot --owner ana@example.com --tenant acme --scopes read --expires 30d",
		Args:    terminal.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if want.Name == "" {
				return config.Usagef("a token needs a name, by which people know it in lists and in the audit: --name support-bot")
			}
			return k.Tokens(cmd.Context(), func(tokens *identity.Tokens, c *config.Config) (err error) {
				want.Kind = identity.Kind(kind)
				if err := checkToolNames(c, want.Tools); err != nil {
					return err
				}
				if want.Filters, err = parseFilters(filters); err != nil {
					return err
				}
				if want.Scopes, err = identity.ParseScopes(scopes); err != nil {
					return err
				}
				if want.IPs, err = identity.ParseIPs(ips); err != nil {
					return err
				}
				life := c.Auth.TokenLife
				if expires != "" {
					if life, err = parseLife(expires); err != nil {
						return err
					}
				}
				if life != 0 {
					want.Expires = time.Now().Add(life)
				}
				warnings, err := app.CheckToken(cmd.Context(), c, want, newTenant)
				if err != nil {
					return err
				}
				return issue(cmd.Context(), t, tokens, want, warnings)
			})
		},
	}
	f := cmd.Flags()
	k.Flags(f)
	f.StringVar(&want.Name, "name", "", "what the token is for, for `PEOPLE`")
	f.StringVar(&want.Owner, "owner", "", "the `PERSON` on whose behalf it acts")
	f.StringVar(&want.Tenant, "tenant", "", "the `TENANT` whose records it sees")
	newTenantFlag(f, &newTenant)
	f.StringVar(&scopes, "scopes", "", "`SCOPES` apart by commas: read, write, delete, schema, review, audit, operator, explain, or the tiers readonly, write, admin (default read)")
	f.StringVar(&kind, "kind", "agent", "agent, human or service")
	f.StringVar(&expires, "expires", "", "how long it is good for: 90d, 12h (default that of the configuration, else 90d)")
	narrowingFlags(f, &want)
	f.StringArrayVar(&filters, "filter", nil, "only records of a class, or of all for default, that match: `CLASS=WHERE`, a where object. Can be given again")
	f.StringVar(&ips, "ip", "", "only from these `ADDRESSES` or CIDR ranges")
	return cmd
}

// narrowingFlags adds the flags for the lists of a token.
func narrowingFlags(f *pflag.FlagSet, want *identity.Token) {
	f.StringSliceVar(&want.Tools.Only, "tools", nil, "only these `TOOLS`")
	f.StringSliceVar(&want.Tools.Except, "except-tools", nil, "all but these `TOOLS`")
	f.StringSliceVar(&want.Classes.Only, "classes", nil, "only these `CLASSES`, as source.class or class. Also HTTP APIs and their operations, as source or source.id")
	f.StringSliceVar(&want.Classes.Except, "except-classes", nil, "all but these `CLASSES`")
	f.StringSliceVar(&want.Actions.Only, "actions", nil, "only these `ACTIONS`, as name or Class.name")
	f.StringSliceVar(&want.Actions.Except, "except-actions", nil, "all but these `ACTIONS`")
}

// newTenantFlag adds the flag for a tenant that can't be looked up yet.
func newTenantFlag(f *pflag.FlagSet, into *bool) {
	f.BoolVar(into, "new-tenant", false, "the tenant has no records yet: don't look it up")
}

// issue prints warnings, creates a token and prints it.
func issue(ctx context.Context, t *terminal.Terminal, tokens *identity.Tokens, want identity.Token, warnings []string) error {
	for _, w := range warnings {
		t.Notef("warning: %s", w)
	}
	made, secret, err := tokens.Create(ctx, identity.Local(app.LocalUser()), want)
	if err != nil {
		return err
	}
	return newToken(t, made, secret)
}

// newToken prints a new token with its secret. The secret is never shown again.
func newToken(t *terminal.Terminal, made identity.Token, secret string) error {
	if t.JSON {
		return t.PrintJSON(struct {
			ID      string    `json:"id"`
			Token   string    `json:"token"`
			Expires time.Time `json:"expires_at"`
		}{made.ID, secret, made.Expires})
	}
	t.Printf("%s\n", secret)
	t.Notef("Token %s of %s, good until %s. It is shown this once.", made.ID, made.Name, made.Expires.Format(time.DateOnly))
	return nil
}

// parseLife parses a duration such as 90d, 12h or 1h30m.
func parseLife(text string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n > 0 && n <= 3650 {
			return time.Duration(n) * 24 * time.Hour, nil
		}
	} else if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return d, nil
	}
	return 0, config.Usagef("--expires must be a time such as 90d, 12h or 30m, at most 3650d")
}

// tokenList returns the command token list. Secrets are not stored, so it can't show them. It prints digests instead
// of filter values.
func tokenList(t *terminal.Terminal) *cobra.Command {
	k := app.Keep{There: true, Reads: true}
	var f identity.TokenFilter
	var state, kind string
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the tokens, the newest first, revoked and expired ones too",
		Example: "  bailiwick token list --state valid --owner ana@example.com",
		Args:    terminal.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.Kind, f.Valid, f.Ended = identity.Kind(kind), state == "valid", state == "ended"
			if state != "" && !f.Valid && !f.Ended {
				return config.Usagef("--state must be valid or ended%s", problem.DidYouMean(problem.Nearest(state, []string{"valid", "ended"}, 1)))
			}
			if kinds := []string{"agent", "human", "service"}; kind != "" && !slices.Contains(kinds, kind) {
				return config.Usagef("--kind must be agent, human or service%s", problem.DidYouMean(problem.Nearest(kind, kinds, 1)))
			}
			return k.Tokens(cmd.Context(), func(tokens *identity.Tokens, _ *config.Config) error {
				all := tokens.All(cmd.Context(), identity.Local(app.LocalUser()), f)
				if t.JSON {
					return streamJSON(t, "tokens", all, func(k identity.Token) any { return listed{k, digests(k)} })
				}
				return streamTable(t, "ID\tNAME\tKIND\tOWNER\tTENANT\tSCOPES\tSTATE\tLAST USED\tNARROWED TO", all, func(w io.Writer, k identity.Token) {
					fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", k.ID, k.Name, k.Kind, dash(k.Owner), dash(k.Tenant), join(k.Scopes), tokenState(k, time.Now()), tokenDay(k.LastUsed), dash(restrictionText(k)))
				})
			})
		},
	}
	k.Flags(cmd.Flags())
	cmd.Flags().StringVar(&state, "state", "", "only tokens that are `STATE`: valid or ended")
	cmd.Flags().StringVar(&kind, "kind", "", "only agent, human or service")
	cmd.Flags().StringVar(&f.Person, "owner", "", "only tokens that act for this `PERSON`")
	cmd.Flags().StringVar(&f.Tenant, "tenant", "", "only tokens of this `TENANT`")
	cmd.Flags().StringVar(&f.Text, "search", "", "only tokens with these `WORDS` in the name, the owner, the tenant, the id or the prefix")
	return cmd
}

func tokenState(k identity.Token, now time.Time) string {
	switch {
	case !k.Revoked.IsZero():
		return "revoked " + tokenDay(k.Revoked)
	case !now.Before(k.Expires):
		return "expired " + tokenDay(k.Expires)
	}
	return "until " + tokenDay(k.Expires)
}

func tokenDay(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Format(time.DateOnly)
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func join[T ~string](list []T) string {
	words := make([]string, len(list))
	for i, w := range list {
		words[i] = string(w)
	}
	return strings.Join(words, ",")
}

// tokenRevoke returns the command token revoke. The audit records the user of this machine as its actor.
func tokenRevoke(t *terminal.Terminal) *cobra.Command {
	k := app.Keep{There: true}
	cmd := &cobra.Command{
		Use:   "revoke ID",
		Short: "Revoke a token, so that its next request is refused",
		Args:  terminal.These(1, "the token's ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return k.Tokens(cmd.Context(), func(tokens *identity.Tokens, _ *config.Config) error {
				if err := tokens.Revoke(cmd.Context(), identity.Local(app.LocalUser()), args[0]); err != nil {
					return err
				}
				if t.JSON {
					return t.PrintJSON(map[string]string{"revoked": args[0]})
				}
				t.Notef("Token %s is revoked.", args[0])
				return nil
			})
		},
	}
	k.Flags(cmd.Flags())
	return cmd
}
