package main

import (
	"errors"
	"io/fs"
	"os"
	"os/user"

	"github.com/spf13/pflag"

	"github.com/bailiwick-dev/bailiwick/config"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/store/sqlite"
)

// defaultFile is the configuration that is taken when none is named.
const defaultFile = "bailiwick.yaml"

// memoryStore is a store that nothing is left of.
const memoryStore = "sqlite:" + sqlite.Memory

// A setup is what the flags of a command say about the configuration.
type setup struct {
	file    string
	sources []string
	store   string
}

func (s *setup) flags(f *pflag.FlagSet) {
	f.StringVarP(&s.file, "config", "c", "", "configuration `FILE` (default "+defaultFile+" when it is there)")
	f.StringArrayVar(&s.sources, "source", nil, "a database instead of a configuration: sqlite:app.db, postgres://… or mariadb://… (repeatable; name=`URL` names it)")
	f.StringVar(&s.store, "store", "", "where tokens and the audit are kept: sqlite:`FILE`")
}

// load returns the configuration. Without a file every class of the sources can be seen and nothing is kept.
func (s *setup) load() (*config.Config, error) {
	if s.file != "" && s.sources != nil {
		return nil, usagef("--source stands without --config; write the source into the file")
	}
	var c *config.Config
	var err error
	switch {
	case s.sources != nil:
		c, err = s.bare()
	case s.file != "":
		c, err = loadFile(s.file)
	default:
		c, err = loadFile(defaultFile)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, usagef("there is no %s here; name a configuration with --config, or a database with --source sqlite:app.db", defaultFile)
		}
	}
	if err != nil {
		return nil, err
	}
	if s.store != "" {
		if c.Store, err = storeURL(s.store); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func loadFile(path string) (*config.Config, error) {
	c, err := config.Load(path)
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return nil, &fileError{path, p}
	}
	return c, err
}

// A fileError is a file that can't be read.
type fileError struct {
	path string
	err  *fs.PathError
}

func (e *fileError) Error() string {
	return "the configuration " + e.path + " can't be read: " + e.err.Err.Error()
}
func (e *fileError) Unwrap() error { return e.err }

// bare is the configuration of sources alone.
func (s *setup) bare() (*config.Config, error) {
	c := &config.Config{Store: memoryStore}
	c.Rules.Unlisted = true
	names := map[string]bool{}
	for _, text := range s.sources {
		src, err := sourceOf(text)
		if err != nil {
			return nil, err
		}
		if names[src.Name] {
			return nil, usagef("two sources are called %s; name one: --source other=%s…", src.Name, "sqlite:")
		}
		names[src.Name] = true
		c.Sources = append(c.Sources, src)
	}
	c.Rules.Version = config.Digest(c.Rules)
	return c, nil
}

// storeURL reads --store: "sqlite:FILE", or the file alone.
func storeURL(text string) (string, error) {
	s, err := sourceOf("store=" + text)
	if _, ok := s.SQLite(); err != nil || !ok {
		return "", usagef("--store must be sqlite:FILE; other stores are not supported by this version")
	}
	return s.URL, nil
}

// A speaker is what flags say about the principal of stdio, or of one call in process.
type speaker struct {
	tenant, owner, scopes string
	given                 func(name string) bool
}

func (s *speaker) flags(f *pflag.FlagSet, tenant string) {
	f.StringVar(&s.tenant, tenant, "", "the `TENANT` whose records are seen")
	f.StringVar(&s.owner, "owner", "", "the `PERSON` on whose behalf")
	f.StringVar(&s.scopes, "scopes", "", "what is allowed: `SCOPES` such as read, or write,delete (default read)")
	s.given = func(name string) bool { return f.Changed(name) }
}

// principal returns who speaks: the one of the configuration, changed by flags; alone, without a configured one,
// who may read.
func (s *speaker) principal(configured identity.Principal, id string) (identity.Principal, error) {
	who := configured
	if who.ID == "" {
		who = identity.Principal{ID: id, Name: id, Kind: identity.Agent, Owner: localUser(), Scopes: []identity.Scope{identity.Read}}
	}
	if s.tenant != "" {
		who.Tenant = s.tenant
	}
	if s.owner != "" {
		who.Owner = s.owner
	}
	if s.given("scopes") {
		scopes, err := identity.ParseScopes(s.scopes)
		if err != nil {
			return who, &usageError{err}
		}
		for _, scope := range scopes {
			if scope == identity.Review || scope == identity.Audit || scope == identity.Operator {
				return who, usagef("%v", problem.New(problem.InvalidArgument, "an agent can't have the scope "+string(scope)))
			}
		}
		who.Scopes = scopes
	}
	return who, nil
}

// localUser names who runs the program.
func localUser() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return os.Getenv("USER")
}
