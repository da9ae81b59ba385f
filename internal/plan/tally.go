package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// A Tally describes a count in a column that isn't shown to callers. It counts the stored values of Field that were
// read as null in the groups of a record.
type Tally struct {
	Field *schema.Field
	In    []string // the columns of the record that are computed from the field
	Voids bool     // the values aren't read as null, but each makes its sum null
	// Several is set, and Field is nil, for the column that Guard adds. It contains the places of the guards, whose
	// numbers count from 1.
	Several []string
}

// Sentence returns a sentence that reports n counted values.
func (t *Tally) Sentence(n int64) string {
	in := strings.Join(t.In, ", ")
	many, is, each := "values", "are", "each is"
	if n == 1 {
		many, is, each = "value", "is", "it is"
	}
	if t.Voids {
		return fmt.Sprintf("%d %s of %s %s %s: %s is null for a group with such a value", n, many, t.Field.Name, is, t.Field.Beyond, in)
	}
	count := "count"
	if n == 1 {
		count = "counts"
	}
	return fmt.Sprintf("%d %s of %s %s as null in %s: %s %s", n, many, t.Field.Name, count, in, each, t.Field.Beyond)
}

// Tally adds columns to the result of p: one for each stored field with a Beyond that its groups read. The column
// counts the values that the groups read as null. The new columns come last, and each has a Tally. Only stages that
// keep the records of different groups separate can pass on a count. Tally returns a sentence about each field whose
// values can't be counted.
func (p *Program) Tally() []string {
	t := &tallier{p: p, made: map[carried]int{}, unsaid: map[string]*schema.Field{}}
	for i, s := range p.Stages {
		switch s.(type) {
		case *Filter, *Slice, *Sample, *Map, *Group, *Buckets:
		default:
			t.from = i + 1
		}
	}
	t.below(p.Base, p.Stages[:t.from])
	t.count()
	var out []string
	for _, name := range sortedKeys(t.unsaid) {
		out = append(out, fmt.Sprintf("if a value of %s is %s, it counts as null in the groups. How many such values there are was not counted", name, t.unsaid[name].Beyond))
	}
	return out
}

func sortedKeys(of map[string]*schema.Field) []string {
	var out []string
	for name := range of {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// A tallier adds counts to a program. A level is a number of stages that have run.
type tallier struct {
	p      *Program
	from   int // the lowest level from which columns can be added
	made   map[carried]int
	unsaid map[string]*schema.Field
}

// A carried is a column of the level below that is passed on or counted at level.
type carried struct{ level, column int }

// A lost is a column with stored values. Expressions read some of them as null. If counted is set, the column contains
// their number.
type lost struct {
	field   *schema.Field
	column  int
	counted bool
	voids   bool
}

// count adds the columns with the counts to the result.
func (t *tallier) count() {
	level := len(t.p.Stages)
	if level == t.from {
		return
	}
	out := t.p.Stages[level-1].Out()
	shown := len(out.Columns)
	var tallies []lost
	names := map[int][]string{}
	for i := range shown {
		if out.Columns[i].Path == nil {
			continue
		}
		for _, l := range t.of(level, i, false) {
			if names[l.column] == nil {
				tallies = append(tallies, l)
			}
			names[l.column] = append(names[l.column], out.Columns[i].Key())
		}
	}
	if len(tallies) == 0 {
		return
	}
	out.Columns = slices.Clone(out.Columns)
	for _, l := range tallies {
		c := &out.Columns[l.column]
		c.Path = query.Path{"\x00" + strconv.Itoa(l.column)} // names can't contain this character
		c.Tally = &Tally{Field: l.field, In: names[l.column], Voids: l.voids}
	}
}

// shape returns the shape of the records at a level.
func (t *tallier) shape(level int) *Shape {
	if level == 0 {
		return &t.p.Base
	}
	return t.p.Stages[level-1].Out()
}

// of returns the columns at a level with the losses of a column of that level. It adds missing columns. The result
// contains the numbers of lost values. With stored, it also contains the stored values, for a group that reads them.
func (t *tallier) of(level, column int, stored bool) []lost {
	shape := t.shape(level)
	if column >= len(shape.Columns) {
		return nil
	}
	if f := shape.Columns[column].Field; f != nil {
		if stored && unread(f) {
			return []lost{{field: f, column: column, voids: f.Type == schema.Double}}
		}
		return nil
	}
	if level <= t.from {
		if stored {
			t.noteSourceFields(t.p.Base, t.p.Stages[:level], column)
		}
		return nil
	}
	switch st := t.p.Stages[level-1].(type) {
	case *Filter, *Slice, *Sample:
		return t.carryColumns(level, t.of(level-1, column, stored))
	case *Map:
		return t.lostInMap(level, st, column, stored)
	case *Group:
		if n := len(st.Keys); column >= n {
			return t.lostInGroup(level, &st.Accumulators, &st.Shape, st.Accumulators[column-n])
		}
		return t.lostInGroup(level, &st.Accumulators, &st.Shape, Accumulator{Op: First, X: st.Keys[column]})
	case *Buckets:
		if column >= 2 {
			return t.lostInGroup(level, &st.Accumulators, &st.Shape, st.Accumulators[column-2])
		}
		return t.lostInGroup(level, &st.Accumulators, &st.Shape, Accumulator{Op: First, X: st.By})
	}
	return nil
}

// unread reports whether expressions read some stored values of a field as null.
func unread(f *schema.Field) bool { return f.Beyond != "" && f.Stored == nil }

// carryColumns adds the columns that were added to the preceding stage to the stage at level.
func (t *tallier) carryColumns(level int, found []lost) []lost {
	below, here := t.shape(level-1), t.shape(level)
	if n := len(here.Columns); n < len(below.Columns) {
		here.Columns = append(here.Columns[:n:n], below.Columns[n:]...)
	}
	return found
}

// lostInMap returns the losses of a column of a Map. It adds a column for each loss that the Map doesn't pass on yet.
func (t *tallier) lostInMap(level int, st *Map, column int, stored bool) []lost {
	var out []lost
	for _, ref := range columnsIn(st.Columns[column]) {
		for _, l := range t.of(level-1, ref, stored) {
			from := t.shape(level - 1).Columns[l.column]
			key := carried{level, l.column}
			at, ok := t.made[key]
			if !ok {
				at = len(st.Columns)
				from.Path, from.Behind = nil, nil
				st.Columns = append(st.Columns[:at:at], Ref{Column: l.column, T: from.Type})
				st.Shape.Columns = append(st.Shape.Columns[:at:at], from)
				t.made[key] = at
			}
			l.column = at
			out = append(out, l)
		}
	}
	return distinctColumns(out)
}

// lostInGroup returns the counts of the losses of a in a group. a is an accumulator of the group, or it reads a key of
// the group. lostInGroup appends the counts to all, the accumulators. Their columns are the last columns of shape.
func (t *tallier) lostInGroup(level int, all *[]Accumulator, shape *Shape, a Accumulator) []lost {
	if a.X == nil {
		return nil
	}
	var out []lost
	for _, ref := range columnsIn(a.X) {
		for _, l := range t.of(level-1, ref, true) {
			if l.voids && !l.counted && !voids(a) {
				continue
			}
			key := carried{level, l.column}
			at, ok := t.made[key]
			if !ok {
				n := len(*all)
				at = len(shape.Columns)
				one := Accumulator{Op: Unread, X: Ref{Column: l.column, T: t.shape(level - 1).Columns[l.column].Type}, T: schema.Integer}
				if l.counted {
					one.Op = Sum
				}
				*all = append((*all)[:n:n], one)
				shape.Columns = append(shape.Columns[:at:at], Column{Type: schema.Integer})
				t.made[key] = at
			}
			l.column, l.counted = at, true
			out = append(out, l)
		}
	}
	return distinctColumns(out)
}

// voids reports whether a NaN or an infinity in the column makes the accumulator null.
func voids(a Accumulator) bool {
	_, plain := a.X.(Ref)
	return plain && (a.Op == Sum || a.Op == Avg || a.Op == StdDevPop || a.Op == StdDevSamp)
}

// distinctColumns returns all without repeated columns.
func distinctColumns(all []lost) []lost {
	var out []lost
	for _, l := range all {
		if !slices.ContainsFunc(out, func(have lost) bool { return have.column == l.column }) {
			out = append(out, l)
		}
	}
	return out
}

// columnsIn returns the numbers of the columns to which e refers, in order.
func columnsIn(e Expr) []int {
	if ref, ok := e.(Ref); ok {
		return []int{ref.Column}
	}
	var out []int
	parts, err := operands(e)
	if err != nil {
		return nil
	}
	for _, part := range parts {
		if part == nil {
			continue
		}
		for _, c := range columnsIn(part) {
			if !slices.Contains(out, c) {
				out = append(out, c)
			}
		}
	}
	return out
}

// below notes the fields that groups read in stages that can't pass on a count, and in the programs of these stages.
func (t *tallier) below(in Shape, stages []Stage) {
	before := in
	for i, s := range stages {
		var read []Expr
		switch s := s.(type) {
		case *Group:
			read = s.Keys
			for _, a := range s.Accumulators {
				read = append(read[:len(read):len(read)], a.X)
			}
		case *Buckets:
			read = []Expr{s.By}
			for _, a := range s.Accumulators {
				read = append(read, a.X)
			}
		}
		for _, e := range read {
			t.reads(in, stages[:i], e)
		}
		for _, p := range programs(s, before) {
			t.below(p.Base, p.Stages)
		}
		before = *s.Out()
	}
}

// programs returns the inner programs of a stage. The argument in is the shape of the stage's records.
func programs(s Stage, in Shape) []*Program {
	switch s := s.(type) {
	case *Join:
		return []*Program{s.Right}
	case *Probe:
		return []*Program{s.Right}
	case *Nest:
		return []*Program{s.Right}
	case *Closure:
		return []*Program{s.Right}
	case *Union:
		return []*Program{s.Right}
	case *Facet:
		out := make([]*Program, len(s.Branches))
		for i, b := range s.Branches {
			of := *b
			of.Base = in // the records of the facet
			out[i] = &of
		}
		return out
	}
	return nil
}

// noteSourceFields notes the fields from which a column is computed. The column is in the result of stages over records
// of shape in. The values of these fields aren't counted.
func (t *tallier) noteSourceFields(in Shape, stages []Stage, column int) {
	shape := in
	if n := len(stages); n > 0 {
		shape = *stages[n-1].Out()
	}
	if column >= len(shape.Columns) {
		return
	}
	if f := shape.Columns[column].Field; f != nil {
		if unread(f) && f.Type != schema.Double {
			t.unsaid[f.Name] = f
		}
		return
	}
	if len(stages) == 0 {
		return
	}
	before := stages[:len(stages)-1]
	width := len(in.Columns)
	if len(before) > 0 {
		width = len(before[len(before)-1].Out().Columns)
	}
	var read []Expr
	switch s := stages[len(stages)-1].(type) {
	case *Map:
		read = []Expr{s.Columns[column]}
	case *Group, *Buckets: // handled below
	case *Union:
		if column < len(s.Left) {
			read = []Expr{s.Left[column]}
			for _, c := range columnsIn(s.Added[column]) {
				t.noteSourceFields(s.Right.Base, s.Right.Stages, c)
			}
		}
	case *Join:
		if column >= width {
			t.noteSourceFields(s.Right.Base, s.Right.Stages, column-width)
			return
		}
		read = []Expr{Ref{Column: column}}
	case *Windows:
		read = []Expr{Ref{Column: column}}
		if column >= width {
			read = []Expr{s.Functions[column-width].X}
		}
	default:
		if column < width {
			read = []Expr{Ref{Column: column}}
		}
	}
	for _, e := range read {
		t.reads(in, before, e)
	}
}

// reads calls noteSourceFields for each column to which e refers. e may be nil.
func (t *tallier) reads(in Shape, stages []Stage, e Expr) {
	if e == nil {
		return
	}
	for _, c := range columnsIn(e) {
		t.noteSourceFields(in, stages, c)
	}
}
