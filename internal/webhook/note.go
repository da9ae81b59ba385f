package webhook

import (
	"fmt"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/internal/review"
)

// A note is a notification before it is formatted.
type note struct {
	Data
	At    time.Time
	Sheet *review.Sheet // nil if the hook shows neither title nor values
}

// title returns what happens to which records, in the gateway's words. It returns "" if n has no sheet.
func (n *note) title() string {
	if n.Sheet == nil {
		return ""
	}
	return n.Sheet.Title
}

// lines returns the first lines of the diff. If there are more fields, the last line gives their number.
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

// says returns the sentence about the change with its author. Without a sentence it returns the agent's reason. It
// returns "" if there is neither.
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

// open reports whether people can still decide about the change.
func (n *note) open() bool { return n.Sheet != nil && n.Sheet.State == change.Pending }

// cut returns at most n characters of text, followed by … if it was longer.
func cut(text string, n int) string {
	for i := range text {
		if n--; n < 0 {
			return text[:i] + "…"
		}
	}
	return text
}

// text returns a Slack text object without markup.
func text(s string, most int) map[string]any {
	return map[string]any{"type": "plain_text", "text": cut(s, most), "emoji": false}
}

// slack returns n as a Slack message. It has blocks of plain text, and one line for systems without blocks. If
// answers is set, it also has buttons. The value of a button is the change id and the digest to decide about.
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

// buttons returns the buttons for a decision. They don't offer to approve a change with a high risk. Such a change
// must be approved in the console, where the person is signed in.
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
