package webhook

import (
	"fmt"
	"html/template"
	"strings"
	"time"
)

// A Letter is an e-mail without its sender and recipient.
type Letter struct {
	ID      string // the same id for every attempt
	Subject string // a single line
	Text    string
	HTML    string
}

// page is the HTML form of a letter. It loads no external content, and it links only to the changes.
var page = template.Must(template.New("letter").Parse(`<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{{.Subject}}</title></head><body style="font-family: sans-serif; max-width: 40em">
{{range .Notes}}<div style="border-top: 1px solid #bbb; padding: 0.5em 0"><p><strong>{{.Title}}</strong></p><p>{{.Line}} <span style="color: #555">{{.At}}</span></p>
{{with .Lines}}<ul>{{range .}}<li><code>{{.}}</code></li>{{end}}</ul>{{end}}{{with .Says}}<p style="color: #555">{{.}}</p>{{end}}
{{with .Link}}<p><a href="{{.}}">Open it in Bailiwick</a></p>{{end}}</div>
{{end}}<p style="color: #555">Opening a link decides nothing.</p></body></html>
`))

// letterOf returns one letter about all notes.
func letterOf(notes []note, id string) (Letter, error) {
	type shown struct {
		Title, Line, At, Says, Link string
		Lines                       []string
	}
	first := &notes[0]
	l := Letter{ID: id, Subject: first.line()}
	if title := first.title(); title != "" {
		l.Subject = fmt.Sprintf("%s: %s", verb(first.Event), title)
		if first.Broken {
			l.Subject = "BREAK GLASS, " + l.Subject
		}
	}
	if len(notes) > 1 {
		l.Subject = fmt.Sprintf("%d events of changes", len(notes))
	}
	l.Subject = "[Bailiwick] " + cut(l.Subject, 150)
	var all []shown
	var b strings.Builder
	for i := range notes {
		n := &notes[i]
		s := shown{n.title(), n.line(), n.At.UTC().Format(time.DateTime + " UTC"), n.says(), n.Link, n.lines(shownLines)}
		all = append(all, s)
		for _, line := range append([]string{s.Title, s.Line + " (" + s.At + ")"}, append(s.Lines, s.Says, s.Link)...) {
			if line != "" {
				b.WriteString(line + "\n")
			}
		}
		b.WriteString("\n")
	}
	b.WriteString("Opening a link decides nothing.\n")
	l.Text = b.String()
	b.Reset()
	err := page.Execute(&b, map[string]any{"Subject": l.Subject, "Notes": all})
	l.HTML = b.String()
	return l, err
}
