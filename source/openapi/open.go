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

	// A Header is a Credential that is a fixed header, such as X-API-Key.
	Header = credential.Header
)

// Bearer returns the Credential that sends token in the Authorization header.
func Bearer(token string) Header { return credential.Bearer(token) }

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
