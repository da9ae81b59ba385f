package config

import (
	"slices"
	"strings"
	"sync"

	"github.com/bailiwick-dev/bailiwick/internal/connstring"
	"github.com/bailiwick-dev/bailiwick/internal/yamlconf"
)

// ssh returns the shape of the SSH server of a source.
func (s *Source) ssh() yamlconf.Shape {
	read := func(r *yamlconf.Reader, n yamlconf.Node, at string) {
		o := &SSH{}
		s.SSH = o
		o.shape().Read(r, n, at)
	}
	return yamlconf.Shape{Schema: (&SSH{}).shape().Schema, Read: read}
}

// shape returns the shape of the keys of o. If key is not itself a private key, it is a path. A relative path begins
// at the folder of the configuration.
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

// A Renewal returns the current URLs of a source, or of the store. It reads the configuration again when a file of
// the configuration has changed. It is safe for concurrent use.
type Renewal struct {
	mu     sync.Mutex
	of     *Config
	latest *Config
	source string
}

// Renewal returns the Renewal of a source. The name "" means the store.
func (c *Config) Renewal(source string) *Renewal { return &Renewal{of: c, latest: c, source: source} }

// URL returns the current form of old, which is the URL or the write_url from when the configuration was first read.
// It returns "" if the configuration can't be read now.
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
	if n.source == "" {
		return n.latest.Store
	}
	is := func(s Source) bool { return s.Name == n.source }
	then, now := slices.IndexFunc(n.of.Sources, is), slices.IndexFunc(n.latest.Sources, is)
	if then < 0 || now < 0 {
		return ""
	}
	for i, url := range n.of.Sources[then].URLs() {
		if url == old {
			return n.latest.Sources[now].URLs()[i]
		}
	}
	return n.latest.Sources[now].URL
}

// URLs returns the url, the write_url and the direct URL of a source. A missing one is "".
func (s *Source) URLs() [3]string {
	all := [3]string{s.URL, s.WriteURL}
	if s.Parse != nil {
		all[2] = s.Parse.Direct
	}
	return all
}

// WithPlaceholders returns s with placeholders for the settings that an open source can adopt from a changed
// configuration without a restart. These are the passwords of databases, the keys of Parse Server, and the
// credentials of APIs.
func (s Source) WithPlaceholders() Source {
	switch {
	case s.OpenAPI != nil:
		s.OpenAPI = s.OpenAPI.WithPlaceholders()
	case s.Parse != nil:
		p := *s.Parse
		p.MasterKey, p.RESTKey, p.Direct = "*", placeholder(p.RESTKey), connstring.Userless(p.Direct)
		s.Parse = &p
	default:
		s.URL, s.WriteURL = connstring.Userless(s.URL), connstring.Userless(s.WriteURL)
	}
	return s
}

// placeholder returns "*" for a non-empty text, and "" otherwise.
func placeholder(text string) string {
	if text == "" {
		return ""
	}
	return "*"
}
