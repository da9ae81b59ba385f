// Package parse is the source for applications on Parse Server.
//
//	Permit ─views, guards→ queries of the REST API, or SQL ─answers→ records ─interpret→ rows
//	writes.Permit ─requests→ Parse Server ─settle→ results
//
// The source reads classes over Parse's REST API. With a read-only connection to Parse's own PostgreSQL database, it
// reads them from there. Parse's permissions become part of every view as a schema.Guard: class-level permissions,
// protected fields, pointer permissions and the access list of each record. The permissions of the user or role apply
// that the source acts as. Over REST with a session, Parse Server checks them again.
//
// Package interpret evaluates the parts of a query that Parse can't do exactly, over at most Options.LocalRows
// records. The source never uses Parse's endpoint for aggregation, which ignores unknown stages and returns raw
// records.
//
// The memory for answers is limited. Approved changes of classes become requests to /schemas: new classes, new fields
// and dropped classes. Values are converted between the forms of the REST API and package value.
package parse

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/edge"
	"github.com/bailiwick-dev/bailiwick/internal/expression"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/client"
	"github.com/bailiwick-dev/bailiwick/source"
)

// A Posture is the identity that a source uses at Parse Server.
type Posture string

// The postures. There is no default, so acting as master must be configured explicitly.
const (
	Session Posture = "session" // the session of the principal
	User    Posture = "user"    // a user, in a session that the master key opens
	Role    Posture = "role"    // a role, like a user who has only this role
	Public  Posture = "public"  // a visitor without a user
	Master  Posture = "master"  // the master: only the owner's rules restrict the view
)

// DefaultLocalRows is the default of Options.LocalRows.
const DefaultLocalRows = 10_000

// Options describe a Parse Server. Name, URL, AppID, MasterKey and As are required.
type Options struct {
	Name string
	URL  string // https://host/parse. http:// is allowed only for loopback

	AppID, RESTKey string
	MasterKey      string // the read-only master key is enough if nothing is written and As isn't User

	As      Posture
	Session string // for As Session: a CEL expression over the principal that returns its session token
	User    string // for As User: a CEL expression over the principal that returns the user's objectId
	Role    string // for As Role: the role's name

	Direct    Direct         // Parse's own PostgreSQL database, for an account that may only read. Nil reads over REST
	LocalRows int            // the maximum number of records that the gateway evaluates for one query. 0 means DefaultLocalRows
	System    []string       // Parse's own classes to show, among those hidden by default
	Roots     *x509.CertPool // trusted certificates. Nil means the certificates of the system
}

// A Direct is a source over Parse's own database, such as a source of source/postgres.
type Direct interface {
	source.Source
	source.Pinger
	io.Closer
}

// A Source is an application on a Parse Server. It is safe for concurrent use.
type Source struct {
	options Options
	base    *url.URL
	http    *http.Client
	direct  Direct // nil without a direct connection
	whose   *expression.Expression
	page    int                 // the number of records per request
	looks   chan struct{}       // held while a record of unknown size is read for a write
	secrets client.KnownSecrets // secrets to mask in answers
	keys    atomic.Pointer[keys]

	mu      sync.Mutex
	classes map[string]*class  // by name, as last described
	read    time.Time          // when the classes were described
	doubted bool               // whether an answer of Parse Server means that the classes may have changed
	known   map[string]*person // the identities that agents act as, by the digest of their key
}

// Open checks the options. It sends no request to Parse Server yet.
func Open(o Options) (*Source, error) {
	wrong := func(format string, args ...any) (*Source, error) {
		return nil, fmt.Errorf("source %s: %s", o.Name, fmt.Sprintf(format, args...))
	}
	u, err := edge.ParseURL(o.URL)
	if err != nil {
		return wrong("the url %v", err)
	}
	if host := u.Hostname(); u.Scheme == "http" && host != "localhost" && host != "127.0.0.1" && host != "::1" {
		return wrong("keys are sent over https alone, except to this machine. Write parse+https://%s", u.Host)
	}
	u.Path = strings.TrimSuffix(u.Path, "/")
	if o.AppID == "" || o.MasterKey == "" {
		return wrong("Parse Server needs app_id and master_key: its classes and their permissions can't be read without")
	}
	s := &Source{options: o, base: u, classes: map[string]*class{}, known: map[string]*person{}, direct: o.Direct, page: pageSize, looks: make(chan struct{}, 4)}
	s.options.LocalRows = cmp.Or(o.LocalRows, DefaultLocalRows)
	if s.whose, err = o.posture(); err != nil {
		return wrong("%v", err)
	}
	s.Rekey(o.MasterKey, o.RESTKey)
	s.http = &http.Client{Transport: edge.GuardedTransport(u, edge.GuardOptions{Roots: o.Roots}), Timeout: 60 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return s, nil
}

// posture checks the posture and returns the expression for the acting user, session or role. It returns nil if the
// identity doesn't depend on the principal.
func (o Options) posture() (*expression.Expression, error) {
	for _, other := range []struct {
		as  Posture
		key string
	}{{Session, o.Session}, {User, o.User}, {Role, o.Role}} {
		switch {
		case other.key != "" && o.As != other.as:
			return nil, fmt.Errorf("%s is for as: %s, and this is as: %s. A source acts as one", other.as, other.as, cmp.Or(o.As, "(none)"))
		case other.key == "" && o.As == other.as:
			return nil, fmt.Errorf("as: %s needs the key %s", other.as, other.as)
		}
	}
	switch o.As {
	case Session:
		return expression.NewCompiler().Compile(o.Session, expression.Scalar)
	case User:
		return expression.NewCompiler().Compile(o.User, expression.Scalar)
	case Role, Public, Master:
		return nil, nil
	case "":
		return nil, errors.New("the key as is missing: session, user, role, public or master")
	}
	return nil, fmt.Errorf("as: there is no %q. It is session, user, role, public or master", o.As)
}

// permissionsLife is the time after which the permissions of classes count as outdated.
const permissionsLife = time.Hour

// Stale reports whether the source should be described again. That is the case if the classes and their permissions
// are an hour old, or if an answer of Parse Server means that they may have changed.
func (s *Source) Stale() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.doubted || time.Since(s.read) > permissionsLife
}

// As returns the posture of the source.
func (s *Source) As() Posture { return s.options.As }

// Close closes all connections.
func (s *Source) Close() error {
	s.http.CloseIdleConnections()
	if s.direct != nil {
		return s.direct.Close()
	}
	return nil
}

// Ping implements source.Pinger.
func (s *Source) Ping(ctx context.Context) error {
	_, err := s.ask(ctx, request{method: http.MethodGet, path: "/health", as: nobody})
	if err == nil && s.direct != nil {
		return s.direct.Ping(ctx)
	}
	return err
}
