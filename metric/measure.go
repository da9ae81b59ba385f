package metric

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/sqlparse"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
)

// aggregates are the functions of a measure.
var aggregates = []string{"sum", "count", "count_distinct", "avg", "min", "max"}

// A measure is the aggregate of a metric.
type measure struct {
	text     string
	function string // one of aggregates
	over     string // the text in the parentheses
}

// additive reports whether the values of groups can be added: whether the sum of all parts is the whole.
func (m measure) additive() bool { return m.function == "sum" || m.function == "count" }

// counts reports whether the value for no records is 0. It is null for the others.
func (m measure) counts() bool { return m.additive() || m.function == "count_distinct" }

// parseMeasure parses one aggregate, and returns the names of the fields in it.
func parseMeasure(text string) (measure, []string, error) {
	text = strings.Join(strings.Fields(text), " ")
	call, err := parseCall(text)
	if err != nil {
		return measure{}, nil, err
	}
	if !slices.Contains(aggregates, call.Name) {
		return measure{}, nil, fmt.Errorf("is one of %s, as in sum(total)%s", strings.Join(aggregates, ", "), problem.DidYouMean(problem.Nearest(call.Name, aggregates, 1)))
	}
	out := measure{text: text, function: call.Name}
	_, after, _ := strings.Cut(text, "(")
	out.over = strings.TrimSuffix(strings.TrimSpace(after), ")")
	switch counts := call.Name == "count"; {
	case call.Over != nil, call.Filter != nil, call.Order != nil, call.Within != nil, call.Limit != nil:
		return out, nil, errors.New("is only an aggregate, without OVER, FILTER, ORDER BY, WITHIN and LIMIT. Write the condition as where")
	case call.Distinct && counts:
		return out, nil, errors.New("counts different values as count_distinct(…)")
	case call.Distinct:
		return out, nil, fmt.Errorf("%s takes no DISTINCT", call.Name)
	case len(call.Args) > 1, len(call.Args) == 0 && !counts, call.Star && !counts:
		return out, nil, fmt.Errorf("%s takes one expression, as in %[1]s(total)", call.Name)
	}
	fields, err := fieldsOf(call.Args)
	return out, fields, err
}

// parseCall parses the call of a function, and nothing else.
func parseCall(text string) (*sqlparse.Call, error) {
	q, err := query.ParseSQL("SELECT " + text)
	if err != nil {
		return nil, errors.New(placeless(problem.Of(err).Detail))
	}
	alone := errors.New("is one aggregate, such as sum(total) or sum(quantity * price)")
	s, ok := q.Statement().Body.(*sqlparse.Select)
	if !ok || len(s.Items) != 1 || s.Items[0].Alias != nil || s.From != nil || s.Where != nil || s.Group != nil || s.Having != nil || s.Qualify != nil ||
		s.Distinct || s.On != nil || s.Top != nil || s.Windows != nil || q.Statement().With != nil || q.Statement().Order != nil || q.Statement().Limit != nil || q.Statement().Offset != nil {
		return nil, alone
	}
	call, ok := s.Items[0].X.(*sqlparse.Call)
	if !ok {
		return nil, alone
	}
	return call, nil
}

// fieldsOf returns the names of fields in the argument of an aggregate. It refuses what isn't computed from one record.
func fieldsOf(args []sqlparse.Expr) (fields []string, err error) {
	if inner := sqlparse.AggregateIn(args); inner != nil {
		return nil, fmt.Errorf("%s(…) can't be inside of another aggregate", inner.Name)
	}
	if sqlparse.HasWindow(args) {
		return nil, errors.New("a window can't be inside of an aggregate")
	}
	sqlparse.Walk(args, func(e sqlparse.Expr) bool {
		switch e := e.(type) {
		case *sqlparse.Name:
			if len(e.Parts) > 1 {
				err = fmt.Errorf("%s leads to another class: a measure is computed from the fields of its own class", e.Written())
				return false
			}
			if !slices.Contains(fields, e.Parts[0].Text) {
				fields = append(fields, e.Parts[0].Text)
			}
		case *sqlparse.Star:
			err = errors.New("* is only for count(*)")
		case *sqlparse.Param:
			err = errors.New("a measure has no parameters")
		case *sqlparse.Exists, *sqlparse.Sub:
			err = errors.New("a measure has no sub-queries: it is computed from the fields of its own class")
		case *sqlparse.In:
			if e.Query != nil {
				err = errors.New("a measure has no sub-queries: it is computed from the fields of its own class")
			}
		case *sqlparse.Any:
			if e.Query != nil {
				err = errors.New("a measure has no sub-queries: it is computed from the fields of its own class")
			}
		}
		return err == nil
	})
	return fields, err
}

// call returns the aggregate over the table called alias, where the condition holds. filter may be nil. Each call has a
// tree of its own.
func (m measure) call(alias string, filter sqlparse.Expr) (*sqlparse.Call, error) {
	c, err := parseCall(m.text)
	if err != nil {
		return nil, err
	}
	switch {
	case c.Name == "count_distinct":
		c.Name, c.Distinct = "count", true
	case c.Name == "count" && len(c.Args) == 0:
		c.Star = true
	}
	sqlparse.Walk(c.Args, func(e sqlparse.Expr) bool {
		if n, ok := e.(*sqlparse.Name); ok {
			n.Parts = []sqlparse.Ident{{Text: alias, Quoted: true}, n.Parts[0]}
		}
		return true
	})
	c.Filter = filter
	return c, nil
}

// words describes the measure: "sum of total".
func (m measure) words() string {
	switch over := strings.TrimSpace(m.over); {
	case m.function == "count" && (over == "" || over == "*"):
		return "number of records"
	case m.function == "count_distinct":
		return "number of different " + over
	case m.function == "count":
		return "number of records with " + over
	case m.function == "avg":
		return "average of " + over
	default:
		return m.function + " of " + over
	}
}
