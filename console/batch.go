package console

import (
	"strings"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/internal/review"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// A batchPage shows several changes: those that may be approved at once, and those that may not.
type batchPage struct {
	Ready    []*review.Sheet
	Left     []left
	Done     bool // the decision was made: Ready were approved
	Approved int
}

// A left is a change that can't be approved with others.
type left struct {
	Sheet *review.Sheet // nil if it can't be shown
	ID    string
	Why   string
}

// batchMost is the maximum number of changes in one decision.
const batchMost = 100

// batchPage shows what each of several changes would do, so that a reviewer sees everything before approving it.
func (c *Console) batchPage(v *visit) error {
	ids := v.r.URL.Query()["id"]
	if err := checkBatch(ids); err != nil {
		return err
	}
	var p batchPage
	desk := c.desk(v)
	for _, id := range ids {
		s, err := desk.Sheet(v.ctx(), id)
		if err != nil {
			p.Left = append(p.Left, left{ID: id, Why: problem.Of(err).Detail})
			continue
		}
		if why := against(s); why != "" {
			p.Left = append(p.Left, left{Sheet: s, ID: id, Why: why})
			continue
		}
		p.Ready = append(p.Ready, s)
	}
	return c.render(v, "batch", frame{Title: "Approve together", At: Path + "/changes", Page: p})
}

func checkBatch(ids []string) error {
	if len(ids) == 0 {
		return &problem.Error{Code: problem.InvalidArgument, Detail: "No change is selected.", Suggestion: "Go back to the queue and select some."}
	}
	if len(ids) > batchMost {
		return problem.New(problem.InvalidArgument, "At most "+countOf(batchMost)+" changes can be approved at once.")
	}
	return nil
}

// against returns why a change can't be approved with others, or "".
func against(s *review.Sheet) string {
	switch {
	case s.State == change.Stale:
		return "It is stale: the record has moved since it was previewed."
	case s.State != change.Pending:
		return "It is " + stateWord(s.State) + "."
	case s.Risk == change.High:
		return "Its risk is high: it wants a look of its own."
	case s.Row.Mine:
		return "You have decided about it already."
	}
	for _, check := range s.Checks {
		if !check.OK {
			return check.Detail
		}
	}
	if !s.CanApprove {
		return "You can't approve it."
	}
	return ""
}

// batch approves the changes that batchPage showed, each by the digest it was shown with. Others stay, with a reason.
func (c *Console) batch(v *visit) error {
	pairs := v.r.PostForm["change"]
	if err := checkBatch(pairs); err != nil {
		return err
	}
	p := batchPage{Done: true}
	desk := c.desk(v)
	for _, pair := range pairs {
		id, digest, _ := strings.Cut(pair, ":")
		s, err := desk.Sheet(v.ctx(), id)
		if err != nil {
			p.Left = append(p.Left, left{ID: id, Why: problem.Of(err).Detail})
			continue
		}
		why := against(s)
		if why == "" {
			var after *review.Sheet
			if after, err = desk.Approve(v.ctx(), id, digest, v.r.PostForm.Get("text")); err == nil {
				p.Ready = append(p.Ready, after)
				p.Approved++
				continue
			}
			why = problem.Of(err).Detail
		}
		p.Left = append(p.Left, left{Sheet: s, ID: id, Why: why})
	}
	return c.render(v, "batch", frame{Title: "Approved together", At: Path + "/changes", Page: p})
}
