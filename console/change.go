package console

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/edge"
	"github.com/bailiwick-dev/bailiwick/internal/review"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// A changePage shows one change.
type changePage struct {
	*review.Sheet
	Stages  []stageText
	Against []review.Check // failed checks
	For     []review.Check
	Sums    []sumText // the number of effects by operation and class
	Mine    bool      // the viewer has already decided about this version
	Open    bool      // the change can still be decided
	Renew   bool
	Settle  bool
	Glass   bool // the viewer could approve the change by breaking the glass
	Written string
	Several bool              // the visitor can mark each record as viewed
	Viewed  int               // number of records that the visitor has viewed
	Next    string            // the place of the first record that the visitor has not viewed
	mark    string            // see frame
	Table   *review.Table     // the records, if one table shows them more clearly
	Digests map[string]string // nil if the records are not decided one by one
	In      string            // the filter of the queue from which the page was opened. It survives decisions
	Queue   string            // the address of that queue
}

// A viewForm marks one record of a change as viewed.
type viewForm struct {
	Change, Digest, In, Mark string
	Item                     int
	Viewed                   bool // the visitor has viewed it
	Brief                    bool // the form is in a row of a table
}

// ViewForm returns the form for a record, or nil if the visitor has no records to mark.
func (p changePage) ViewForm(item int) *viewForm {
	if !p.Several {
		return nil
	}
	return &viewForm{p.ID, p.Digest, p.In, p.mark, item, p.Items[item].Viewed, p.Table != nil}
}

// ViewForm returns nil: changes that are decided together are looked at together.
func (batchPage) ViewForm(int) *viewForm { return nil }

// change shows one change. After a decision, the query parameter did contains the decision. If the page shows the
// next change, the parameter after contains the decided one.
func (c *Console) change(v *visit) error {
	sheet, err := c.reviewer(v).Sheet(v.ctx(), v.r.PathValue("id"))
	if err != nil {
		return err
	}
	f := frame{Notice: doneText(v.r.URL.Query().Get("did"))}
	if before := v.r.URL.Query().Get("after"); before != "" && f.Notice != "" {
		if s, err := c.reviewer(v).Sheet(v.ctx(), before); err == nil {
			f.Before = &s.Row
		}
	}
	return c.showSheet(v, sheet, f)
}

// showSheet shows a change within f.
func (c *Console) showSheet(v *visit, s *review.Sheet, f frame) error {
	p := changePage{Sheet: s, Stages: stageList(s), Sums: sumTexts(s), Written: v.r.PostForm.Get("text"), In: cmp.Or(v.r.URL.Query().Get("in"), v.r.PostForm.Get("in"))}
	p.Queue = queueOf(p.In)
	p.Table = tableOf(s)
	for _, check := range s.Checks {
		if s.Row.Mine && check.OK && check.Name == "four_eyes" {
			continue // the page says that the viewer has decided
		}
		if check.OK {
			p.For = append(p.For, check)
		} else {
			p.Against = append(p.Against, check)
		}
	}
	p.mark = formMark(v.session.secret)
	p.Several, p.Next = s.State == change.Pending && len(s.Items) > 1, nextItem(s, p.Table)
	for _, item := range s.Items {
		if item.Viewed {
			p.Viewed++
		}
	}
	p.Mine = s.Row.Mine
	p.Open = s.State == change.Pending
	p.Renew = s.State == change.Stale || s.State == change.Pending && slices.ContainsFunc(p.Against, func(k review.Check) bool { return k.Name == "target" })
	p.Settle = s.State == change.Unknown
	p.Glass = p.Open && !s.CanApprove && !p.Mine && v.who.Has(identity.Operator)
	f.Title, f.At, f.Page, f.Live = s.Title, Path+"/changes", p, true
	return c.render(v, "change", f)
}

// deeds returns the operations on one change, by the last element of the path.
func (c *Console) deeds() map[string]func(d bailiwick.Reviewer, v *visit) (*review.Sheet, error) {
	text := func(v *visit) string { return v.r.PostForm.Get("text") }
	id := func(v *visit) string { return v.r.PathValue("id") }
	digest := func(v *visit) string { return v.r.PostForm.Get("digest") }
	return map[string]func(d bailiwick.Reviewer, v *visit) (*review.Sheet, error){
		"approve": func(d bailiwick.Reviewer, v *visit) (*review.Sheet, error) {
			return d.Approve(v.ctx(), id(v), digest(v), text(v))
		},
		"break-glass": func(d bailiwick.Reviewer, v *visit) (*review.Sheet, error) {
			return d.BreakGlass(v.ctx(), id(v), digest(v), text(v))
		},
		"reject":  func(d bailiwick.Reviewer, v *visit) (*review.Sheet, error) { return d.Reject(v.ctx(), id(v), text(v)) },
		"comment": func(d bailiwick.Reviewer, v *visit) (*review.Sheet, error) { return d.Comment(v.ctx(), id(v), text(v)) },
		"view": func(d bailiwick.Reviewer, v *visit) (*review.Sheet, error) {
			item, err := strconv.Atoi(v.r.PostForm.Get("item"))
			if err != nil {
				return nil, problem.New(problem.InvalidArgument, "The form names no record.")
			}
			return d.View(v.ctx(), id(v), digest(v), item)
		},
		"ask": func(d bailiwick.Reviewer, v *visit) (*review.Sheet, error) { return d.Ask(v.ctx(), id(v), text(v)) },
		"edit": func(d bailiwick.Reviewer, v *visit) (*review.Sheet, error) {
			edits, err := readEdits(v.r.PostForm)
			if err != nil {
				return nil, err
			}
			return d.Edit(v.ctx(), id(v), review.Revision{Digest: digest(v), Edits: edits, Reason: text(v)})
		},
		"renew":  func(d bailiwick.Reviewer, v *visit) (*review.Sheet, error) { return d.Renew(v.ctx(), id(v)) },
		"revert": func(d bailiwick.Reviewer, v *visit) (*review.Sheet, error) { return d.Revert(v.ctx(), id(v), text(v)) },
		"settle": func(d bailiwick.Reviewer, v *visit) (*review.Sheet, error) {
			applied := v.r.PostForm.Get("applied")
			if applied != "yes" && applied != "no" {
				return nil, problem.New(problem.InvalidArgument, "Say whether the change was applied.")
			}
			return d.Settle(v.ctx(), id(v), applied == "yes", text(v))
		},
	}
}

// queueOf returns the address of the queue from which a page was opened. This is the given address if it is a queue,
// and otherwise the default queue.
func queueOf(in string) string {
	at, err := url.Parse(edge.Within(Path, in))
	if err != nil || at.Path != Path+"/changes" {
		return Path + "/changes"
	}
	return at.RequestURI()
}

// onward returns the page to show after an operation. After a decision, this is the next change of the queue from
// which the reviewer came, if there is one. Otherwise it is the change itself.
func (c *Console) onward(v *visit, reviewer bailiwick.Reviewer, deed string, s *review.Sheet) string {
	q := url.Values{"did": {deed}}
	next := s.ID
	if deed == "view" {
		q = url.Values{}
	}
	if in := v.r.PostForm.Get("in"); in != "" {
		q.Set("in", queueOf(in))
		if slices.Contains([]string{"approve", "reject", "ask"}, deed) {
			if id := c.next(v, reviewer, queueOf(in), v.r.PathValue("id")); id != "" {
				next = id
				q.Set("after", s.ID)
			}
		}
	}
	to := Path + "/changes/" + url.PathEscape(next)
	if len(q) > 0 {
		to += "?" + q.Encode()
	}
	if deed == "view" {
		to += "#" + nextItem(s, tableOf(s))
	}
	return to
}

// tableOf returns the table of the records of s, or nil if they are clearer one by one.
func tableOf(s *review.Sheet) *review.Table {
	if !review.Tabular(s) {
		return nil
	}
	t := review.TableOf(s)
	return &t
}

// nextItem returns the place of the first record on the page that the visitor has not viewed, or of the decision if there
// is none. A table shows the records in an order of its own.
func nextItem(s *review.Sheet, table *review.Table) string {
	for i := range s.Items {
		if table != nil {
			i = table.Rows[i].Item
		}
		if !s.Items[i].Viewed {
			return "item-" + strconv.Itoa(i)
		}
	}
	return "decide"
}

// next returns the change after id in the queue at the address in. If there is none, it returns the first change, or
// "".
func (c *Console) next(v *visit, reviewer bailiwick.Reviewer, in, id string) string {
	at, err := url.Parse(in)
	if err != nil {
		return ""
	}
	_, f, err := readFilter(at.Query())
	if err != nil {
		return ""
	}
	f.Limit = 2 // one of them may be the change itself, if it is still in the queue
	for _, f.Before = range []string{id, ""} {
		rows, _, err := reviewer.Queue(v.ctx(), f)
		if err != nil {
			return ""
		}
		for _, r := range rows {
			if r.ID != id {
				return r.ID
			}
		}
	}
	return ""
}

// decide runs one operation on a change and redirects to the change's page. It shows an error on that page, with the
// reviewer's input.
func (c *Console) decide(v *visit) error {
	name := v.r.PathValue("deed")
	deed, ok := c.deeds()[name]
	if !ok {
		return problem.New(problem.NotFound, "No page has this address.")
	}
	if name == "break-glass" && !v.who.Fresh(c.now(), c.options.Fresh) {
		to := Path + "/changes/" + url.PathEscape(v.r.PathValue("id"))
		http.Redirect(v.w, v.r, Path+"/sign-in?again=yes&next="+url.QueryEscape(to), http.StatusSeeOther)
		return nil
	}
	reviewer := c.reviewer(v)
	s, err := deed(reviewer, v)
	if err == nil {
		http.Redirect(v.w, v.r, c.onward(v, reviewer, name, s), http.StatusSeeOther)
		return nil
	}
	p := problem.Of(err)
	status := statusOf(p)
	if status >= 500 || p.Code == problem.NotFound {
		return err
	}
	s, again := reviewer.Sheet(v.ctx(), v.r.PathValue("id"))
	if again != nil {
		return err
	}
	alert := p.Detail
	if p.Suggestion != "" {
		alert += ". " + p.Suggestion
	}
	return c.showSheet(v, s, frame{Alert: alert, Status: status})
}
