// Package typecheck resolves the names in a query and determines the types of its expressions.
//
//	query.Pipeline, views ─Pipeline: names, types→ plan.Program
//	query.Filter, Scope ─Filter→ query.Filter with operands of the fields' types
//
// The package sees only the views that policy opens. A name is unknown if neither a view nor an earlier stage has it.
// The error for an unknown name is the same whether the name is hidden or doesn't exist. Each stage is bound to the
// columns of the preceding stage.
//
// A Node is an expression whose type may still be open. It is converted to the type that its context requires, or
// rejected with its JSON pointer. Package sqlbind also uses Nodes, for the expressions of SELECT statements. JSON
// values and columns without a type have a type that is known only at run time. Such a value gives null if it has
// another type than required. All other type errors are reported here, so no later step can fail because of the values
// in a record.
//
// Package hint composes the help for wrong queries.
package typecheck

import (
	"fmt"
	"slices"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// Relations opens the classes to which a query refers, as views of one principal.
type Relations interface {
	// Open returns the view of the class called name. Otherwise it returns an error. The error is the same for a hidden
	// class and for a class that doesn't exist. at is the JSON pointer of the name.
	Open(name, at string) (*Relation, error)
	// RecordUse records that a pipeline uses a field of a view.
	RecordUse(*schema.Field)
	// AllowedValues returns the values that a field may have, as text and as documented to the caller. It returns nil
	// if there is no list.
	AllowedValues(*schema.Field) []Allowed
	// StrictPointers reports whether a condition on a pointer accepts only an id, or a complete pointer to the right
	// class.
	StrictPointers() bool
	// SameClass reports whether two names mean the same class of the query's source, such as "users" and "crm.users".
	SameClass(a, b string) bool
}

// A Relation is a view of a class.
type Relation struct {
	Number int                   // the index in the plan's Views
	Name   string                // the name of the class in the caller's spelling
	Scope  Scope                 // resolves the paths of filters over the view
	Fields []*schema.Field       // the visible fields
	Key    []string              // the fields that identify a record, or nil if not all of them are visible
	Masks  map[string]*plan.Mask // by field, only for fields that have a mask

	// Constraints returns the pointers to other views of the caller, and the fields of unique indexes other than the
	// key. All are visible. It is nil except for descriptions in information_schema, which few statements use.
	Constraints func() ([]Pointer, [][]string)
}

// A Pointer is a field that contains values of a field of another view.
type Pointer struct{ Field, Target, TargetKey, Unique string } // Unique is the name of the constraint to which the pointer refers

// Pipeline binds the stages of q. The argument from is the view of the class of q. The argument relations opens other
// views. Pipeline returns the program and notes on conditions that can't hold. It refuses a pipeline that exceeds the
// limits in most.
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
	seed      string // the seed of samples
	joined    int    // the number of records that paths have joined
	meter     plan.Meter
}

// records are the columns to which a stage is bound: the columns of the preceding stage, in one program.
type records struct {
	*binder
	program *plan.Program
	shape   *plan.Shape
	unknown func(path query.Path, at string) error // returns the error for an unknown name
	keep    []int                                  // columns that stay even if no stage names them
	key     string                                 // the field to which _id refers if no column has that name, or ""
	outer   *records                               // the record for which a Nest's program is computed, or nil
	lets    map[string]Node                        // variables that refer to outer
	used    bool                                   // the program refers to outer
}

// Base returns the columns of a view in the form in which a program reads them, in the order of the view's key.
func Base(from *Relation) plan.Shape {
	shape := plan.Shape{Columns: make([]plan.Column, len(from.Fields))}
	for i, f := range from.Fields {
		c := plan.Column{Path: query.Path{f.Name}, Type: f.Type, Field: f, NotNull: f.NotNull, ID: from.Scope.ID(f.Name), Mask: from.Masks[f.Name]}
		if c.Mask.Names() { // a pseudonym is computed from the key: the field itself isn't read
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
	if from.Key == nil { // order by all fields: records that are equal in all of them are indistinguishable
		for i := range shape.Columns {
			if shape.Columns[i].Mask == nil { // a masked column is null
				shape.Order = append(shape.Order, plan.Place{Column: i})
			}
		}
	}
	return shape
}

// start begins a program over the view from.
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
