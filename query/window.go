package query

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/hint"
	"github.com/bailiwick-dev/bailiwick/internal/literals"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// maxOffset is the maximum distance of a record in a window.
const maxOffset = 1_000_000

// rankings are the functions of $setWindowFields without an operand.
var rankings = []string{"$rank", "$denseRank", "$documentNumber"}

// WindowFunctions lists the functions of $setWindowFields.
var WindowFunctions = slices.Concat([]string{"$rank", "$denseRank", "$documentNumber", "$shift"}, windowed)

// windowed are the accumulators that $setWindowFields accepts.
var windowed = []string{"$sum", "$avg", "$min", "$max", "$count", "$first", "$last", "$stdDevPop", "$stdDevSamp"}

// windows parses $setWindowFields. partitionBy: null is the same as no partitionBy. Without sortBy, it refuses
// functions that depend on an order.
func (o operand) windows() Stage {
	o.object("partitionBy", "sortBy", "output")
	s := SetWindowFields{At: o.at}
	if by, ok := o.get("partitionBy"); ok && !by.is(value.Null) {
		s.By = by.expr()
	}
	if order, ok := o.get("sortBy"); ok && o.err == nil {
		order.name = "sortBy"
		if sort, ok := order.sort().(SortStage); ok {
			s.Order = sort.Order
		}
	}
	output := o.need("output")
	if o.err == nil && len(output.v.Members()) == 0 {
		o.refuse(invalid(output.at, `output takes an object of functions, as in {"place": {"$rank": {}}}`))
	}
	for m := range output.members {
		o.refuse(literals.Name(m.name, m.at))
		s.Output = append(s.Output, m.window(len(s.Order) > 0))
	}
	return s
}

// window parses one member of an output.
func (o operand) window(sorted bool) Window {
	w := Window{First: true, Last: true}
	framed := false
	for f := range o.members {
		switch {
		case f.name == "window":
			framed = true
			f.frame(&w, sorted)
		case w.Op != "":
			o.refuse(invalid(f.at, fmt.Sprintf("%s takes one function and a window", problem.Cut(o.name))))
		default:
			w.Accumulator = f.function(o.name, &w)
		}
	}
	if o.err != nil {
		return w
	}
	ranks := !slices.Contains(windowed, w.Op)
	switch {
	case w.Op == "":
		o.refuse(invalid(o.at, fmt.Sprintf(`%q takes a function, as in {"$sum": "$amount", "window": {"documents": ["unbounded", "current"]}}`, problem.Cut(o.name))))
	case ranks && framed:
		o.refuse(invalid(o.at, w.Op+" takes no window"))
	case ranks && !sorted:
		o.refuse(invalid(o.at, w.Op+" needs sortBy"))
	}
	return w
}

// function parses the function of a window called name.
func (o operand) function(name string, w *Window) Accumulator {
	a := Accumulator{Name: name, Op: o.name, At: o.at}
	switch {
	case slices.Contains(rankings, o.name):
		if !o.is(value.Object) || len(o.v.Members()) > 0 {
			o.refuse(invalidWithHint(o.at, o.name+" takes an empty object", `Write {"`+o.name+`": {}}.`))
		}
		o.node()
	case o.name == "$shift":
		o.object("output", "by", "default")
		a.X, w.By = o.need("output").expr(), o.need("by").whole(-maxOffset, maxOffset)
		if other, ok := o.get("default"); ok && !other.is(value.Null) {
			w.Default = other.scalar()
		}
	case slices.Contains(windowed, o.name):
		return o.accumulator(name)
	case slices.Contains(Accumulators, o.name):
		o.refuse(invalidWithHint(o.at, o.name+" is not a function of $setWindowFields", "Use it in a $group. $setWindowFields takes "+strings.Join(WindowFunctions, ", ")+"."))
	default:
		o.refuse(hint.Operator("windows", o.name, o.at, WindowFunctions))
	}
	return a
}

// frame parses {"documents": [lower, upper]}.
func (o operand) frame(w *Window, sorted bool) {
	if _, ok := o.get("range"); ok {
		o.refuse(&problem.Error{Code: problem.Unsupported, Pointer: o.at, Detail: "a window by range is not supported",
			Suggestion: `Use {"documents": [lower, upper]}, which counts records, or $group by $dateTrunc first.`})
	}
	o.object("documents")
	bounds := o.need("documents")
	if o.err == nil && len(bounds.v.List()) != 2 {
		o.refuse(invalid(bounds.at, `documents takes a lower and an upper bound, as in ["unbounded", "current"] or [-6, 0]`))
	}
	upper := false
	for b := range bounds.members {
		n := int64(0)
		open := b.v.Text() == "unbounded"
		if !open && b.v.Text() != "current" {
			n = b.whole(-maxOffset, maxOffset)
		}
		if upper {
			w.To, w.Last = n, open
		} else {
			w.From, w.First = n, open
		}
		upper = true
	}
	switch {
	case o.err != nil:
	case !w.First && !w.Last && w.From > w.To:
		o.refuse(invalid(bounds.at, "the lower bound is above the upper one"))
	case (!w.First || !w.Last) && !sorted:
		o.refuse(invalid(bounds.at, "bounds other than unbounded need sortBy"))
	}
}

// percentile parses the operand of a $percentile or a $median.
func (o operand) percentile(a *Accumulator) {
	keys := []string{"input", "method", "p"}
	if o.name == "$median" {
		keys, a.Points = keys[:2], []int64{maxPoint / 2}
	}
	o.object(keys...)
	a.X = o.need("input").expr()
	if method, ok := o.get("method"); ok && method.v.Text() != "approximate" && method.v.Text() != "discrete" {
		o.refuse(invalidWithHint(method.at, "the method is approximate or discrete", "Both give the exact value here."))
	}
	if o.name == "$median" || o.err != nil {
		return
	}
	list := o.need("p")
	if o.err == nil && len(list.v.List()) == 0 {
		o.refuse(invalid(list.at, "p takes a list of numbers from 0 to 1, as in [0.5, 0.95]"))
	}
	for p := range list.members {
		p.node()
		at, ok := new(big.Rat).SetString(p.v.String())
		if ok {
			at.Mul(at, big.NewRat(maxPoint, 1))
		}
		if !ok || !p.v.IsNumber() || !at.IsInt() || at.Sign() < 0 || at.Cmp(big.NewRat(maxPoint, 1)) > 0 {
			o.refuse(invalid(p.at, "p takes numbers from 0 to 1 with at most 6 decimal places"))
			return
		}
		a.Points = append(a.Points, at.Num().Int64())
	}
}

// maxPoint is the point of the greatest value.
const maxPoint = 1_000_000

// printPercentile prints the operand of a $percentile or a $median.
func printPercentile(a Accumulator) value.Member {
	points := make([]value.Value, len(a.Points))
	for i, p := range a.Points {
		points[i] = value.OfDecimal(big.NewRat(p, maxPoint).FloatString(6))
	}
	return object(a.Op, expr("input", a.X), when(a.Op == "$percentile", "p", value.OfArray(points)))
}

// printWindows encodes a SetWindowFields. It omits a window over the whole partition, which is the default.
func printWindows(s SetWindowFields) value.Member {
	order := printSort(SortStage{Order: s.Order}).Value
	output := make([]value.Member, len(s.Output))
	for i, w := range s.Output {
		f := printAccumulators([]Accumulator{w.Accumulator})[0].Value.Members()[0]
		if w.Op == "$shift" {
			f = object("$shift", expr("output", w.X), whole("by", w.By), when(!w.Default.IsNull(), "default", printLiteral(w.Default)))
		}
		bound := func(n int64, open bool) value.Value {
			if open {
				return value.OfString("unbounded")
			}
			return value.OfInt(n)
		}
		frame := value.OfArray([]value.Value{bound(w.From, w.First), bound(w.To, w.Last)})
		output[i] = object(w.Name, f, when(!w.First || !w.Last, "window", value.OfObject([]value.Member{{Name: "documents", Value: frame}})))
	}
	return object("$setWindowFields", expr("partitionBy", s.By), when(len(s.Order) > 0, "sortBy", order), value.Member{Name: "output", Value: value.OfObject(output)})
}
