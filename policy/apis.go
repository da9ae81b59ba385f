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
	//   - Access: the effect of operations, where method and name don't say it (openapi.Access). Operations that may
	//     return secrets are excluded, and those that give credentials or rights are forbidden, until a rule or Shown
	//     names them without *
	//   - Shown: the visible operations, or nil for all that Access doesn't exclude
	//   - Hidden, Parameters: parts that are hidden, and parameters bound to the principal
	//   - Write: by class of operation other than a read, how it may run, or write.Review if unset
	//   - Reviews: which calls that Write allows are reviewed all the same. New sets it, from the gates and the rules
	//     of review
	//   - OpenBodies: bodies may have members that the document doesn't name
	//   - OpenFormats: texts and numbers may be of other formats than the document says
	//   - OpenParameters: query parameters that the document doesn't declare, and that calls may have
	//   - Partial: the PUT operations that keep the fields which they aren't given
	//   - ReadBack: how calls whose answer was lost are settled
	//   - Synonyms: further words for searches of operations
	//   - Lists: how the entries of a list are named in queries and forms, which OpenAPI doesn't define. "" is
	//     a[]=1&a[]=2
	//   - Signed: requests carry a credential, so the document's parameters for it aren't required
	//   - Base: the address that calls are sent to. Operations that the document serves elsewhere are refused, except
	//     for those at Servers. "" refuses none
	//   - Sends: the parameters that credentials and fixed headers set. Agents must not set them
	//   - Signing: which of several credentials calls carry. The zero Signing sends all of them
	//   - Servers: further addresses of the document that calls are sent to, or nil
	APIRules = calls.Rules

	// An APIHidden hides Operations (as in APIRules), operations with one of Tags, Schemas by full or short name, or Fields
	// ("Schema.field", or a name for all schemas). It hides them from every principal, or from those for which When
	// holds, a CEL condition over principal. An error of When hides.
	APIHidden = calls.Hidden

	// An APIParameter binds the parameter called Name, or the field of a body, to a value of the principal. It holds in
	// Operations (as in APIRules), or in all if nil. Is is a CEL expression over principal of type text, number or
	// boolean. A call that gives another value is refused. A call without the parameter gets the value. An error of Is
	// refuses the call.
	APIParameter = calls.Parameter
)
