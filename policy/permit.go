package policy

import (
	"slices"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/result/mask"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A Permit is a query that policy has narrowed to views and allowed. Only this package makes one that works; the
// zero Permit refuses.
type Permit struct{ plan *Plan }

// Plan returns what may be run, or a PermissionDenied problem for the zero Permit. What is done to it changes nothing
// of the Permit; its lists must not be changed.
func (p Permit) Plan() (Plan, error) {
	if p.plan == nil {
		return Plan{}, problem.New(problem.PermissionDenied, "no permit")
	}
	return *p.plan, nil
}

// A Plan is a narrowed query in the terms of its views: no class is named in it but through a View.
type Plan struct {
	Count   bool          // only how many records there are
	Program *plan.Program // what a pipeline makes of the records; nil for finds and counts
	Views   []*View       // the relations that Program and query.InQuery read: a Program's From from 0, an InQuery's View from 1
	View    *View         // what is asked for
	Joins   []Join        // pointers followed
	Columns []Column      // what leaves, in order
	Where   query.Filter  // the caller's, bound to View; nil for all
	Search  *Search       // words that have to stand in texts of View; nil for none
	Order   []Order       // total: no two records that can be told apart stand at the same place
	Unique  bool          // Order ends with a key, so that a place in it names one record
	Limit   int           // records that leave at most; a source reads one more to know whether there are others
	Skip    int           // records left out first
	Auto    bool          // Limit is a pipeline's automatic one, not the asker's
	Most    int           // bytes of one value that leaves; a longer one is a value.Cut. 0 takes MostValue
	After   []value.Value // where to go on: the values of Order at the last record shown; nil from the start

	Notes     []string            // comparisons that can't match, for the caller
	Truncated map[string][]string // by pointer: the fields that its record is shown without
	Version   string              // the rules that decided
}

// A Join is the record that a pointer leads to, or none.
type Join struct {
	From  int    // the join that holds the pointer; -1 is the class asked for
	Field string // the pointer
	View  *View
	Key   string // the field of View whose value the pointer holds
}

// A Column is one value of a record.
type Column struct {
	Path  query.Path    // where it stands in the record that leaves
	Join  int           // the join that it comes from; -1 is the class asked for
	Field *schema.Field // what it is read from
	Part  query.Path    // the part of a JSON field; nil for all of it
	ID    bool          // it is an id: it leaves as text
	Mask  *mask.Mask    // how it leaves; nil as it is
	Piece *Piece        // what leaves of Field; nil for its value
	Leads int           // for a pointer that is followed: the join it leads to, else -1
}

// A Piece is what a column has of a field's text, of its JSON as it is written, or of its bytes: so many characters, or
// bytes, after the first Offset; or, as Size, how many there are. What a source can't take apart has no piece and a size in
// bytes.
type Piece struct {
	Offset, Length int64
	Size           bool
}

// An Order is one part of a total order over the records asked for. Null stands first when ascending.
type Order struct {
	Join  int // the join that the field is of; -1 is the class asked for
	Field *schema.Field
	Desc  bool
}

// Column returns the field that the first part of a path in Where names, and the join that it is of, -1 for the class
// asked for: the name of a field, or the path that leads to it through pointers. The field is nil where there is none.
// A field behind a pointer can be null.
func (p *Plan) Column(key string) (join int, f *schema.Field) {
	if f = p.View.Class().Field(key); f != nil {
		return -1, f
	}
	join, path := -1, query.ParsePath(key)
	for ; len(path) > 1; path = path[1:] {
		from := join
		join = slices.IndexFunc(p.Joins, func(j Join) bool { return j.From == from && j.Field == path[0] })
		if join < 0 {
			return -1, nil
		}
	}
	if join < 0 {
		return -1, nil
	}
	return join, p.Behind(join, p.Joins[join].View.Class().Field(path[0]))
}

// Behind returns a field of a join as the records asked for have it: it can be null there. Join -1 changes nothing.
func (p *Plan) Behind(join int, f *schema.Field) *schema.Field {
	if join < 0 || f == nil || !f.NotNull {
		return f
	}
	nullable := *f
	nullable.NotNull = false
	return &nullable
}

// A Position is where a page ended: the values of the order at the last record shown, or how many were shown.
type Position struct {
	After []value.Value
	Skip  int
}

// From returns p to be read from a position that an earlier page of the same query ended at.
func (p Permit) From(at Position) (Permit, error) {
	planned, err := p.Plan()
	if err != nil {
		return Permit{}, err
	}
	if at.After != nil && len(at.After) != len(planned.Order) {
		return Permit{}, problem.New(problem.InvalidArgument, "the cursor belongs to another query")
	}
	planned.After, planned.Skip = at.After, at.Skip
	return Permit{&planned}, nil
}

// MostValue is the most bytes of one value that leaves where nothing else is said.
const MostValue = 1 << 20

// Within returns p to be read with values of at most so many bytes; a longer one is a value.Cut. 0 takes MostValue.
func (p Permit) Within(most int) (Permit, error) {
	planned, err := p.Plan()
	if err != nil {
		return Permit{}, err
	}
	planned.Most = most
	return Permit{&planned}, nil
}
