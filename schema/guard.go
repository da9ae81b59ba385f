package schema

// A Guard describes permissions of the source itself: which of its users may access the records and fields of a class.
// They apply in addition to the owner's rules. A class with a Guard is visible only to a principal with known groups in
// the source.
type Guard struct {
	As string // the identity in the source, shown to operators: "session", "user", "role", "public" or "master"

	// Readers and Writers are fields of type Array. They contain the groups that may read and write a record. Null
	// allows all groups. "" means that records have no such list.
	Readers, Writers string

	// Through are pointers. A principal sees a record only if it sees the records to which all of these pointers lead.
	// If a principal can't list a class, records that point to it through one of these pointers are hidden.
	Through []string

	Grants map[Operation]Grant // an operation that is missing is allowed for all

	// Protected are the hidden fields by group. For a member of several groups, only the fields that all of these
	// groups hide are hidden. If none of a principal's groups is in Protected, all fields are visible.
	Protected map[string][]string

	// Named are fields that refer to users: pointers to users, lists of them, or the key of a class of users. If such a
	// field of a record refers to the principal's user, more fields of the record are visible. Of the fields that
	// Protected hides, only the listed ones stay hidden. On all other records, the source itself returns null for them.
	Named map[string][]string
}

// An Operation is an operation that a Guard can grant.
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

// A Grant describes who may perform an operation.
type Grant struct {
	Groups        []string // members of these groups may do it
	Authenticated bool     // all users and all roles may do it
	Users         []string // fields with pointers to users, or lists of them: these users may do it on this record
}

// Everybody is the group of all principals. Authenticated is the group of all users.
const (
	Everybody     = "*"
	Authenticated = "authenticated"
)
