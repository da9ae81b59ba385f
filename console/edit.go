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

// editPage is the form with which a reviewer edits the values of a change.
type editPage struct {
	*review.Sheet
	In      string
	Values  []editable
	Written string
}

// An editable is a value that a reviewer may edit.
type editable struct {
	Name  string // of its input: "item.field"
	Of    review.Item
	Path  string
	Kind  string // as of review.Shown; what isn't a text or a date is edited as JSON
	Text  string
	Whole bool // the value is shown whole: one that is cut isn't edited here
}

// edit shows the form.
func (c *Console) edit(v *visit) error {
	s, err := c.desk(v).Sheet(v.ctx(), v.r.PathValue("id"))
	if err != nil {
		return err
	}
	if !s.CanEdit {
		return problem.New(problem.PermissionDenied, "You can't edit this change.")
	}
	p := editPage{Sheet: s, In: v.r.URL.Query().Get("in")}
	for i, item := range s.Items {
		for _, f := range item.Fields {
			if strings.Contains(f.Path, "/") || f.Source || f.After.Kind == "absent" || f.After.Kind == "masked" {
				continue
			}
			e := editable{Name: strconv.Itoa(i) + "." + f.Path, Of: item, Path: f.Path, Kind: f.After.Kind, Text: f.Exact(), Whole: f.After.Length == 0}
			p.Values = append(p.Values, e)
		}
	}
	return c.render(v, "edit", frame{Title: "Edit: " + s.Title, At: Path + "/changes", Page: p})
}

// edits reads the form: "value.item.field" is the value, "was.item.field" what it was and "kind.item.field" its kind. A
// value that is as it was isn't an edit.
func edits(form url.Values) ([]review.Edit, error) {
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
		text := strings.ReplaceAll(form.Get(name), "\r\n", "\n")
		if text == strings.ReplaceAll(form.Get("was."+at), "\r\n", "\n") && form.Get("null."+at) == "" {
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
