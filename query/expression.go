package query

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// ParseExpr reads an expression that stands at the JSON pointer at, where no variables are but ROOT and CURRENT.
// Errors are as those of ParsePipeline.
func ParseExpr(v value.Value, at string) (Expr, error) {
	p := &parser{}
	return p.expr(v, site{at: at, depth: 1})
}

func (p *parser) expr(v value.Value, s site) (Expr, error) {
	if err := p.node(s); err != nil {
		return nil, err
	}
	switch v.Kind() {
	case value.String:
		return reference(v, s)
	case value.Array:
		return p.list(v, s)
	case value.Object:
		return p.compound(v, s)
	}
	return Literal{Value: v, At: s.at}, sane(v, s.at)
}

// reference reads text: a path behind one dollar, a variable behind two, else the text itself.
func reference(v value.Value, s site) (Expr, error) {
	if name, ok := strings.CutPrefix(v.Text(), "$$"); ok {
		return variable(name, s)
	}
	if name, ok := strings.CutPrefix(v.Text(), "$"); ok {
		path, err := CheckPath(name, s.at)
		return FieldRef{Path: path, At: s.at}, err
	}
	return Literal{Value: v, At: s.at}, nil
}

func variable(text string, s site) (Expr, error) {
	name, rest, dotted := strings.Cut(text, ".")
	var path Path
	if dotted {
		var err error
		if path, err = CheckPath(rest, s.at); err != nil {
			return nil, err
		}
	}
	switch name {
	case "ROOT", "CURRENT":
		if path != nil {
			return FieldRef{Path: path, At: s.at}, nil
		}
		return VariableRef{Name: "ROOT", At: s.at}, nil
	case "NOW", "REMOVE", "CLUSTER_TIME", "SEARCH_META", "USER_ROLES":
		return nil, &problem.Error{Code: problem.Unsupported, Pointer: s.at, Detail: "$$" + name + " is not supported",
			Suggestion: map[string]string{
				"NOW":    `Write the instant: {"$date": "2026-01-31T13:00:00Z"}.`,
				"REMOVE": "Give null, which is the same as missing, or leave the field out with $unset.",
			}[name]}
	case "KEEP", "PRUNE", "DESCEND":
		return nil, invalid(s.at, "$$"+name+" stands in $redact alone")
	}
	if slices.Contains(s.vars, name) {
		return VariableRef{Name: name, Path: path, At: s.at}, nil
	}
	known := []string{"$$ROOT", "$$CURRENT"}
	for _, v := range s.vars {
		if v = "$$" + v; !slices.Contains(known, v) {
			known = append(known, v)
		}
	}
	return nil, &problem.Error{Code: problem.InvalidQuery, Pointer: s.at, Near: problem.Nearest("$$"+name, known, 3),
		Detail: fmt.Sprintf("unknown variable %q", problem.Cut("$$"+name))}
}

// checkVariable refuses what can't be the name of a variable of the asker's.
func checkVariable(name, at string) error {
	ok := name != "" && len(name) <= maxSegment && name[0] >= 'a' && name[0] <= 'z'
	for _, r := range name {
		ok = ok && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_')
	}
	if !ok {
		return invalid(at, fmt.Sprintf("%q can't be a variable: write a small letter, then letters, digits and _", problem.Cut(name)))
	}
	return nil
}

// list reads a list, which is a Literal where nothing in it is computed.
func (p *parser) list(v value.Value, s site) (Expr, error) {
	if constant(v) {
		return Literal{Value: v, At: s.at}, sane(v, s.at)
	}
	elements, err := p.all(v, s)
	return ListExpr{Elements: elements, At: s.at}, err
}

func (p *parser) all(v value.Value, s site) ([]Expr, error) {
	var out []Expr
	for i, e := range v.List() {
		x, err := p.expr(e, s.to(strconv.Itoa(i)).deeper())
		if err != nil {
			return nil, err
		}
		out = append(out, x)
	}
	return out, nil
}

// constant reports whether v reads as itself: no path, operator or typed value in it.
func constant(v value.Value) bool {
	for _, e := range v.List() {
		if !constant(e) {
			return false
		}
	}
	for _, m := range v.Members() {
		if m.Name == "__type" || checkName(m.Name, "") != nil || !constant(m.Value) {
			return false
		}
	}
	return v.Kind() != value.String || !strings.HasPrefix(v.Text(), "$")
}

// compound reads an object: an operator, a typed literal, or members to compute.
func (p *parser) compound(v value.Value, s site) (Expr, error) {
	if _, typed := v.Get("__type"); typed {
		x, err := literal(v, s.at)
		return Literal{Value: x, At: s.at}, err
	}
	if operators(v) {
		m := v.Members()[0]
		if more := v.Members()[1:]; len(more) > 0 {
			return nil, invalid(Pointer(s.at, more[0].Name), fmt.Sprintf("an expression is one operator; got %s beside %s", problem.Cut(more[0].Name), problem.Cut(m.Name)))
		}
		return p.operation(operand{m.Name, m.Value, s.to(m.Name)})
	}
	o := ObjectExpr{At: s.at}
	for _, m := range v.Members() {
		here := s.to(m.Name)
		if strings.HasPrefix(m.Name, "$") {
			return nil, invalid(here.at, "operators can't stand beside plain keys in one object")
		}
		if err := checkName(m.Name, here.at); err != nil {
			return nil, err
		}
		x, err := p.expr(m.Value, here.deeper())
		if err != nil {
			return nil, err
		}
		o.Members = append(o.Members, Computed{Name: Path{m.Name}, Value: x, At: here.at})
	}
	return o, nil
}

func (p *parser) operation(o operand) (Expr, error) {
	switch o.name {
	case "$literal":
		return Literal{Value: o.v, At: o.at}, finite(o.v, o.at)
	case "$date":
		x, err := dateText(o.v, o.at)
		return Literal{Value: x, At: o.at}, err
	case "$cond":
		parts, err := o.condition()
		if err != nil {
			return nil, err
		}
		xs, err := p.each(parts[:])
		if err != nil {
			return nil, err
		}
		return Switch{Cases: []Case{{If: xs[0], Then: xs[1]}}, Default: xs[2], Cond: true, At: o.at}, nil
	case "$switch":
		return p.choice(o)
	case "$filter", "$map", "$reduce":
		return p.lambda(o)
	}
	for _, sig := range Signatures {
		if sig.Op == o.name {
			return p.call(sig, o)
		}
	}
	return nil, unknown("expression", o.name, o.at, exprNames())
}

// exprNames are all operators of expressions.
func exprNames() []string {
	names := []string{"$literal", "$date", "$cond", "$switch", "$filter", "$map", "$reduce"}
	for _, sig := range Signatures {
		names = append(names, sig.Op)
	}
	return names
}

// each reads operands that stand side by side.
func (p *parser) each(parts []operand) ([]Expr, error) {
	xs := make([]Expr, len(parts))
	for i, part := range parts {
		var err error
		if xs[i], err = p.expr(part.v, part.deeper()); err != nil {
			return nil, err
		}
	}
	return xs, nil
}

// condition returns the operands if, then and else of a $cond, written as a list or an object.
func (o operand) condition() (parts [3]operand, err error) {
	keys := []string{"if", "then", "else"}
	if o.v.Kind() == value.Array {
		if n := len(o.v.List()); n != len(keys) {
			return parts, invalid(o.at, fmt.Sprintf("$cond takes 3 arguments; got %d", n))
		}
		for i, e := range o.v.List() {
			parts[i] = operand{keys[i], e, o.to(strconv.Itoa(i))}
		}
		return parts, nil
	}
	if err := o.object(keys...); err != nil {
		return parts, err
	}
	for i, key := range keys {
		if parts[i], err = o.need(key); err != nil {
			return parts, err
		}
	}
	return parts, nil
}

func (p *parser) choice(o operand) (Expr, error) {
	if err := o.object("branches", "default"); err != nil {
		return nil, err
	}
	branches, err := o.need("branches")
	if err != nil {
		return nil, err
	}
	if branches.v.Kind() != value.Array || len(branches.v.List()) == 0 {
		return nil, invalid(branches.at, "branches takes a list with at least one case and then")
	}
	s := Switch{At: o.at}
	for i, e := range branches.v.List() {
		branch := operand{"a branch", e, branches.to(strconv.Itoa(i))}
		if err := branch.object("case", "then"); err != nil {
			return nil, err
		}
		test, err := branch.need("case")
		if err != nil {
			return nil, err
		}
		then, err := branch.need("then")
		if err != nil {
			return nil, err
		}
		xs, err := p.each([]operand{test, then})
		if err != nil {
			return nil, err
		}
		s.Cases = append(s.Cases, Case{If: xs[0], Then: xs[1]})
	}
	if other, ok := o.get("default"); ok {
		s.Default, err = p.expr(other.v, other.deeper())
	}
	return s, err
}

// constantDate reads {"$date": …} and {__type: Date, iso}; all else stays as it is.
func constantDate(v value.Value, at string) (value.Value, error) {
	if text, ok := v.Get("$date"); ok && len(v.Members()) == 1 {
		return dateText(text, Pointer(at, "$date"))
	}
	if _, typed := v.Get("__type"); typed {
		return literal(v, at)
	}
	return v, nil
}

func dateText(v value.Value, at string) (value.Value, error) {
	date, ok := value.OfDateText(v.Text())
	if v.Kind() != value.String || !ok {
		return v, invalid(at, `a date is written {"$date": "2026-01-31T13:00:00Z"}`)
	}
	return date, nil
}
