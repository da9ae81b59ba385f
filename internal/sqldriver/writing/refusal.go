package writing

import (
	"strings"

	"github.com/bailiwick-dev/bailiwick/problem"
)

// A Kind is the reason why a database refuses to write.
type Kind string

// The kinds of refusals.
const (
	Unique     Kind = "unique"      // another record has the same values
	ForeignKey Kind = "foreign_key" // a field references no record
	Referenced Kind = "referenced"  // other records reference this one
	NotNull    Kind = "not_null"
	Check      Kind = "check"
	Exclusion  Kind = "exclusion"
	Trigger    Kind = "trigger" // code of the application's owner
	Misfit     Kind = "misfit"  // a value doesn't fit its column
	Computed   Kind = "computed"
	Denied     Kind = "denied"    // the source's account may not do it
	Exists     Kind = "exists"    // a table of this name exists
	NotEmpty   Kind = "not_empty" // a class to be dropped holds records
	LeftOut    Kind = "left_out"  // it wrote no record, or several
)

// A Refusal is a database's refusal to write, without its message.
type Refusal struct {
	Kind     Kind
	Class    string   // whose rule it is, if that isn't the class to be written
	Fields   []string // the fields that it is about, as far as known
	Argument int      // which argument of the statement, from 1, isn't a value of its column: the caller's own fault; 0 for none
	Name     string   // of the check constraint, or its condition; "" if it isn't known
}

// String describes the refusal to reviewers.
func (r *Refusal) String() string {
	fields := strings.Join(r.Fields, ", ")
	or := func(otherwise string) string {
		if fields == "" {
			return otherwise
		}
		return fields
	}
	var text string
	switch r.Kind {
	case Unique:
		text = "another record has the same " + or("values")
	case ForeignKey:
		text = or("a field") + " leads to no record"
	case Referenced:
		if r.Class != "" {
			return "records of " + r.Class + " lead to it"
		}
		return "other records lead to it"
	case NotNull:
		text = or("a field") + " can't be null"
	case Check:
		text = "a constraint on " + or("the record") + " doesn't hold"
		if r.Name != "" {
			text += ": " + problem.Cut(r.Name)
		}
	case Exclusion:
		text = "it is in conflict with another record in " + or("its values")
	case Trigger:
		text = "a trigger of the database refuses it"
	case Misfit:
		text = "a value doesn't fit " + or("its field")
	case Computed:
		text = or("a field") + " is filled in by the database"
	case Exists:
		text = "there is something of this name already"
	case NotEmpty:
		text = "it holds records"
	case Denied:
		text = "the source's account may not write it"
	default:
		text = "the database doesn't write exactly this record"
	}
	if r.Class != "" {
		return "in " + r.Class + ": " + text
	}
	return text
}

// problem returns the error for the caller that applies a change.
func (r *Refusal) problem() error {
	return &problem.Error{Code: problem.Conflict, Kind: string(r.Kind), Detail: r.String()}
}
