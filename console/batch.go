package console

import (
	"net/http"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/internal/review"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// A batchPage shows several changes. Some may be decided together, and others may not.
type batchPage struct {
	Ready   []*review.Sheet
	Table   *review.Table // the records of Ready, or nil if each change is shown separately
	Digests map[string]string
	Left    []left
	Done    string // "approved", "rejected" or "returned to their agents" after the decision. Then Ready contains the decided changes
	In      string // the filter of the queue from which the page was opened
	Written string
}

// A left is a change that can't be decided together with others.
type left struct {
	Sheet *review.Sheet // nil if it can't be shown
	ID    string
	Why   string
}

// batchMost is the maximum number of changes in one decision.
const batchMost = 200

// batchPage shows the effects of several changes, so that a reviewer sees everything before approving it.
func (c *Console) batchPage(v *visit) error {
	ids := v.r.URL.Query()["id"]
	if err := checkBatch(ids); err != nil {
		return err
	}
	p := batchPage{In: queueOf(v.r.URL.Query().Get("in"))}
	reviewer := c.reviewer(v)
	for _, id := range ids {
		s, err := reviewer.Sheet(v.ctx(), id)
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
	several := slices.ContainsFunc(p.Ready, func(s *review.Sheet) bool { return len(s.Items) != 1 })
	if review.Tabular(p.Ready...) && !several { // each row is a change, and the selected changes are decided
		t := review.TableOf(p.Ready...)
		p.Table, p.Digests = &t, map[string]string{}
		for _, s := range p.Ready {
			p.Digests[s.ID] = s.Digest
		}
	}
	return c.render(v, "batch", frame{Title: "Decide together", At: Path + "/changes", Page: p})
}

func checkBatch(ids []string) error {
	if len(ids) == 0 {
		return &problem.Error{Code: problem.InvalidArgument, Detail: "No change is selected.", Suggestion: "Go back to the queue and select some."}
	}
	if len(ids) > batchMost {
		return problem.New(problem.InvalidArgument, "At most "+countText(batchMost)+" changes can be decided at once.")
	}
	return nil
}

// against returns why a change can't be approved together with others, or "".
func against(s *review.Sheet) string {
	switch {
	case s.State == change.Stale:
		return "It is stale: the record has moved since it was previewed."
	case s.State != change.Pending:
		return "It is " + stateText(s.State) + "."
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

// A batchDeed is a decision about several changes.
type batchDeed struct {
	done  string // what became of the changes
	wants string // why a text is needed, or ""
	one   func(reviewer bailiwick.Reviewer, v *visit, id, digest, text string) (*review.Sheet, error)
}

// batchDeeds returns the decisions by their names in the form.
func (c *Console) batchDeeds() map[string]batchDeed {
	return map[string]batchDeed{
		"approve": {"approved", "", func(r bailiwick.Reviewer, v *visit, id, digest, text string) (*review.Sheet, error) {
			s, err := r.Sheet(v.ctx(), id)
			if err != nil {
				return nil, err
			}
			if why := against(s); why != "" {
				return s, &problem.Error{Code: problem.Conflict, Detail: why}
			}
			return r.Approve(v.ctx(), id, digest, text)
		}},
		"reject": {"rejected", "A rejection needs a reason: the agents read it.", func(r bailiwick.Reviewer, v *visit, id, _, text string) (*review.Sheet, error) {
			return r.Reject(v.ctx(), id, text)
		}},
		"ask": {"returned to their agents", "Say what should be different: the agents read it.", func(r bailiwick.Reviewer, v *visit, id, _, text string) (*review.Sheet, error) {
			return r.Ask(v.ctx(), id, text)
		}},
	}
}

// batch makes one decision about the changes that batchPage showed, each by the digest that the page contained, and all
// with one reason. It shows the changes that it could not decide, with the reason.
func (c *Console) batch(v *visit) error {
	pairs, text := v.r.PostForm["change"], v.r.PostForm.Get("text")
	if err := checkBatch(pairs); err != nil {
		return err
	}
	deed, ok := c.batchDeeds()[v.r.PostForm.Get("do")]
	switch {
	case !ok:
		return problem.New(problem.InvalidArgument, "Choose what to do: approve, reject or ask for changes.")
	case deed.wants != "" && strings.TrimSpace(text) == "":
		return &problem.Error{Code: problem.InvalidArgument, Detail: deed.wants, Suggestion: "Go back and write one."}
	}
	p := batchPage{Done: deed.done, In: queueOf(v.r.PostForm.Get("in"))}
	reviewer := c.reviewer(v)
	for _, pair := range pairs {
		id, digest, _ := strings.Cut(pair, ":")
		s, err := deed.one(reviewer, v, id, digest, text)
		if err != nil {
			p.Left = append(p.Left, left{Sheet: s, ID: id, Why: problem.Of(err).Detail})
			continue
		}
		p.Ready = append(p.Ready, s)
	}
	return c.render(v, "batch", frame{Title: "Decided together", At: Path + "/changes", Page: p, Status: http.StatusOK})
}
