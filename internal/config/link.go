package config

import (
	"strings"
	"sync"

	"github.com/bailiwick-dev/bailiwick/internal/yamlconf"
)

// ssh is the shape of the SSH server of a source.
func (s *Source) ssh() yamlconf.Shape {
	read := func(r *yamlconf.Reader, n yamlconf.Node, at string) {
		o := &SSH{}
		s.SSH = o
		o.shape().Read(r, n, at)
	}
	return yamlconf.Shape{Schema: (&SSH{}).shape().Schema, Read: read}
}

// shape returns the shape of the keys of o. A key that is not a private key itself is a path, which begins at the folder of
// the configuration.
func (o *SSH) shape() yamlconf.Shape {
	path := func(to *string) func(folder, text string) string {
		return func(folder, text string) string {
			*to = text
			if !strings.Contains(text, "PRIVATE KEY-----") {
				*to = pathFrom(folder, text)
			}
			return ""
		}
	}
	return yamlconf.Object([]yamlconf.Key{
		{Name: "host", Doc: "The server: a host, or host:port", Must: true, Shape: yamlconf.Words(&o.Host)},
		{Name: "user", Doc: "The user there", Must: true, Shape: yamlconf.Words(&o.User)},
		{Name: "key", Doc: "The user's private key without a passphrase: its path, or file:path or ${KEY} for the key itself", Must: true, Shape: yamlconf.Secret("a private key", path(&o.Key))},
		{Name: "known_hosts", Doc: "The path of a file with the server's keys, in the form of ~/.ssh/known_hosts. A server with another key is refused", Must: true, Shape: yamlconf.Secret("a path", path(&o.KnownHosts))},
	}, nil)
}

// A Renewal reads the URLs of a source again when a file that the configuration was read from has changed. It is safe for
// concurrent use.
type Renewal struct {
	mu     sync.Mutex
	of     *Config
	latest *Config
	source string
}

// Renewal returns the renewal of a source.
func (c *Config) Renewal(source string) *Renewal { return &Renewal{of: c, latest: c, source: source} }

// URL returns the URL, or the write_url, as it is configured now that was old when the configuration was read; "" if the
// configuration can't be read now.
func (n *Renewal) URL(old string) string {
	if n.of.file == "" {
		return ""
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.latest.State() != n.latest.Now() {
		next, err := Load(n.of.file)
		if err != nil {
			return ""
		}
		n.latest = next
	}
	write := false
	for _, s := range n.of.Sources {
		write = write || s.Name == n.source && s.URL != old && s.WriteURL == old
	}
	for _, s := range n.latest.Sources {
		switch {
		case s.Name != n.source:
		case write:
			return s.WriteURL
		default:
			return s.URL
		}
	}
	return ""
}
