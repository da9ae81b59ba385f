package openapi

import (
	"github.com/bailiwick-dev/bailiwick/internal/openapi/client"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
)

// The types that an embedding program uses to open an API.
type (
	// A Document is an OpenAPI 3.0 or 3.1 or Swagger 2.0 document. Load returns one. It contains the Title, Version
	// and Description of the API, the Dialect of the document, the Servers, Tags, Operations and security Schemes.
	// Warnings name the omitted parts.
	Document = spec.Document

	// Options configure the connection to an API. Base or Handler is required.
	//
	// - Base: the address of the API: scheme, host and the start of the path
	//   - Handler: the API is a handler of this program, which is called without a network
	//   - Credential: authenticates every request. Nil sends none
	//   - Downloads: hosts to which redirects of reads are followed, without the credential. "*.host" means all hosts below
	//     it
	//   - Headers: sent with every request. They are not masked in responses
	//   - Identity, Trusted: the files of TLS connections that a configuration names, to the API and to Downloads. Nil
	//     in a program
	//   - Known: credentials that are masked in responses. Nil masks only Credential's own
	//   - Timeout: of a request with its retries. 0 means 30 s
	//   - MaxBody: maximum bytes of a response. 0 means 8 MiB
	//   - Attempts: maximum attempts of a request that changes nothing. 0 means 3
	//   - Answers: the memory for responses that APIs share. Nil in a program: each API has its own
	//   - Roots, Resolver: trusted certificates and the resolver of names. Nil means the certificates and the resolver of the system
	Options = client.Options

	// A Credential authenticates requests on behalf of a principal: Apply(ctx, principal, request) sets headers or
	// the query. It is safe for concurrent use. It fails with problem.PermissionDenied if the principal has no
	// credential, and with problem.Upstream if the credential is temporarily not available.
	Credential = client.Credential

	// An Exchange is a Credential that calls the program for the token of each principal: a function (ctx, principal)
	// (token, error). It is called for every request, so it should cache tokens. An error that isn't a problem.Error
	// is logged but not shown to the caller.
	Exchange = client.ExchangeFunc

	// Headers is a Credential that calls the program for the headers of each principal's requests: a function (ctx,
	// principal) (http.Header, error), called like an Exchange.
	Headers = client.HeaderFunc

	// A TokenExchange is a Credential that exchanges each principal's own token for another token at an authorization
	// server (RFC 8693). NewTokenExchange returns one.
	TokenExchange = client.TokenExchange

	// ExchangeOptions configure a TokenExchange. TokenURL is its address, and ID and Secret are the client's
	// credential there. Scopes are the requested scopes, and Params are additional parameters such as audience.
	// Roots, Trusted and Resolver configure the connection. Trusted is for files that a configuration names, and is
	// nil in a program.
	ExchangeOptions = client.OAuthClientOptions

	// A Subject returns the token that a TokenExchange exchanges, and the token's type by RFC 8693. It is a function
	// (ctx, principal) (token, type, error). The type "" means an access token.
	Subject = client.SubjectToken

	// A Header is a Credential that sends a fixed header: Name, such as X-API-Key, and Value.
	Header = client.HeaderCredential

	// Access assigns classes to the operations of an API, for policy.APIRules.Access. The first of Rules that matches
	// an operation decides, and otherwise the operation's method. With RPCNames, the name of a POST operation decides
	// last: Get, List and Search read, and Delete destroys.
	Access = spec.ClassOptions

	// An AccessRule assigns a Class to the operations that match one of Operations and have one of Tags. An entry of
	// Operations is an id, or a method and path, where * matches any text. One of the two lists may be nil. For a
	// Forbidden operation, Reason and Instead tell agents why, and where a person can run it.
	AccessRule = spec.ClassRule

	// An AccessClass is the effect that an operation can have.
	AccessClass = spec.Class
)

// The classes of operations.
const (
	Destructive = spec.ClassDestructive // deletes data, or its effect is unknown
	Reads       = spec.ClassRead        // changes nothing
	Writes      = spec.ClassWrite       // changes data
	Excluded    = spec.ClassExcluded    // hidden from agents as if it did not exist
	Forbidden   = spec.ClassForbidden   // never allowed for agents: a call fails with the reason
)

// Bearer returns the Credential that sends token in the Authorization header.
func Bearer(token string) Header { return client.BearerHeader(token) }

// NewTokenExchange returns the Credential that exchanges the tokens that subject returns.
func NewTokenExchange(o ExchangeOptions, subject Subject) (*TokenExchange, error) {
	return client.NewTokenExchange(o, subject)
}

// Load reads a document, as JSON or YAML. Its errors name the location.
func Load(document []byte) (*Document, error) { return spec.Load(document) }

// Open returns the API called name with the connection o. policy.Rules.APIs controls which parts of it may be seen
// and called. Open sends no request. An error names the option that is missing or invalid.
func Open(name string, o Options) (*API, error) {
	s, err := client.New(o)
	if err != nil {
		return nil, err
	}
	return New(name, s), nil
}
