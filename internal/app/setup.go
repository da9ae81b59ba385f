package app

import (
	"cmp"
	"errors"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"os/user"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/edge"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/client"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/store/sqlite"
)

// DefaultFile is the configuration file if none is given.
const DefaultFile = "bailiwick.yaml"

// MemoryStore is a temporary store that is deleted at the end.
const MemoryStore = "sqlite:" + sqlite.Memory

// A Setup contains the flags that select the configuration.
type Setup struct {
	File    string
	Sources []string
	Store   string
}

// Flags adds the flags that select a configuration.
func (s *Setup) Flags(f *pflag.FlagSet) {
	f.StringVarP(&s.File, "config", "c", "", "configuration `FILE` (default "+DefaultFile+" when it is there)")
	f.StringArrayVar(&s.Sources, "source", nil, "a database instead of a configuration: sqlite:app.db, postgres://…, mariadb://… or mongodb://… (repeatable, name=`URL` names it)")
	f.StringVar(&s.Store, "store", "", "the `STORE` of tokens, changes and the audit: sqlite:FILE or postgres://…")
}

// Load returns the configuration. With --source instead of a file, every class of the sources is visible, and the
// store is temporary.
func (s *Setup) Load() (*config.Config, error) {
	if s.File != "" && s.Sources != nil {
		return nil, config.Usagef("--source excludes --config. Write the source into the file")
	}
	var c *config.Config
	var err error
	switch {
	case s.Sources != nil:
		c, err = s.bare()
	default:
		if c, err = LoadFile(s.Path()); s.File == "" && errors.Is(err, fs.ErrNotExist) {
			return nil, config.Usagef("there is no %s here. Name a configuration with --config, or a database with --source sqlite:app.db", DefaultFile)
		}
	}
	if err == nil && s.Store != "" {
		c.Store, err = storeURL(s.Store)
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

// Path returns the path of the configuration that Load reads, or "" if there is none.
func (s *Setup) Path() string {
	if s.Sources != nil {
		return ""
	}
	return cmp.Or(s.File, DefaultFile)
}

// LoadFile reads a configuration and fetches the documents at URLs that it names.
func LoadFile(path string) (*config.Config, error) {
	c, err := config.Load(path)
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return nil, &fileError{path, p}
	}
	if err != nil {
		return nil, err
	}
	return c, c.Fetch(fetchAPIDocument)
}

// LoadText parses text as the configuration at path, and fetches the documents at URLs that it names.
func LoadText(path string, text []byte) (*config.Config, error) {
	c, err := config.Parse(path, text, os.LookupEnv)
	if err != nil {
		return nil, err
	}
	return c, c.Fetch(fetchAPIDocument)
}

// fetchAPIDocument reads the document of a source at a URL. Requests to the host of base_url carry the same
// credentials as calls of the API, so that a protected document can be read. Requests to other hosts carry no
// credentials. Accounts of people and credentials of principals are not used.
func fetchAPIDocument(s config.Source) (config.Document, error) {
	of := *s.OpenAPI
	alone := func(c *config.APICredential) bool { return c != nil && c.Person == nil && c.Each == nil }
	if !alone(of.Credential) {
		of.Credential = nil
	}
	of.Credentials = slices.DeleteFunc(slices.Clone(of.Credentials), func(c config.SchemeCredential) bool { return !alone(&c.Credential) })
	who, _, err := APICredentials(&of, s.Name, nil)
	if err != nil {
		return config.Document{}, err
	}
	if set, ok := who.(*client.CredentialSet); ok {
		defer set.Close()
		// If several credentials use one header, the first is sent.
		if unsaid := of.Signing(&spec.Document{}).Unsaid; unsaid != nil {
			who = client.CredentialFor(set, unsaid)
		}
	}
	base, err := url.Parse(of.BaseURL)
	if err != nil {
		return config.Document{}, errors.New("the document can't be fetched: base_url is not a URL")
	}
	sign := func(r *http.Request) error {
		if r.URL.Scheme != base.Scheme || !strings.EqualFold(r.URL.Host, base.Host) {
			return nil
		}
		for _, h := range of.Headers {
			if !h.Secret {
				r.Header.Set(h.Name, h.Value)
			}
		}
		if who == nil {
			return nil
		}
		return who.Apply(r.Context(), identity.Principal{}, r)
	}
	var own *http.Transport
	if t := of.TLS; t != nil {
		files, err := client.NewCertificate(client.CertificateFiles{Certificate: t.Certificate, Key: t.Key, Authorities: t.Authorities})
		if err != nil {
			return config.Document{}, err
		}
		own = edge.GuardedTransport(base, edge.GuardOptions{Identity: files.Current})
		defer own.CloseIdleConnections()
	}
	return fetchSignedDocument(documentSigning{Host: base.Host, Sign: sign, Own: own}, of.Document)
}

// A fileError reports a configuration file that can't be read.
type fileError struct {
	path string
	err  *fs.PathError
}

func (e *fileError) Error() string {
	return "the configuration " + e.path + " can't be read: " + e.err.Err.Error()
}
func (e *fileError) Unwrap() error { return e.err }

// bare returns a configuration that contains only sources.
func (s *Setup) bare() (*config.Config, error) {
	c := &config.Config{Store: MemoryStore}
	c.Rules.Unlisted = true
	for _, text := range s.Sources {
		src, err := SourceOf(text)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(c.Sources, func(other config.Source) bool { return other.Name == src.Name }) {
			return nil, config.Usagef("two sources are called %s. Name one: --source other=%s…", src.Name, "sqlite:")
		}
		c.Sources = append(c.Sources, src)
	}
	if err := c.Restrict(os.LookupEnv); err != nil {
		return nil, err
	}
	c.Rules.Version = config.Digest(c.Rules)
	return c, nil
}

// storeURL parses --store: "sqlite:FILE", FILE, or "postgres://…".
func storeURL(text string) (string, error) {
	s, err := SourceOf("store=" + text)
	if _, ok := s.SQLite(); err != nil || !ok && !isPostgresURL(s.URL) {
		return "", config.Usagef("--store must be sqlite:FILE or postgres://user:password@host/database. Write reserved characters in a password as %%XX")
	}
	return s.URL, nil
}

// StdioFlags are the flags for the principal over stdio, or for one call in process.
type StdioFlags struct {
	Tenant, Owner, Scopes string
	Given                 func(name string) bool // reports whether a flag was given
}

// Flags adds the flags that set the principal. The argument tenant is the name of the tenant flag.
func (s *StdioFlags) Flags(f *pflag.FlagSet, tenant string) {
	f.StringVar(&s.Tenant, tenant, "", "the `TENANT` whose records are seen")
	f.StringVar(&s.Owner, "owner", "", "the `PERSON` on whose behalf")
	f.StringVar(&s.Scopes, "scopes", "", "what is allowed: `SCOPES` such as read, or write,delete (default read)")
	s.Given = func(name string) bool { return f.Changed(name) }
}

// Principal returns the configured principal, modified by the flags. If none is configured, it returns a local
// principal with the scope read.
func (s *StdioFlags) Principal(configured identity.Principal, id string) (identity.Principal, error) {
	p := configured
	if p.ID == "" {
		p = identity.Principal{ID: id, Name: id, Kind: identity.Agent, Owner: LocalUser(), Scopes: []identity.Scope{identity.Read}}
	}
	if s.Tenant != "" {
		p.Tenant = s.Tenant
	}
	if s.Owner != "" {
		p.Owner = s.Owner
	}
	if s.Given("scopes") {
		scopes, err := identity.ParseScopes(s.Scopes)
		if err != nil {
			return p, config.Usage(err)
		}
		for _, scope := range scopes {
			if scope == identity.Review || scope == identity.Audit || scope == identity.Operator {
				return p, config.Usagef("%v", problem.New(problem.InvalidArgument, "an agent can't have the scope "+string(scope)))
			}
		}
		p.Scopes = scopes
	}
	return p, nil
}

// LocalUser returns the name of the user who runs the program.
func LocalUser() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return os.Getenv("USER")
}
