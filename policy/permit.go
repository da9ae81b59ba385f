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

// A Permit is a query that policy has narrowed to views and allowed. Only this package can make a usable Permit. The
// zero Permit refuses.
type Permit struct{ plan *Plan }

// Plan returns a copy of the plan to run, or a PermissionDenied error for the zero Permit. The caller must not change
// its slices and maps.
func (p Permit) Plan() (Plan, error) {
	if p.plan == nil {
		return Plan{}, problem.New(problem.PermissionDenied, "no permit")
	}
	return *p.plan, nil
}

// A Plan is a narrowed query. It refers to classes only through Views. A plan with Native runs a statement of the owner
// and reads no class: View is the description of its result.
type Plan struct {
	Count     bool             // return only the number of records
	Native    *NativeStatement // a statement of the owner to run as it is, whose columns are Columns, or nil
	Program   *plan.Program    // the pipeline over the records, or nil for finds and counts
	Views     []*View          // the relations that Program and query.InQuery read: a Program's From counts from 0, an InQuery's View from 1
	View      *View            // the class queried
	Joins     []Join           // the pointers followed
	Columns   []Column         // the columns returned, in order
	Where     query.Filter     // the caller's filter, bound to View, or nil for all
	Search    *Search          // the terms to find in text fields of View, or nil
	Order     []Order          // a total order: only indistinguishable records are equal in it
	Unique    bool             // Order ends with a key, so that a position in it identifies one record
	Limit     int              // the maximum number of records. A source reads one more to detect that there are more
	Skip      int              // the number of records to skip first
	Resume    *Resume          // how to find the end of the previous page again, or nil if the plan begins at Skip or After
	Catalogue bool             // Program reads only tables of information_schema and pg_catalog, and contains their records
	Now       time.Time        // of a SELECT: the time of now(). Otherwise zero
	Auto      bool             // Limit is the default limit of a pipeline, not the caller's
	Most      int              // the maximum size of one returned value, in bytes. A longer one is a value.Cut. 0 means MostValue
	After     []value.Value    // the position after which to continue: the values of Order at the last returned record. Nil means the beginning

	Notes     []string            // comparisons that can't match, for the caller
	Gathered  []string            // of a SELECT: the columns with a list or a joined text of a group. Too large values are null
	Truncated map[string][]string // by pointer: the fields left out of its included record
	Lists     []List              // the lists of pointers whose records are requested
	Version   string              // the version of the rules that decided
}

// A Join is the record to which a pointer refers, if any.
type Join struct {
	From  int    // index of the join that holds the pointer, or -1 for the class queried
	Field string // the pointer
	View  *View
	Key   string // the field of View whose value the pointer has
}

// A Column is one value of a returned record.
type Column struct {
	Path  query.Path    // its place in the returned record
	Join  int           // index of the join that it comes from, or -1 for the class queried
	Field *schema.Field // the field that is read
	Part  query.Path    // the part of a JSON field, or nil for all of it
	ID    bool          // the value is an id and is returned as text
	Mask  *plan.Mask    // the mask applied, or nil
	Piece *Piece        // the piece of Field to return, or nil for the whole value
	After *Piece        // the piece of the masked value to return. The source reads the whole value, so that a mask also sees text across the border
	// Implied means that a pointer or the key of its target is returned only because a path leads through it. Texts for
	// agents leave it out.
	Implied bool
	Leads   int // for a followed pointer: the index of its join. Otherwise -1
	// Tally is set for the last columns of a Program. They aren't returned as columns, but the page reports their
	// counts.
	Tally *plan.Tally
}

// ReturnedColumns returns the columns of the answer: all without a Tally, which come last. Those with a Tally are the
// last ones.
func (p *Plan) ReturnedColumns() []Column {
	if n := slices.IndexFunc(p.Columns, func(c Column) bool { return c.Tally != nil }); n >= 0 {
		return p.Columns[:n:n]
	}
	return p.Columns
}

// Refuse returns an error if row shows that a sub-query that is used as a value has more than one record.
func (p *Plan) Refuse(row value.Row) error {
	for i, c := range p.Columns {
		if c.Tally == nil || c.Tally.Several == nil {
			continue
		}
		if n, ok := row[i].AsInt(); ok && n > 0 && int(n) <= len(c.Tally.Several) {
			return &problem.Error{Code: problem.InvalidQuery, Kind: "several_records", Pointer: "/sql",
				Detail:     c.Tally.Several[n-1] + ": this sub-query has more than one record. As a value it may have only one",
				Suggestion: "write IN (SELECT …) to compare with each, add ORDER BY … LIMIT 1, take an aggregate such as max(…), or name the record by its key"}
		}
	}
	return nil
}

// A Piece is a range of a field's text, of its JSON text, or of its bytes. It has Length characters or bytes after the
// first Offset. If Size is set, it is their total number instead. For a field that the source can't split, the piece is
// empty and the size is in bytes.
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

// Column returns the field to which key refers and the index of its join, or -1 for the queried class. The key is the
// first part of a path in Where: a field name, or a dotted path through pointers. The field is nil if there is none. A
// field behind a pointer is returned as nullable.
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

// Behind returns f for a join, through which it can be null. For join -1 it returns f.
func (p *Plan) Behind(join int, f *schema.Field) *schema.Field {
	if join < 0 || f == nil || !f.NotNull {
		return f
	}
	nullable := *f
	nullable.NotNull = false
	return &nullable
}

// A Position is the end of a page. It has either the values of the order at the last returned record, or the number of
// returned records and a digest of the last one.
type Position struct {
	After []value.Value
	Skip  int
	Last  uint64    // a digest of the last returned record, with which its place is found again, or 0
	Run   int       // how many of the last returned records have this digest
	Now   time.Time // of a SELECT: the time of its first page, which is the value of now() on all pages
	Wide  bool      // look for the last record among its neighbours. Cursors don't contain this
}

// A Resume describes how a read continues after some records. It reads a few of them again, because the last returned
// record has moved if records were added or removed since.
type Resume struct {
	Last uint64 // as in Position
	Run  int    // as in Position
	Head int    // the number of records that are read again if none was added or removed
	Wide bool   // the last record has moved: look for it among mostMoved more records
}

// Extra returns how many records are read that may be on the previous page.
func (r *Resume) Extra() int {
	switch {
	case r == nil:
		return 0
	case r.Wide:
		return r.Head + mostMoved
	}
	return r.Head
}

// mostMoved is the maximum distance, in records, at which a read looks for the last record of a page before and after
// its former place.
const mostMoved = 1000

// Start returns the number of records that the next page skips.
func (at Position) Start() int {
	switch {
	case at.Last == 0:
		return at.Skip
	case at.Wide:
		return max(0, at.Skip-mostMoved)
	}
	return max(0, at.Skip-min(at.Run+1, mostMoved))
}

// From returns p continued from the end of an earlier page of the same query. A SELECT must have at.Start as its Skip.
// For a Position of another query it fails with InvalidArgument.
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

// Within returns p with values limited to most bytes. A longer value becomes a value.Cut. 0 means MostValue. If a piece
// of a masked value is returned, MostValue is also the minimum, because the mask requires the whole value.
func (p Permit) Within(most int) (Permit, error) {
	planned, err := p.Plan()
	if err != nil {
		return Permit{}, err
	}
	planned.Most = most
	if slices.ContainsFunc(planned.Columns, func(c Column) bool { return c.After != nil }) {
		planned.Most = max(most, MostValue) // only a piece of the value is returned
	}
	return Permit{&planned}, nil
}

// WithoutOrder returns p without an order, for a sample of records that no principal receives. Answers must have a total
// order.
func (p Permit) WithoutOrder() (Permit, error) {
	planned, err := p.Plan()
	if err != nil {
		return Permit{}, err
	}
	planned.Order, planned.Unique = nil, false
	return Permit{&planned}, nil
}
