package query

import "github.com/bailiwick-dev/bailiwick/value"

// The limits of a pipeline (design 03).
const (
	MaxStages     = 20   // of one pipeline, and of each that stands inside it
	MaxExprDepth  = 20   // expressions within expressions, with the pipelines around them
	MaxExprNodes  = 400  // stages, fields and expressions of a whole pipeline, with those that stand inside it
	MaxBranches   = 16   // of one $facet
	MaxBuckets    = 1000 // of one $bucketAuto
	MaxGraphDepth = 100  // links that a $graphLookup follows; 10 when it names none
)

// A Pipeline asks what stages make of the records of one class.
type Pipeline struct {
	Class  string
	Stages []Stage
	Raw    bool // the caller switches the canonical filter off
	Limit  int  // most records to return when no closing $limit or $count bounds them, 1 or more
	Most   int  // the most that a closing $limit may ask for; 0 is no bound
}

// From implements Query.
func (q *Pipeline) From() string { return q.Class }

func (*Pipeline) isQuery() {}

// A Stage takes the records of the stage before, all with the same columns, and gives others. The set is closed. At
// is the JSON pointer of the stage's operand, for messages.
type Stage interface{ isStage() }

type (
	// Match keeps the records for which Where and If hold; either may be nil.
	Match struct {
		Where Filter
		If    Expr // the operand of $expr
		At    string
	}
	// Project gives the Fields and nothing else, in their order; with Drop, all columns but the Fields, whose
	// values are nil. A nil value in a Project without Drop passes the field on as it is. NoID tells that "_id": 0
	// stands beside fields to keep; otherwise a column _id is kept before them.
	Project struct {
		Fields []Computed
		Drop   bool
		NoID   bool
		At     string
	}
	// AddFields computes columns beside those that are there, or in their place ($addFields, $set). In it and in a Project
	// an object of fields stands as its parts: {"a": {"b": "$c"}} is the field a.b.
	AddFields struct {
		Fields []Computed
		At     string
	}
	// Group gives one record for each value of Key: _id, which holds it, then the accumulators in turn.
	Group struct {
		Key          Expr
		Accumulators []Accumulator
		At           string
	}
	// SortStage orders the records.
	SortStage struct {
		Order []Sort
		At    string
	}
	// Skip leaves the first N records out, 0 or more.
	Skip struct {
		N  int64
		At string
	}
	// Limit keeps the first N records, 1 or more.
	Limit struct {
		N  int64
		At string
	}
	// CountStage gives one record whose column Name is the number of records.
	CountStage struct{ Name, At string }
	// Unwind gives one record for each element of the list at Path, in its place, with its position from 0 in the
	// column Index ("" for none). Keep keeps the records whose list is empty or null.
	Unwind struct {
		Path  Path
		Index string
		Keep  bool
		At    string
	}
	// Lookup adds the column As: the list of what Stages make of those records of From whose Foreign equals Local.
	// Local and Foreign are nil together. Let are variables that the stages may use.
	Lookup struct {
		From           string
		Local, Foreign Path
		Let            []Computed
		Stages         []Stage
		As             string
		At             string
	}
	// GraphLookup adds the column As: the records of From that are reached from Start by following ConnectFrom to
	// ConnectTo at most MaxDepth times after the first, each once. Depth is the member that tells how far ("" for none).
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
	// UnionWith adds what Stages make of the records of Class.
	UnionWith struct {
		Class  string
		Stages []Stage
		At     string
	}
	// Facet gives one record with a list for each branch: what its stages make of the records.
	Facet struct {
		Branches []Branch
		At       string
	}
	// Bucket groups by ranges: a record is in the bucket that begins with the greatest of Boundaries (ascending)
	// which is at most By, and below the last one. Others are in the bucket Default, or left out when it is null.
	Bucket struct {
		By         Expr
		Boundaries []value.Value
		Default    value.Value
		Output     []Accumulator // empty counts as count
		At         string
	}
	// BucketAuto groups into at most Buckets ranges of about as many records each.
	BucketAuto struct {
		By      Expr
		Buckets int64
		Output  []Accumulator
		At      string
	}
	// SortByCount groups by By, counts, and orders by the count, most first.
	SortByCount struct {
		By Expr
		At string
	}
	// ReplaceRoot makes an object the record ($replaceRoot, $replaceWith).
	ReplaceRoot struct {
		Root Expr
		At   string
	}
	// Sample keeps N records, drawn in a way that is the same for the same records.
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

// A Computed is a column and how to make it. Name may be dotted: a member of an object.
type Computed struct {
	Name  Path
	Value Expr
	At    string
}

// An Accumulator makes one value of a group. Op is as in accumulators; X is nil for $count.
type Accumulator struct {
	Name string
	Op   string // "$sum", "$avg", …
	X    Expr
	At   string
}

// Accumulators are the operators of a group, by name.
var Accumulators = []string{"$sum", "$avg", "$min", "$max", "$count", "$first", "$last", "$push", "$addToSet", "$stdDevPop", "$stdDevSamp"}

func (Match) isStage()       {}
func (Project) isStage()     {}
func (AddFields) isStage()   {}
func (Group) isStage()       {}
func (SortStage) isStage()   {}
func (Skip) isStage()        {}
func (Limit) isStage()       {}
func (CountStage) isStage()  {}
func (Unwind) isStage()      {}
func (Lookup) isStage()      {}
func (GraphLookup) isStage() {}
func (UnionWith) isStage()   {}
func (Facet) isStage()       {}
func (Bucket) isStage()      {}
func (BucketAuto) isStage()  {}
func (SortByCount) isStage() {}
func (ReplaceRoot) isStage() {}
func (Sample) isStage()      {}
