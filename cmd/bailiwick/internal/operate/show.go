package operate

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/cmd/bailiwick/internal/terminal"
	"github.com/bailiwick-dev/bailiwick/internal/review"
	"github.com/bailiwick-dev/bailiwick/value"
)

// sanitize replaces characters that could control a terminal. The gateway already makes invisible characters visible,
// but this function doesn't rely on it.
func sanitize(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, strings.ReplaceAll(text, "\t", "    "))
}

// oneLine returns sanitized text on one line.
func oneLine(text string) string { return strings.Join(strings.Fields(sanitize(text)), " ") }

// printRows lists changes.
func printRows(t *terminal.Terminal, rows []review.Row, now time.Time) error {
	w := t.Table()
	fmt.Fprintln(w, "ID\tSTATE\tRISK\tAPPROVALS\tRECORDS\tAGENT\tAGE\tCHANGE")
	for _, r := range rows {
		if r.Broken {
			r.Title = "BREAK GLASS: " + r.Title
		}
		if who := r.ReviewerText(); who != "" {
			r.Title += " (for " + who + ")"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%d/%d\t%s\t%s\t%s\t%s\n", oneLine(r.ID), oneLine(string(r.State)), oneLine(string(r.Risk)), r.Approvals, r.Need, recordSums(r), oneLine(r.Agent), age(now.Sub(r.Created)), oneLine(r.Title))
	}
	return w.Flush()
}

// recordSums returns how many records a change creates, updates and deletes, such as "+2 ~3 -1". It returns "" for calls
// of APIs, whose records are not known.
func recordSums(r review.Row) string {
	var out []string
	for _, sum := range []struct {
		sign string
		n    int64
	}{{"+", r.Creates}, {"~", r.Updates}, {"-", r.Deletes}} {
		if sum.n > 0 {
			out = append(out, fmt.Sprint(sum.sign, sum.n))
		}
	}
	return strings.Join(out, " ")
}

// age formats a duration in the largest suitable unit, such as 40s, 12m, 47h or 3d. Days start at two days. A
// negative duration becomes 0s, because clocks differ.
func age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(max(d, 0).Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}

// A page prints one sheet.
type page struct {
	t   *terminal.Terminal
	s   *review.Sheet
	now time.Time
}

// printSheet prints a change for a decision. It prints facts, the agent's own words separately, the differences, the
// checks, and the comments.
func printSheet(t *terminal.Terminal, s *review.Sheet, now time.Time) {
	p := page{t, s, now}
	t.Printf("%s  %s  %s risk", terminal.Style(terminal.Bold, oneLine(s.ID)), stateOf(s.State), riskOf(s.Risk))
	if s.State == change.Pending {
		t.Printf("  %d of %d approvals", s.Approvals, s.Need)
	}
	t.Printf("\n%s\n\n", terminal.Style(terminal.Bold, oneLine(s.Title)))
	p.facts()
	for i, item := range s.Items {
		p.item(i, item)
	}
	for _, c := range s.Cascades {
		t.Printf("%s %d records of %s: %s\n", terminal.Style(terminal.Amber, "also"), c.Records, oneLine(c.Class), oneLine(c.Effect))
	}
	for _, o := range s.Others {
		t.Printf("%s %s %s by %s\n", terminal.Style(terminal.Amber, "the same record:"), oneLine(o.ID), oneLine(o.Title), oneLine(o.Agent))
	}
	if s.MoreOthers {
		t.Printf("%s more, which are older\n", terminal.Style(terminal.Amber, "the same record:"))
	}
	if s.Refused != "" {
		t.Printf("%s %s\n", terminal.Style(terminal.Red, "tried, and refused:"), oneLine(s.Refused))
	}
	p.lasting()
	p.printChecksAndThread()
	if s.Outcome != "" {
		t.Printf("\n%s\n", oneLine(s.Outcome))
	}
}

func (p *page) fact(name, text string) {
	if text != "" {
		p.t.Printf("  %-9s %s\n", name, text)
	}
}

// facts prints the agent and its owner, the time, the tool, and the rule. Texts by a model or a person are quoted and
// marked, because nothing has checked them.
func (p *page) facts() {
	s := p.s
	p.fact("agent", oneLine(s.Agent+" for "+s.Owner))
	p.fact("reviewers", oneLine(s.ReviewerText()))
	if s.Says != "" {
		p.fact("says", quoteText(s.Says)+terminal.Style(terminal.Faint, " (the words of "+oneLine(s.SaidBy)+"; not checked)"))
	}
	if s.Reason != "" {
		whose := " (the agent's words)"
		if s.Asker != "" {
			whose = " (the words of " + oneLine(s.Asker) + ")"
		}
		p.fact("reason", quoteText(s.Reason)+terminal.Style(terminal.Faint, whose))
	}
	p.fact("proposed", fmt.Sprintf("%s (%s ago) by %s", when(s.Created), age(p.now.Sub(s.Created)), oneLine(s.Tool)))
	if s.State == change.Pending || s.State == change.Stale {
		p.fact("expires", fmt.Sprintf("%s (in %s)", when(s.Expires), age(s.Expires.Sub(p.now))))
	}
	if s.Rule != "" {
		p.fact("rule", oneLine(s.Rule))
	}
	p.fact("preview", map[string]string{change.Executed: "executed and rolled back", change.Computed: "computed. It was not tried"}[s.Preview])
	if len(s.After) > 0 {
		p.fact("after", oneLine(strings.Join(s.After, ", ")))
	}
	p.fact("reverts", oneLine(s.Reverts))
	p.fact("asked by", oneLine(s.Asker))
	p.fact("digest", oneLine(s.Digest))
}

func when(at time.Time) string { return at.UTC().Format("2006-01-02 15:04 UTC") }

// stateOf returns the name of a state in its colour. Green means done, red means that it can't be undone here, amber
// means that a new proposal is needed, and blue means waiting.
func stateOf(s change.State) string {
	style := terminal.Blue
	switch s {
	case change.Applied:
		style = terminal.Green
	case change.Rejected, change.Failed, change.Unknown:
		style = terminal.Red
	case change.Stale, change.Expired, change.Cancelled:
		style = terminal.Amber
	}
	return terminal.Style(style, oneLine(string(s)))
}

func riskOf(r change.Risk) string {
	switch r {
	case change.High:
		return terminal.Style(terminal.Red, "high")
	case change.Medium:
		return terminal.Style(terminal.Amber, "medium")
	}
	return oneLine(string(r))
}

// item prints the i-th record of the change. It prints the record, the fields before and after, the values from
// earlier answers, and the number of hidden fields. A record of a class that the viewer doesn't see has no name.
func (p *page) item(i int, item review.Item) {
	number := ""
	if len(p.s.Items) > 1 {
		number = fmt.Sprintf("%d. ", i+1)
	}
	name := item.Class + " " + item.Key
	if item.Label != "" {
		name += " " + quoteText(item.Label)
	}
	if item.Class == "" {
		name = "something that you don't see"
	} else if item.Key == "" && item.Op == "create" {
		name = "new record of " + item.Class
	}
	p.t.Printf("\n%s%s %s\n", number, oneLine(item.Op), terminal.Style(terminal.Bold, oneLine(name)))
	if item.Action != "" {
		p.t.Printf("  by the action %s\n", oneLine(item.Action))
	}
	if item.Says != "" {
		p.t.Printf("  the action says, unchecked: %s\n", quoteText(item.Says))
	}
	if item.Link != "" {
		p.t.Printf("  %s\n", oneLine(item.Link))
	}
	if item.Unread != "" {
		p.t.Printf("  %s\n", terminal.Style(terminal.Amber, "! "+oneLine(item.Unread)))
	}
	for _, f := range item.About {
		p.t.Printf("  when previewed: %s %s\n", oneLine(f.Name), valueText(f.Value))
	}
	if item.Came != "" {
		p.t.Printf("  %s\n", terminal.Style(terminal.Bold, oneLine(item.Came)))
	}
	for _, t := range item.Takes {
		p.t.Printf("  %s takes %s of the answer to call %d\n", oneLine(t.At), quoteText(t.Path), t.Call)
	}
	switch item.Moved {
	case review.Changed:
		p.t.Printf("  %s\n", terminal.Style(terminal.Amber, "! it has moved since this was previewed: bailiwick changes renew "+oneLine(p.s.ID)))
	case review.Gone:
		p.t.Printf("  %s\n", terminal.Style(terminal.Amber, "! it is gone, or hidden from you, since this was previewed"))
	}
	for _, f := range item.Fields {
		p.field(f)
	}
	if item.Hidden > 0 {
		p.t.Printf("  %s\n", terminal.Style(terminal.Amber, fmt.Sprintf("! %d more that you may not see: somebody who sees them must approve this", item.Hidden)))
	}
	if item.Denied > 0 {
		p.t.Printf("  %s\n", terminal.Style(terminal.Amber, fmt.Sprintf("! %d fields that the rules show to nobody are deleted too", item.Denied)))
	}
}

// lasting prints what a revert could not restore.
func (p *page) lasting() {
	for _, text := range p.s.Lasting {
		p.t.Printf("%s %s\n", terminal.Style(terminal.Amber, "no revert brings back"), oneLine(text))
	}
	if p.s.NoRevert != "" {
		p.t.Printf("\nit can't be taken back: %s\n", oneLine(p.s.NoRevert))
	}
}

// field prints one difference. It is marked by a sign in addition to the colour.
func (p *page) field(f review.Field) {
	note := ""
	if f.Source {
		note = terminal.Style(terminal.Faint, "  (by the source: it may come out otherwise)")
	}
	p.t.Printf("  %s%s\n", oneLine(f.Path), note)
	before, after := valueText(f.Before), valueText(f.After)
	if f.Words != nil {
		before, after = sides(f.Words)
	}
	if f.Same {
		p.block(terminal.Faint, "=", before+" (as it is)")
		if f.Now != nil {
			p.block(terminal.Amber, "now", valueText(*f.Now))
		}
		return
	}
	if f.Before.Kind != "absent" && f.Before.Kind != "unread" {
		p.block(terminal.Red, "-", before)
	}
	if f.After.Kind != "absent" {
		p.block(terminal.Green, "+", after)
	}
	if f.Now != nil {
		p.block(terminal.Amber, "now", valueText(*f.Now))
	}
	switch {
	case f.Unread > 0 && f.Opened:
		p.t.Printf("    %s\n", terminal.Style(terminal.Faint, fmt.Sprintf("%d characters more, which you have opened", f.Unread)))
	case f.Unread > 0:
		p.t.Printf("    %s\n", terminal.Style(terminal.Amber, fmt.Sprintf("! %d characters more: bailiwick changes value %s %s", f.Unread, oneLine(p.s.ID), oneLine(f.Path))))
	}
}

// block prints text after a sign. Further lines are indented.
func (p *page) block(style, sign, text string) {
	for i, line := range strings.Split(text, "\n") {
		if i > 0 {
			sign = strings.Repeat(" ", len(sign))
		}
		p.t.Printf("    %s %s\n", terminal.Style(style, sign), line)
	}
}

// valueText formats a value. Strings are quoted to distinguish them from null and numbers. Line breaks in a string
// are kept.
func valueText(s review.Shown) string {
	cut := ""
	if s.Label != "" {
		cut = " (" + quoteText(s.Label) + ")"
	}
	if s.Length > 0 {
		cut += terminal.Style(terminal.Faint, fmt.Sprintf("… (%d characters, sha256 %s)", s.Length, oneLine(s.Digest)))
	}
	switch s.Kind {
	case "absent":
		return terminal.Style(terminal.Faint, "(nothing)")
	case "unknown":
		return terminal.Style(terminal.Amber, "(the present value is not known)")
	case "null":
		return terminal.Style(terminal.Faint, "null")
	case "empty":
		return `""` + terminal.Style(terminal.Faint, " (empty)")
	case "masked":
		return terminal.Style(terminal.Amber, strings.TrimSpace("(masked) "+oneLine(s.Text)))
	case "text":
		if !strings.Contains(s.Text, "\n") {
			return quoteText(s.Text) + cut
		}
		return "│ " + strings.ReplaceAll(sanitize(s.Text), "\n", "\n│ ") + cut
	}
	return oneLine(s.Text) + cut
}

// quoteText returns text as a JSON string, sanitized.
func quoteText(text string) string { return string(value.AppendQuote(nil, sanitize(text))) }

// sides returns the two versions of a text, with the differing words coloured.
func sides(words []review.Word) (before, after string) {
	for _, w := range words {
		text := sanitize(w.Text)
		switch w.Kind {
		case "removed":
			before += styledLines(terminal.Red, text)
		case "added":
			after += styledLines(terminal.Green, text)
		case "cut":
			cut := terminal.Style(terminal.Faint, "…("+oneLine(w.Text)+" characters)…")
			before, after = before+cut, after+cut
		default:
			before, after = before+text, after+text
		}
	}
	return "│ " + strings.ReplaceAll(before, "\n", "\n│ "), "│ " + strings.ReplaceAll(after, "\n", "\n│ ")
}

// styledLines styles each line separately, so that prefixes of lines are not styled.
func styledLines(style, text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = terminal.Style(style, l)
	}
	return strings.Join(lines, "\n")
}

// printChecksAndThread prints the checks and the thread of decisions and comments.
func (p *page) printChecksAndThread() {
	if len(p.s.Checks) > 0 {
		p.t.Printf("\n")
	}
	for _, c := range p.s.Checks {
		sign := terminal.Style(terminal.Green, "ok ")
		if !c.OK {
			sign = terminal.Style(terminal.Red, "no ")
		}
		p.t.Printf("  %s %-12s %s\n", sign, oneLine(c.Name), oneLine(c.Detail))
	}
	for _, d := range p.s.Thread {
		verb := d.Verb()
		switch {
		case d.Agent:
			verb += " (the agent)"
		case d.Loud != "":
			verb += " (" + strings.ToUpper(oneLine(d.Loud)) + ")"
		}
		if d.Version > 0 {
			verb = fmt.Sprintf("%s [version %d]", verb, d.Version)
		}
		p.words(d, verb)
	}
}

func (p *page) words(s review.Said, verb string) {
	text := ""
	if s.Text != "" {
		text = ": " + quoteText(s.Text)
	}
	p.t.Printf("\n%s %s %s%s\n", oneLine(s.By), verb, when(s.At), text)
}
