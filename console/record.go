package console

import (
	"cmp"
	"context"
	"fmt"
	"html/template"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// ahead is how far the clock of another replica may be ahead. Its newest records are on the page as well.
const ahead = time.Minute

// recordSize is the number of records on a page of the audit.
const recordSize = 50

// A recordPage is the result of a search in the audit.
type recordPage struct {
	usageFound
	Days    string // the selected period
	Periods []chip
	Query   url.Values
	Any     bool // a filter is set
	Charts  []drawn
	Tools   []slice
	Agents  []slice
	Older   string // the address of the next page, or ""
	Newest  string
	Begins  time.Time         // the start of the period
	Until   time.Time         // its end
	Costs   bool              // a price is set
	Names   map[string]string // of principals, by ID, if the viewer may see tokens
}

// A drawn is a finished chart with its labels.
type drawn struct {
	Title, Total, Top, Note string
	Picture                 template.HTML
}

// A slice is a row of the table by tool or agent.
type slice struct {
	usageSum
	Called string // the name to show to people
	Share  template.HTML
}

// periods returns the periods to choose from.
func periods() []struct {
	key, label string
	days       int
} {
	return []struct {
		key, label string
		days       int
	}{{"1", "24 hours", 1}, {"7", "7 days", 7}, {"30", "30 days", 30}, {"90", "90 days", 90}}
}

// record searches the audit.
func (c *Console) record(v *visit) error {
	q := v.r.URL.Query()
	p := recordPage{Query: q, Days: q.Get("days")}
	if p.Days == "" {
		p.Days = "7"
	}
	now := c.now().UTC()
	s := usageSearch{To: now.Add(ahead), Agent: q.Get("agent"), Tool: q.Get("tool"), Class: q.Get("class"), Outcome: q.Get("outcome"), Text: q.Get("q"), People: q.Get("people") == "yes",
		Tenant: v.who.Tenant, Tenanted: v.who.Tenant != "", Limit: recordSize}
	// The period is required, and must be one of periods.
	for _, one := range periods() {
		if one.key == p.Days {
			s.From = now.Add(-time.Duration(one.days) * 24 * time.Hour)
		}
		p.Periods = append(p.Periods, chip{Href: with(q, "days", one.key, "before", ""), Label: one.label, Here: one.key == p.Days})
	}
	if s.From.IsZero() {
		return problem.New(problem.InvalidArgument, "The days must be 1, 7, 30 or 90.")
	}
	if text := q.Get("before"); text != "" {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 1 {
			return problem.New(problem.InvalidArgument, "There is no such page.")
		}
		s.Before = n
	}
	// One recorded call reads the audit. It also reads the names of tokens, if the visitor may see tokens.
	p.Any = s.People || s.Agent+s.Tool+s.Class+s.Outcome+s.Text != ""
	ask := bailiwick.CallSpec{Tool: "console/audit", Needs: identity.Audit, Correlation: v.correlation}
	err := c.options.Admit(v.ctx(), v.who, ask, func(ctx context.Context) (err error) {
		if p.usageFound, err = searchUsage(ctx, c.options.Audit, s); err != nil || c.options.Tokens == nil || !v.who.Has(identity.Operator) {
			return err
		}
		p.Names, err = c.tokenNames(ctx, v.who, &p)
		return err
	})
	if err != nil {
		return err
	}
	p.fill(q, s)
	return c.render(v, "record", frame{Title: "Audit", At: Path + "/audit", Page: &p})
}

// tokenNames returns the names of the tokens on a page of the audit, by the ID of their principal.
func (c *Console) tokenNames(ctx context.Context, who identity.Principal, p *recordPage) (map[string]string, error) {
	ids, names := []string{}, map[string]string{}
	add := func(principal string) {
		if id, ok := strings.CutPrefix(principal, "token:"); ok && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	for _, r := range p.Records {
		add(r.Principal)
	}
	for _, s := range p.Sums.Agents[:min(len(p.Sums.Agents), mostSlices)] {
		add(s.Name)
	}
	if len(ids) == 0 {
		return names, nil
	}
	found, err := c.options.Tokens.List(ctx, who, identity.TokenFilter{IDs: ids, Limit: len(ids)})
	for _, t := range found {
		names["token:"+t.ID] = t.Name
	}
	return names, err
}

// fill creates the charts, the tables and the links.
func (p *recordPage) fill(q url.Values, s usageSearch) {
	p.Begins, p.Until = s.From, s.To.Add(-ahead)
	if n := len(p.Records); p.More && n > 0 {
		p.Older = with(q, "before", strconv.FormatInt(p.Records[n-1].Seq, 10))
	}
	if s.Before != 0 {
		p.Newest = with(q, "before", "")
	}
	total := p.Sums.Total
	p.Costs = total.Cost > 0
	p.Charts = []drawn{
		p.draw("Calls", plural(total.Calls, "call"), plural(total.Refused, "refusal")+" or failures", groupedDigits[int64],
			func(d usageSum) (float64, float64) { return float64(d.Calls), float64(d.Refused) }),
		p.draw("Latency", microsText(total.Slow), "95 of 100 calls were faster", microsText, func(d usageSum) (float64, float64) { return float64(d.Slow), 0 }),
		p.draw("Tokens", plural(total.Tokens, "token"), "estimated, of answers", groupedDigits[int64], func(d usageSum) (float64, float64) { return float64(d.Tokens), 0 }),
	}
	if p.Costs {
		p.Charts = append(p.Charts, p.draw("Cost", dollars(total.Cost), "estimated", dollars, func(d usageSum) (float64, float64) { return float64(d.Cost), 0 }))
	}
	p.Tools, p.Agents = p.slicesOf(p.Sums.Tools), p.slicesOf(p.Sums.Agents)
}

// draw creates a bar chart of the days or hours of the search. The function of returns a bar's value and the part
// that was refused or failed. The function say formats a value, for the title of each bar and the top of the scale.
func (p *recordPage) draw(title, total, note string, say func(int64) string, of func(usageSum) (value, part float64)) drawn {
	format := "Mon 2 Jan"
	if p.Sums.Hourly {
		format = "Mon 2 Jan, 15:04"
	}
	bars := make([]chartBar, len(p.Sums.Days))
	for i, d := range p.Sums.Days {
		value, part := of(d)
		bars[i] = chartBar{Value: value, Part: part, Says: d.At.Format(format) + ": " + say(int64(value))}
		if part > 0 {
			bars[i].Says += fmt.Sprintf(", %d refused or failed", int64(part))
		}
	}
	out := drawn{Title: title, Total: total, Note: note, Picture: drawBars(bars)}
	if top := topOfBars(bars); top > 0 {
		out.Top = say(int64(top))
	}
	return out
}

// mostSlices is the number of rows in the tables by tool and by agent.
const mostSlices = 12

// slicesOf returns the most frequently called, with their share relative to the first.
func (p *recordPage) slicesOf(all []usageSum) []slice {
	var out []slice
	for _, s := range all[:min(len(all), mostSlices)] {
		out = append(out, slice{s, p.DisplayName(s.Name), drawShare(float64(s.Calls), float64(all[0].Calls))})
	}
	return out
}

// DisplayName returns the name of a principal or a tool to show to people.
func (p *recordPage) DisplayName(name string) string { return cmp.Or(p.Names[name], name) }

// with returns the address of the audit, with some parameters of q replaced. The value "" removes a parameter.
func with(q url.Values, pairs ...string) string {
	out := url.Values{}
	for k, values := range q {
		if slices.Contains([]string{"days", "agent", "tool", "class", "outcome", "q", "people", "before"}, k) && values[0] != "" {
			out.Set(k, values[0])
		}
	}
	for i := 0; i < len(pairs); i += 2 {
		out.Set(pairs[i], pairs[i+1])
		if pairs[i+1] == "" {
			out.Del(pairs[i])
		}
	}
	if len(out) == 0 {
		return Path + "/audit"
	}
	return Path + "/audit?" + out.Encode()
}
