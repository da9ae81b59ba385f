package sqlgen

import (
	"slices"
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// windows adds a column for each window function, all in one level.
func (b *builder) windows(r *relation, st *plan.Windows, outer *scope) (*relation, error) {
	r = b.open(r)
	s := &scope{b: b, r: r, outer: outer, lets: true}
	w := &windowing{b: b, s: s}
	for _, c := range st.By {
		t := r.shape.Columns[c].Type
		key, _ := b.d.Key(s, s.Column(c), t, brief(r, plan.Ref{Column: c}))
		w.by = append(w.by, key)
	}
	if r.part != nil {
		key, _ := b.d.Key(s, r.part.x, r.part.t, false)
		w.by = append(w.by, key)
	}
	for _, p := range st.Order {
		w.peers = append(w.peers, b.term(s, p)...)
	}
	w.order = append(slices.Clone(w.peers), b.terms(s, append(slices.Clone(st.Order), r.shape.Order...))[len(w.peers):]...)
	texts := make([]string, len(st.Functions))
	for i, f := range st.Functions {
		var err error
		if texts[i], err = w.function(f); err != nil {
			return nil, err
		}
	}
	for i, text := range texts {
		if i == 0 {
			r.columns = append(r.columns, b.window(r, text))
		} else {
			r.columns = append(r.columns, b.add(r, len(r.levels)-1, text))
		}
	}
	r.shape = st.Shape
	return r, nil
}

// windowing writes window functions with the same partition.
type windowing struct {
	b     *builder
	s     *scope
	by    []string
	peers []string // the terms of the stage's order
	order []string // peers, followed by the terms that make the order total
}

// over writes an OVER clause.
func (w *windowing) over(order []string, frame string) string {
	return " OVER (" + strings.TrimSuffix(partition(w.by)+orderClause(order)+frame, " ") + ")"
}

// function writes one window function with its OVER. Ranks use only the order of the stage. Row numbers and frames use
// the total order, so that they don't depend on the physical order of the records.
func (w *windowing) function(f plan.Window) (string, error) {
	x := ""
	if f.X != nil {
		var err error
		if x, err = WriteExpr(w.b.d, w.s, f.X); err != nil {
			return "", err
		}
		x = w.s.Atom(x)
	}
	if ranks := f.Kind == plan.Ranked || f.Kind == plan.DenseRanked; ranks && w.peers == nil { // all records are equal, and MariaDB requires an order
		return w.b.d.Const(w.s, value.OfInt(1), schema.Integer), nil
	}
	switch f.Kind {
	case plan.RowNumber:
		return "row_number()" + w.over(w.order, ""), nil
	case plan.Ranked:
		return "rank()" + w.over(w.peers, ""), nil
	case plan.DenseRanked:
		return "dense_rank()" + w.over(w.peers, ""), nil
	case plan.Shifted:
		return w.shift(f, x)
	}
	frame, order := w.frame(f.Frame)
	switch f.Op {
	case plan.First:
		if f.Offset > 0 {
			return "nth_value(" + x + ", " + strconv.FormatInt(f.Offset+1, 10) + ")" + w.over(order, frame), nil
		}
		return "first_value(" + x + ")" + w.over(order, frame), nil
	case plan.Last:
		return "last_value(" + x + ")" + w.over(order, frame), nil
	}
	if f.Frame.Whole() { // the order makes no difference, but it has a cost
		frame, order = "", nil
	}
	from := schema.Any
	if f.X != nil {
		from = f.X.Type()
	}
	text, err := w.b.d.Accumulate(w.s, f.Op, x, from)
	return windowAggregates(text, w.over(order, frame), w.b.d.Aggregates()), err
}

// shift writes a Shifted. MariaDB's lead function has no default argument.
func (w *windowing) shift(f plan.Window, x string) (string, error) {
	name, offset := "lead", f.Offset
	if offset < 0 {
		name, offset = "lag", -offset
	}
	order := w.order
	if len(order) == 0 { // there is at most one record, but MariaDB requires an order
		order = []string{"1"}
	}
	args, over := ", "+strconv.FormatInt(offset, 10)+")", w.over(order, "")
	text := name + "(" + x + args + over
	if f.Default == nil {
		return text, nil
	}
	other, err := WriteExpr(w.b.d, w.s, f.Default)
	return w.b.d.Case(w.s, []string{"(" + name + "(1" + args + over + " IS NULL)"}, []string{other}, text, f.X.Type()), err
}

// frame writes a frame. It also returns the order to use with the frame.
func (w *windowing) frame(f plan.Frame) (text string, order []string) {
	if f.Peers {
		return " RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW", w.peers
	}
	bound := func(n int64, open bool, end string) string {
		switch {
		case open:
			return "UNBOUNDED " + end
		case n < 0:
			return strconv.FormatInt(-n, 10) + " PRECEDING"
		case n > 0:
			return strconv.FormatInt(n, 10) + " FOLLOWING"
		}
		return "CURRENT ROW"
	}
	return " ROWS BETWEEN " + bound(f.From, f.First, "PRECEDING") + " AND " + bound(f.To, f.Last, "FOLLOWING"), w.order
}

// windowAggregates returns text with its aggregates as window functions. The argument over is the OVER clause. No
// aggregate in text is inside another, because the text is an expression of aggregates over one short operand. The
// argument more contains the names of the dialect's own aggregates.
func windowAggregates(text, over string, more []string) string {
	var out strings.Builder
	for len(text) > 0 {
		n := 0
		for n < len(text) && word(text[n]) {
			n++
		}
		if n == 0 {
			n = quotedEnd(text)
			out.WriteString(text[:n])
			text = text[n:]
			continue
		}
		name := text[:n]
		out.WriteString(name)
		text = text[n:]
		if (aggregates(name) || slices.Contains(more, name)) && strings.HasPrefix(text, "(") {
			end := groupEnd(text)
			out.WriteString(text[:end] + over)
			text = text[end:]
		}
	}
	return out.String()
}

// aggregates reports whether name is a function that several dialects use in Accumulate.
func aggregates(name string) bool {
	switch strings.ToLower(name) {
	case "count", "sum", "total", "fsum", "min", "max", "bool_and", "bool_or", "stddev_pop", "stddev_samp":
		return true
	}
	return false
}

// quotedEnd returns the length of the quoted text at the beginning of text. It returns 1 if text begins with no quote,
// or if the quote has no end.
func quotedEnd(text string) int {
	if q := text[0]; q == '"' || q == '`' || q == '\'' {
		return strings.IndexByte(text[1:], q) + 2
	}
	return 1
}

// groupEnd returns the length of the text in parentheses at the beginning of text.
func groupEnd(text string) int {
	depth := 0
	for i := 0; i < len(text); {
		switch text[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i += quotedEnd(text[i:])
	}
	return len(text)
}
