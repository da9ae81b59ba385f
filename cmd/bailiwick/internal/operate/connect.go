package operate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bailiwick-dev/bailiwick/cmd/bailiwick/internal/terminal"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/app"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/edge"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// A connection contains the arguments of the command connect.
type connection struct {
	t       *terminal.Terminal
	keep    app.Keep
	who     app.StdioFlags
	client  ConfiguredClient
	server  Server
	file    string // the path of the client's file
	expires string // the flag --expires
	program bool   // the client starts this program itself
	project bool   // use the file of the project in the working folder
	print   bool   // only print the configuration
	create  bool   // create a token even if the configuration is only printed

	newTenant bool // the flag --new-tenant
}

// ConnectCommand returns the command connect. It creates a token for a client and writes the client's configuration.
func ConnectCommand(t *terminal.Terminal) *cobra.Command {
	c := &connection{t: t}
	cmd := &cobra.Command{
		Use:   "connect CLIENT",
		Short: "Connect an MCP client: make a token, and write the client's own configuration",
		Long: "Connect an MCP client: make a token, and set the server in the client's own configuration. The rest of the file stays as it\n" +
			"is, with its comments, and a copy of the file is kept beside it. Without CLIENT it lists the clients and their files.\n" +
			"Claude Desktop starts the program itself. With --stdio others do so too, and then they need no token.",
		Example: "  bailiwick connect claude-code --tenant acme\n  bailiwick connect cursor --project --scopes read,write\n  bailiwick connect claude-desktop --tenant acme\n  bailiwick connect codex --print --create",
		Args:    terminal.These(0, "the client"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return c.list()
			}
			if err := c.choose(args[0]); err != nil {
				return err
			}
			if c.program {
				return c.withProgram(cmd.Context())
			}
			return c.withToken(cmd.Context())
		},
	}
	f := cmd.Flags()
	c.keep.Flags(f)
	c.who.Flags(f, "tenant")
	newTenantFlag(f, &c.newTenant)
	f.StringVar(&c.server.URL, "url", "", "the `URL` of the server (default the address of the configuration, with /mcp)")
	f.StringVar(&c.server.Name, "name", "bailiwick", "the `NAME` of the server in the client")
	f.StringVar(&c.file, "file", "", "the client's configuration `FILE`, if it is elsewhere")
	f.StringVar(&c.expires, "expires", "", "how long the token is good for: 90d, 12h (default that of the configuration, else 90d)")
	f.BoolVar(&c.program, "stdio", false, "the client starts the program, instead of asking a server")
	f.BoolVar(&c.project, "project", false, "write the file of the project in this folder, which refers to the token and doesn't hold it")
	f.BoolVar(&c.print, "print", false, "print the configuration, and write no file and make no token")
	f.BoolVar(&c.create, "create", false, "make a token for the configuration that --print prints")
	return cmd
}

// machine describes where the clients of this user store their files.
func machine() (Machine, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return Machine{}, err
	}
	dir, err := os.UserConfigDir()
	return Machine{OS: runtime.GOOS, Home: home, Config: dir, Getenv: os.Getenv}, err
}

// list prints the supported clients with the paths of their files on this machine.
func (c *connection) list() error {
	m, err := machine()
	if err != nil {
		return err
	}
	w := c.t.Table()
	fmt.Fprintln(w, "CLIENT\tNAME\tFILE\tPROJECT")
	var all []map[string]string
	for _, known := range ConfiguredClients() {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", known.ID, known.Name, known.File(m), dash(known.Project))
		all = append(all, map[string]string{"client": known.ID, "name": known.Name, "file": known.File(m), "project": known.Project})
	}
	if c.t.JSON {
		return c.t.PrintJSON(map[string]any{"clients": all})
	}
	return w.Flush()
}

// choose finds the client and its file.
func (c *connection) choose(id string) error {
	all := ConfiguredClients()
	i := slices.IndexFunc(all, func(known ConfiguredClient) bool { return known.ID == id })
	if i < 0 {
		ids := make([]string, len(all))
		for i, known := range all {
			ids[i] = known.ID
		}
		return config.Usagef("there is no client %q. Known are %s. The entry that --print gives for one of them may fit another%s", id, strings.Join(ids, ", "), problem.DidYouMean(problem.Nearest(id, ids, 1)))
	}
	if c.client = all[i]; c.client.OnlyPrograms {
		if c.server.URL != "" {
			return config.Usagef("%s takes no URL in its file: leave out --url, and it starts the program", c.client.Name)
		}
		c.program = true
	}
	switch {
	case c.server.Name == "":
		return config.Usagef("--name must not be empty")
	case c.project && c.client.Project == "":
		return config.Usagef("%s has no file in projects that can refer to a token: leave out --project", c.client.Name)
	case c.create && !c.print:
		return config.Usagef("--create belongs to --print. Without --print, connect always makes a token")
	case c.program && (c.server.URL != "" || c.expires != ""):
		return config.Usagef("a client that starts the program takes no --url and no --expires")
	case c.file != "":
		return nil
	case c.project:
		c.file = filepath.FromSlash(c.client.Project)
		return nil
	}
	m, err := machine()
	c.file = c.client.File(m)
	return err
}

// withProgram configures the client to start this program.
func (c *connection) withProgram(ctx context.Context) error {
	from := app.Setup{File: c.keep.File, Store: c.keep.Store}
	conf, err := from.Load()
	if err != nil {
		return err
	}
	p, err := c.who.Principal(conf.Stdio, "stdio")
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	file, err := filepath.Abs(from.Path())
	if err != nil {
		return err
	}
	args := []string{self, "serve", "--stdio", "--config", file}
	if c.keep.Store != "" {
		args = append(args, "--store", c.keep.Store)
	}
	for _, flag := range []string{"tenant", "owner", "scopes"} {
		if c.who.Given(flag) {
			args = append(args, "--"+flag, map[string]string{"tenant": c.who.Tenant, "owner": c.who.Owner, "scopes": c.who.Scopes}[flag])
		}
	}
	if conf.Stdio.ID == "" && !c.who.Given("tenant") && !c.who.Given("scopes") {
		args = append(args, "--scopes", "read")
	}
	c.server.Command = args
	if err := c.warn(ctx, conf, identity.Token{Name: c.client.Name, Kind: p.Kind, Owner: p.Owner, Tenant: p.Tenant, Scopes: p.Scopes}); err != nil {
		return err
	}
	return c.finish(nil)
}

// warn prints likely mistakes in a token.
func (c *connection) warn(ctx context.Context, conf *config.Config, want identity.Token) error {
	warnings, err := app.CheckToken(ctx, conf, want, c.newTenant)
	for _, w := range warnings {
		c.t.Notef("warning: %s", w)
	}
	return err
}

// withToken creates a token if the server accepts tokens, and configures the client to send it.
func (c *connection) withToken(ctx context.Context) error {
	// Without a configuration, no server would read a store that is created here.
	c.keep.There = c.keep.File == "" && c.keep.Store == "" && !app.Exists(app.DefaultFile)
	return c.keep.Tokens(ctx, func(tokens *identity.Tokens, conf *config.Config) error {
		if err := c.address(conf); err != nil {
			return err
		}
		if conf.Auth.TokensOff {
			return c.finish(nil)
		}
		if c.print && !c.create {
			c.server.Token = placeholder
			c.t.Notef("No token was made. Put one in the place of %s (bailiwick token create), or give --create to make one.", placeholder)
			return c.finish(nil)
		}
		scopes, err := identity.ParseScopes(c.who.Scopes)
		if err != nil {
			return config.Usage(err)
		}
		want := identity.Token{Name: c.client.ID, Kind: identity.Agent, Owner: cmp.Or(c.who.Owner, app.LocalUser()), Tenant: c.who.Tenant, Scopes: scopes}
		life := conf.Auth.TokenLife
		if c.expires != "" {
			if life, err = parseLife(c.expires); err != nil {
				return err
			}
		}
		if life != 0 {
			want.Expires = time.Now().Add(life)
		}
		if _, _, err := c.fileWithServer("bw_"); err != nil { // checked before a token is created
			return err
		}
		if err := c.warn(ctx, conf, want); err != nil {
			return err
		}
		made, secret, err := tokens.Create(ctx, identity.Local(app.LocalUser()), want)
		if err != nil {
			return err
		}
		c.server.Token = secret
		return c.finish(&made)
	})
}

// placeholder is the token in a printed configuration for which no token is made.
const placeholder = "bw_YOUR_TOKEN"

// address sets the URL of the server if it isn't set.
func (c *connection) address(conf *config.Config) error {
	if c.server.URL == "" {
		host, port, err := net.SplitHostPort(cmp.Or(conf.Listen, config.DefaultListen))
		if ip := net.ParseIP(host); err != nil || port == "0" || host == "" || ip != nil && ip.IsUnspecified() {
			return config.Usagef("the configuration listens on %s, which is not an address for a client. Give one with --url https://HOST/mcp", conf.Listen)
		}
		c.server.URL = "http://" + net.JoinHostPort(host, port) + "/mcp"
		return nil
	}
	u, err := url.Parse(c.server.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
		return config.Usagef("--url must be the address of the server as clients reach it, such as https://agents.example.com/mcp")
	}
	if u.Scheme == "http" && !app.Loopback(net.JoinHostPort(u.Hostname(), "80")) {
		c.t.Notef("warning: %s is reached without encryption, so that the token can be read on the way: use https", u.Host)
	}
	return nil
}

// fileWithServer returns the text of the client's file after the server is added to it. With --print it starts from
// an empty file.
func (c *connection) fileWithServer(token string) (text []byte, replaced bool, err error) {
	s := c.server
	s.Token = token
	var old []byte
	if !c.print {
		if old, err = os.ReadFile(c.file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, false, err
		}
	}
	edit := c.client.Edit
	if c.project {
		edit = c.client.EditProject
	}
	if text, replaced, err = edit(old, s); err != nil {
		err = fmt.Errorf("%s: %w", c.file, err)
	}
	return text, replaced, err
}

// finish writes or prints the configuration and the next steps.
func (c *connection) finish(made *identity.Token) error {
	text, replaced, err := c.fileWithServer(c.server.Token)
	if err != nil {
		return err
	}
	said := map[string]string{"client": c.client.ID, "file": c.file}
	if made != nil {
		said["token_id"] = made.ID
	}
	if c.project && c.server.Token != "" {
		said["token"] = c.server.Token
	}
	switch {
	case c.print && !c.t.JSON:
		c.t.Printf("%s", text)
		c.t.Notef("This goes into %s.", c.file)
	case c.print:
		said["configuration"] = string(text)
	default:
		if said["backup"], err = write(c.file, text, c.server.Token != "" && !c.project); err != nil {
			return err
		}
	}
	if c.t.JSON {
		return c.t.PrintJSON(said)
	}
	if !c.print {
		c.t.Printf("wrote %s\n", c.file)
	}
	if said["backup"] != "" {
		c.t.Notef("What was there is kept in %s.", said["backup"])
	}
	if replaced {
		c.t.Notef("It had an entry %s, which was replaced. Its token is good until you revoke it (bailiwick token list).", c.server.Name)
	}
	c.next(made)
	return nil
}

// next prints the next steps for the user.
func (c *connection) next(made *identity.Token) {
	if made != nil {
		c.t.Notef("Token %s acts for %s, may %s, and is good until %s.", made.ID, made.Owner, join(made.Scopes), made.Expires.Format(time.DateOnly))
	}
	if c.project && c.server.Token != "" {
		c.t.Notef("The file refers to the token. It is shown this once. For this shell:")
		c.t.Printf("export %s=%s\n", edge.InstallVariable, c.server.Token)
	}
	if c.server.URL != "" {
		c.t.Notef("%s connects to %s. Keep \"bailiwick serve\" running there.", c.client.Name, c.server.URL)
	}
	c.t.Notef("To check the connection: %s.", c.client.Check)
}

// write replaces a file atomically. It returns the path of a copy of the old file, or "". Only the owner can read a
// file with a secret.
func write(path string, text []byte, secret bool) (backup string, err error) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // keep a symbolic link and replace its target
	}
	mode := fs.FileMode(0o600)
	old, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return "", err
		}
	case err != nil:
		return "", err
	default:
		info, err := os.Stat(path)
		if err != nil {
			return "", err
		}
		if mode = info.Mode().Perm(); secret {
			mode &= 0o600
		}
		backup = path + ".backup-" + time.Now().UTC().Format("20060102T150405.000Z")
		if err := os.WriteFile(backup, old, 0o600); err != nil {
			return "", err
		}
	}
	return backup, app.ReplaceFile(path, text, mode)
}
