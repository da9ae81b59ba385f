package console

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/review"
)

// A printPage is a change on one page, without folded parts and forms.
type printPage struct {
	*review.Sheet
	At  time.Time
	For string // the person who may see this
}

// print shows a change as a page to print.
func (c *Console) print(v *visit) error {
	sheet, err := c.reviewer(v).Sheet(v.ctx(), v.r.PathValue("id"))
	if err != nil {
		return err
	}
	p := printPage{Sheet: sheet, At: c.now(), For: whoName(v.who)}
	return c.render(v, "print", frame{Title: sheet.Title, At: Path + "/changes", Page: p})
}

// A changeFile is a change as a file.
type changeFile struct {
	At     time.Time     `json:"exported_at"`
	For    string        `json:"exported_for"` // the person who may see this
	Change *review.Sheet `json:"change"`       // as GET /api/changes/{id} returns it
}

// download sends a change as a file of JSON, as the visitor sees it.
func (c *Console) download(v *visit) error {
	sheet, err := c.reviewer(v).Sheet(v.ctx(), v.r.PathValue("id"))
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(changeFile{c.now().UTC(), whoName(v.who), sheet}, "", "  ")
	if err != nil {
		return fmt.Errorf("console: encode %s: %w", sheet.ID, err)
	}
	sendFile(v.w, "change-"+sheet.ID+".json", "application/json", string(text)+"\n")
	return nil
}
