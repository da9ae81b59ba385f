package console

import (
	"github.com/bailiwick-dev/bailiwick/internal/review"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// editPage is the form in which a reviewer edits the values of a change.
type editPage struct {
	*review.Sheet
	In     string
	Values []editedValue
}

// edit shows the form.
func (c *Console) edit(v *visit) error {
	s, err := c.reviewer(v).Sheet(v.ctx(), v.r.PathValue("id"))
	if err != nil {
		return err
	}
	if !s.CanEdit {
		return problem.New(problem.PermissionDenied, "You can't edit this change.")
	}
	return c.render(v, "edit", frame{Title: "Edit: " + s.Title, At: Path + "/changes", Page: editPage{s, v.r.URL.Query().Get("in"), editedValues(s)}})
}
