package calls

import (
	"cmp"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/classify"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/suspect"
)

// Classes returns the class of every operation of the document. An operation that looks unsuitable for agents is held
// until a rule of the owner names it: one whose answer may contain credentials is excluded, and one that gives
// credentials, rights or a way in is forbidden. A pattern with * or a tag names no operation, because its author may not
// know all that it matches.
func (r Rules) Classes() (*classify.Rules, error) {
	classes, err := classify.New(r.Document, r.Access)
	if err != nil {
		return nil, err
	}
	// A pattern can class a POST as a read, or a GET as a write. What an operation is suspected of comes from its own class too.
	own, err := classify.New(r.Document, classify.Options{RPCNames: r.Access.RPCNames})
	if err != nil {
		return nil, err
	}
	classes.Hold(func(op *spec.Operation, d classify.Decision) (classify.Decision, bool) {
		if d.Class == classify.Excluded || d.Class == classify.Forbidden || r.confirms(op, d) {
			return d, false
		}
		switch kind := cmp.Or(suspect.Of(r.Document, op, own.Of(op).Class), suspect.Of(r.Document, op, d.Class)); kind {
		case "":
			return d, false
		case suspect.Shows:
			return classify.Decision{Class: classify.Excluded, Reason: kind.Reason()}, true
		default:
			title := strings.TrimSuffix(strings.TrimSpace(cmp.Or(r.Document.Title, "the application")), " API")
			return classify.Decision{Class: classify.Forbidden, Reason: kind.Reason(), Instead: "A person does it in " + title}, true
		}
	})
	return classes, nil
}

// confirms reports whether the rule that decided about op, or the list of what is shown, names op.
func (r Rules) confirms(op *spec.Operation, d classify.Decision) bool {
	return d.Rule >= 0 && classify.NamesOne(r.Access.Rules[d.Rule].Operations, op) || classify.NamesOne(r.Shown, op)
}
