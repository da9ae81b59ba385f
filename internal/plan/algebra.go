// Package plan is a pipeline as it may run: a few kinds of stage over columns whose types are known.
//
// It is a word. Package bind makes a Program of a query.Pipeline, on views that policy hands it; compile writes it as
// SQL and source/memory evaluates it, each by what is written here and by docs/pipelines.md. Nothing in it names a
// class: a Program reads relations by their number in the plan.
//
// Two rules hold everywhere. Every expression is total: where it has no value it is null. Every record has a place:
// the order of a Shape tells any two records apart that differ in what can be seen.
package plan

import (
	"slices"

	"github.com/bailiwick-dev/bailiwick/internal/result/mask"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// Input is the From of a Program in a Facet: the records that the Facet is given.
const Input = -1

// A Program is a pipeline over one relation.
type Program struct {
	From   int   // the relation's number in the plan's Views, or Input
	Base   Shape // its columns: for a view, the visible fields in their order, with Field set
	Stages []Stage
}

// Out returns the columns of what the Program gives.
func (p *Program) Out() Shape {
	if n := len(p.Stages); n > 0 {
		return *p.Stages[n-1].Out()
	}
	return p.Base
}

// Leading returns the filters that p begins with.
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

// A Shape is the columns of the records between two stages, and their order.
type Shape struct {
	Columns []Column
	// Order is total: records that are the same in it are the same in every column, lists and objects of JSON apart,
	// or can't be told apart. Null stands first when ascending; JSON values stand as value.Order has them, all
	// objects and all lists at one place. A column with a Field stands by what is stored, as finds order it.
	Order []Place
	// Optional are the objects that are null where all of their columns are: what a Join found nothing for.
	Optional []query.Path
}

// A Place is one part of an order.
type Place struct {
	Column int
	Desc   bool
}

// A Column is one value of a record between stages. A column whose Path is nil is hidden: nobody can name it, and it
// doesn't leave; the order needs it.
type Column struct {
	Path query.Path // where it stands in the record that leaves: ["_id", "year"] is a member of the object _id
	// Behind names a hidden column that can be named: a field of the record that a pointer leads to, by the path of the
	// pointer and its own. It is nil for others.
	Behind query.Path
	Type   schema.Type
	// Field is the field of a class that the column holds as it is stored, nil for what was computed. What is
	// stored may be of another type than Type (SQLite), a date that is none (MariaDB) or in a collation of its own:
	// an expression sees null for what isn't of the type, and text as its bytes. A Day in a column of Dates is its
	// midnight, a Date at midnight in one of Days is the Day; a UUID is seen in lower case. Filters see what is stored.
	Field   *schema.Field
	List    bool // of type JSON, and always a list or null
	NotNull bool // it is never null
	ID      bool // it is an id: when an Integer it leaves as text, also inside of lists and objects
	// Class is the class that it points to, as the asker addresses it, and ClassKey the field there whose value it holds;
	// "" for none.
	Class, ClassKey string
	// Mask is how the value leaves; nil for as it is. Until then it is raw, so nothing may depend on it: it stands in
	// no order, a Ref of a Map or a Union passes it on and no other expression or condition names it, and no list of
	// records holds it.
	Mask *mask.Mask
}

// Key is the name by which bound filters name c in the first part of their paths. It is unique in a Shape.
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

// A Stage makes records of records. The set is closed. Out is the columns of what it gives.
type Stage interface {
	Out() *Shape
	isStage()
}

type (
	// Filter keeps the records for which Where and If hold; either may be nil. The first part of each path in Where is
	// the Key of a column, the rest leads into JSON. If is Boolean; null doesn't hold.
	Filter struct {
		Where query.Filter
		If    Expr
		Shape Shape
	}
	// Map computes the columns of its Shape, one expression each. A Ref passes a column on as it is stored where the column
	// that it makes has a Field, in a Union as well; else it is what an expression sees.
	Map struct {
		Columns []Expr
		Shape   Shape
	}
	// Group gives one record for each distinct list of Keys, which are its first columns, then the accumulators. Keys
	// that are null are the same. There is no record where there are none, unless Always (a count without keys).
	Group struct {
		Keys         []Expr
		Accumulators []Accumulator
		Always       bool
		Shape        Shape
	}
	// Buckets groups into at most N ranges of By: a record whose By has r records with a lesser one (null is least)
	// among n is in range floor(r*N/n). Its columns are the least By of the range, the least By of the next range (for
	// the last range its own greatest), then the accumulators. Ranges without records are left out.
	Buckets struct {
		By           Expr
		N            int64
		Accumulators []Accumulator
		Shape        Shape
	}
	// Slice keeps, of the records in the order of the stage before, at most Limit after the first Skip. Limit -1 keeps all.
	Slice struct {
		Skip, Limit int64
		Shape       Shape
	}
	// Unwind gives one record for each element of List, with two columns more: the element (JSON) and its position
	// from 0 (Integer). A value that is no list counts as a list of itself, null as an empty one. Keep keeps a record
	// whose list is empty, with null in both.
	Unwind struct {
		List  Expr // JSON
		Keep  bool
		Shape Shape
	}
	// Join gives one record for each pair of a record and one of Right for which all of On are equal, null equal to
	// nothing: the columns of the record, then those of Right's out. Keep keeps a record without any, with nulls.
	Join struct {
		Right *Program
		On    []Pair
		Keep  bool
		Shape Shape
	}
	// Nest adds a column: the list, in Right's order, of the records of Right's out as objects of its visible columns
	// (see Object) for which all of On are equal, null equal to nothing. Right may hold Outers, which are columns of
	// the record that the list is made for; then it is Correlated.
	Nest struct {
		Right      *Program
		On         []Pair
		Correlated bool
		Shape      Shape
	}
	// Closure adds a column: the list of the records of Right that can be reached. A record of Right is reached in 0
	// steps where its column To equals Start, and in n+1 where To equals the column From of one that is reached in n;
	// null equals nothing. At most Depth steps count, each record is reached once, in its fewest steps. The list is in
	// the order of steps, then of Right; its objects have the member DepthName with the steps ("" for none).
	Closure struct {
		Right     *Program // without Outers
		Start     Expr
		From, To  int // columns of Right's out; they and Start are of one type
		Depth     int64
		DepthName string
		Shape     Shape
	}
	// Union adds the records of Right after the others. Left and Right compute the columns of Shape but its last two:
	// the side (Integer: 0, 1) and the place in the order of that side, from 1 (Integer).
	Union struct {
		Right       *Program
		Left, Added []Expr // over the records, and over Right's out
		Shape       Shape
	}
	// Facet gives one record: for each branch the list of what it makes of the records, as Nest writes them.
	Facet struct {
		Branches []*Program // their From is Input
		Shape    Shape
	}
	// Sample keeps the N records whose md5(Seed + text of the columns of the order, joined by U+001F, null as "") is
	// least, in hex; the first in order of those with the same. They stay in their order. The text is what an expression
	// sees, converted to String (see Convert); bytes in base64; objects and lists, and columns of type Any or Opaque, are "".
	Sample struct {
		N     int64
		Seed  string
		Shape Shape
	}
)

// A Pair is two expressions of one type that are to be equal: one over the record, one over Right's out.
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
func (s *Slice) Out() *Shape { return &s.Shape }

// Out implements Stage.
func (s *Unwind) Out() *Shape { return &s.Shape }

// Out implements Stage.
func (s *Join) Out() *Shape { return &s.Shape }

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
func (*Slice) isStage()   {}
func (*Unwind) isStage()  {}
func (*Join) isStage()    {}
func (*Nest) isStage()    {}
func (*Closure) isStage() {}
func (*Union) isStage()   {}
func (*Facet) isStage()   {}
func (*Sample) isStage()  {}

// An Accumulate is what an Accumulator does with the values of a group. Null is passed over except by First, Last,
// Push, AddToSet and Count.
type Accumulate uint8

// The accumulators.
const (
	// Sum is exact: of Integers null beyond 64 bits; of Decimals a Decimal; of Doubles the exact sum of the numbers as
	// they are written in the fewest digits, rounded once to a Double, null when a value is infinite or NaN or the
	// sum is out of range. Of nothing it is 0.
	Sum        Accumulate = iota
	Avg                   // the exact sum, of Integers beyond 64 bits as well, as a Double divided by how many there are: a Double; null of nothing
	Min                   // the least: as Order has it for JSON (of objects, or of lists, any that is always the same); null of nothing
	Max                   // the greatest
	Count                 // how many records: an Integer; X is nil
	First                 // X of the first record in order
	Last                  // X of the last
	Push                  // the list of X, which is JSON, in order, nulls as well
	AddToSet              // the list of the distinct X, which is JSON, in value.Order (objects and lists among themselves in any that is always the same)
	StdDevPop             // the population's standard deviation: a Double, good to 12 digits; null of nothing, and when a value is no operand of Add
	StdDevSamp            // the sample's: null of less than two
)

// An Accumulator makes one value of a group. X is Integer, Decimal or Double for Sum; Double for the deviations.
type Accumulator struct {
	Op Accumulate
	X  Expr
	T  schema.Type // of the result
}
