package console

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/review"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// An editedValue is a value that a reviewer may edit.
type editedValue struct {
	Name  string // name of the input: "item.field"
	Of    review.Item
	Path  string
	Kind  string // the kind in review.Shown. Values other than strings and dates are edited as JSON
	Text  string
	First bool // the first value of its item
	Whole bool // the value is shown in full. A cut value can't be edited
}

// editedValues returns the values of s for the form. These are the values of top-level fields that the agent set.
func editedValues(s *review.Sheet) []editedValue {
	var out []editedValue
	for i, item := range s.Items {
		first := true
		for _, f := range item.Fields {
			if strings.Contains(f.Path, "/") || f.Source || f.After.Kind == "absent" || f.After.Kind == "masked" {
				continue
			}
			out = append(out, editedValue{Name: strconv.Itoa(i) + "." + f.Path, Of: item, Path: f.Path, Kind: f.After.Kind, Text: f.Exact(), First: first, Whole: f.After.Length == 0})
			first = false
		}
	}
	return out
}

// readEdits reads the form. "value.item.field" is the new value, "was.item.field" the previous value, and
// "kind.item.field" the kind. An unchanged value isn't an edit.
func readEdits(form url.Values) ([]review.Edit, error) {
	var out []review.Edit
	for name := range form {
		at, ok := strings.CutPrefix(name, "value.")
		if !ok {
			continue
		}
		number, field, _ := strings.Cut(at, ".")
		item, err := strconv.Atoi(number)
		if err != nil {
			return nil, problem.New(problem.InvalidArgument, "That form could not be read.")
		}
		text := form.Get(name)
		if text == form.Get("was."+at) && form.Get("null."+at) == "" {
			continue
		}
		v := value.OfString(text)
		if kind := form.Get("kind." + at); form.Get("null."+at) != "" {
			v = value.Value{}
		} else if !slices.Contains([]string{"text", "date", "empty", "null", "bytes"}, kind) {
			if v, err = value.Read([]byte(text), 0); err != nil {
				return nil, problem.New(problem.InvalidArgument, field+" needs a "+kind+", written as JSON.")
			}
		}
		out = append(out, review.Edit{Item: item, Field: field, Value: v})
	}
	slices.SortFunc(out, func(a, b review.Edit) int {
		return strings.Compare(strconv.Itoa(a.Item)+a.Field, strconv.Itoa(b.Item)+b.Field)
	})
	return out, nil
}
