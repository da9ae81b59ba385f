package openapi

import (
	"github.com/bailiwick-dev/bailiwick/internal/openapi/client"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
)

// The types that an embedding program uses to open an API.
type (
	// A Document is an OpenAPI 3.0 or 3.1 or Swagger 2.0 document. Load returns one. It has the Title, Version and Description
	// of the API, the Dialect that it is written in, its Servers, Tags, Operations and security Schemes. Warnings say
	// what was left out.
	Document = spec.Document

	// Options configure the connection to an API. Base or Handler is required.
	//
	//   - Base: its address: scheme, host and the start of the path
	//   - Handler: the API is a handler of this program, which is called without a network
	//   - Credential: authenticates every request. Nil sends none
	//   - Downloads: hosts to which redirects of reads are followed, without the credential. "*.host" means those below
	//     it
	//   - Headers: sent with every request. They are not masked in responses
	//   - Identity, Trusted: the files of TLS connections that a configuration names, to the API and to Downloads. Nil
	//     in a program
	//   - Known: credentials that are masked in responses. Nil masks only Credential's own
	//   - Timeout: of a request with its retries. 0 means 30 s
	//   - MaxBody: maximum bytes of a response. 0 means 8 MiB
	//   - Attempts: maximum attempts of a request that changes nothing. 0 means 3
	//   - Answers: the memory for responses that APIs share. Nil in a program: each API has its own
	//   - Roots, Resolver: trusted certificates and the resolver of names. Nil means those of the system
	Options = client.Options

	// A Credential authenticates requests on behalf of a principal: Apply(ctx, principal, request) sets headers or the query.
	// It is safe for concurrent use. It fails with problem.PermissionDenied if the principal has no credential, and with
	// problem.Upstream if none can be obtained now.
	Credential = client.Credential

	// An Exchange is a Credential that calls the program for the token of each principal: a function (ctx, principal) (token,
	// error). It is called for every request, so it should keep tokens. An error that isn't a problem.Error is logged and not
	// shown.
	Exchange = client.ExchangeFunc

	// Headers is a Credential that calls the program for the headers of each principal's requests: a function (ctx, principal)
	// (http.Header, error), called as an Exchange is.
	Headers = client.HeaderFunc

	// A TokenExchange is a Credential that exchanges a token of each principal's own at an authorization server (RFC 8693).
	// NewTokenExchange returns one.
	TokenExchange = client.TokenExchange

	// ExchangeOptions configure a TokenExchange. They are the TokenURL, the ID and Secret of the client there, the
	// Scopes to ask for, and Params, further parameters such as audience. Roots, Trusted and Resolver are of the
	// connection. Trusted is for files that a configuration names. It is nil in a program.
	ExchangeOptions = client.OAuthClientOptions

	// A Subject returns the token that a TokenExchange exchanges, and its type as RFC 8693 names it: a function (ctx,
	// principal) (token, type, error). "" for the type means an access token.
	Subject = client.SubjectToken

	// A Header is a Credential that is a fixed header: Name, such as X-API-Key, and Value.
	Header = client.HeaderCredential

	// Access says what the operations of an API can do, for policy.APIRules.Access. The first of Rules that matches an
	// operation decides, else its method. With RPCNames the name of a POST operation decides last (Get, List and Search
	// read, Delete destroys).
	Access = spec.ClassOptions

	// An AccessRule gives a Class to the operations that match one of Operations and have one of Tags. Operations are
	// ids, or method and path, where * matches any text. One of the two lists may be nil. Of a Forbidden one, Reason
	// and Instead say to agents why, and where a person can do it.
	AccessRule = spec.ClassRule

	// An AccessClass is the effect that an operation can have.
	AccessClass = spec.Class
)

// The classes of operations.
const (
	Destructive = spec.ClassDestructive // deletes data, or the effect is unknown
	Reads       = spec.ClassRead        // changes nothing
	Writes      = spec.ClassWrite       // changes data
	Excluded    = spec.ClassExcluded    // hidden from agents as if it did not exist
	Forbidden   = spec.ClassForbidden   // never for agents: a call is answered with the reason
)

// Bearer returns the Credential that sends token in the Authorization header.
func Bearer(token string) Header { return client.BearerHeader(token) }

// NewTokenExchange returns the Credential that exchanges what subject returns.
func NewTokenExchange(o ExchangeOptions, subject Subject) (*TokenExchange, error) {
	return client.NewTokenExchange(o, subject)
}

// Load reads a document, as JSON or YAML. Its errors name the location.
func Load(document []byte) (*Document, error) { return spec.Load(document) }

// Open returns the API called name with the connection o. policy.Rules.APIs controls what of it may be seen and called. It
// sends nothing yet. An error names the option that is missing or wrong.
func Open(name string, o Options) (*API, error) {
	s, err := client.New(o)
	if err != nil {
		return nil, err
	}
	return New(name, s), nil
}
