package policy

import (
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// Rules are the owner's rules for all sources, as read from the configuration. The zero Rules hide everything.
type Rules struct {
	Version  string               // identifies these rules in audit records and cursors: a digest of their text
	Unlisted bool                 // classes that no rule names are visible
	Classes  map[string]ClassRule // by "source.Class", or by a class name that only one source has

	APIs        map[string]calls.Rules // by the name of the source
	Gates       Gates                  // which kinds of writes agents may request
	RefuseScans bool                   // refuse queries that read every record of a class
	Bounds      Bounds                 `json:",omitzero"`  // maximum numbers of costly parts in a query
	AgentBounds []AgentBound           `json:",omitempty"` // narrow Bounds for some principals
	Review      []change.Rule          // who must approve the changes that agents propose
	Disclose    bool                   // refusals disclose hidden names: for companies that trust their agents
	Schemas     map[string]string      `json:",omitempty"` // by source with one schema per tenant: the schema of a principal, a CEL expression over principal
	Withheld    map[string][]string    `json:",omitempty"` // by "source.Class": fields whose values look like credentials. They are hidden unless the class lifts them
	Native      map[string]NativeRule  `json:",omitempty"` // by the name of the query: statements in a database's own SQL
	Pointers    bool                   `json:",omitzero"`  // refuse conditions on pointers that are neither an id nor a whole pointer to the right class
}

// A ClassRule is the owner's rule for one class. The zero ClassRule shows every record, and every field that the
// built-in denylist doesn't deny.
type ClassRule struct {
	Hidden        bool                      // hidden from every principal, except for HiddenBut
	HiddenBut     identity.Scope            // with Hidden: principals with this scope see the class, or ""
	Visible       []string                  // the visible fields, or nil for all
	Denied        []string                  // fields that are never visible
	Lift          []string                  // fields of Visible that the built-in denylist would deny by name
	Large         []string                  // large fields, which includes and samples leave out unless named
	Join          []string                  // the fields returned when the class is included through a pointer, or nil for all but the large ones
	Mask          map[string]Mask           // by field: how its values are masked. A masked field can't be used to filter, sort, group or join
	MaskBut       map[string]identity.Scope // by field of Mask: principals with this scope see the value unmasked
	MaskInside    map[string][]Pattern      // by field with the mask Inside: the replaced patterns
	MaskTexts     []Pattern                 // the patterns that are replaced in every long text and in JSON, except in the key, pointers, Mask and MaskNot
	MaskNot       []string                  // with MaskTexts: fields that it doesn't apply to
	Tenant        *TenantRule               // finds the tenant of a record, or nil if all tenants share the class
	Canonical     query.Filter              // the filter that defines a live record, from query.ParseRule, or nil for all
	CanonicalShut bool                      // callers can't switch Canonical off: it applies to lookups by id and to writes too
	AllowScan     bool                      // RefuseScans doesn't apply to the class: it is small
	Description   string                    // for agents
	Fields        map[string]FieldRule
	Write         map[write.Op]write.Mode // how agents may create, update and delete records, or write.Review if unset
	Version       string                  // a visible field that changes with every write, or "". A change is stale if the value differs
	Permitted     []string                // the fields that agents may set, or nil for all that they see
	Pointers      map[string]Pointer      // by field: pointers that the source doesn't declare
	Types         map[string]schema.Form  // by field: how the source stores a type that it doesn't declare
	Label         string                  // the field with the name or title of a record, or "" for the likeliest by name
	Code          string                  `json:",omitempty"` // what people call a record, with fields in braces: "{project_id.key}-{number}". "" for a field such as key or code
	Link          string                  `json:",omitempty"` // the address of a record in its application: "https://app.example.com/issues/{id}", or ""
	Examples      []Example               `json:",omitempty"` // questions about the class with the queries that answer them, for agents
}

// An Example is a question and the query that answers it: either SQL or a call of a tool that reads. Agents see an
// example only if they may make its query.
type Example struct {
	Question  string
	SQL       string      // a SELECT, or ""
	Tool      string      // the name of a tool, or ""
	Arguments value.Value // of Tool: an Object
}

// A Pointer is a pointer that the source doesn't declare. It counts as a foreign key, but isn't enforced.
type Pointer struct {
	Class string // the target class in the same source: its name, or "source.Class"
	Key   string // the unique field of Class whose value the pointer has, or "" for the key of the class
}

// A TenantRule scopes a class to the principal's tenant: by its own Field, or Through a pointer to a class that is
// scoped itself.
type TenantRule struct {
	Field    string // the field with the tenant
	Is       string // the value it must equal: a CEL expression over principal, of type text, number or boolean. "" means principal.tenant
	Contains bool   // Field is a list, and the record belongs to each of its elements
	Through  string // the pointer field. Field and Is are empty then
	Bypass   string // a CEL condition over principal: if true, p sees all tenants. "" means never, and an error counts as false
}

type (
	// A Mask is a way to hide a value: Partial, Hash, Null, Inside or Pseudonym.
	Mask = plan.MaskKind
	// A Pattern is a kind of personal data that Inside replaces in texts.
	Pattern = plan.Pattern
)

// The masks, in this order: a part of the text, a hash that is the same for the same value, and null. Inside is the
// text without the personal data in it. Pseudonym is a name made from the key of the record.
const (
	Partial   = plan.MaskPartial
	Hash      = plan.MaskHash
	Null      = plan.MaskNull
	Inside    = plan.MaskInside
	Pseudonym = plan.MaskPseudonym
)

// Patterns returns every pattern of Inside.
func Patterns() []Pattern { return plan.AllPatterns() }
