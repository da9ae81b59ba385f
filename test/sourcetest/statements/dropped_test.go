package statements

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/sqlparse"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest"
)

// unread contains the parts of a syntax tree that don't change the plan, with the reasons.
var unread = map[string]string{
	"Item.Text":                "it is for messages",
	"Join.Bare":                "it is for the refusal of a join without a condition",
	"Select.Top":               "the parser makes the limit of it",
	"Call(count).Order":        "a number has no order",
	"Call(group_concat).Order": "different values come in their ascending order anyway; another is refused",
}

// TestNothingIsDropped removes each part from the syntax trees of the corpus. The plan must then change, or the
// statement must be refused. Otherwise the part is parsed but ignored. A part is identified by its type and field,
// and parts of calls also by the function. A part counts as used if it matters in at least one statement.
func TestNothingIsDropped(t *testing.T) {
	p, err := policy.New(policy.Rules{Unlisted: true}, sourcetest.Dataset{Tables: shop()}.Classes("app"))
	if err != nil {
		t.Fatal(err)
	}
	bound := func(q *query.SQL) string {
		permit, err := p.Read(reader, q)
		if err != nil {
			return errorText(err)
		}
		planned, err := permit.Plan()
		if err != nil {
			return errorText(err)
		}
		return planned.Program.String() + fmt.Sprint(planned.Limit)
	}
	tries, matter := map[string]int{}, map[string]bool{}
	example := map[string]string{}
	for _, st := range read(t, corpus) {
		q, err := parsed(st.text)
		if err != nil {
			t.Fatal(err)
		}
		n := len(parts(q.Statement()))
		whole := bound(q)
		for i := range n {
			q, _ := parsed(st.text)
			part := parts(q.Statement())[i]
			if matter[part.name] || tries[part.name] > 15 {
				continue
			}
			part.value.SetZero()
			tries[part.name]++
			if without(q, bound) != whole {
				matter[part.name] = true
			}
			example[part.name] = st.text
		}
	}
	if len(matter) < 60 {
		t.Errorf("only %d kinds of parts matter", len(matter))
	}
	for name := range tries {
		if _, known := unread[name]; !matter[name] && !known {
			t.Errorf("%s can be taken out of %d statements without a change, such as %s", name, tries[name], example[name])
		}
	}
	for name := range unread {
		if matter[name] || tries[name] == 0 {
			t.Errorf("%s is read, or isn't there. Take it out of the list", name)
		}
	}
}

// without returns the plan of a statement after removing a part. A panic counts as a change.
func without(q *query.SQL, bound func(*query.SQL) string) (out string) {
	defer func() {
		if recover() != nil {
			out = "refused"
		}
	}()
	return bound(q)
}

// A part is a part of a syntax tree that isn't zero.
type part struct {
	name  string
	value reflect.Value
}

// parts returns the parts of a statement in a fixed order.
func parts(q *sqlparse.Query) (out []part) {
	var walk func(v reflect.Value)
	walk = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.Interface, reflect.Pointer:
			if !v.IsNil() {
				walk(v.Elem())
			}
		case reflect.Slice:
			for i := range v.Len() {
				walk(v.Index(i))
			}
		case reflect.Struct:
			if v.Type() == reflect.TypeFor[sqlparse.Pos]() {
				return
			}
			owner := v.Type().Name()
			if c, ok := v.Addr().Interface().(*sqlparse.Call); ok {
				owner += "(" + c.Name + ")"
			}
			for i := range v.NumField() {
				f := v.Type().Field(i)
				if f.Type == reflect.TypeFor[sqlparse.Pos]() || !f.IsExported() || owner != v.Type().Name() && f.Name == "Name" {
					walk(v.Field(i))
					continue
				}
				if !v.Field(i).IsZero() && v.Field(i).CanSet() {
					out = append(out, part{owner + "." + f.Name, v.Field(i)})
				}
				walk(v.Field(i))
			}
		}
	}
	walk(reflect.ValueOf(q))
	slices.SortStableFunc(out, func(a, b part) int { return strings.Compare(a.name, b.name) })
	return out
}
