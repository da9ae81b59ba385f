package openapi

import (
	"github.com/bailiwick-dev/bailiwick/internal/openapi/client"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/credential"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
)

// The types that an embedding program uses to open an API.
type (
	// A Document is an OpenAPI 3.0 or 3.1 or Swagger 2.0 document. Load returns one.
	Document = spec.Document

	// Options configure the connection to an API: a Base URL, or a Handler of the program itself, which is called
	// without a network.
	Options = client.Options

	// A Credential authenticates requests on behalf of a principal.
	Credential = credential.Credential

	// An Exchange is a Credential that calls the program for the token of each principal.
	Exchange = credential.Exchange

	// Headers is a Credential that calls the program for the headers of each principal's requests.
	Headers = credential.Headers

	// A TokenExchange is a Credential that exchanges a token of each principal's own at an authorization server (RFC 8693).
	// NewTokenExchange returns one.
	TokenExchange = credential.TokenExchange

	// ExchangeOptions configure a TokenExchange: the token URL, the client there, scopes and further parameters.
	ExchangeOptions = credential.ClientOptions

	// A Subject returns the token of each principal that a TokenExchange exchanges.
	Subject = credential.Subject

	// A Header is a Credential that is a fixed header, such as X-API-Key.
	Header = credential.Header
)

// Bearer returns the Credential that sends token in the Authorization header.
func Bearer(token string) Header { return credential.Bearer(token) }

// NewTokenExchange returns the Credential that exchanges what subject returns.
func NewTokenExchange(o ExchangeOptions, subject Subject) (*TokenExchange, error) {
	return credential.NewTokenExchange(o, subject)
}

// Load reads a document, as JSON or YAML. Its errors name the location.
func Load(document []byte) (*Document, error) { return spec.Load(document) }

// Open returns the API called name with the connection o. policy.Rules.APIs controls what of it may be seen and called.
func Open(name string, o Options) (*API, error) {
	s, err := client.New(o)
	if err != nil {
		return nil, err
	}
	return New(name, s), nil
}
