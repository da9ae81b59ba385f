package calls

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/validate"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// accepting returns arguments without the header Accept, and the media type of the answer that it chooses among those
// of the document. It returns "" if there is no such header.
func accepting(op *spec.Operation, args validate.Arguments) (validate.Arguments, string, error) {
	members := args.Headers.Members()
	at := slices.IndexFunc(members, func(m value.Member) bool { return strings.EqualFold(m.Name, "Accept") })
	if at < 0 {
		return args, "", nil
	}
	asked := strings.ToLower(strings.TrimSpace(members[at].Value.Text()))
	known := op.Answers()
	if !slices.Contains(known, asked) {
		near := problem.Nearest(asked, known, 3)
		detail := fmt.Sprintf("%s doesn't answer with %q%s", op.ID, problem.Cut(members[at].Value.Text()), problem.DidYouMean(near))
		if len(near) == 0 && len(known) > 0 {
			detail += "; it answers with " + strings.Join(known[:min(len(known), 8)], ", ")
		}
		return args, "", &problem.Error{Code: problem.InvalidArgument, Pointer: "/headers/" + members[at].Name, Near: near, Detail: detail}
	}
	args.Headers = value.Value{}
	if rest := slices.Delete(slices.Clone(members), at, at+1); len(rest) > 0 {
		args.Headers = value.OfObject(rest)
	}
	return args, asked, nil
}
