package sqlite

import (
	"database/sql/driver"
	"errors"
	"maps"
	"strings"

	"modernc.org/sqlite"
)

// registerFunctions adds the functions to all later connections of d.
func registerFunctions(d *sqlite.Driver) error {
	c := &caches{}
	functions := map[string]function{}
	for _, some := range []map[string]function{texts(c), numbers(), json(), funcConversions(), dates(c)} {
		maps.Copy(functions, some)
	}
	var errs []error
	for name, f := range functions {
		errs = append(errs, d.RegisterFunction(name, &sqlite.FunctionImpl{NArgs: f.args, Deterministic: true, VolatileArgs: true,
			Scalar: func(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) { return f.call(args), nil }}))
	}
	for name, make := range aggregates() {
		args := int32(1)
		if _, ok := make().(capped); ok {
			args = 2
		}
		errs = append(errs, d.RegisterFunction(name, &sqlite.FunctionImpl{NArgs: args, Deterministic: true, VolatileArgs: true,
			MakeAggregate: func(sqlite.FunctionContext) (sqlite.AggregateFunction, error) { return aggregate{make()}, nil }}))
	}
	errs = append(errs, d.RegisterFunction(fnDoubt, &sqlite.FunctionImpl{NArgs: 1, Deterministic: true, VolatileArgs: true,
		Scalar: func(*sqlite.FunctionContext, []driver.Value) (driver.Value, error) { return nil, errors.New(doubt) }}))
	errs = append(errs, d.RegisterCollationUtf8(fnPoints, strings.Compare))
	return errors.Join(errs...)
}

// doubt is part of the error message with which fnDoubt ends a statement.
const doubt = "bailiwick doubts the type of a value"

// A function accepts int64, float64, string, []byte and nil, and returns one of them.
type function struct {
	args int32 // -1 for any number
	call func(args []driver.Value) driver.Value
}

// An accumulator accepts the values of a group in any order.
type accumulator interface {
	add(v driver.Value)
	value() driver.Value
}

// aggregates returns the constructors of the aggregate functions, by name.
func aggregates() map[string]func() accumulator {
	return map[string]func() accumulator{
		fnSum:                func() accumulator { return &sum{} },
		fnSum + fnOfDecimals: func() accumulator { return &sum{decimal: true} },
		fnAvg:                func() accumulator { return &sum{average: true} },
		fnStdDevPop:          func() accumulator { return &deviation{} },
		fnStdDevSamp:         func() accumulator { return &deviation{sample: 1} },
		fnJSONMin:            func() accumulator { return &extremum{sign: -1} },
		fnJSONMax:            func() accumulator { return &extremum{sign: 1} },
		fnGather:             func() accumulator { return &gathered{} },
		fnDistinct:           func() accumulator { return &set{} },
	}
}

// An aggregate adapts an accumulator to the interface of SQLite.
type aggregate struct{ accumulator }

// Step implements sqlite.AggregateFunction.
func (a aggregate) Step(_ *sqlite.FunctionContext, args []driver.Value) error {
	if l, ok := a.accumulator.(capped); ok {
		most, _ := args[1].(int64)
		l.limit(most)
	}
	a.add(args[0])
	return nil
}

// A capped is an accumulator with a maximum size. The size is the second argument.
type capped interface{ limit(most int64) }

// A sliding is an accumulator from which values can be removed, for moving windows.
type sliding interface{ remove(v driver.Value) }

// WindowInverse implements sqlite.AggregateFunction.
func (a aggregate) WindowInverse(_ *sqlite.FunctionContext, args []driver.Value) error {
	s, ok := a.accumulator.(sliding)
	if !ok {
		return errors.New("not a window function") // sqlgen never writes such a window
	}
	s.remove(args[0])
	return nil
}

// WindowValue implements sqlite.AggregateFunction.
func (a aggregate) WindowValue(*sqlite.FunctionContext) (driver.Value, error) { return a.value(), nil }

// Final implements sqlite.AggregateFunction.
func (a aggregate) Final(*sqlite.FunctionContext) {}

func truth(b bool) driver.Value {
	if b {
		return int64(1)
	}
	return int64(0)
}
