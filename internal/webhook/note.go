package webhook

import (
	"fmt"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/internal/review"
)

// A note is one notification before it has a form.
type note struct {
	Data
	At    time.Time
	Sheet *review.Sheet // nil shows no title and no values
}

// title says what happens to which records, in the gateway's words, or "" if n shows none.
func (n *note) title() string {
	if n.Sheet == nil {
		return ""
	}
	return n.Sheet.Title
}

// lines returns the first lines of the diff, and how many fields more there are.
func (n *note) lines(most int) []string {
	if n.Sheet == nil {
		return nil
	}
	lines, more := review.Lines(n.Sheet, most)
	if more > 0 {
		lines = append(lines, fmt.Sprintf("… and %d more", more))
	}
	return lines
}

// says returns the agent's sentence with its name, or else its reason, or "" if there is neither.
func (n *note) says() string {
	if n.Sheet == nil {
		return ""
	}
	by, words := n.Sheet.SaidBy, n.Sheet.Says
	if words == "" {
		by, words = n.Sheet.Agent, n.Sheet.Reason
	}
	if words == "" {
		return ""
	}
	return fmt.Sprintf("%s says, not checked: “%s”", by, cut(strings.Join(strings.Fields(words), " "), 200))
}

// open reports whether people can still decide about the change that n shows.
func (n *note) open() bool { return n.Sheet != nil && n.Sheet.State == change.Pending }

// cut returns at most n characters of text.
func cut(text string, n int) string {
	for i := range text {
		if n--; n < 0 {
			return text[:i] + "…"
		}
	}
	return text
}

// text is a text object of Slack in which nothing is markup.
func text(s string, most int) map[string]any {
	return map[string]any{"type": "plain_text", "text": cut(s, most), "emoji": false}
}

// slack returns n as a message of Slack: blocks of plain text, and a line for systems that know none. answers adds buttons, whose
// values are the change and the digest that is decided about.
func (n *note) slack(answers bool) map[string]any {
	line := Plain(n.line())
	if n.Broken {
		line = ":rotating_light: *" + line + "*"
	}
	if n.Link != "" {
		line += " <" + Plain(n.Link) + "|" + Plain(n.ID) + ">"
	} else {
		line += " " + Plain(n.ID)
	}
	out := map[string]any{"text": line}
	if n.Sheet == nil {
		return out
	}
	section := func(s string, most int) map[string]any {
		return map[string]any{"type": "section", "text": text(s, most)}
	}
	blocks := []any{map[string]any{"type": "section", "text": map[string]any{"type": "mrkdwn", "text": line, "verbatim": true}}, section(n.title(), 300)}
	for _, l := range n.lines(shownLines) {
		blocks = append(blocks, section(l, 400))
	}
	if says := n.says(); says != "" {
		blocks = append(blocks, map[string]any{"type": "context", "elements": []any{text(says, 400)}})
	}
	if answers && n.open() {
		blocks = append(blocks, map[string]any{"type": "actions", "elements": n.buttons()})
	}
	out["blocks"] = blocks
	return out
}

// buttons returns the buttons of a decision. A change with a high risk must be approved in the console, where the
// person has signed in.
func (n *note) buttons() (out []any) {
	button := func(id, label, style, sure string) map[string]any {
		return map[string]any{"type": "button", "action_id": id, "text": text(label, 40), "style": style, "value": n.ID + " " + n.Sheet.Digest, "confirm": map[string]any{
			"title": text(label+"?", 90), "text": text(sure, 280), "confirm": text(label, 30), "deny": text("Back", 30)}}
	}
	if n.Sheet.Risk != change.High {
		out = append(out, button("approve", "Approve", "primary", n.title()))
	}
	out = append(out, button("reject", "Reject", "danger", "For good: "+n.title()))
	if n.Link != "" {
		out = append(out, map[string]any{"type": "button", "action_id": "open", "text": text("Open", 40), "url": n.Link})
	}
	return out
}
