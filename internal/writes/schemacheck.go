package writes

import (
	"maps"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/argcheck"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// A CheckedRecord says whether the arguments form a whole record or a part of one.
type CheckedRecord string

// The values of CheckedRecord.
const (
	CheckNew      CheckedRecord = "new"    // a whole record: required fields must be given
	CheckOnChange CheckedRecord = "change" // changed fields: only given fields are checked
)

// A Declaration is the setting check_against as an owner writes it. The zero Declaration checks nothing.
type Declaration struct {
	Class  string            // "source.Class", or a class name that only one source has
	Fields map[string]string // the field of each renamed argument. Other arguments have the name of their field
	Record CheckedRecord     // "" means CheckOnChange
}

// A Check is a compiled declaration. It is immutable and safe for concurrent use.
type Check struct {
	Class string // in the form "source.Class"

	arguments []string
	fields    map[string]string // the field of each argument
	named     map[string]bool   // the arguments listed in Declaration.Fields
	changes   bool
}

// CompileCheck compiles a declaration for a call with these arguments, against the current rules and their catalogue.
// It calls wrong for each error, with the path below the declaration. After an error the Check must not be used.
func CompileCheck(p *policy.Policy, d Declaration, arguments []string, wrong func(at []string, format string, args ...any)) *Check {
	class, visible, masked, err := p.VisibleClass(d.Class)
	if err != nil {
		wrong([]string{"class"}, "%v", err)
		return nil
	}
	if len(class.Fields) == 0 {
		wrong([]string{"class"}, "nothing is known of the fields of %s: its source describes none of them, or can't read them", class.FullName())
		return nil
	}
	c := &Check{Class: class.FullName(), arguments: arguments, fields: map[string]string{}, named: map[string]bool{}, changes: d.Record != CheckNew}
	for _, name := range arguments {
		c.fields[name] = name
	}
	if !c.name(d.Fields, class, wrong) {
		return nil
	}
	if !slices.ContainsFunc(arguments, func(a string) bool { return class.Field(c.fields[a]) != nil }) {
		wrong(nil, "no argument is called as a field of %s. fields says which argument is for which field", c.Class)
	}
	if c.changes {
		return c
	}
	var needed []string
	for _, f := range visible {
		if f.Required && !f.Generated && !slices.Contains(masked, f.Name) && c.argument(f.Name) == "" {
			needed = append(needed, f.Name)
		}
	}
	if needed != nil {
		wrong(nil, "a new record of %s needs %s, and no argument is for it. fields says which is, and record: change asks only for what is right in what is given",
			c.Class, strings.Join(needed, ", "))
	}
	return c
}

// name checks the fields that an owner declared for arguments, and adds them. It reports whether all are valid.
func (c *Check) name(fields map[string]string, class *schema.Class, wrong func([]string, string, ...any)) bool {
	right := true
	refuse := func(at []string, format string, args ...any) {
		right = false
		wrong(at, format, args...)
	}
	names := make([]string, len(class.Fields))
	for i := range class.Fields {
		names[i] = class.Fields[i].Name
	}
	for _, argument := range slices.Sorted(maps.Keys(fields)) {
		at, field := []string{"fields", argument}, fields[argument]
		if !slices.Contains(c.arguments, argument) {
			refuse(at, "there is no argument %q%s", problem.Cut(argument), problem.DidYouMean(problem.Nearest(argument, c.arguments, 2)))
			continue
		}
		if !slices.Contains(names, field) {
			refuse(at, "%s has no field %q%s", c.Class, problem.Cut(field), problem.DidYouMean(problem.Nearest(field, names, 2)))
		}
		c.fields[argument], c.named[argument] = field, true
	}
	for i, a := range c.arguments {
		for _, b := range c.arguments[:i] {
			if c.fields[a] == c.fields[b] {
				refuse([]string{"fields"}, "the arguments %s and %s are both for the field %s", b, a, c.fields[a])
			}
		}
	}
	return right
}

// argument returns the argument for a field, or "".
func (c *Check) argument(field string) string {
	for _, a := range c.arguments {
		if c.fields[a] == field {
			return a
		}
	}
	return ""
}

// A Described contains a class as its source currently describes it, and one caller's view of it.
type Described struct {
	Class *schema.Class // nil if the class doesn't exist any more or can't be read
	Why   string        // the reason for a nil Class, for reviewers
	View  *policy.View  // the caller's view of Class, or nil if the caller can't see it
}

// sees reports whether the caller may know the allowed values of a field.
func (d *Described) sees(field string) bool {
	return d.View != nil && d.View.Field(field) != nil && d.View.Mask(field) == nil
}

// Arguments checks args, an Object at the JSON pointer at. It returns one problem.InvalidArgument with a fault for
// each error that the caller may see. A fault contains the argument, the violated rule, and a sentence that names the
// field. If there is no visible error, Arguments returns the doubts for write.Request.Doubts. The caller must not see
// these doubts.
func (c *Check) Arguments(d Described, args value.Value, at string) ([]write.Doubt, error) {
	if d.Class == nil || len(d.Class.Fields) == 0 {
		why := d.Why
		if why == "" {
			why = "nothing is known of its fields"
		}
		return []write.Doubt{{Class: c.Class, Text: "it could not be checked: " + why}}, nil
	}
	var told []argcheck.Fault
	var doubts []write.Doubt
	o := fieldOptions{At: at, Changes: c.changes, Fields: c.fields, Key: keys(d.Class), Open: d.Class.Recordless}
	for _, f := range checkRecord(pointers(d.Class), args, o) {
		f.Pointer = strings.TrimSuffix(argcheck.At(at, c.argument(f.Name)), "/") // also set for a missing value
		if d.sees(f.Name) {
			told = append(told, f)
		} else {
			doubts = append(doubts, write.Doubt{Class: c.Class, Field: f.Name, Text: f.Message})
		}
	}
	for _, m := range args.Members() {
		if field := c.fields[m.Name]; c.named[m.Name] && d.Class.Field(field) == nil {
			doubts = append(doubts, write.Doubt{Class: c.Class, Field: field, Text: "there is no field " + field + " any more"})
		}
	}
	if told != nil {
		return nil, argcheck.Refuse(told[0].Rule, told, "")
	}
	return doubts, nil
}

func pointers(c *schema.Class) []*schema.Field {
	out := make([]*schema.Field, len(c.Fields))
	for i := range c.Fields {
		out[i] = &c.Fields[i]
	}
	return out
}

// keys returns a function that reports whether a field of the class contains ids.
func keys(c *schema.Class) func(string) bool {
	return func(field string) bool {
		return slices.Contains(c.Key, field) || slices.ContainsFunc(c.Relations, func(r schema.Relation) bool { return slices.Contains(r.Fields, field) })
	}
}
