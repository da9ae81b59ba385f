package plan

import (
	"fmt"
	"strings"

	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// String describes p completely, for tests and explain. It has one line for each stage, with the stage's columns.
func (p *Program) String() string {
	var out strings.Builder
	in := fmt.Sprintf("view %d", p.From)
	switch p.From {
	case Input:
		in = "input"
	case Listed:
		in = fmt.Sprintf("list of %d", len(p.Rows))
	}
	fmt.Fprintf(&out, "%s%s\n", in, p.Base)
	for _, s := range p.Stages {
		for i, line := range strings.Split(stageText(s), "\n") {
			if i > 0 {
				line = "  " + line
			}
			out.WriteString(line + "\n")
		}
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// String returns the columns of s and their order. A hidden column is #number.
func (s Shape) String() string {
	names := make([]string, len(s.Columns))
	for i, c := range s.Columns {
		if names[i] = c.Key(); c.Path == nil && c.Behind == nil {
			names[i] = fmt.Sprintf("#%d", i)
		}
		names[i] += ":" + c.Type.String()
		if c.Mask != nil {
			names[i] += " as " + string(c.Mask.Kind)
		}
	}
	order := make([]string, len(s.Order))
	for i, o := range s.Order {
		if order[i] = fmt.Sprintf("#%d", o.Column); o.Desc {
			order[i] = "-" + order[i]
		}
	}
	text := " (" + strings.Join(names, ", ") + ") by " + strings.Join(order, " ")
	if s.Optional != nil {
		text += fmt.Sprint(" optional ", s.Optional)
	}
	return strings.TrimSuffix(text, " by ")
}

// stageText returns a stage in the form of tests and explain: its operands, its columns, and its inner programs, with
// indented lines.
func stageText(s Stage) string {
	shape := s.Out().String()
	switch s := s.(type) {
	case *Filter:
		text := "filter"
		if s.Where != nil {
			text += " " + query.Print(s.Where).String()
		}
		if s.If != nil {
			text += " if " + Text(s.If)
		}
		return text
	case *Map:
		return "map [" + texts(s.Columns) + "]" + shape
	case *Group:
		return "group [" + texts(s.Keys) + "] " + accumulators(s.Accumulators) + always(s.Always) + shape
	case *Buckets:
		return fmt.Sprintf("buckets %d of %s %s%s", s.N, Text(s.By), accumulators(s.Accumulators), shape)
	case *Windows:
		return windows(s) + shape
	case *Slice:
		return fmt.Sprintf("slice %d, %d", s.Skip, s.Limit)
	case *Unwind:
		return "unwind" + keepText(s.Keep) + " " + Text(s.List) + shape
	case *Join:
		text := "join" + keepText(s.Keep) + " on " + pairs(s.On)
		if s.If != nil {
			text += " if " + Text(s.If)
		}
		return text + shape + "\n" + s.Right.String()
	case *Probe:
		what := "the value of"
		if s.Exists {
			what = "whether there is"
		}
		return "probe " + what + shape + "\n" + s.Right.String()
	case *Nest:
		return "nest on " + pairs(s.On) + shape + "\n" + s.Right.String()
	case *Closure:
		return fmt.Sprintf("closure from %s: #%d to #%d, %d steps %s%s\n%s", Text(s.Start), s.From, s.To, s.Depth, s.DepthName, shape, s.Right)
	case *Union:
		return "union [" + texts(s.Left) + "] with [" + texts(s.Added) + "]" + shape + "\n" + s.Right.String()
	case *Facet:
		text := "facet" + shape
		for _, b := range s.Branches {
			text += "\n" + b.String()
		}
		return text
	case *Sample:
		return fmt.Sprintf("sample %d", s.N)
	}
	return fmt.Sprintf("%T", s)
}

func keepText(keep bool) string {
	if keep {
		return " keeping all"
	}
	return ""
}

func always(b bool) string {
	if b {
		return " always"
	}
	return ""
}

func pairs(on []Pair) string {
	out := make([]string, len(on))
	for i, p := range on {
		out[i] = Text(p.Left) + " = " + Text(p.Right)
	}
	return strings.Join(out, ", ")
}

// accumulators returns a list of accumulators as text. Its names are in the order of the constants of Accumulate.
func accumulators(list []Accumulator) string {
	names := [...]string{"sum", "avg", "min", "max", "count", "countDistinct", "first", "last", "push", "addToSet", "stdDevPop", "stdDevSamp", "percentile", "unread"}
	out := make([]string, len(list))
	for i, a := range list {
		out[i] = names[a.Op]
		if a.X != nil {
			out[i] += " " + Text(a.X)
		}
		if a.Op == Percentile {
			out[i] += fmt.Sprintf(" at %d", a.Point) + []string{"", " before", " after"}[a.Among]
		}
	}
	return "[" + strings.Join(out, ", ") + "]"
}

// windows describes s: the computation of each function, then the partition and the order.
func windows(s *Windows) string {
	out := make([]string, len(s.Functions))
	for i, f := range s.Functions {
		switch f.Kind {
		case Accumulated:
			out[i] = strings.Trim(accumulators([]Accumulator{f.Accumulator}), "[]") + fmt.Sprintf(" over %+v", f.Frame)
		case Shifted:
			out[i] = fmt.Sprintf("shift %s by %d or %s", Text(f.X), f.Offset, Text(f.Default))
		default:
			out[i] = [...]string{RowNumber: "number", Ranked: "rank", DenseRanked: "dense rank"}[f.Kind]
		}
	}
	by := Shape{Order: s.Order}
	return fmt.Sprintf("windows [%s] by %v%s", strings.Join(out, ", "), s.By, strings.TrimPrefix(by.String(), " ()"))
}

func texts(list []Expr) string {
	out := make([]string, len(list))
	for i, e := range list {
		out[i] = Text(e)
	}
	return strings.Join(out, ", ")
}

func call(name string, args ...string) string { return name + "(" + strings.Join(args, ", ") + ")" }

// Text describes e.
func Text(e Expr) string {
	in := func(name string, t schema.Type, x Expr) string { return call(name+":"+t.String(), Text(x)) }
	switch e := e.(type) {
	case nil:
		return "none"
	case Ref:
		return fmt.Sprintf("#%d", e.Column)
	case Outer:
		return fmt.Sprintf("outer%d#%d", e.Up, e.Column)
	case Element:
		return fmt.Sprintf("element%d", e.Up)
	case Before:
		return fmt.Sprintf("before%d", e.Up)
	case Const:
		return string(e.Value.AppendJSON(nil)) + ":" + e.T.String()
	case Part:
		return Text(e.X) + "." + e.Path.String()
	case SetPart:
		return call("set", Text(e.X), e.Path.String(), Text(e.V))
	case Object:
		parts := make([]string, len(e.Names))
		for i := range e.Names {
			parts[i] = e.Names[i] + ": " + Text(e.Values[i])
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case List:
		return "[" + texts(e.Elements) + "]"
	case Apply:
		return call(e.Op.String(), texts(e.Args))
	case Case:
		parts := make([]string, len(e.If))
		for i := range e.If {
			parts[i] = Text(e.If[i]) + " → " + Text(e.Then[i])
		}
		return call("case", append(parts, Text(e.Else))...)
	case As:
		return in("as", e.T, e.X)
	case ToJSON:
		return call("json", Text(e.X))
	case Convert:
		return in("convert", e.T, e.X)
	case Widen:
		return in("widen", e.T, e.X)
	case Matches:
		return call("matches", Text(e.X), e.Regex.Expression())
	case DatePart:
		return call(e.Part, Text(e.X), e.Zone)
	case DateTrunc:
		return call("trunc", Text(e.X), e.Unit, e.Zone)
	case DateText:
		return call("format", Text(e.X), e.Format, e.Zone)
	case DateShift:
		return call("shift", Text(e.X), Text(e.Amount), e.Unit, e.Zone)
	case DateDiff:
		return call("diff", Text(e.From), Text(e.To), e.Unit, e.Zone)
	case Over:
		return call([]string{"each", "select", "reduce"}[e.Do], Text(e.Input), Text(e.Initial), Text(e.Limit), Text(e.Body))
	}
	return fmt.Sprintf("%T", e)
}
