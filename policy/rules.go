package policy

import (
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/result/mask"
	"github.com/bailiwick-dev/bailiwick/internal/rules/calls"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/write"
)

// Rules are what an owner says about the classes, as read from the configuration. The zero Rules hide everything.
type Rules struct {
	Version  string               // identifies these rules in audit and cursors: a digest of their text
	Unlisted bool                 // classes that no rule names are visible
	Classes  map[string]ClassRule // by "source.Class", or by a class name that only one source has

	APIs        map[string]calls.Rules // by the name of the source
	Gates       Gates                  // what agents may write at all
	RefuseScans bool                   // what would read every record of a class is refused
	Review      []change.Rule          // who has to approve what agents propose
	Disclose    bool                   // refusals tell the asker what was hidden: for companies that trust their agents (design 02)
}

// A ClassRule is what an owner says about one class. The zero ClassRule shows every field that the built-in
// denylist doesn't deny, and every record.
type ClassRule struct {
	Hidden      bool                      // nobody sees it
	HiddenBut   identity.Scope            // with Hidden: principals with this scope see it; "" for none
	Visible     []string                  // the fields that can be seen; nil for all
	Denied      []string                  // fields that can't be seen
	Lift        []string                  // fields of Visible that the built-in denylist would deny by their name
	Large       []string                  // heavy fields, left out of includes and samples unless named
	Join        []string                  // the fields that are shown where the class is reached by include; nil for all but the large
	Mask        map[string]Mask           // by field: how its value leaves; it can't be filtered, sorted, grouped or joined on
	MaskBut     map[string]identity.Scope // by field of Mask: principals with this scope see it whole
	Tenant      *TenantRule               // which records belong to whom; nil when the class is shared by all
	Canonical   query.Filter              // what counts as a live record, as of query.ParseRule; nil for all
	AllowScan   bool                      // RefuseScans doesn't hold for the class: it is small
	Description string                    // for agents
	Fields      map[string]FieldRule
	Write       map[write.Op]write.Mode // how agents may create, update and delete records; write.Review where it says nothing
	Version     string                  // a visible field that moves with every write of a record: a change of it is stale when it moved; "" for none
	Permitted   []string                // the fields that agents may set; nil for all that they see
}

// A FieldRule documents a field for agents.
type FieldRule struct {
	Description string
	Values      []FieldValue // what it may hold and what that means, in the order written
}

// A FieldValue is one value of a field and its meaning.
type FieldValue struct{ Value, Meaning string }

// A TenantRule scopes a class to the principal's tenant: by its own Field, or Through a pointer to a class
// that is scoped itself.
type TenantRule struct {
	Field   string // the field that holds the tenant
	Is      string // what it must equal: CEL over principal for a text, a number or a boolean; "" for principal.tenant
	Through string // the pointer field; Field and Is are empty then
	Bypass  string // CEL over principal for true or false: who sees the records of all tenants; "" for nobody, and an error is no bypass
}

// A Mask is how a value leaves that isn't to be seen whole: mask.Partial, mask.Hash or mask.Null.
type Mask = mask.Kind

// The masks, as package mask tells them.
const (
	Partial = mask.Partial
	Hash    = mask.Hash
	Null    = mask.Null
)
