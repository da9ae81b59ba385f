package config

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/expression"
	"github.com/bailiwick-dev/bailiwick/internal/yamlconf"
)

// ParseServer configures how to connect to an application on Parse Server, in addition to the url of the source.
type ParseServer struct {
	AppID, MasterKey, RESTKey string
	As                        string // session, user, role, public or master
	Session, User             string // CEL expressions over the principal, for the values session and user of As
	Role                      string
	Direct                    string   // the URL of Parse's PostgreSQL database. "" reads over REST
	System                    []string // classes of Parse itself that are visible although they are hidden by default
}

// postures are the possible values of As.
var postures = []string{"session", "user", "role", "public", "master"}

// URLOf returns the address of the REST API for a source url such as parse+https://host/parse. It also reports
// whether raw has this form.
func (*ParseServer) URLOf(raw string) (string, bool) { return strings.CutPrefix(raw, "parse+") }

// shape returns the shape of the section parse of a source.
func (p *ParseServer) shape(compile *expression.Compiler) yamlconf.Shape {
	key := func(into *string) yamlconf.Shape {
		return yamlconf.Secret("a key", func(_, s string) string {
			*into = strings.TrimSpace(s)
			return ""
		})
	}
	of := func(into *string) yamlconf.Shape {
		return yamlconf.TextOf("an expression over principal, such as principal.claims.parse_session", func(s string) error {
			*into = s
			_, err := compile.Compile(s, expression.Scalar)
			return err
		})
	}
	direct := func(_, raw string) string {
		u, err := url.Parse(raw)
		if err != nil || u.Opaque != "" || u.Scheme != "postgres" && u.Scheme != "postgresql" {
			return "is not a URL such as postgres://reader:password@host/parse. Only Parse's PostgreSQL database can be read directly"
		}
		p.Direct = raw
		return ""
	}
	return yamlconf.Object([]yamlconf.Key{
		{Name: "app_id", Doc: "The application's id", Must: true, Shape: key(&p.AppID)},
		{Name: "master_key", Doc: "The master key, with which classes and permissions are read. The read-only one is enough unless as is user or something is written", Must: true, Shape: key(&p.MasterKey)},
		{Name: "rest_key", Doc: "The REST API key, if the server wants one", Shape: key(&p.RESTKey)},
		{Name: "as", Doc: "Whom agents act as: session (a Parse session of the principal), user (a user, by id), role, public, or master, whom Parse's own permissions don't bind", Must: true,
			Shape: yamlconf.Choose(postures, func(s string) { p.As = s })},
		{Name: "session", Doc: "With as: session, the session token: an expression over principal, such as principal.claims.parse_session", Shape: of(&p.Session)},
		{Name: "user", Doc: "With as: user, the user's objectId: an expression over principal, such as principal.claims.sub", Shape: of(&p.User)},
		{Name: "role", Doc: "With as: role, the role's name", Shape: yamlconf.Words(&p.Role)},
		{Name: "direct", Doc: "postgres://reader:${PASSWORD}@host/parse: Parse's own database, for an account that may only read. Then queries run there, not over REST", Shape: yamlconf.Secret("a URL", direct)},
		{Name: "system_classes", Doc: "Classes of Parse itself to show, such as _Session, of those that are hidden by default", Shape: yamlconf.List(&p.System, "class names", nil)},
	}, nil)
}

// check returns a wrong key that belongs to as, and the reason. It returns "" if the keys are right.
func (p *ParseServer) check() (key, why string) {
	for _, k := range []struct{ as, value string }{{"session", p.Session}, {"user", p.User}, {"role", p.Role}} {
		switch {
		case k.value != "" && p.As != k.as:
			return k.as, "is for as: " + k.as + ", and this is as: " + p.As + "; a source acts as one"
		case k.value == "" && p.As == k.as:
			return "as", "as: " + k.as + " needs the key " + k.as
		}
	}
	return "", ""
}

// setParse parses the url of a Parse Server.
func (s *Source) setParse(raw string) string {
	address, _ := s.Parse.URLOf(raw)
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" || u.User != nil || u.RawQuery != "" {
		return "is not a URL such as parse+https://host/parse. Write the keys under parse"
	}
	if host := u.Hostname(); u.Scheme == "http" && host != "localhost" && host != "127.0.0.1" && host != "::1" {
		return "sends keys over http, which only this machine may be asked with. Write parse+https://" + u.Host
	}
	s.URL = raw
	return ""
}

// IsParse reports whether the source is an application on Parse Server.
func (s Source) IsParse() bool { return strings.HasPrefix(s.URL, "parse+") }

// Postures returns one sentence, for operators, for each source that acts with more rights than its callers have.
func (c *Config) Postures() []string {
	var out []string
	for _, s := range c.Sources {
		if s.Parse != nil && s.Parse.As == "master" {
			out = append(out, fmt.Sprintf("source %s acts as the master of the Parse application: its access lists and class-level permissions bind no agent, only the rules here do", s.Name))
		}
	}
	return out
}
