package validate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/argcheck"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// faults collects the faults of arguments.
type faults struct {
	name    func(url string) string // returns the name of the schema with a URL, or "" if it has none
	all     []argcheck.Fault
	example spec.Raw     // of the value being validated
	steps   int          // the number of comparisons so far
	ended   func() error // returns an error when no caller waits for the check any more
	later   []string     // the pointers of values that are not known yet
	texts   []string     // those pointers in later whose values are strings
}

// add adds faults, except faults that may disappear when all values are known.
func (f *faults) add(all ...argcheck.Fault) {
	for _, one := range all {
		if !f.unknowable(one.Pointer, one.Rule) {
			f.all = append(f.all, one)
		}
	}
}

// must adds the fault for a value of the wrong type.
func (f *faults) must(at, name, must, got string) {
	f.add(argcheck.Must(at, argcheck.RuleType, name, must, got))
}

// wrong adds a fault with its own message.
func (f *faults) wrong(at, rule, format string, args ...any) {
	f.add(argcheck.Fault{Fault: problem.Fault{Pointer: at, Rule: rule, Message: fmt.Sprintf(format, args...)}})
}

// unknowable reports whether a fault may disappear when the pending values are known. Such a fault is about a pending
// value, or about the choice of an alternative for an object that contains one.
func (f *faults) unknowable(at, rule string) bool {
	switch rule {
	case "unknown", "forbidden", "required":
		return false
	case "type":
		// In a path or a query, a string may be read as a number.
		if strings.HasPrefix(at, "/body/") && slices.Contains(f.texts, at) {
			return false
		}
	}
	return slices.ContainsFunc(f.later, func(l string) bool {
		return l == at || (rule == "anyOf" || rule == "not") && strings.HasPrefix(l, at+"/")
	})
}

// hint appends text to the last fault's message.
func (f *faults) hint(text string) { f.all[len(f.all)-1].Message += text }

// err returns all faults as one error, or nil if there are none.
func (f *faults) err() error {
	return argcheck.Refuse("schema", f.all, "search_api with the operationId tells what it takes")
}

// schema adds the faults in err, the error from the validation of v. The argument at is the pointer of v.
func (f *faults) schema(err error, v value.Value, at string) {
	named := func(url string) string { return spec.ShortName(f.name(url)) }
	exempt := func(e *jsonschema.ValidationError) bool {
		k, ok := e.ErrorKind.(*kind.Format)
		return ok && exampleBreaksFormat(f.example, e.InstanceLocation, k.Want)
	}
	f.add(argcheck.Explainer{Value: v, At: at, Noun: "field", Named: named, Skip: exempt}.Faults(err)...)
}

func contains(all []string, one string) bool { return slices.Contains(all, one) }

// escape encodes a name as a token of an RFC 6901 pointer.
func escape(s string) string { return pointed.Replace(s) }
