package mongogen

import (
	"slices"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// Program writes the longest beginning of the plan's Program that the server runs with the same meaning. The documents
// contain all columns of the resulting shape.
func (w *Writer) Program() (Command, error) {
	p := w.Plan.Program
	if p.From < 0 || p.From >= len(w.Plan.Views) {
		return Command{}, problem.New(problem.Internal, "the program begins with no view of the plan")
	}
	v := w.Plan.Views[p.From]
	f := &flow{w: w, shape: &p.Base}
	for i := range p.Base.Columns {
		f.names = append(f.names, p.Base.Columns[i].Field.Name)
	}
	done, leading := f.leading(p.Stages)
	stages, err := w.view(v, leading, nil)
	if err != nil {
		return Command{}, err
	}
	stages[len(stages)-1] = stage("$project", visible(v, f.live(p)))
	f.stages = stages
	if exact(leading) {
		for done < len(p.Stages) && f.stage(p.Stages[done]) {
			f.shape = p.Stages[done].Out()
			done++
		}
	}
	out := Command{Collection: v.Class().Table, Stages: done}
	if done == len(p.Stages) {
		if by, ok := f.order(f.shape); ok {
			f.add("$sort", by)
			f.add("$limit", int64(w.Plan.Limit)+1)
			out.Whole = true
		}
	}
	out.Pipeline = f.stages
	for i := range f.shape.Columns {
		out.Columns = append(out.Columns, Column{Name: f.names[i], Type: f.shape.Columns[i].Type, Computed: f.shape.Columns[i].Field == nil})
	}
	return out, nil
}

// live reports which columns of the Program's base the result depends on.
func (f *flow) live(p *plan.Program) func(name string) bool {
	live := p.Live()
	return func(name string) bool {
		i := slices.Index(f.names, name)
		return i >= 0 && live[i]
	}
}

// A flow is the records between two stages, as documents.
type flow struct {
	w      *Writer
	stages bson.A
	shape  *plan.Shape
	names  []string // the names of the members for the columns
}

func (f *flow) add(name string, operand any) { f.stages = append(f.stages, stage(name, operand)) }

// leading returns the conditions of the filters at the beginning of a Program, and their number. Stages after an
// inexact condition can't run in MongoDB.
func (f *flow) leading(stages []plan.Stage) (int, []cond) {
	var out []cond
	for i, s := range stages {
		filter, ok := s.(*plan.Filter)
		if !ok || filter.If != nil {
			return i, out
		}
		is := f.match(filter.Where)
		if !is.exact && f.w.Level == MongoDB {
			return i, out // the condition may be written as an expression instead
		}
		out = append(out, is)
		if !is.exact {
			return i, out
		}
	}
	return len(stages), out
}

// match writes a filter over the columns of the flow.
func (f *flow) match(where query.Filter) cond {
	return matcher{f.w.Level, func(key string) (string, *schema.Field) {
		i := f.shape.Find(key)
		if i < 0 || !Nameable(f.names[i]) {
			return "", nil
		}
		if c := &f.shape.Columns[i]; c.Field == nil {
			return f.names[i], &schema.Field{Name: f.names[i], Type: c.Type}
		}
		return f.names[i], f.shape.Columns[i].Field
	}}.match(where)
}

// stage writes a stage, and reports whether the server can run it.
func (f *flow) stage(s plan.Stage) bool {
	switch s := s.(type) {
	case *plan.Filter:
		return f.filter(s)
	case *plan.Slice:
		return f.slice(s)
	case *plan.Map:
		return f.writeMap(s)
	case *plan.Unwind:
		return f.unwind(s)
	case *plan.Group:
		return f.group(s)
	case *plan.Nest:
		return f.nest(s)
	case *plan.Join:
		return f.join(s)
	}
	return false
}

// filter writes a condition. An inexact condition still reduces the number of records, but must be evaluated again.
func (f *flow) filter(s *plan.Filter) bool {
	is := f.match(s.Where)
	if is.doc != nil {
		f.add("$match", is.doc)
	}
	if !is.exact || s.If == nil {
		return is.exact
	}
	test, ok := f.expr(s.If)
	if ok {
		f.add("$match", bson.D{{Key: "$expr", Value: test}})
	}
	return ok
}

// slice writes skip and limit over the total order. It returns false for a limit of 0, which MongoDB refuses.
func (f *flow) slice(s *plan.Slice) bool {
	by, ok := f.order(f.shape)
	if !ok || s.Limit == 0 {
		return false
	}
	f.add("$sort", by)
	if s.Skip > 0 {
		f.add("$skip", s.Skip)
	}
	if s.Limit > 0 {
		f.add("$limit", s.Limit)
	}
	return true
}

// order writes the order of a shape. It returns false if the server's order differs.
func (f *flow) order(s *plan.Shape) (bson.D, bool) {
	by := bson.D{}
	for _, p := range s.Order {
		if !Nameable(f.names[p.Column]) || !sortableColumn(&s.Columns[p.Column]) {
			return nil, false
		}
		by = append(by, term(f.names[p.Column], p.Desc))
	}
	return by, len(by) > 0
}

// Text returns a command as readable text: extended JSON with one stage in each line. Values are omitted: an operand of
// a comparison is shown as ?.
func (c Command) Text() string {
	out := c.Collection + ".aggregate([\n"
	for _, s := range c.Pipeline {
		out += "  " + redactStage(s) + ",\n"
	}
	return out + "])"
}

// redactStage writes a stage of a command without its values. It replaces the operands of $literal, and the operands in
// a $match that aren't documents. Names of operators, members and variables stay.
func redactStage(v any) string { return redactPart(v, false) }

// redactPart is redactStage for a part of a stage. Constants in a $match and in $literal become "?", because they may
// be a caller's values.
func redactPart(v any, match bool) string {
	switch v := v.(type) {
	case bson.D:
		out := "{"
		for i, e := range v {
			if i > 0 {
				out += ", "
			}
			if e.Key == "$literal" {
				return "?"
			}
			out += strconv.Quote(e.Key) + ": " + redactPart(e.Value, (match || e.Key == "$match") && e.Key != "$expr")
		}
		return out + "}"
	case bson.A:
		out := "["
		for i, e := range v {
			if i > 0 {
				out += ", "
			}
			out += redactPart(e, match)
		}
		return out + "]"
	case int32:
		return strconv.Itoa(int(v)) // a sign of $project or $sort
	case string:
		if !match {
			return strconv.Quote(v)
		}
	case bool:
		if !match {
			return strconv.FormatBool(v)
		}
	case nil:
		return "null"
	}
	return "?"
}
