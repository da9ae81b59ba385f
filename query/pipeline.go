package query

import "github.com/bailiwick-dev/bailiwick/value"

// The limits of a pipeline.
const (
	MaxStages     = 20     // of one pipeline, and also of each nested one
	MaxExprDepth  = 20     // nesting of expressions, including the pipelines around them
	MaxExprNodes  = 400    // stages, fields and expressions of a pipeline and its nested ones
	MaxBranches   = 16     // of one $facet
	MaxBuckets    = 1000   // of one $bucketAuto
	MaxGraphDepth = 100    // links that a $graphLookup follows. The default is 10
	MaxSeries     = 10_000 // values of a $densify, or of a generate_series
)

// A Pipeline is a sequence of stages over the records of one class.
type Pipeline struct {
	Class  string
	Stages []Stage
	Raw    bool // the caller switches the canonical filter off
	Limit  int  // the maximum number of records unless a final $limit or $count determines it, 1 or more
	Most   int  // the maximum of a final $limit, or 0 for no bound
}

// From implements Query.
func (q *Pipeline) From() string { return q.Class }

func (*Pipeline) isQuery() {}

// A Stage transforms a sequence of records with the same columns into another. The set is closed. At is the JSON
// pointer of the stage's operand, for messages.
type Stage interface{ isStage() }

type (
	// Match keeps the records that satisfy Where and If. Either may be nil.
	Match struct {
		Where Filter
		If    Expr // the operand of $expr
		At    string
	}
	// Project yields only the Fields, in their order. With Drop, it yields all columns except the Fields, whose values
	// are nil. A nil value in a Project without Drop keeps the field unchanged. A column _id is kept first, unless NoID
	// is set for "_id": 0.
	Project struct {
		Fields []Computed
		Drop   bool
		NoID   bool
		At     string
	}
	// AddFields adds computed columns, or replaces existing ones ($addFields, $set). Here and in a Project, nested
	// objects are flattened: {"a": {"b": "$c"}} is the field a.b.
	AddFields struct {
		Fields []Computed
		At     string
	}
	// Group yields one record for each value of Key. It has the value in _id, and then the accumulators in order.
	Group struct {
		Key          Expr
		Accumulators []Accumulator
		At           string
	}
	// SortStage sorts the records.
	SortStage struct {
		Order []Sort
		At    string
	}
	// Skip drops the first N records, 0 or more.
	Skip struct {
		N  int64
		At string
	}
	// Limit keeps the first N records, 1 or more.
	Limit struct {
		N  int64
		At string
	}
	// CountStage yields one record whose column Name is the number of records.
	CountStage struct{ Name, At string }
	// Unwind yields one record for each element of the list at Path. The element replaces the list. Index is the column
	// for its position from 0, or "". Keep keeps the records whose list is empty or null.
	Unwind struct {
		Path  Path
		Index string
		Keep  bool
		At    string
	}
	// Lookup adds the column As with a list of the records of From whose Foreign equals Local, transformed by Stages.
	// Local and Foreign are both nil or both set. Let defines variables for the stages.
	Lookup struct {
		From           string
		Local, Foreign Path
		Let            []Computed
		Stages         []Stage
		As             string
		At             string
	}
	// GraphLookup adds the column As with records of From. They are reached from Start by following ConnectFrom to
	// ConnectTo, at most MaxDepth times after the first, and each occurs once. Depth is the member for the distance, or
	// "".
	GraphLookup struct {
		From                   string
		Start                  Expr
		ConnectFrom, ConnectTo Path
		As                     string
		MaxDepth               int64
		Depth                  string
		Restrict               Filter
		At                     string
	}
	// UnionWith appends the records of Class, transformed by Stages.
	UnionWith struct {
		Class  string
		Stages []Stage
		At     string
	}
	// Facet yields one record with a list for each branch, which has the records after the branch's stages.
	Facet struct {
		Branches []Branch
		At       string
	}
	// Bucket groups by ranges between Boundaries, which are ascending. A record is in the bucket of the greatest
	// boundary that is at most By, if By is below the last boundary. Other records are in the bucket Default, or are
	// dropped if it is null.
	Bucket struct {
		By         Expr
		Boundaries []value.Value
		Default    value.Value
		Output     []Accumulator // the default is a count
		At         string
	}
	// BucketAuto groups the records into at most Buckets ranges of similar size.
	BucketAuto struct {
		By      Expr
		Buckets int64
		Output  []Accumulator
		At      string
	}
	// SetWindowFields adds columns that are computed from the records with the same By, sorted by Order.
	SetWindowFields struct {
		By     Expr // nil for one partition of all records
		Order  []Sort
		Output []Window
		At     string
	}
	// Fill replaces the nulls of fields, in the partitions By, sorted by Order.
	Fill struct {
		By     Expr // nil for one partition of all records
		Order  []Sort
		Output []Filled
		At     string
	}
	// Densify fills gaps. In each partition it adds a record for each missing value of Field from From (included) to To
	// (excluded), by Step. The new record has the values of the partition's fields, and null in all others.
	Densify struct {
		Field    Path
		By       []Path
		From, To value.Value
		Step     value.Value // a number
		Unit     string      // of times: "day", or "" for numbers
		At       string
	}
	// SortByCount groups by By, counts, and sorts by the count, largest first.
	SortByCount struct {
		By Expr
		At string
	}
	// ReplaceRoot replaces the record by an object ($replaceRoot, $replaceWith).
	ReplaceRoot struct {
		Root Expr
		At   string
	}
	// Sample keeps a pseudorandom selection of N records. It is the same for the same records.
	Sample struct {
		N  int64
		At string
	}
)

// A Branch is one pipeline of a $facet.
type Branch struct {
	Name   string
	Stages []Stage
	At     string
}

// A Computed is a column and its expression. A dotted Name is a member of an object.
type Computed struct {
	Name  Path
	Value Expr
	At    string
}

// An Accumulator computes one value of a group. Op is one of Accumulators. X is nil for $count.
type Accumulator struct {
	Name string
	Op   string // "$sum", "$avg", …
	X    Expr
	At   string

	Points []int64 // of a $percentile or a $median: the quantiles, in millionths
}

// A Window is one function of a $setWindowFields: an accumulator over records, a ranking without X, or "$shift". The
// records are From to To, counted from the current record. First and Last mean the ends of its partition.
type Window struct {
	Accumulator
	From, To    int64
	First, Last bool
	By          int64       // of a $shift
	Default     value.Value // of a $shift
}

// A Filled is a field of a Fill. Value replaces null in it, or with Method a value computed from the records around it.
type Filled struct {
	Name   Path
	Value  Expr
	Method string // LastValue or Linear, or "" for Value
	At     string
}

// Accumulators lists the operators of a group.
var Accumulators = []string{"$sum", "$avg", "$min", "$max", "$count", "$first", "$last", "$push", "$addToSet", "$stdDevPop", "$stdDevSamp", "$percentile", "$median"}

func (Match) isStage()           {}
func (Project) isStage()         {}
func (AddFields) isStage()       {}
func (Group) isStage()           {}
func (SortStage) isStage()       {}
func (Skip) isStage()            {}
func (Limit) isStage()           {}
func (CountStage) isStage()      {}
func (Unwind) isStage()          {}
func (Lookup) isStage()          {}
func (GraphLookup) isStage()     {}
func (UnionWith) isStage()       {}
func (Facet) isStage()           {}
func (Bucket) isStage()          {}
func (BucketAuto) isStage()      {}
func (SetWindowFields) isStage() {}
func (Fill) isStage()            {}
func (Densify) isStage()         {}
func (SortByCount) isStage()     {}
func (ReplaceRoot) isStage()     {}
func (Sample) isStage()          {}
