// Package plan defines executable pipelines: a few kinds of stages over columns with known types.
//
//	query.Pipeline ─typecheck→ Program ─sqlgen, mongogen→ commands of a database
//	SELECT ─sqlbind→ Program ─interpret→ rows in memory
//
// The compilers and the evaluator in memory execute a Program as specified here and in docs/pipelines.md. A Program
// doesn't name classes. It refers to relations by their number in the plan.
//
// Two invariants hold. Every expression is total: where it has no value it is null. Every record has a position: the
// order of a Shape distinguishes any two records that differ visibly.
//
// A Mask hides parts of the values of a field. Rules name masks, policy carries them with their columns, and package
// redact applies them to rows before they are returned. Until then values are raw, so only redact may use them.
// RefuseMasked is the error for every other use.
//
// A Calendar enumerates the time intervals by which records are grouped, such as 2026-Q3 or 2026-W07. AddMonths makes
// the series of times of $densify and generate_series.
package plan

import (
	"slices"

	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// The From of a Program that reads no view.
const (
	Input  = -1 // in a Facet: the Facet's records
	Listed = -2 // the records of Rows
)

// A Program is a pipeline over one relation.
type Program struct {
	From   int         // the relation's number in the plan's Views, Input or Listed
	Rows   []value.Row // for Listed: at least one, with values of the types of Base
	Base   Shape       // its columns: for a view, the visible fields in their order, with Field set
	Stages []Stage
}

// Out returns the columns of the Program's result.
func (p *Program) Out() Shape {
	if n := len(p.Stages); n > 0 {
		return *p.Stages[n-1].Out()
	}
	return p.Base
}

// Leading returns the filters that p starts with.
func (p *Program) Leading() []query.Filter {
	var out []query.Filter
	for _, s := range p.Stages {
		f, ok := s.(*Filter)
		if !ok {
			break
		}
		out = append(out, f.Where)
	}
	return out
}

// A Shape describes the columns of the records between two stages, and their order.
type Shape struct {
	Columns []Column
	// Order is total: records that are equal in it are equal in every column, except for JSON lists and objects, or
	// can't be told apart. Null sorts first when ascending. JSON values sort as in value.Order, with all objects equal
	// and all lists equal. A column with a Field sorts by the stored value, as in finds.
	Order []Place
	// Optional lists the objects that are null if all of their columns are: those that a Join found no record for.
	Optional []query.Path
}

// A Place is one term of an order.
type Place struct {
	Column int
	Desc   bool
}

// A Column is one value of a record between stages. A column whose Path is nil is hidden: it can't be named and isn't
// returned. The order needs it.
type Column struct {
	Path query.Path // its place in the returned record: ["_id", "year"] is a member of the object _id
	// Behind makes a hidden column available by name: the path of a pointer and of a field behind it. It is nil for
	// other columns.
	Behind query.Path
	Type   schema.Type
	// Field is the field of a class whose stored value the column holds, or nil for a computed column. The stored value
	// may be of another type than Type (SQLite), an invalid date (MariaDB) or in a collation of its own. An expression
	// reads a value of another type as null, and text as its bytes. It reads a Day in a column of Dates as its
	// midnight, and a Date at midnight in a column of Days as the Day. It reads a UUID in lower case. Filters see the
	// stored value.
	Field   *schema.Field
	List    bool // of type JSON, and always a list or null
	NotNull bool // it is never null, except a List that is larger than ListBytes
	ID      bool // it is an id: an Integer is returned as text, also inside of lists and objects
	// Class is the class it points to, as the caller addresses it, and ClassKey the field there whose value it holds,
	// or "".
	Class, ClassKey string
	// Mask is applied when the value is returned, or nil. Until then the value is raw, and nothing may depend on it. It
	// is in no order and in no list of records. Only a Ref of a Map or a Union may pass it on. No other expression or
	// condition may refer to it.
	Mask  *Mask
	Known *Known // of type JSON: the known contents, or nil
	// Tally is set for a column of the result that isn't shown. It describes the count.
	Tally *Tally
}

// Key returns the name of c in the first part of a bound filter's path. It is unique in a Shape.
func (c *Column) Key() string {
	if c.Path == nil {
		return c.Behind.String()
	}
	return c.Path.String()
}

// Find returns the number of the column with that key, or -1.
func (s *Shape) Find(key string) int {
	return slices.IndexFunc(s.Columns, func(c Column) bool { return (c.Path != nil || c.Behind != nil) && c.Key() == key })
}

// A Stage transforms records. The set is closed. Out returns the columns of its result.
type Stage interface {
	Out() *Shape
	isStage()
}

type (
	// Filter keeps the records for which Where and If hold. Either may be nil. The first part of each path in Where is
	// the Key of a column, the rest a path within JSON. If is Boolean. Null counts as false.
	Filter struct {
		Where query.Filter
		If    Expr
		Shape Shape
	}
	// Map computes the columns of its Shape, one expression each. Here and in a Union, a Ref passes on the stored value
	// if the column it defines has a Field. Otherwise it passes on the value that an expression sees.
	Map struct {
		Columns []Expr
		Shape   Shape
	}
	// Group yields one record for each distinct list of Keys, which are its first columns, followed by the
	// accumulators. Null keys are equal. Without records there are no groups, unless Always is set (a count without
	// keys).
	Group struct {
		Keys         []Expr
		Accumulators []Accumulator
		Always       bool
		Shape        Shape
	}
	// Buckets groups into at most N ranges of By. Of n records, r may have a lesser By than a record, where null is
	// least. Then the record is in range floor(r*N/n). The columns are the least By of the range, the least By of the
	// next range, and the accumulators. The last range has its own greatest By instead of the next one's. Empty ranges
	// are left out.
	Buckets struct {
		By           Expr
		N            int64
		Accumulators []Accumulator
		Shape        Shape
	}
	// Windows adds a column for each of Functions, computed from the record's partition. The partition is the records
	// with equal values in the columns By, where null equals null. It is sorted by Order and then in the order of the
	// stage before. The order of Windows ends with the added columns, because without a key, records may differ in
	// nothing else.
	Windows struct {
		By        []int
		Order     []Place
		Functions []Window
		Shape     Shape
	}
	// Slice keeps at most Limit records after skipping Skip, in the order of the stage before. Limit -1 keeps all.
	Slice struct {
		Skip, Limit int64
		Shape       Shape
	}
	// Unwind yields one record for each element of List, with two more columns: the element (JSON) and its position
	// from 0 (Integer). A value other than a list counts as a list of itself, null as an empty one. Keep keeps a record
	// whose list is empty, with null in both columns.
	Unwind struct {
		List  Expr // JSON
		Keep  bool
		Shape Shape
	}
	// Join yields one record for each pair of a record and one of Right that match: all of On are equal, and If holds.
	// Null equals nothing. If is a Boolean over the columns of Shape, or nil. The columns are those of the record,
	// followed by those of Right's result. Keep keeps a record without a match, with nulls.
	Join struct {
		Right *Program
		On    []Pair
		If    Expr
		Keep  bool
		Shape Shape
	}
	// Probe adds a column computed from Right, which may contain Outers, as in a Nest. With Exists, it is whether Right
	// has a record, a Boolean that is never null. Otherwise it is the only visible column of Right's only record, or
	// null. Whoever makes a Probe without Exists ensures that Right has at most one record.
	Probe struct {
		Right  *Program
		Exists bool
		Shape  Shape
	}
	// Nest adds a column: the list of the records of Right's result for which all of On are equal. They are in Right's
	// order, as objects of its visible columns (see Object). Null equals nothing. Right may contain Outers, which are
	// columns of the record that the list is computed for. Then it is Correlated.
	Nest struct {
		Right      *Program
		On         []Pair
		Correlated bool
		Shape      Shape
	}
	// Closure adds a column: the list of the reachable records of Right. A record of Right is reached in 0 steps if its
	// column To equals Start. It is reached in n+1 steps if its To equals the column From of one reached in n. Null
	// equals nothing. There are at most Depth steps, and each record is in the list once, with its fewest steps. The
	// list is sorted by steps, then in the order of Right. Its objects have the steps in the member DepthName, unless
	// that is "".
	Closure struct {
		Right     *Program // without Outers
		Start     Expr
		From, To  int // columns of Right's result, of the same type as Start
		Depth     int64
		DepthName string
		Shape     Shape
	}
	// Union appends the records of Right. Left and Right compute the columns of Shape except its last two. These are
	// the side (Integer: 0, 1) and the position in the order of that side, from 1 (Integer).
	Union struct {
		Right       *Program
		Left, Added []Expr // over the records, and over Right's result
		Shape       Shape
	}
	// Facet yields one record: for each branch the list of its results, as objects as in Nest.
	Facet struct {
		Branches []*Program // their From is Input
		Shape    Shape
	}
	// Sample keeps the N records with the least md5(Seed + text of the columns of the order, joined by U+001F, null as
	// ""), in hex; among equals the first in order. They keep their order. The text is the value that an expression
	// sees, converted to String (see Convert); bytes in base64; objects and lists, and columns of type Any or Opaque,
	// are "".
	Sample struct {
		N     int64
		Seed  string
		Shape Shape
	}
)

// A Pair is an equality of two expressions of the same type: one over the record, one over Right's result.
type Pair struct{ Left, Right Expr }

// Out implements Stage.
func (s *Filter) Out() *Shape { return &s.Shape }

// Out implements Stage.
func (s *Map) Out() *Shape { return &s.Shape }

// Out implements Stage.
func (s *Group) Out() *Shape { return &s.Shape }

// Out implements Stage.
func (s *Buckets) Out() *Shape { return &s.Shape }

// Out implements Stage.
func (s *Windows) Out() *Shape { return &s.Shape }

// Out implements Stage.
func (s *Slice) Out() *Shape { return &s.Shape }

// Out implements Stage.
func (s *Unwind) Out() *Shape { return &s.Shape }

// Out implements Stage.
func (s *Join) Out() *Shape { return &s.Shape }

// Out implements Stage.
func (s *Probe) Out() *Shape { return &s.Shape }

// Out implements Stage.
func (s *Nest) Out() *Shape { return &s.Shape }

// Out implements Stage.
func (s *Closure) Out() *Shape { return &s.Shape }

// Out implements Stage.
func (s *Union) Out() *Shape { return &s.Shape }

// Out implements Stage.
func (s *Facet) Out() *Shape { return &s.Shape }

// Out implements Stage.
func (s *Sample) Out() *Shape { return &s.Shape }

func (*Filter) isStage()  {}
func (*Map) isStage()     {}
func (*Group) isStage()   {}
func (*Buckets) isStage() {}
func (*Windows) isStage() {}
func (*Slice) isStage()   {}
func (*Unwind) isStage()  {}
func (*Join) isStage()    {}
func (*Probe) isStage()   {}
func (*Nest) isStage()    {}
func (*Closure) isStage() {}
func (*Union) isStage()   {}
func (*Facet) isStage()   {}
func (*Sample) isStage()  {}

// An Accumulate is the function of an Accumulator. All but First, Last, Push, AddToSet and Count ignore null.
type Accumulate uint8

// The accumulators.
const (
	// Sum is exact. The sum of Integers is null beyond 64 bits, and the sum of Decimals is a Decimal. The sum of
	// Doubles is the exact sum of their shortest decimal representations, rounded once to a Double. It is null if a
	// value is infinite or NaN, or if the sum is out of range. The sum of no values is 0.
	Sum           Accumulate = iota
	Avg                      // the exact sum, beyond 64 bits for Integers, as a Double divided by the number of values: a Double, or null for no values
	Min                      // the least: as in Order for JSON (of objects, or of lists, any one, deterministically), or null for no values
	Max                      // the greatest
	Count                    // the number of records for which X isn't null, of all records if X is nil: an Integer
	CountDistinct            // the number of distinct values of X other than null: an Integer
	First                    // X of the first record in order
	Last                     // X of the last record in order
	Push                     // the list of X, which is JSON, in order, including nulls, or null if it is larger than ListBytes
	// AddToSet is the list of distinct X, which is JSON, in value.Order. The order among objects and lists is
	// deterministic, but otherwise undefined. It is null if the list is larger than ListBytes.
	AddToSet
	StdDevPop  // the population's standard deviation: a Double, exact to 12 digits, or null for no values, or if a value is not an operand of Add
	StdDevSamp // the sample's: null for fewer than two values
	Percentile // one of the values other than null, in their order, or null
	// Unread is the number of records in which X, a Ref of a stored column, holds a value that expressions read as
	// null. For a Double, that is a NaN or an infinity.
	Unread
)

// An Accumulator computes one value of a group. X is Integer, Decimal or Double for Sum, and Double for the deviations.
type Accumulator struct {
	Op    Accumulate
	X     Expr
	T     schema.Type // of the result
	Point int64       // of a Percentile: 0 to Points
	Among Among       // of a Percentile
}

// Among is how a Percentile counts to its Point.
type Among byte

// Of n values, the one with number ⌈n·Point⌉ from the least, or the least, and the two around the place (n−1)·Point from 0.
const (
	AmongValues Among = iota
	BeforePlace
	AfterPlace
)

// Number returns the number from 1 of the value that a Percentile takes of n, which is 1 or more.
func (a Accumulator) Number(n int64) int64 {
	switch a.Among {
	case BeforePlace:
		return (n-1)*a.Point/Points + 1
	case AfterPlace:
		return ((n-1)*a.Point+Points-1)/Points + 1
	}
	return max(1, (n*a.Point+Points-1)/Points)
}

// Points is the Point of the greatest value.
const Points = 1_000_000

// A Rank is the kind of a Window.
type Rank uint8

// The kinds of Window.
const (
	Accumulated Rank = iota // the Accumulator over the Frame
	RowNumber               // the record's number in its partition, from 1: an Integer
	Ranked                  // 1 and the number of records before it in Order: an Integer, the same for records that are equal in Order
	DenseRanked             // 1 and the number of distinct places before it in Order: an Integer
	Shifted                 // X of the record that is Offset records after this one (before it, if negative), or Default if there is none
)

// A Window computes a value from a record's partition. An Accumulator is Sum, Avg, Count, First, Last or a deviation, or
// Min or Max of other than JSON.
type Window struct {
	Kind Rank
	Accumulator
	Frame   Frame
	Offset  int64 // of a Shifted. For a First, how many records of the frame are before its own
	Default Expr  // a Const, of the type of X, or nil for null
}

// A Frame is the records around a record that an Accumulator takes. From and To are counted from the record, negative
// before it. Peers counts records that are equal in Order as the record itself. Then To is 0 and First is set.
type Frame struct {
	From, To    int64
	First, Last bool // the frame begins with the partition, ends with it
	Peers       bool
}

// Whole reports whether the frame is the whole partition.
func (f Frame) Whole() bool { return f.First && f.Last }
