package query

import (
	"crypto/sha256"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/sqlparse"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A SQL requests the records of a SELECT statement. Its tables are the classes of one source.
type SQL struct {
	Text   string                 // as written
	Source string                 // the source of a statement without classes, or "" for the first one
	Params map[string]value.Value // the values of $1 ("1") and :name ("name")
	Now    time.Time              // the time of now() and CURRENT_DATE, or zero for the time of the call
	Raw    bool                   // the caller switches the canonical filters off
	Limit  int                    // the maximum number of records unless a LIMIT at the end determines it, 1 or more
	Most   int                    // the maximum of a LIMIT at the end, or 0 for no bound
	Cursor string                 // of an earlier page of the same statement, or "" for the first one
	Skip   int                    // the number of records to skip. A cursor determines it
	Wide   bool                   // look for the last record of the earlier page among its neighbours

	statement *sqlparse.Query
	meaning   string // of the names in Text that With has replaced
}

// ParseSQL parses a statement. Errors are *problem.Error, whose Detail names the line and the column.
func ParseSQL(text string) (*SQL, error) {
	q, err := sqlparse.Parse(text)
	if err != nil {
		return nil, err
	}
	if err := sqlparse.RewriteIdioms(q); err != nil {
		return nil, err
	}
	return &SQL{Text: text, statement: q}, nil
}

// Statement returns the parsed statement.
func (q *SQL) Statement() *sqlparse.Query { return q.statement }

// As returns a copy of q with another statement, which starts at the first record.
func (q *SQL) As(s *sqlparse.Query) *SQL {
	out := *q
	out.statement, out.Cursor, out.Skip, out.Wide = s, "", 0, false
	return &out
}

// With returns a copy of q at the same position, with another statement and other parameters. meaning says what the names
// mean that the statement replaces. A cursor of q belongs to this meaning.
func (q *SQL) With(s *sqlparse.Query, params map[string]value.Value, meaning string) *SQL {
	out := *q
	out.statement, out.Params, out.meaning = s, params, meaning
	return &out
}

// LimitValue returns the number in the LIMIT at the end of the statement, written or from a parameter, and whether there
// is one.
func (q *SQL) LimitValue() (n int, ok bool) {
	switch limit := q.statement.Limit.(type) {
	case *sqlparse.Number:
		n, err := strconv.Atoi(limit.Text)
		return n, err == nil
	case *sqlparse.Param:
		if v := q.Params[limit.Name]; v.Kind() == value.Int {
			return int(v.Int()), true
		}
	}
	return 0, false
}

// Digest returns a hash of q without its position and limits. It binds a cursor to its statement.
func (q *SQL) Digest() [32]byte {
	doc := []value.Value{value.OfString(q.Text), value.OfString(q.Source), value.OfBool(q.Raw)}
	for _, name := range slices.Sorted(maps.Keys(q.Params)) {
		doc = append(doc, value.OfString(name), q.Params[name])
	}
	if q.meaning != "" {
		doc = append(doc, value.OfString(q.meaning))
	}
	return sha256.Sum256(value.OfArray(doc).AppendJSON(nil))
}

// From implements Query. It returns the first name in a FROM as written, or "" if there is none.
func (q *SQL) From() string { return q.statement.First() }

func (*SQL) isQuery() {}
