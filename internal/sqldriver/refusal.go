package sqldriver

import (
	"strings"

	"github.com/bailiwick-dev/bailiwick/problem"
)

// A RefusalKind is the reason why a database refuses a write.
type RefusalKind string

// The kinds of refusals.
const (
	RefusedUnique     RefusalKind = "unique"      // another record has the same values
	RefusedForeignKey RefusalKind = "foreign_key" // a field references no record
	RefusedReferenced RefusalKind = "referenced"  // other records reference this record
	RefusedNotNull    RefusalKind = "not_null"
	RefusedCheck      RefusalKind = "check"
	RefusedExclusion  RefusalKind = "exclusion"
	RefusedTrigger    RefusalKind = "trigger" // code of the application's owner refuses the write
	RefusedMisfit     RefusalKind = "misfit"  // a value doesn't fit its column
	RefusedComputed   RefusalKind = "computed"
	RefusedDenied     RefusalKind = "denied"    // the source's account may not write it
	RefusedExists     RefusalKind = "exists"    // a table of this name exists
	refusedNotEmpty   RefusalKind = "not_empty" // a class to be dropped has records
	refusedLeftOut    RefusalKind = "left_out"  // the statement wrote no record, or several
)

// A Refusal is a database's refusal to write, without its message.
type Refusal struct {
	Kind     RefusalKind
	Class    string   // the class whose rule refused, if it isn't the written class
	Fields   []string // the fields of the rule, as far as known
	Argument int      // the number, from 1, of the argument that its column rejects, or 0
	Name     string   // the name or condition of the check constraint, or "" if unknown
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
	case RefusedUnique:
		text = "another record has the same " + or("values")
	case RefusedForeignKey:
		text = or("a field") + " leads to no record"
	case RefusedReferenced:
		if r.Class != "" {
			return "records of " + r.Class + " lead to it"
		}
		return "other records lead to it"
	case RefusedNotNull:
		text = or("a field") + " can't be null"
	case RefusedCheck:
		text = "a constraint on " + or("the record") + " doesn't hold"
		if r.Name != "" {
			text += ": " + problem.Cut(r.Name)
		}
	case RefusedExclusion:
		text = "it is in conflict with another record in " + or("its values")
	case RefusedTrigger:
		text = "a trigger of the database refuses it"
	case RefusedMisfit:
		text = "a value doesn't fit " + or("its field")
	case RefusedComputed:
		text = or("a field") + " is filled in by the database"
	case RefusedExists:
		text = "there is something of this name already"
	case refusedNotEmpty:
		text = "it holds records"
	case RefusedDenied:
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
