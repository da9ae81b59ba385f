package sqlgen

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/problem"
)

// maxText is the most bytes of a statement. Databases take more; only a contrived query grows that large.
const maxText = 4 << 20

// An arg is a value and the type of the dialect that it is cast to. Its place in a text is its number between two NULs,
// which nothing else can bring into a text: values are kept out, and quote removes NUL from names.
type arg struct {
	value any
	cast  string
}

// Arg returns the place of a value, which may be written any number of times.
func (w *writer) Arg(v any, cast string) string {
	w.args = append(w.args, arg{v, cast})
	return "\x00" + strconv.Itoa(len(w.args)-1) + "\x00"
}

// arg writes the place of a value.
func (w *writer) arg(v any, cast string) { w.write(w.Arg(v, cast)) }

// Limit returns the place of a limit.
func (w *writer) Limit(n int64) string { return w.limit(w.Arg(n, "")) }

// captured returns what write writes into w, which holds no text yet.
func (w *writer) captured(write func() error) (string, error) {
	err := write()
	text := w.text.String()
	w.text.Reset()
	return text, err
}

// resolve replaces the places of values by placeholders. If placeholders name their arguments, they are numbered as they
// first appear; otherwise an argument is repeated for each of its places.
func (w *writer) resolve(text string) (string, []any, error) {
	parts := strings.Split(text, "\x00")
	if len(parts)%2 == 0 {
		return "", nil, problem.New(problem.Internal, "a NUL in the text of a statement")
	}
	var b strings.Builder
	b.Grow(len(text))
	args := make([]any, 0, len(w.args))
	numbers := make([]int, len(w.args)) // from 1; 0 for those that haven't appeared yet
	for i, part := range parts {
		if i%2 == 0 {
			b.WriteString(part)
			continue
		}
		n, err := strconv.Atoi(part)
		if err != nil || n >= len(w.args) {
			return "", nil, problem.New(problem.Internal, "a NUL in the text of a statement")
		}
		if numbers[n] == 0 || !w.counts() {
			args = append(args, w.args[n].value)
			numbers[n] = len(args)
		}
		b.WriteString(w.placeholder(numbers[n], w.args[n].cast))
	}
	if len(args) > maxArguments {
		return "", nil, problem.New(problem.InvalidQuery, fmt.Sprintf("the query compares with %d values; at most %d", len(args), maxArguments))
	}
	most := maxText
	if w.plan.Program != nil {
		most = w.longest()
	}
	if b.Len() > most {
		return "", nil, &problem.Error{Code: problem.Unsupported, Detail: fmt.Sprintf("the query becomes a statement of %d bytes here; at most %d", b.Len(), most),
			Suggestion: "compute in several stages, or with fewer expressions inside of each other"}
	}
	return b.String(), args, nil
}
