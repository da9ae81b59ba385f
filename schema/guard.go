package schema

// A Guard has the grants of a source itself on the records and fields of a class to the users it knows, beside the
// owner's rules. A class with a Guard is visible only to a principal whose groups in the source are known.
type Guard struct {
	As string // the identity in the source, for operators: "session", "user", "role", "public" or "master"

	// Readers and Writers are the fields of type Array that list the groups that may read and write a record. Null lets
	// all. "" means that records have no such list.
	Readers, Writers string

	// Through are pointers. A record is seen by a principal that sees the records that all of them lead to. A class
	// that a principal can't list hides those that lead to it through one.
	Through []string

	Grants map[Operation]Grant // an operation that is missing is granted to all

	// Protected are the fields hidden from the members of a group. A member of several groups is denied the fields that
	// all of them are denied. Unless a group of Protected applies, all fields are visible.
	Protected map[string][]string

	// Named are fields that name users, pointers or lists of them, or the key of a class of users. On a record whose field
	// names the principal's user, of the fields that Protected hides only those listed stay hidden. The source itself returns
	// null for them on all other records.
	Named map[string][]string
}

// An Operation is what a Guard grants.
type Operation string

// The operations. Find lists records, and Get reads one by its key.
const (
	Find   Operation = "find"
	Get    Operation = "get"
	Count  Operation = "count"
	Create Operation = "create"
	Update Operation = "update"
	Delete Operation = "delete"
)

// A Grant names those who may do an operation.
type Grant struct {
	Groups        []string // their members may
	Authenticated bool     // every user may, and every role
	Users         []string // pointers to users, or lists of them: the users may, on the records that name them
}

// Everybody is the group of a Guard that everyone is in, and Authenticated the one that every user is in.
const (
	Everybody     = "*"
	Authenticated = "authenticated"
)
