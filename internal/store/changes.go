package store

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/change"
)

// A ChangeRow is a change in stored form: columns for searching, and the whole change in Body.
type ChangeRow struct {
	ID        string
	Version   int64
	State     string
	Op        string
	Risk      string
	Digest    string
	Principal string // this and the next three come from outside, and may contain any bytes
	Owner     string
	Tenant    string
	Source    string
	// Classes is sorted, without duplicates. Until the change has ended, it also contains the change's records, in
	// the form of recordEntry.
	Classes []string
	After   []string // ids, sorted, without duplicates
	Account string   // the account whose pending changes include it
	Expires time.Time
	Lease   time.Time       // the end of the lease, or zero
	Leased  time.Time       // zero, or a time before which the lease has also expired
	Search  string          // the words searched by Filter.Text: see wordsOf. A trigger puts them into the index of words
	Closed  string          // the people that Filter.For excludes, the schema and the reviewers: see closedMarks
	Since   string          // for a new change: greater ids are of the last minute
	Body    string          // JSON
	Events  []string        // of the steps that are stored with it, in order, as JSON without Seq
	Records []*audit.Record // of these steps, without steps that have no record
	of      *change.Change  // the change that Body encodes
}

// NewChangeRow returns the row of a change that is filed at the time now. It also returns the row of the version that
// the change replaces, or nil.
func NewChangeRow(c *change.Change, now time.Time, f change.Filing) (r, old *ChangeRow, err error) {
	if f.Replaces != nil {
		if old, err = NextChangeRow(f.Replaces, now, change.Guard{}); err != nil {
			return nil, nil, err
		}
	}
	kept := *c
	kept.Version, kept.Created, kept.Updated, kept.Expires = 1, now, now, now.Add(f.Life)
	kept.History = c.History
	if r, err = row(&kept, now); err != nil {
		return nil, nil, err
	}
	var from ulid.ULID
	if err := from.SetTime(ulid.Timestamp(now.Add(-time.Minute))); err != nil {
		return nil, nil, fmt.Errorf("the time of a change: %w", err)
	}
	r.Since = strings.ToLower(from.String())
	return r, old, nil
}

// closedMarks returns the marks of the people who can't decide about c: its authors, and the people who have approved
// it. It also contains the marks of the schema that c writes, and of the reviewers whose approval is missing.
func closedMarks(c *change.Change) string {
	out := mark(author, c.Agent.Account())
	if c.Schema != "" {
		out += mark(inSchema, c.Schema)
	}
	if c.Asker != nil {
		out += mark(author, c.Asker.Human())
	}
	for _, human := range c.Approvers() {
		out += mark(approver, human)
	}
	if len(c.Panels) > 0 {
		out += mark(reviewer, "")
	}
	for _, panel := range c.Missing() {
		for _, name := range panel.Names {
			out += mark(reviewer, name)
		}
	}
	return word(out)
}

// The marks in ChangeRow.Closed. A reviewer without a name marks a change that only its reviewers can approve.
const author, approver, inSchema, reviewer = "o:", "a:", "s:", "r:"

func mark(as, human string) string { return "\x1f" + as + human + "\x1f" }

// NextChangeRow returns the row that replaces, at now, the row from which c was read.
func NextChangeRow(c *change.Change, now time.Time, g change.Guard) (*ChangeRow, error) {
	kept := *c
	kept.Version, kept.Updated = c.Version+1, now
	if g.Lease > 0 {
		kept.Lease.From, kept.Lease.Until = now.Add(-g.Lease), now.Add(g.Lease)
	}
	if g.Life > 0 {
		kept.Expires = now.Add(g.Life)
	}
	return row(&kept, now)
}

// row encodes c. The steps at the end without a time get the time now. These steps, and the last one, are stored with
// c.
func row(c *change.Change, now time.Time) (*ChangeRow, error) {
	if len(c.History) == 0 {
		return nil, fmt.Errorf("change %s has no history", c.ID)
	}
	c.History = slices.Clone(c.History)
	first := len(c.History) - 1
	for i := first; i >= 0 && c.History[i].At.IsZero(); i-- {
		c.History[i].At, first = now, i
	}
	body, err := json.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("write change %s: %w", c.ID, err)
	}
	var events []string
	var records []*audit.Record
	for i, step := range c.History[first:] {
		event, err := json.Marshal(change.Event{Change: c.ID, Kind: step.Event, State: step.State, By: step.By, Tenant: c.Agent.Tenant,
			Agent: c.Agent.Principal, At: c.Updated, Broken: step.Broken})
		if err != nil {
			return nil, fmt.Errorf("write an event of change %s: %w", c.ID, err)
		}
		events = append(events, string(event))
		if r := c.Record(first + i + 1); r != nil {
			records = append(records, r)
		}
	}
	classes, after := slices.Clone(c.Classes), slices.Clone(c.After)
	if !c.State.IsFinal() {
		for _, at := range c.Targets() {
			classes = append(classes, recordEntry(at))
		}
	}
	slices.Sort(classes)
	slices.Sort(after)
	return &ChangeRow{ID: c.ID, Version: c.Version, State: string(c.State), Op: string(c.Op), Risk: string(c.Risk), Digest: c.Digest,
		Principal: c.Agent.Principal, Owner: c.Agent.Owner, Tenant: c.Agent.Tenant, Source: c.Source, Classes: slices.Compact(classes), After: slices.Compact(after),
		Account: c.Agent.Account(), Expires: c.Expires, Lease: c.Lease.Until, Leased: c.Lease.From, Search: wordsOf(c), Closed: closedMarks(c), Body: string(body), Events: events,
		Records: records, of: c}, nil
}

// recordEntry returns the entry of a record in the index of classes. Its separator occurs in no class name.
func recordEntry(at change.Target) string { return at.Class + "\x1f" + at.Key }

// decodeChange decodes the body of a row.
func decodeChange(body string) (*change.Change, error) {
	c := new(change.Change)
	if err := json.Unmarshal([]byte(body), c); err != nil {
		return nil, fmt.Errorf("a change in the store can't be read: %w", err)
	}
	return c, nil
}

// ChangesOf returns the column and the value that select the changes of the argument of. ok is false if of selects no
// changes.
func ChangesOf(of change.Of) (column, is string, ok bool) {
	if of.Principal != "" {
		return "principal", of.Principal, true
	}
	return "tenant", of.Tenant, of.Tenant != ""
}

// ReadEvent decodes the event in a row.
func ReadEvent(seq int64, body string) (e change.Event, err error) {
	if err := json.Unmarshal([]byte(body), &e); err != nil {
		return e, fmt.Errorf("event %d of changes can't be read: %w", seq, err)
	}
	e.Seq = seq
	return e, nil
}
