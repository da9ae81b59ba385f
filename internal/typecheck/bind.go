// Package typecheck resolves the names in a query and determines the types of its expressions.
//
//	query.Pipeline, views ─Pipeline: names, types→ plan.Program
//	query.Filter, Scope ─Filter→ query.Filter with operands of the fields' types
//
// It sees only the views that policy opens. A name that neither a view nor an earlier stage has is unknown, in the same
// bytes whether it is hidden or has never existed. Each stage is bound to the columns of the stage before.
//
// A Node is an expression whose type may still be open. It is converted to the type that its context wants, or rejected
// with its JSON pointer. Package sqlbind types the expressions of SELECT statements with Nodes too. A value whose type
// is known only at run time (JSON, columns without a type) gives null if it is of another type. All other type errors
// are reported here, so no later step can fail because of the values in a record.
//
// Package hint words the help for wrong queries.
package typecheck

import (
	"fmt"
	"slices"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// Relations opens the classes that a query names, as views of one principal.
type Relations interface {
	// Open returns the view of the class called name, or an error in the same bytes whether the class is hidden or has
	// never existed. at is the JSON pointer of the name.
	Open(name, at string) (*Relation, error)
	// Named records that a pipeline names a field of a view.
	RecordUse(*schema.Field)
	// Allowed returns the values that a field may hold, as documented to the caller, as text, or nil if there is no list.
	AllowedValues(*schema.Field) []string
	// StrictPointers reports whether a condition on a pointer takes nothing but an id and a whole pointer to the right class.
	StrictPointers() bool
	// SameClass reports whether two names mean the same class of the query's source, such as "users" and "crm.users".
	SameClass(a, b string) bool
}

// A Relation is a view of a class.
type Relation struct {
	Number int                   // in the plan's Views
	Name   string                // of the class, as the caller addresses it
	Scope  Scope                 // for filters over it
	Fields []*schema.Field       // the visible ones
	Key    []string              // the fields that identify a record, or nil if not all of them are visible
	Masks  map[string]*plan.Mask // by field, without those that have no mask

	// Constraints returns the pointers to other views of the caller, and the fields of unique indexes besides the key, all of them visible.
	// It is nil except for descriptions in information_schema, where few statements ask for it.
	Constraints func() ([]Pointer, [][]string)
}

// A Pointer is a field that holds the values of a field of another view.
type Pointer struct{ Field, Target, TargetKey, Unique string } // Unique is the name of the constraint that it refers to

// Pipeline binds the stages of q to from, the view of its class, and to the views that relations opens. It returns
// notes on conditions that can't hold. It refuses a pipeline with more costly parts than most.
func Pipeline(q *query.Pipeline, from *Relation, relations Relations, most plan.Bounds) (*plan.Program, []string, error) {
	b := &binder{relations: relations, seed: fmt.Sprintf("%x", q.Digest()), meter: plan.Meter{Bounds: most}}
	r := b.start(from)
	if err := r.stages(q.Stages); err != nil {
		return nil, nil, err
	}
	return r.program, b.notes, nil
}

// A binder binds one query.
type binder struct {
	relations Relations
	notes     []string
	seed      string // of samples
	joined    int    // records that paths have joined
	meter     plan.Meter
}

// records are the columns that a stage is bound to: those of the stage before, in one program.
type records struct {
	*binder
	program *plan.Program
	shape   *plan.Shape
	unknown func(path query.Path, at string) error // returns the error for an unknown name
	keep    []int                                  // columns to keep even if no stage names them
	key     string                                 // the field that _id means if no column has that name, or ""
	outer   *records                               // the record for which a Nest's program is computed, or nil outside of one
	lets    map[string]Node                        // variables over outer
	used    bool                                   // the program refers to outer
}

// Base returns the columns of a view as a program reads them, in the order of its key.
func Base(from *Relation) plan.Shape {
	shape := plan.Shape{Columns: make([]plan.Column, len(from.Fields))}
	for i, f := range from.Fields {
		c := plan.Column{Path: query.Path{f.Name}, Type: f.Type, Field: f, NotNull: f.NotNull, ID: from.Scope.ID(f.Name), Mask: from.Masks[f.Name]}
		if c.Mask.Names() { // it is read from the key, and nothing else of the field is
			key := from.Fields[slices.IndexFunc(from.Fields, func(k *schema.Field) bool { return k.Name == from.Key[0] })]
			shape.Columns[i] = plan.Column{Path: c.Path, Type: key.Type, Field: key, NotNull: key.NotNull, Mask: c.Mask}
			continue
		}
		c.Class, c.ClassKey = from.Scope.Pointer(f.Name)
		if f.Type == schema.Array {
			c.Type, c.List = schema.JSON, true
		}
		shape.Columns[i] = c
	}
	for _, k := range from.Key {
		shape.Order = append(shape.Order, plan.Place{Column: shape.Find(k)})
	}
	if from.Key == nil { // order by every field: records equal in all of them can't be told apart
		for i := range shape.Columns {
			if shape.Columns[i].Mask == nil { // a masked one is null
				shape.Order = append(shape.Order, plan.Place{Column: i})
			}
		}
	}
	return shape
}

// start begins a program over a view.
func (b *binder) start(from *Relation) *records {
	r := &records{binder: b, program: &plan.Program{From: from.Number, Base: Base(from)}}
	r.shape = &r.program.Base
	if len(from.Key) == 1 {
		r.key = from.Key[0]
	}
	r.unknown = func(path query.Path, at string) error {
		_, _, _, err := from.Scope.Field(path, at)
		return err
	}
	return r
}

// add adds a stage. Later stages are bound to its columns.
func (r *records) add(s plan.Stage) {
	r.program.Stages = append(r.program.Stages, s)
	r.shape = s.Out()
}

// unknownColumnError returns the error for an unknown name among computed columns.
func (r *records) unknownColumnError(path query.Path, at string) error {
	var names []string
	for _, c := range r.shape.Columns {
		if c.Path != nil {
			names = append(names, c.Key(), c.Path[0])
		}
	}
	return &problem.Error{Code: problem.InvalidQuery, Kind: "unknown_field", Pointer: at,
		Detail: fmt.Sprintf("unknown field %q: the stage before doesn't give it", problem.Cut(path.String())), Near: problem.Nearest(path.String(), names, 3)}
}
