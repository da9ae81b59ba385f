// Package plan defines executable pipelines: a few kinds of stages over columns with known types.
//
//	query.Pipeline ─typecheck→ Program ─sqlgen, mongogen→ commands of a database
//	SELECT ─sqlbind→ Program ─interpret→ rows in memory
//
// The compilers, and the evaluator in memory, execute a Program as specified here and in docs/pipelines.md. A Program
// doesn't contain names of classes. It refers to a relation by its number in the plan.
//
// Two invariants hold. An expression never fails: it is null if it has no value. The order of a Shape is total: it
// distinguishes any two records with a visible difference.
//
// A Mask hides parts of the values of a field. Rules name the masks, and policy stores them with the columns. Package
// redact applies them to the rows of an answer. Until then values are raw, so only redact may use them.
// MaskedFieldError is the error for any other use.
//
// A Calendar enumerates the time intervals by which records are grouped, such as 2026-Q3 or 2026-W07. AddMonths
// computes the times of $densify and generate_series.
package plan

import (
	"slices"

	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// Values of From for a Program that doesn't read a view.
const (
	Input  = -1 // the records of the surrounding Facet
	Listed = -2 // the records of Rows
)

// A Program is a pipeline over one relation.
type Program struct {
	From   int         // the number of the relation in the plan's Views, Input or Listed
	Rows   []value.Row // for Listed: at least one record, with values of the types in Base
	Base   Shape       // the columns of From: for a view, its visible fields in order, with Field set
	Stages []Stage
}

// Out returns the columns of the Program's result.
func (p *Program) Out() Shape {
	if n := len(p.Stages); n > 0 {
		return *p.Stages[n-1].Out()
	}
	return p.Base
}

// A Shape describes the columns of the records between two stages, and their order.
type Shape struct {
	Columns []Column
	// Order is total. Two records that are equal in it are equal in every column, except for JSON lists and objects, or
	// are indistinguishable. Null sorts first in ascending order. JSON values sort as in value.Order, with all objects
	// equal and all lists equal. A column with a Field sorts by the stored value, as in a find.
	Order []Place
	// Optional contains the paths of the objects that are null if all their columns are null. They belong to records
	// for which a Join may find no match.
	Optional []query.Path
}

// A Place is one term of an order.
type Place struct {
	Column int
	Desc   bool
}

// A Column is one value of a record between stages. A column with a nil Path is hidden: it exists for the order, has no
// name and isn't returned.
type Column struct {
	Path query.Path // the path in the returned record: ["_id", "year"] is a member of the object _id
	// Behind is the name of a hidden column that expressions can use: the path of a pointer followed by a field of the
	// other record. It is nil for other columns.
	Behind query.Path
	Type   schema.Type
	// Field is the field of a class whose stored value is in the column, or nil for a computed column. The stored value
	// may have another type than Type (SQLite), may be an invalid date (MariaDB), and may have its own collation. An
	// expression reads a value of another type as null, and text as its bytes. It reads a Day in a column of Dates as
	// midnight of the day, and a Date at midnight in a column of Days as the Day. It reads a UUID in lower case. A
	// filter reads the stored value.
	Field   *schema.Field
	List    bool // a JSON column that contains only lists and nulls
	NotNull bool // the column is never null, except for a List larger than ListBytes
	ID      bool // the column is an id: an Integer is returned as text, also inside lists and objects
	// Class is the class to which the column points, in the caller's spelling, or "". ClassKey is the field of that
	// class whose value the column contains, or "".
	Class, ClassKey string
	// Mask is applied when the value is returned, or is nil. Until then the value is raw, and nothing may depend on it.
	// So a masked column is not in an order or in a list of records. Only a Ref of a Map or a Union may pass it on. No
	// other expression or condition may refer to it.
	Mask  *Mask
	Known *Known // of a JSON column: the known contents, or nil
	// Tally is set for a column of the result that isn't shown to callers. It describes the count in the column.
	Tally *Tally
}

// Key returns the name of c, which is the first part of a path in a bound filter. It is unique in a Shape.
func (c *Column) Key() string {
	if c.Path == nil {
		return c.Behind.String()
	}
	return c.Path.String()
}

// Find returns the number of the column with this key, or -1.
func (s *Shape) Find(key string) int {
	return slices.IndexFunc(s.Columns, func(c Column) bool { return (c.Path != nil || c.Behind != nil) && c.Key() == key })
}

// A Stage transforms records. The set of types is closed. Out returns the columns of the result.
type Stage interface {
	Out() *Shape
	isStage()
}

type (
	// Filter keeps the records for which both Where and If hold. Either may be nil. A path in Where begins with the Key
	// of a column and continues inside JSON. If is a Boolean, for which null counts as false.
	Filter struct {
		Where query.Filter
		If    Expr
		Shape Shape
	}
	// Map computes the columns of its Shape with one expression each. In a Map or a Union, a Ref for a column with a
	// Field passes on the stored value. Otherwise it passes on the value that an expression reads.
	Map struct {
		Columns []Expr
		Shape   Shape
	}
	// Group yields one record for each distinct list of Keys. The columns are the Keys, followed by the accumulators.
	// Null keys are equal. Without records there are no groups, unless Always is set. Always is for a count without
	// keys.
	Group struct {
		Keys         []Expr
		Accumulators []Accumulator
		Always       bool
		Shape        Shape
	}
	// Buckets groups the records into at most N ranges of By. A record is in range floor(r*N/n). n is the number of
	// records, and r the number of records with a lesser By. Null is the least value. The columns are the least By of
	// the range, the least By of the next range, and the accumulators. The last range has its own greatest By in the
	// second column. Empty ranges are omitted.
	Buckets struct {
		By           Expr
		N            int64
		Accumulators []Accumulator
		Shape        Shape
	}
	// Windows adds a column for each of Functions, computed from the record's partition. A partition consists of the
	// records with equal values in the columns By, where null equals null. It is sorted by Order and then by the order
	// of the preceding stage. The order of Windows ends with the added columns. Without a key, records may differ only
	// in these columns.
	Windows struct {
		By        []int
		Order     []Place
		Functions []Window
		Shape     Shape
	}
	// Slice skips the first Skip records of the preceding stage's order and keeps at most Limit of the next. Limit -1
	// means no limit.
	Slice struct {
		Skip, Limit int64
		Shape       Shape
	}
	// Unwind yields one record for each element of List, with two more columns: the element (JSON) and its position
	// from 0 (Integer). A value that isn't a list counts as a list with only this value. Null counts as an empty list.
	// With Keep, a record with an empty list stays, and both columns are null.
	Unwind struct {
		List  Expr // JSON
		Keep  bool
		Shape Shape
	}
	// Join yields one record for each matching pair of a record and a record of Right. They match if all pairs in On
	// are equal and If holds. Null equals nothing. If is a Boolean over the columns of Shape, or nil. The columns are
	// the columns of the record, followed by the columns of Right's result. With Keep, a record without a match stays,
	// with nulls.
	Join struct {
		Right *Program
		On    []Pair
		If    Expr
		Keep  bool
		Shape Shape
	}
	// Probe adds a column computed from Right, which may contain Outers, as in a Nest. With Exists, the column is a
	// Boolean that is never null: whether Right has a record. Otherwise it is the visible column of Right's only
	// record, or null. The code that makes a Probe without Exists must ensure that Right has at most one record with
	// one visible column.
	Probe struct {
		Right  *Program
		Exists bool
		Shape  Shape
	}
	// Nest adds a column: the list of the records of Right's result for which all pairs in On are equal. They are
	// objects of Right's visible columns (see Object), in Right's order. Null equals nothing. Right may contain Outers,
	// which are columns of the record for which the list is computed. Correlated is then set.
	Nest struct {
		Right      *Program
		On         []Pair
		Correlated bool
		Shape      Shape
	}
	// Closure adds a column: the list of the reachable records of Right. A record of Right is reached in 0 steps if its
	// column To equals Start. It is reached in n+1 steps if its To equals the column From of a record reached in n
	// steps. Null equals nothing. There are at most Depth steps. Each record is in the list once, with its fewest
	// steps. The list is sorted by steps, then in the order of Right. The member DepthName of each object contains the
	// steps, unless DepthName is "".
	Closure struct {
		Right     *Program // it must not contain Outers
		Start     Expr
		From, To  int // columns of Right's result, of the same type as Start
		Depth     int64
		DepthName string
		Shape     Shape
	}
	// Union appends the records of Right. Left and Added compute the columns of Shape except its last two. These two
	// are Integers: the side, 0 or 1, and the position in the order of that side, from 1.
	Union struct {
		Right       *Program
		Left, Added []Expr // Left is over the records, Added over Right's result
		Shape       Shape
	}
	// Facet yields one record. For each branch it contains the list of the branch's results, as objects as in a Nest.
	Facet struct {
		Branches []*Program // each has From Input
		Shape    Shape
	}
	// Sample keeps the N records with the least digests. The digest is the md5, in hex, of Seed and the text of the
	// order's columns. The texts are joined by U+001F, with null as "". Of equal digests, the first in order is kept.
	// The records stay in their order. The text of a column is the value that an expression reads, converted to String
	// (see Convert). Bytes are in base64. Objects, lists, and columns of type Any or Opaque are "".
	Sample struct {
		N     int64
		Seed  string
		Shape Shape
	}
)

// A Pair is an equality of two expressions of the same type. Left is over the record, Right over the result of the
// Right program.
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

// An Accumulate is the function of an Accumulator. All functions except First, Last, Push, AddToSet and Count ignore
// null.
type Accumulate uint8

// The accumulators.
const (
	// Sum is exact. The sum of Integers is null beyond 64 bits, and the sum of Decimals is a Decimal. The sum of
	// Doubles is the exact sum of their shortest decimal representations, rounded once to a Double. It is null if a
	// value is infinite or NaN, or if the sum is out of range. The sum of no values is 0.
	Sum           Accumulate = iota
	Avg                      // the exact sum, beyond 64 bits for Integers, as a Double divided by the number of values: a Double, or null for no values
	Min                      // the least value, or null for no values. JSON compares as in Order: among objects, or among lists, any one of them, deterministically
	Max                      // the greatest
	Count                    // the number of records for which X isn't null, or of all records if X is nil: an Integer
	CountDistinct            // the number of distinct values of X that aren't null: an Integer
	First                    // X of the first record in order
	Last                     // X of the last record in order
	Push                     // the list of X, which is JSON, in order, with nulls. It is null if it is larger than ListBytes
	// AddToSet is the list of distinct X, which is JSON, in value.Order. The order among objects and among lists is
	// deterministic but not specified. The list is null if it is larger than ListBytes.
	AddToSet
	StdDevPop  // the standard deviation of the population: a Double, exact to 12 digits. It is null for no values, or if a value is not an operand of Add
	StdDevSamp // the standard deviation of a sample: null for fewer than two values
	Percentile // the value that Point and Among select from the sorted values, or null if all values are null
	// Unread is the number of records in which X, a Ref of a stored column, contains a value that expressions read as
	// null. For a Double, it is the number of NaNs and infinities.
	Unread
)

// An Accumulator computes one value of a group. X is an Integer, Decimal or Double for Sum, and a Double for the
// deviations.
type Accumulator struct {
	Op    Accumulate
	X     Expr
	T     schema.Type // the type of the result
	Point int64       // of a Percentile: a share from 0 to Points
	Among Among       // of a Percentile
}

// Among is the way in which a Percentile counts to its Point.
type Among byte

// For n values, AmongValues selects the value with number ⌈n·Point⌉ from the least, at least the first. BeforePlace and
// AfterPlace select the two values around the place (n−1)·Point, counted from 0.
const (
	AmongValues Among = iota
	BeforePlace
	AfterPlace
)

// Number returns the number, from 1, of the value that a Percentile selects of n values. n is at least 1.
func (a Accumulator) Number(n int64) int64 {
	switch a.Among {
	case BeforePlace:
		return (n-1)*a.Point/Points + 1
	case AfterPlace:
		return ((n-1)*a.Point+Points-1)/Points + 1
	}
	return max(1, (n*a.Point+Points-1)/Points)
}

// Points is the Point of the greatest value, so a Point is in millionths.
const Points = 1_000_000

// A Rank is the kind of a Window.
type Rank uint8

// The kinds of Window.
const (
	Accumulated Rank = iota // the Accumulator over the Frame
	RowNumber               // the record's number in its partition, from 1: an Integer
	Ranked                  // 1 plus the number of records before it in Order: an Integer, the same for records that are equal in Order
	DenseRanked             // 1 plus the number of distinct places before it in Order: an Integer
	Shifted                 // X of the record that is Offset records after this one (before it, if negative), or Default if there is no such record
)

// A Window computes a value from a record's partition. Its Accumulator is Sum, Avg, Count, First, Last, a deviation, or
// Min or Max of values that aren't JSON.
type Window struct {
	Kind Rank
	Accumulator
	Frame   Frame
	Offset  int64 // the offset of a Shifted. For a First, the number of records of the frame before this record
	Default Expr  // a Const of the type of X, or nil for null
}

// A Frame is the records around a record over which an Accumulator works. From and To are relative to the record, and
// negative before it. With Peers, the frame includes all records that are equal in Order. Then To is 0 and First is
// set.
type Frame struct {
	From, To    int64
	First, Last bool // the frame begins at the start of the partition, ends at its end
	Peers       bool
}

// Whole reports whether the frame is the whole partition.
func (f Frame) Whole() bool { return f.First && f.Last }
