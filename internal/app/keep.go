package app

import (
	"context"
	"crypto/ed25519"
	"io"
	"time"

	"github.com/spf13/pflag"

	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/console"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/config"
)

// A Keep contains the flags of commands that need only the store.
type Keep struct {
	File, Store string
	There       bool // the store must exist
	Reads       bool // the command only reads, so it can use a copy of a file that can't be written
}

// Flags adds the flags that select a store.
func (k *Keep) Flags(f *pflag.FlagSet) {
	f.StringVarP(&k.File, "config", "c", "", "configuration `FILE` that names the store (default "+DefaultFile+" when it is there)")
	f.StringVar(&k.Store, "store", "", "the `STORE`: sqlite:FILE or postgres://… (default that of the configuration, else "+config.DefaultStore+")")
}

// locate returns the store's URL and the configuration. The configuration is empty if there is no file.
func (k *Keep) locate() (url string, c *config.Config, err error) {
	if k.Store != "" {
		url, err := storeURL(k.Store)
		return url, &config.Config{}, err
	}
	if k.File == "" && !Exists(DefaultFile) {
		return config.DefaultStore, &config.Config{}, nil
	}
	from := Setup{File: k.File}
	if c, err = from.Load(); err != nil {
		return "", nil, err
	}
	return c.Store, c, nil
}

// open opens the store and passes it to do, with its configuration.
func (k *Keep) open(ctx context.Context, do func(Store, *config.Config) error) (err error) {
	url, c, err := k.locate()
	if err != nil {
		return err
	}
	if k.Reads && !isPostgresURL(url) {
		path, remove, err := readable(storePath(url))
		if err != nil {
			return err
		}
		defer remove()
		url = "sqlite:" + path
	}
	store, err := OpenStore(ctx, url, k.There)
	if err != nil {
		return err
	}
	defer CloseAfter(store, &err)
	return do(store, c)
}

// Tokens opens the store and passes its tokens to do.
func (k *Keep) Tokens(ctx context.Context, do func(*identity.Tokens, *config.Config) error) error {
	return k.open(ctx, func(s Store, c *config.Config) error {
		return do(identity.NewTokens(identity.TokenOptions{Store: s, Audit: s}), c)
	})
}

// Invite creates the record of a person with the rights in want. It returns the path of a page that signs the person
// in once, within life. It calls check with the configuration first.
func (k *Keep) Invite(ctx context.Context, want identity.Token, life time.Duration, check func(*config.Config) error) (path string, c *config.Config, err error) {
	err = k.Tokens(ctx, func(tokens *identity.Tokens, found *config.Config) error {
		c = found
		if err := check(c); err != nil {
			return err
		}
		_, link, err := tokens.Invite(ctx, identity.Local(LocalUser()), want, life)
		path = console.SignIn(link)
		return err
	})
	return path, c, err
}

// Log opens the store and passes its audit to do.
func (k *Keep) Log(ctx context.Context, do func(audit.Reader) error) error {
	return k.open(ctx, func(s Store, _ *config.Config) error { return do(s) })
}

// WithStore opens the store and passes it to do.
func (k *Keep) WithStore(ctx context.Context, do func(Store) error) error {
	return k.open(ctx, func(s Store, _ *config.Config) error { return do(s) })
}

// A Signing is a store and the settings of its audit.
type Signing struct {
	Store
	Key     ed25519.PrivateKey // signs checkpoints
	Archive string             // the folder of old records, or ""
}

// WithSigning opens the store and passes it to do, with the key that signs this gateway's audit.
func (k *Keep) WithSigning(ctx context.Context, do func(Signing) error) error {
	return k.open(ctx, func(s Store, c *config.Config) error {
		key, err := signingKey(ctx, c, s)
		if err != nil {
			return err
		}
		return do(Signing{s, key, c.Audit.Archive.Folder})
	})
}

// signingKey returns the key that signs checkpoints of the audit. It is the configured key, or a key that the store
// creates on first use.
func signingKey(ctx context.Context, c *config.Config, s Store) (ed25519.PrivateKey, error) {
	seed := c.Audit.Key
	if seed == nil {
		var err error
		if seed, err = s.Secret(ctx, "audit checkpoints"); err != nil {
			return nil, err
		}
	}
	return ed25519.NewKeyFromSeed(seed), nil
}

// CloseAfter closes c. If *err is nil, it sets *err to the error of closing.
func CloseAfter(c io.Closer, err *error) {
	if cerr := c.Close(); *err == nil {
		*err = cerr
	}
}
