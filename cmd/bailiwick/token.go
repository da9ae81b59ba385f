package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bailiwick-dev/bailiwick/config"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/store/sqlite"
)

func tokenCommand(t *terminal) *cobra.Command {
	cmd := group(&cobra.Command{Use: "token", Short: "Make, list and revoke the tokens that let agents in"})
	cmd.AddCommand(tokenCreate(t), tokenList(t), tokenRevoke(t))
	return cmd
}

// A keep is what flags say about the store alone.
type keep struct {
	file, store string
	there       bool // the store must be there already
}

func (k *keep) flags(f *pflag.FlagSet) {
	f.StringVarP(&k.file, "config", "c", "", "configuration `FILE` that names the store (default "+defaultFile+" when it is there)")
	f.StringVar(&k.store, "store", "", "the store: sqlite:`FILE` (default that of the configuration, else "+config.DefaultStore+")")
}

// locate returns the store's file, and the configuration when there is one.
func (k *keep) locate() (path string, c *config.Config, err error) {
	if k.store != "" {
		url, err := storeURL(k.store)
		return storePath(url), &config.Config{}, err
	}
	if k.file == "" && !exists(defaultFile) {
		return storePath(config.DefaultStore), &config.Config{}, nil
	}
	from := setup{file: k.file}
	if c, err = from.load(); err != nil {
		return "", nil, err
	}
	return storePath(c.Store), c, nil
}

func (k *keep) open(ctx context.Context, path string) (*sqlite.Store, error) {
	if k.there && !exists(path) {
		return nil, fmt.Errorf("there is no store %s; name it with --store sqlite:FILE or --config FILE", path)
	}
	return sqlite.Open(ctx, path)
}

// tokens opens the store and gives its tokens to do.
func (k *keep) tokens(ctx context.Context, do func(*identity.Tokens, *config.Config) error) (err error) {
	path, c, err := k.locate()
	if err != nil {
		return err
	}
	store, err := k.open(ctx, path)
	if err != nil {
		return err
	}
	defer closeAfter(store, &err)
	return do(identity.NewTokens(identity.TokenOptions{Store: store}), c)
}

func tokenCreate(t *terminal) *cobra.Command {
	var k keep
	var want identity.Token
	var kind, scopes, ips, expires string
	cmd := &cobra.Command{
		Use:     "create --name NAME",
		Short:   "Make a token and show it, once",
		Example: "  bailiwick token create --name support-bot --owner ana@example.com --tenant acme --scopes read --expires 30d",
		Args:    none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return k.tokens(cmd.Context(), func(tokens *identity.Tokens, c *config.Config) (err error) {
				want.Kind = identity.Kind(kind)
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
				made, secret, err := tokens.Create(cmd.Context(), identity.Local(localUser()), want)
				if err != nil {
					return err
				}
				return t.newToken(made, secret)
			})
		},
	}
	f := cmd.Flags()
	k.flags(f)
	f.StringVar(&want.Name, "name", "", "what the token is for, for `PEOPLE`")
	f.StringVar(&want.Owner, "owner", "", "the `PERSON` on whose behalf it acts")
	f.StringVar(&want.Tenant, "tenant", "", "the `TENANT` whose records it sees")
	f.StringVar(&scopes, "scopes", "", "`SCOPES` apart by commas: read, write, delete, schema, review, audit, operator, explain, or the tiers readonly, write, admin (default read)")
	f.StringVar(&kind, "kind", "agent", "agent, human or service")
	f.StringVar(&expires, "expires", "", "how long it is good for: 90d, 12h (default that of the configuration, else 90d)")
	f.StringSliceVar(&want.Tools.Only, "tools", nil, "only these `TOOLS`")
	f.StringSliceVar(&want.Classes.Only, "classes", nil, "only these `CLASSES`")
	f.StringVar(&ips, "ip", "", "only from these `ADDRESSES` or CIDR ranges")
	return cmd
}

// newToken shows a token for the first and last time.
func (t *terminal) newToken(made identity.Token, secret string) error {
	if t.json {
		return t.printJSON(struct {
			ID      string    `json:"id"`
			Token   string    `json:"token"`
			Expires time.Time `json:"expires_at"`
		}{made.ID, secret, made.Expires})
	}
	t.printf("%s\n", secret)
	t.notef("Token %s of %s, good until %s. It is shown this once.", made.ID, made.Name, made.Expires.Format(time.DateOnly))
	return nil
}

// parseLife reads a time such as 90d, 12h or 1h30m.
func parseLife(text string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n > 0 && n <= 3650 {
			return time.Duration(n) * 24 * time.Hour, nil
		}
	} else if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return d, nil
	}
	return 0, usagef("--expires must be a time such as 90d, 12h or 30m, at most 3650d")
}

func tokenList(t *terminal) *cobra.Command {
	k := keep{there: true}
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the tokens, revoked and expired ones too",
		Args:  none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return k.tokens(cmd.Context(), func(tokens *identity.Tokens, _ *config.Config) error {
				all, err := tokens.List(cmd.Context(), identity.Local(localUser()))
				if err != nil {
					return err
				}
				if t.json {
					return t.printJSON(struct {
						Tokens []identity.Token `json:"tokens"`
					}{append([]identity.Token{}, all...)})
				}
				w := tabwriter.NewWriter(t.out, 0, 8, 2, ' ', 0)
				fmt.Fprintln(w, "ID\tNAME\tKIND\tOWNER\tTENANT\tSCOPES\tSTATE\tLAST USED")
				for _, k := range all {
					fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", k.ID, k.Name, k.Kind, dash(k.Owner), dash(k.Tenant), join(k.Scopes), state(k, time.Now()), day(k.LastUsed))
				}
				return w.Flush()
			})
		},
	}
	k.flags(cmd.Flags())
	return cmd
}

func state(k identity.Token, now time.Time) string {
	switch {
	case !k.Revoked.IsZero():
		return "revoked " + day(k.Revoked)
	case !now.Before(k.Expires):
		return "expired " + day(k.Expires)
	}
	return "until " + day(k.Expires)
}

func day(t time.Time) string {
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

func tokenRevoke(t *terminal) *cobra.Command {
	k := keep{there: true}
	cmd := &cobra.Command{
		Use:   "revoke ID",
		Short: "Revoke a token; whoever uses it is refused from the next request on",
		Args:  these(1, "the token's ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return k.tokens(cmd.Context(), func(tokens *identity.Tokens, _ *config.Config) error {
				if err := tokens.Revoke(cmd.Context(), identity.Local(localUser()), args[0]); err != nil {
					return err
				}
				if t.json {
					return t.printJSON(map[string]string{"revoked": args[0]})
				}
				t.notef("Token %s is revoked.", args[0])
				return nil
			})
		},
	}
	k.flags(cmd.Flags())
	return cmd
}
