package operate

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"iter"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bailiwick-dev/bailiwick/cmd/bailiwick/internal/terminal"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/app"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/review"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// PeopleCommand returns the commands about the people who sign in to the console.
func PeopleCommand(t *terminal.Terminal) *cobra.Command {
	cmd := terminal.Group(&cobra.Command{Use: "people", Short: "Invite, list and remove the people who sign in to the console"})
	cmd.AddCommand(invitePerson(t), listPeople(t), removePerson(t))
	return cmd
}

// invitePerson returns the command people invite. The scopes must include access to the console, because the link
// points there. It warns about rights that the rules don't know.
func invitePerson(t *terminal.Terminal) *cobra.Command {
	var k app.Keep
	want := identity.Token{Kind: identity.Human}
	var scopes, within, at string
	var newTenant bool
	cmd := &cobra.Command{
		Use:   "invite PERSON",
		Short: "Print a link that signs a person in to the console, once",
		Long: "Print a link that signs a person in to the console, once. Send it only to that person: the first to open it is signed in as PERSON.\n" +
			"The session lasts for half a day. For another one, invite again. Its token is listed and revoked like any other.",
		Example: "  bailiwick people invite ana@example.com --scopes review,audit --url https://gate.example",
		Args:    terminal.These(1, "the person, as owners of tokens are named"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			want.Owner, want.Name = args[0], args[0]
			if want.Scopes, err = identity.ParseScopes(scopes); err != nil {
				return err
			}
			if !slices.ContainsFunc(want.Scopes, func(s identity.Scope) bool {
				return s == identity.Review || s == identity.Audit || s == identity.Operator
			}) {
				return config.Usagef("--scopes must have review, audit or operator: the console opens only for these")
			}
			life, err := parseLife(within)
			if err != nil {
				return config.Usagef("--within must be a time such as 24h or 3d")
			}
			if u, err := url.Parse(at); at != "" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
				return config.Usagef("--url must be like https://gate.example")
			}
			until := time.Now().Add(life)
			path, c, err := k.Invite(cmd.Context(), want, life, func(c *config.Config) error {
				warnings, err := app.CheckToken(cmd.Context(), c, want, newTenant)
				for _, w := range warnings {
					t.Notef("warning: %s", w)
				}
				return err
			})
			if err != nil {
				return err
			}
			return printInvitation(t, base(at, c)+path, until)
		},
	}
	f := cmd.Flags()
	k.Flags(f)
	f.StringVar(&want.Tenant, "tenant", "", "the `TENANT` whose changes and records the person sees (default all)")
	newTenantFlag(f, &newTenant)
	f.StringVar(&scopes, "scopes", "review", "`SCOPES` apart by commas: review, audit, operator, read, …")
	f.StringVar(&within, "within", "24h", "how long the link is good for: 24h, 3d")
	f.StringVar(&at, "url", "", "the gateway's `URL` as the person opens it (default server.url, else notifications.url, else the address that it listens on)")
	return cmd
}

// listPeople returns the command people list. It prints the rights of each person from tokens and open sessions.
func listPeople(t *terminal.Terminal) *cobra.Command {
	var k app.Keep
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the people with rights here",
		Args:  terminal.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return k.Tokens(cmd.Context(), func(tokens *identity.Tokens, _ *config.Config) error {
				by := identity.Local(app.LocalUser())
				all := everyone(cmd.Context(), tokens, by)
				if t.JSON {
					return streamJSON(t, "people", all, func(p identity.PersonEntry) any { return p })
				}
				return streamTable(t, "PERSON\tTENANT\tRIGHTS\tFROM\tSESSIONS\tAGENTS\tLAST USED", all, func(w io.Writer, p identity.PersonEntry) {
					seen := "-"
					if !p.Seen.IsZero() {
						seen = p.Seen.UTC().Format("2006-01-02 15:04 UTC")
					}
					fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%d\t%s\n", review.Visible(p.Owner), cmp.Or(review.Visible(p.Tenant), "-"), join(p.Scopes), p.From, len(p.Sessions), p.Agents, seen)
				})
			})
		},
	}
	k.Flags(cmd.Flags())
	return cmd
}

// everyone yields the people that by manages, by name. It reads them in pages.
func everyone(ctx context.Context, tokens *identity.Tokens, by identity.Principal) iter.Seq2[identity.PersonEntry, error] {
	return func(yield func(identity.PersonEntry, error) bool) {
		f := identity.TokenFilter{Limit: 500}
		for {
			page, err := tokens.People(ctx, by, f)
			if err != nil {
				yield(identity.PersonEntry{}, err)
				return
			}
			for _, p := range page {
				if !yield(p, nil) {
					return
				}
			}
			if len(page) < f.Limit {
				return
			}
			f.After = page[len(page)-1].Place()
		}
	}
}

// removePerson returns the command people remove. It ends all sessions, tokens and agents of a person in one tenant.
func removePerson(t *terminal.Terminal) *cobra.Command {
	var k app.Keep
	var tenant string
	cmd := &cobra.Command{
		Use:     "remove PERSON",
		Short:   "End a person's sessions, tokens and agents",
		Example: "  bailiwick people remove ana@example.com",
		Args:    terminal.These(1, "the person, as owners of tokens are named"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return k.Tokens(cmd.Context(), func(tokens *identity.Tokens, _ *config.Config) error {
				n, err := tokens.Remove(cmd.Context(), identity.Local(app.LocalUser()), args[0], tenant)
				switch {
				case problem.CodeOf(err) == problem.NotFound:
					return problem.New(problem.NotFound, fmt.Sprintf("this tenant has no person %q with rights here. The command bailiwick people list names them", problem.Cut(args[0])))
				case err != nil:
					return err
				case t.JSON:
					return t.PrintJSON(map[string]any{"revoked": n})
				}
				t.Notef("removed %s, with all sessions and agents. Tokens and records that ended: %d", review.Visible(args[0]), n)
				return nil
			})
		},
	}
	k.Flags(cmd.Flags())
	cmd.Flags().StringVar(&tenant, "tenant", "", "the `TENANT` of the person (default none)")
	return cmd
}

// base returns the gateway's URL for links.
func base(at string, c *config.Config) string {
	switch {
	case at != "":
		return strings.TrimSuffix(at, "/")
	case c.Server.URL != "":
		return c.Server.URL
	case c.Notifications.URL != "":
		return c.Notifications.URL
	}
	return "http://" + cmp.Or(c.Listen, config.DefaultListen)
}

// printInvitation prints the link of an invitation.
func printInvitation(t *terminal.Terminal, link string, until time.Time) error {
	if t.JSON {
		return t.PrintJSON(struct {
			URL   string    `json:"url"`
			Until time.Time `json:"until"`
		}{link, until.UTC()})
	}
	t.Printf("%s\n", link)
	t.Notef("It signs in once, until %s, and is shown this once.", until.UTC().Format("2006-01-02 15:04 UTC"))
	return nil
}
