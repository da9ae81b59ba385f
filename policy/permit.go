package policy

import (
	"slices"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A Permit is a query that policy has narrowed to views and allowed. Only this package can make a usable one. The zero
// Permit refuses.
type Permit struct{ plan *Plan }

// Plan returns a copy of the plan to run, or a PermissionDenied error for the zero Permit. The caller must not change
// its slices and maps.
func (p Permit) Plan() (Plan, error) {
	if p.plan == nil {
		return Plan{}, problem.New(problem.PermissionDenied, "no permit")
	}
	return *p.plan, nil
}

// A Plan is a narrowed query in terms of its views: it refers to classes only through Views.
type Plan struct {
	Count     bool          // return only the number of records
	Program   *plan.Program // the pipeline over the records, or nil for finds and counts
	Views     []*View       // the relations that Program and query.InQuery read: a Program's From counts from 0, an InQuery's View from 1
	View      *View         // the class queried
	Joins     []Join        // the pointers followed
	Columns   []Column      // the columns returned, in order
	Where     query.Filter  // the caller's filter, bound to View, or nil for all
	Search    *Search       // the terms to find in text fields of View, or nil
	Order     []Order       // a total order: no two distinguishable records are equal in it
	Unique    bool          // Order ends with a key, so that a position in it identifies one record
	Limit     int           // the most records to return. A source reads one more to detect further ones
	Skip      int           // the number of records to skip first
	Resume    *Resume       // how to find the end of the page before again, or nil if the plan begins at Skip or After
	Catalogue bool          // Program reads only the tables of information_schema and pg_catalog, whose records are in it
	Now       time.Time     // of a SELECT: the time of now(), or else zero
	Auto      bool          // Limit is the default limit of a pipeline, not the caller's
	Most      int           // the most bytes of one value returned. A longer one is a value.Cut. 0 means MostValue
	After     []value.Value // the position to continue after: the values of Order at the last record returned. Nil to start at the beginning

	Notes     []string            // comparisons that can't match, for the caller
	Gathered  []string            // of a SELECT: the columns with a list or a joined text of a group, null where that is too large
	Truncated map[string][]string // by pointer: the fields left out of its included record
	Lists     []List              // the lists of pointers whose records are asked for
	Version   string              // the version of the rules that decided
}

// A Join is the record that a pointer refers to, if any.
type Join struct {
	From  int    // index of the join that holds the pointer, or -1 for the class queried
	Field string // the pointer
	View  *View
	Key   string // the field of View whose value the pointer holds
}

// A Column is one value of a returned record.
type Column struct {
	Path  query.Path    // its place in the returned record
	Join  int           // index of the join that it comes from, or -1 for the class queried
	Field *schema.Field // the field it is read from
	Part  query.Path    // the part of a JSON field, or nil for all of it
	ID    bool          // the value is an id and is returned as text
	Mask  *plan.Mask    // the mask applied, or nil
	Piece *Piece        // the piece of Field to return, or nil for the whole value
	After *Piece        // the piece to return of the masked value: the source reads all of it, so that a mask sees what a border parts
	// Implied is set for a pointer, and the key of its target, that are returned because a path leads through them: text
	// leaves them out.
	Implied bool
	Leads   int // for a pointer that is followed: the index of its join, else -1
	// Tally is set for the last columns of a Program, which aren't returned: the page says what they count in its records.
	Tally *plan.Tally
}

// Shown returns the columns that are returned: all without a Tally, which come last.
func (p *Plan) Shown() []Column {
	if n := slices.IndexFunc(p.Columns, func(c Column) bool { return c.Tally != nil }); n >= 0 {
		return p.Columns[:n:n]
	}
	return p.Columns
}

// Refuse returns an error if row, of a source, says that a sub-query which is used as a value has a second record.
func (p *Plan) Refuse(row value.Row) error {
	for i, c := range p.Columns {
		if c.Tally == nil || c.Tally.Several == nil {
			continue
		}
		if n, ok := row[i].AsInt(); ok && n > 0 && int(n) <= len(c.Tally.Several) {
			return &problem.Error{Code: problem.InvalidQuery, Kind: "several_records", Pointer: "/sql",
				Detail:     c.Tally.Several[n-1] + ": this sub-query has more than one record; as a value it may have only one",
				Suggestion: "write IN (SELECT …) to compare with each, add ORDER BY … LIMIT 1, take an aggregate such as max(…), or name the record by its key"}
		}
	}
	return nil
}

// A Piece is a range of a field's text, of its JSON as written, or of its bytes. It has Length characters, or bytes,
// after the first Offset. If Size is set, it is their total number instead. For a field that the source can't split,
// the piece is empty and the size is in bytes.
type Piece struct {
	Offset, Length int64
	Size           bool
}

// An Order is one term of a total order over the records. Null sorts first when ascending.
type Order struct {
	Join  int // index of the join that the field belongs to, or -1 for the class queried
	Field *schema.Field
	Desc  bool
	Near  *query.GeoWithin // if not nil, the order is by the distance of the point at its path from the center of its area
}

// Column returns the field that key refers to and the index of its join, -1 for the class queried. The key is the first
// part of a path in Where: a field name, or a dotted path through pointers. The field is nil if there is none. A field
// behind a pointer is returned as nullable.
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

// Behind returns f as seen through a join, where it can be null. For join -1 it returns f.
func (p *Plan) Behind(join int, f *schema.Field) *schema.Field {
	if join < 0 || f == nil || !f.NotNull {
		return f
	}
	nullable := *f
	nullable.NotNull = false
	return &nullable
}

// A Position is the end of a page. It has the values of the order at the last record returned. Or it has the number of
// records returned and a digest of the last one.
type Position struct {
	After []value.Value
	Skip  int
	Last  uint64    // a digest of the last record returned, by which its place is found again, or 0
	Run   int       // how many records with this digest end the records returned
	Now   time.Time // of a SELECT: the time of its first page, which now() means on all of them
	Wide  bool      // the last record is looked for among its neighbours. No cursor has it
}

// A Resume is how a read goes on behind a number of records. It reads some of those again. If records were added or
// removed since, the last one returned has another place.
type Resume struct {
	Last uint64 // as in Position
	Run  int    // as in Position
	Head int    // the number of records read again if none was added or removed
	Wide bool   // the last record isn't where it was: it is looked for among as many more
}

// Extra returns how many records are read that the page before may have had.
func (r *Resume) Extra() int {
	switch {
	case r == nil:
		return 0
	case r.Wide:
		return r.Head + mostMoved
	}
	return r.Head
}

// mostMoved is the largest number of places that the last record of a page is looked for before and after its own.
const mostMoved = 1000

// Start returns the number of records that the next page doesn't read again.
func (at Position) Start() int {
	switch {
	case at.Last == 0:
		return at.Skip
	case at.Wide:
		return max(0, at.Skip-mostMoved)
	}
	return max(0, at.Skip-min(at.Run+1, mostMoved))
}

// From returns p continued from the end of an earlier page of the same query. A SELECT has at.Start as its Skip.
// A Position of another query is an InvalidArgument error.
func (p Permit) From(at Position) (Permit, error) {
	planned, err := p.Plan()
	if err != nil {
		return Permit{}, err
	}
	if at.After != nil && len(at.After) != len(planned.Order) {
		return Permit{}, problem.New(problem.InvalidArgument, "the cursor belongs to another query")
	}
	planned.After, planned.Skip = at.After, at.Start()
	if head := at.Skip - planned.Skip; head > 0 {
		planned.Resume = &Resume{Last: at.Last, Run: at.Run, Head: head, Wide: at.Wide}
		planned.Limit += planned.Resume.Extra()
	}
	return Permit{&planned}, nil
}

// MostValue is the default for Plan.Most, in bytes.
const MostValue = 1 << 20

// Within returns p with values limited to most bytes. A longer one becomes a value.Cut. 0 means MostValue, and so does less
// where a piece of a masked value is returned, because the mask needs all of it.
func (p Permit) Within(most int) (Permit, error) {
	planned, err := p.Plan()
	if err != nil {
		return Permit{}, err
	}
	planned.Most = most
	if slices.ContainsFunc(planned.Columns, func(c Column) bool { return c.After != nil }) {
		planned.Most = max(most, MostValue) // a piece of it is returned
	}
	return Permit{&planned}, nil
}

// Unordered returns p without an order, for a sample of records that no principal receives. The order of an answer must be
// total.
func (p Permit) Unordered() (Permit, error) {
	planned, err := p.Plan()
	if err != nil {
		return Permit{}, err
	}
	planned.Order, planned.Unique = nil, false
	return Permit{&planned}, nil
}
