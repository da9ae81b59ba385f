package calls

import (
	"cmp"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
)

// Classes returns the class of every operation of the document. An operation that looks unsuitable for agents is held
// until a rule of the owner names it. An operation whose answer may contain credentials is excluded. An operation that
// gives credentials, rights or a way in is forbidden. A pattern with * or a tag doesn't count as naming an operation,
// because its author may not know all operations that it matches.
func (r Rules) Classes() (*spec.Classifier, error) {
	classes, err := spec.NewClassifier(r.Document, r.Access)
	if err != nil {
		return nil, err
	}
	// A pattern can class a POST as a read, or a GET as a write. So the suspicion also depends on the operation's own
	// class.
	own, err := spec.NewClassifier(r.Document, spec.ClassOptions{RPCNames: r.Access.RPCNames})
	if err != nil {
		return nil, err
	}
	classes.Hold(func(op *spec.Operation, d spec.Decision) (spec.Decision, bool) {
		if d.Class == spec.ClassExcluded || d.Class == spec.ClassForbidden || r.confirms(op, d) {
			return d, false
		}
		switch kind := cmp.Or(spec.SuspicionOf(r.Document, op, own.Of(op).Class), spec.SuspicionOf(r.Document, op, d.Class)); kind {
		case "":
			return d, false
		case spec.SuspectShows:
			return spec.Decision{Class: spec.ClassExcluded, Reason: kind.Reason()}, true
		default:
			title := strings.TrimSuffix(strings.TrimSpace(cmp.Or(r.Document.Title, "the application")), " API")
			return spec.Decision{Class: spec.ClassForbidden, Reason: kind.Reason(), Instead: "A person does it in " + title}, true
		}
	})
	return classes, nil
}

// confirms reports whether the rule that decided about op, or the list Shown, names op.
func (r Rules) confirms(op *spec.Operation, d spec.Decision) bool {
	return d.Rule >= 0 && spec.NamesOperation(r.Access.Rules[d.Rule].Operations, op) || spec.NamesOperation(r.Shown, op)
}
