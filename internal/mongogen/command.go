// Package mongogen writes the commands with which MongoDB, and servers with the same protocol, run a Permit.
//
//	policy.Plan ─Writer: view first, then stages→ Command ─source/mongodb→ documents ─DecodeBSON→ values
//
// The package does no I/O. Where the plan names a class, it first writes the view: a $match of the view's predicate and
// a $project of the visible fields. The rest of the pipeline has no access to hidden fields and records. Values are
// always operands. In expressions they are under $literal. Nameable checks every name of a member. Expressions never
// raise an error, whatever a record contains.
//
// A stage that a server can't run with the same meaning isn't written. A Command contains the number of stages that it
// runs, and package interpret runs the remaining stages over its records.
//
// The package converts values from and to BSON. A value keeps its stored type, whatever the type of its field. The one
// exception is a whole number in a field of Integers: it is an Int even if it is stored as a double. Many drivers store
// all numbers as doubles.
package mongogen

import (
	"fmt"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/bailiwick-dev/bailiwick/internal/interpret"
	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A Level is a set of features of a server.
type Level uint8

// The levels. The zero Level has the fewest features.
const (
	FerretDB Level = iota // find, $match, $sort, $skip, $limit, $project of fields, $count
	MongoDB               // 7.0 and later: the whole aggregation language
)

// String returns the name of l for explain.
func (l Level) String() string {
	if l == MongoDB {
		return "MongoDB"
	}
	return "FerretDB"
}

// A Command is one aggregation, with a description of its documents.
type Command struct {
	Collection string
	Pipeline   bson.A
	Columns    []Column // the members of a document, in order
	// Stages is the number of stages of the plan's Program that the command runs.
	Stages int
	// Whole means that no further records are needed. The result has at most one record more than the limit of the
	// plan.
	Whole bool
}

// A Column is a member of the documents that a Command returns.
type Column struct {
	Name     string
	Type     schema.Type
	Computed bool // it is not a field of the class
	Shown    bool // it is only returned, and nothing else depends on it
}

// Keys returns the key values of the records that the view of a Through shows. Servers without $lookup need them.
type Keys func(*policy.Through) (bson.A, error)

// A Writer writes the commands of one plan.
type Writer struct {
	Level Level
	Plan  *policy.Plan
	Keys  Keys // required for FerretDB
}

// Records writes the command that reads the required records of a view. For the view of a find or a count, it reads
// only records that the caller's filter may match. If possible, it reads at most a page.
func (w *Writer) Records(n interpret.Need) (Command, error) {
	c := n.View.Class()
	extra := []cond{}
	if n.Key != "" {
		extra = append(extra, w.needCond(c, n))
	}
	own := n.View == w.Plan.View && w.Plan.Program == nil
	if own {
		extra = append(extra, w.own(c, w.Plan.Where))
	}
	out := Command{Collection: c.Table}
	var err error
	var search *policy.Search
	if own {
		search = w.Plan.Search
	}
	if out.Pipeline, err = w.view(n.View, extra, search); err != nil {
		return out, err
	}
	read, whole := interpret.Reads(w.Plan, n.View)
	out.Pipeline[len(out.Pipeline)-1] = stage("$project", visible(n.View, read))
	for _, f := range c.Fields {
		out.Columns = append(out.Columns, Column{Name: f.Name, Type: f.Type, Shown: !whole(f.Name)})
	}
	if own && n.Key == "" && w.Plan.Search == nil && exact(extra) && w.Plan.After == nil {
		if by, ok := w.order(); ok {
			out.Pipeline = append(out.Pipeline, stage("$sort", by), stage("$limit", int64(w.Plan.Skip)+int64(w.Plan.Limit)+1))
			out.Whole = true
		}
	}
	return out, nil
}

// Count writes the command that counts the records of a plan. It returns false if counting requires reading the
// records.
func (w *Writer) Count() (Command, bool, error) {
	c := w.Plan.View.Class()
	where := w.own(c, w.Plan.Where)
	if !where.exact || w.Plan.Search != nil {
		return Command{}, false, nil
	}
	stages, err := w.view(w.Plan.View, []cond{where}, nil)
	if err != nil {
		return Command{}, false, err
	}
	return Command{Collection: c.Table, Pipeline: append(stages, stage("$count", "n")), Columns: []Column{{Name: "n", Type: schema.Integer}}, Whole: true}, true, nil
}

func exact(conds []cond) bool {
	for _, c := range conds {
		if !c.exact {
			return false
		}
	}
	return true
}

// own writes a filter over the records of a plan's view. Conditions on records behind pointers aren't written.
func (w *Writer) own(c *schema.Class, f query.Filter) cond {
	return matcher{w.Level, func(key string) (string, *schema.Field) {
		if join, field := w.Plan.Column(key); join >= 0 || field == nil {
			return "", nil
		}
		return membersOf(c)(key)
	}}.match(f)
}

// needCond writes the condition that the field Key of a Need has one of its values.
func (w *Writer) needCond(c *schema.Class, n interpret.Need) cond {
	return matcher{w.Level, membersOf(c)}.in(query.In{Path: query.Path{n.Key}, Values: n.In})
}

// membersOf returns the names of the members of a class's documents.
func membersOf(c *schema.Class) columns {
	return func(key string) (string, *schema.Field) {
		f := c.Field(key)
		if f == nil || !Nameable(f.Name) {
			return "", nil
		}
		return f.Name, f
	}
}

// Key writes the condition that a document of a class has a key.
func Key(l Level, c *schema.Class, id []value.Value) (bson.D, error) {
	m := matcher{l, membersOf(c)}
	var docs bson.A
	for i, v := range id {
		is := m.in(query.In{Path: query.Path{c.Key[i]}, Values: []value.Value{v}})
		if !is.exact || is.doc == nil {
			return nil, problem.New(problem.Unsupported, fmt.Sprintf("records of %s can't be found by %s in this source", c.Name, c.Key[i]))
		}
		docs = append(docs, is.doc)
	}
	if len(docs) == 0 {
		return nil, problem.New(problem.Unsupported, fmt.Sprintf("records of %s have no key", c.Name))
	}
	return bson.D{{Key: "$and", Value: docs}}, nil
}

// Nameable reports whether name can be a member's name in a command. Other names are never written.
func Nameable(name string) bool {
	return name != "" && !strings.HasPrefix(name, "$") && !strings.ContainsAny(name, ".\x00")
}

// stage is one stage of a pipeline.
func stage(name string, operand any) bson.D { return bson.D{{Key: name, Value: operand}} }

// view writes the stages that yield the visible fields of a view's records. extra contains further conditions, which
// may only be over visible fields.
func (w *Writer) view(v *policy.View, extra []cond, search *policy.Search) (bson.A, error) {
	c := v.Class()
	var docs, joins bson.A
	for _, l := range v.Layers() {
		if l.Through != nil {
			doc, more, err := w.through(l.Through)
			if err != nil {
				return nil, err
			}
			docs, joins = append(docs, doc), append(joins, more...)
			continue
		}
		is := matcher{w.Level, membersOf(c)}.match(l.Filter)
		if !is.exact {
			return nil, &problem.Error{Code: problem.Unsupported, Detail: fmt.Sprintf("the rules of %s can't be run in this source", v.Name()),
				Suggestion: "tell the operator: the tenant, filter or canonical rule of the class must compare fields by equality or order", Kind: "rule_not_native"}
		}
		if is.doc != nil {
			docs = append(docs, is.doc)
		}
	}
	var stages bson.A
	if search != nil {
		stages = append(stages, searching(search))
	}
	for _, e := range extra {
		if e.doc != nil {
			docs = append(docs, e.doc)
		}
	}
	if len(docs) == 1 {
		stages = append(stages, stage("$match", docs[0]))
	} else if len(docs) > 1 {
		stages = append(stages, stage("$match", bson.D{{Key: "$and", Value: docs}}))
	}
	return append(append(stages, joins...), stage("$project", visible(v, all))), nil
}

// Atlas is the Config of an index of Atlas Search.
const Atlas = "atlas"

// searching writes the stage that finds candidates by an index. The gateway later decides which candidates match. A
// stage of Atlas Search contains no conditions of the view. The stages of the view follow it before anything counts or
// orders records.
func searching(s *policy.Search) bson.D {
	x := s.In[0]
	if x.Index.Config != Atlas {
		return stage("$match", bson.D{{Key: "$text", Value: bson.D{{Key: "$search", Value: searchTerms(s)}}}})
	}
	each := bson.A{}
	for _, t := range s.Terms {
		each = append(each, bson.D{{Key: "phrase", Value: bson.D{{Key: "query", Value: t}, {Key: "path", Value: x.Fields}}}})
	}
	return stage("$search", bson.D{{Key: "index", Value: x.Index.Name}, {Key: "compound", Value: bson.D{{Key: "filter", Value: each}}}})
}

// searchTerms writes terms for a text index. A quoted term is required.
func searchTerms(s *policy.Search) string {
	var out []string
	for _, t := range s.Terms {
		out = append(out, `"`+strings.ReplaceAll(t, `"`, " ")+`"`)
	}
	return strings.Join(out, " ")
}

func all(string) bool { return true }

// visible writes the projection of the fields of a view for which read returns true.
func visible(v *policy.View, read func(name string) bool) bson.D {
	out := bson.D{}
	own := false
	for _, f := range v.Fields() {
		if Nameable(f.Name) && read(f.Name) {
			out = append(out, bson.E{Key: f.Name, Value: int32(1)})
			own = own || f.Name == "_id"
		}
	}
	if len(out) == 0 {
		return bson.D{{Key: "_id", Value: int32(1)}} // a document without fields to read
	}
	if !own {
		out = append(out, bson.E{Key: "_id", Value: int32(0)})
	}
	return out
}

// joined is the member for the records found by a Through, until a later stage removes it.
const joined = "~through"

// through writes the condition that a pointer leads into a view. It returns the condition before the view's projection,
// and the stages after the condition.
func (w *Writer) through(t *policy.Through) (bson.D, bson.A, error) {
	if !Nameable(t.Field) || !Nameable(t.Key) {
		return nil, nil, problem.New(problem.Unsupported, "a rule names a field that can't be named in this source")
	}
	if w.Level == FerretDB {
		keys, err := w.Keys(t)
		return bson.D{{Key: "$and", Value: bson.A{bson.D{{Key: t.Field, Value: bson.D{{Key: "$in", Value: keys}}}}, noList(t.Field)}}}, nil, err
	}
	stages, err := w.view(t.View, nil, nil)
	if err != nil {
		return nil, nil, err
	}
	stages = stages[:len(stages)-1] // the last stage would hide the key
	same := bson.D{{Key: "$eq", Value: bson.A{"$" + t.Key, "$$k"}}}
	stages = append(stages, stage("$match", bson.D{{Key: "$expr", Value: same}}), stage("$limit", int64(1)), stage("$project", bson.D{{Key: "_id", Value: int32(1)}}))
	lookup := bson.D{{Key: "from", Value: t.View.Class().Table}, {Key: "let", Value: bson.D{{Key: "k", Value: "$" + t.Field}}}, {Key: "pipeline", Value: stages}, {Key: "as", Value: joined}}
	return bson.D{{Key: "$and", Value: bson.A{bson.D{{Key: t.Field, Value: bson.D{{Key: "$ne", Value: nil}}}}, noList(t.Field)}}},
		bson.A{stage("$lookup", lookup), stage("$match", bson.D{{Key: joined, Value: bson.D{{Key: "$ne", Value: bson.A{}}}}})}, nil
}

// order writes the order of a plan. It returns false if the server's order differs.
func (w *Writer) order() (bson.D, bool) {
	by := bson.D{}
	for _, o := range w.Plan.Order {
		if o.Join >= 0 || o.Near != nil || !sortable(o.Field) {
			return nil, false
		}
		by = append(by, term(o.Field.Name, o.Desc))
	}
	return by, len(by) > 0
}

func term(name string, desc bool) bson.E {
	if desc {
		return bson.E{Key: name, Value: int32(-1)}
	}
	return bson.E{Key: name, Value: int32(1)}
}

// sortable reports whether a server orders the values of a field in the same way as the query language.
func sortable(f *schema.Field) bool {
	if !Nameable(f.Name) {
		return false
	}
	switch f.Type {
	case schema.Integer, schema.Double, schema.Decimal, schema.Boolean, schema.Date, schema.UUID:
		return true
	case schema.String:
		return f.Native == ObjectID || plainText(f)
	}
	return false
}

// sortableColumn is sortable for a column between stages.
func sortableColumn(c *plan.Column) bool {
	if c.Field != nil {
		return sortable(c.Field)
	}
	return sortable(&schema.Field{Name: "x", Type: c.Type})
}

// KeysOf writes the command that reads the keys to which a Through leads. If only isn't nil, it reads only the keys in
// it.
func (w *Writer) KeysOf(t *policy.Through, only []value.Value) (Command, error) {
	var extra []cond
	if only != nil {
		extra = append(extra, w.needCond(t.View.Class(), interpret.Need{View: t.View, Key: t.Key, In: only}))
		if !exact(extra) {
			return Command{}, problem.New(problem.Unsupported, "a rule compares keys that can't be compared in this source")
		}
	}
	stages, err := w.view(t.View, extra, nil)
	if err != nil {
		return Command{}, err
	}
	stages[len(stages)-1] = stage("$project", bson.D{{Key: t.Key, Value: int32(1)}})
	if t.Key != "_id" {
		stages[len(stages)-1] = stage("$project", bson.D{{Key: t.Key, Value: int32(1)}, {Key: "_id", Value: int32(0)}})
	}
	return Command{Collection: t.View.Class().Table, Pipeline: stages}, nil
}

// Find writes the first command of a find or a count that requires reading the records. The text lists the parts of the
// query that the gateway runs on them, except for following pointers.
func (w *Writer) Find() (Command, string, error) {
	c, err := w.Records(interpret.Need{View: w.Plan.View})
	if err != nil || c.Whole {
		return c, "", err
	}
	var rest []string
	where := w.own(w.Plan.View.Class(), w.Plan.Where)
	if !where.exact {
		rest = append(rest, "the conditions of where")
	}
	if w.Plan.Search != nil {
		rest = append(rest, "the search")
	}
	if w.Plan.Count {
		rest = append(rest, "the count")
	} else {
		rest = append(rest, "the order and the page")
	}
	return c, strings.Join(rest, ", "), nil
}
