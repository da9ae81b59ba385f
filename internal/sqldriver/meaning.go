package sqldriver

import "github.com/bailiwick-dev/bailiwick/problem"

// A Meaning is the meaning of a database's error for the caller.
type Meaning uint8

// The meanings. A later retry can succeed only after Busy, Full and Slow.
const (
	Broken      Meaning = iota // the database has a fault, or rejects the form of the gateway's statement
	Busy                       // the server is overloaded, restarting or unreachable, or preferred another transaction
	Full                       // the limit of connections is reached, and no connection became free in time
	Slow                       // the statement exceeded its time limit
	Large                      // the statement exceeds the database's limit for memory or for the length of values
	Input                      // a value doesn't have its type, or is too large for it
	Unfit                      // like Input, but the value may come from a view. In a write it is Input
	Right                      // the gateway's account lacks a right
	Login                      // the server rejects the gateway's login
	Missing                    // a table, a column or another object doesn't exist any more
	Unready                    // the object exists but can't be read yet, such as a view that was never filled
	Kept                       // a rule of the database rejects the write: a constraint or a trigger
	Unable                     // the database doesn't support the statement
	ReadOnly                   // the server accepts no writes
	Unencodable                // the encoding of the database lacks a character
)

// States maps classes of SQLSTATE to their meanings. It also contains the states whose meaning differs from the rest
// of their class. MariaDB uses the same classes.
var States = map[string]Meaning{
	"00": Broken, "01": Broken, "02": Broken, "03": Broken, // none of these is an error
	"07": Broken,                                                                     // dynamic SQL: the number of arguments, cursors
	"08": Busy,                                                                       // connection
	"09": Kept,                                                                       // triggered action
	"0A": Unable,                                                                     // feature not supported
	"0B": Broken, "0F": Broken, "0K": Broken, "0L": Right, "0P": Right, "0Z": Broken, // transaction, locator, handler, grantor, role, diagnostics
	"10": Input, // XQuery
	"20": Kept,  // CASE without a match, in code of the database
	"21": Kept,  // cardinality
	// Data: a value is out of range, or doesn't have its type. The gateway checks a call's values before a read, so
	// the cause of a failure is a view.
	"22": Unfit, "22001": Input, "22007": Input, "22008": Input, "22021": Input, "22023": Input, "22P05": Unencodable,
	"23": Kept,                      // integrity constraint
	"24": Broken,                    // cursor state
	"25": Broken, "25006": ReadOnly, // transaction state
	"26": Broken,             // statement name
	"27": Kept,               // triggered data change
	"28": Login,              // authorization
	"2B": Kept,               // dependent privileges
	"2D": Broken, "2F": Kept, // transaction termination, routine
	"34": Broken, "38": Kept, "39": Kept, "3B": Broken, // cursor name, external routine, external routine call, savepoint
	"3D": Login, "3F": Missing, // database, schema
	"40": Busy, "40002": Kept, // transaction rollback: a conflict with another transaction, or a constraint
	"42": Broken, "42501": Right, "42P01": Missing, "42S02": Missing, "42703": Missing, "42S22": Missing, "42704": Missing, "42883": Missing,
	"42000": Right, // MariaDB uses it for syntax and for rights. Its error numbers distinguish the cases
	"44":    Kept,  // WITH CHECK OPTION
	"45":    Kept,  // SIGNAL, in code of the database
	"53300": Full,
	"53":    Busy,                // resources: connections, memory, disk
	"54":    Large,               // program limits
	"55":    Unready,             // object not in a prerequisite state
	"55P03": Busy, "55006": Busy, // lock not available, object in use
	"57": Busy, "57014": Slow, // operator intervention (shutdown, restart), statement cancelled
	"58": Broken,              // system: files of the server
	"70": Busy, "70100": Slow, // MariaDB: query interrupted
	"72": Busy,   // snapshot too old
	"F0": Broken, // configuration file
	"HV": Busy,   // foreign data: the other server
	"HY": Broken, // MariaDB: general error. The error number is more specific
	"P0": Kept,   // PL/pgSQL, in code of the database
	"XX": Broken, // internal error
	"XA": Broken, // distributed transaction
}

// StateOf returns the meaning of an SQLSTATE, or else the meaning of its class.
func StateOf(state string) Meaning {
	if m, ok := States[state]; ok {
		return m
	}
	if len(state) < 2 {
		return Broken
	}
	return States[state[:2]]
}

// said contains the parts of the caller's error for a meaning: the code, a sentence, and the next step. The sentences
// contain no text from the database.
type said struct {
	code               problem.Code
	detail, suggestion string
}

const (
	later    = "try again later. If the error stays, tell the operator the correlation id"
	operator = "tell the operator the correlation id"
)

var meanings = [...]said{
	Broken:      {problem.Upstream, "the source failed to answer this call", operator + "; the same call will fail again until it is mended"},
	Busy:        {problem.Upstream, "the source could not answer", later},
	Full:        {problem.Upstream, "the source is busy: it has no free connection", later},
	Slow:        {problem.Timeout, "the query took too long and was stopped", "ask for less: a narrower where, fewer keys, a smaller limit"},
	Large:       {problem.BudgetExceeded, "the query takes more memory than the source may use for one call: it sorts, groups or makes values that are too long", "make less of it: $substrCP for texts that are sorted or grouped, $slice and $filter for lists, a narrower $match first"},
	Input:       {problem.InvalidArgument, "the source does not take a value of this call: it is out of range, or not of the type of its field", "get_schema has the types of fields and the forms of their values"},
	Unfit:       {problem.Upstream, "the source failed on a value that is not of its type or out of range: one that a view of it computes with, or one of this call", operator + "; the same call will fail again until the view is mended"},
	Right:       {problem.Upstream, "the source no longer lets the gateway do this: the account that the gateway uses lacks a right", operator + "; a right must be granted"},
	Login:       {problem.Upstream, "the source does not let the gateway in", operator},
	Missing:     {problem.Upstream, "the source has changed: a table or a column that this call needs is no longer there", "call get_schema again. If the field is still listed, " + operator},
	Unready:     {problem.Upstream, "the source has no data for this class yet: it is a view that was never filled", operator + "; the view must be refreshed"},
	Kept:        {problem.Upstream, "a rule of the source refuses this call", operator},
	Unable:      {problem.Unsupported, "the source does not support what this call needs", operator},
	Unencodable: {problem.Unsupported, "the encoding of the source lacks a character of this call", "use only characters that texts of the source can have"},
	ReadOnly:    {problem.Upstream, "the source takes no writes now: the server is read-only", operator},
}
