package policy

import "github.com/bailiwick-dev/bailiwick/internal/openapi/calls"

// Aliases for the values of Rules.APIs. The types are declared in package calls, which checks calls.
type (
	// APIRules define which parts of one HTTP API are visible and which calls are allowed. The zero APIRules have no
	// document and show nothing. Operations are named by id, or by method and path. * matches any text.
	//
	//   - Document: the API, as openapi.Load of source/openapi reads it
	//   - Digest: of the document's bytes, so that another document counts as other rules
	//   - Description: the purpose of the API, for agents
	//   - Access: the effect of operations, if method and name don't show it (openapi.Access). Operations that may
	//     return secrets are excluded, and those that give credentials or rights are forbidden, until a rule or Shown
	//     names them without *
	//   - Shown: the visible operations, or nil for all that Access doesn't exclude
	//   - Hidden, Parameters: parts that are hidden, and parameters bound to the principal
	//   - Write: how an operation may run, by its class, except for reads. write.Review if unset
	//   - Reviews: which calls require a review although Write allows them. New sets it from the gates and the rules of
	//     review
	//   - OpenBodies: bodies may have undocumented members
	//   - OpenFormats: texts and numbers may have other formats than documented
	//   - OpenParameters: undocumented query parameters that calls may have
	//   - Partial: the PUT operations that keep the fields that the body omits
	//   - ReadBack: how calls whose answer was lost are settled
	//   - Synonyms: further words for searches of operations
	//   - Lists: the form of lists in queries and form bodies, which OpenAPI doesn't define. "" means a[]=1&a[]=2
	//   - Signed: requests carry a credential, so the document's parameters for it aren't required
	//   - Base: the address that calls are sent to. An operation with another server in the document is refused, unless
	//     the server is one of Servers. "" refuses none
	//   - Sends: the parameters that credentials and fixed headers set. Agents must not set them
	//   - Signing: which of several credentials calls carry. The zero Signing sends all of them
	//   - Servers: further addresses of the document that calls are sent to, or nil
	APIRules = calls.Rules

	// An APIHidden hides parts of an API. These are Operations (as in APIRules), operations with one of Tags, Schemas
	// by full or short name, or Fields. A field is "Schema.field", or a name for all schemas. When is a CEL condition
	// over principal. The parts are hidden from principals for which it is true or fails. Without When, they are hidden
	// from every principal.
	APIHidden = calls.Hidden

	// An APIParameter binds the parameter called Name, or the field of a body, to a value of the principal. It applies
	// to Operations (as in APIRules), or to all if nil. Is is a CEL expression over principal of type text, number or
	// boolean. A call with another value is refused. A call without the parameter gets the value. If Is fails, the call
	// is refused.
	APIParameter = calls.Parameter
)
