package console

import (
	"html/template"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

// These limit the rendered text.
const (
	maxText  = 20_000 // bytes
	maxDepth = 12     // nested lists and quotes
)

// renderMarkdown returns source as HTML. It returns "" if source contains no Markdown or exceeds a limit.
func renderMarkdown(source string) template.HTML {
	if len(source) > maxText {
		return ""
	}
	w := &writer{source: []byte(source)}
	w.blocks(goldmark.DefaultParser().Parse(text.NewReader(w.source)), 0)
	if !w.marked {
		return ""
	}
	return template.HTML(w.b.String()) // tags are constants, and sanitize has escaped the text
}

// A writer writes Markdown as HTML.
type writer struct {
	source []byte
	b      strings.Builder
	marked bool // the source has other content than paragraphs of plain text
}

// text writes text without interpreting markup.
func (w *writer) text(s string) { w.b.WriteString(string(safeText(s))) }

// in writes the output of inside between the tags.
func (w *writer) in(tag string, inside func()) {
	w.marked = w.marked || tag != "p"
	w.b.WriteString("<" + tag + ">")
	inside()
	w.b.WriteString("</" + tag + ">")
}

// blocks writes the children of n.
func (w *writer) blocks(n ast.Node, depth int) {
	if depth > maxDepth {
		w.text("…")
		return
	}
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		inside := func() { w.blocks(c, depth+1) }
		switch c := c.(type) {
		case *ast.Paragraph:
			w.in("p", func() { w.inline(c, depth+1) })
		case *ast.TextBlock:
			w.inline(c, depth+1)
		case *ast.Heading: // the page has its own headings
			w.in("p", func() { w.in("strong", func() { w.inline(c, depth+1) }) })
		case *ast.Blockquote:
			w.in("blockquote", inside)
		case *ast.List:
			w.in(map[bool]string{true: "ol", false: "ul"}[c.IsOrdered()], inside)
		case *ast.ListItem:
			w.in("li", inside)
		case *ast.ThematicBreak:
			w.in("p", func() { w.text("———") })
		default: // code and HTML
			w.in("pre", func() { w.lines(c) })
		}
	}
}

// lines writes the lines of a block unchanged.
func (w *writer) lines(n ast.Node) {
	for i := range n.Lines().Len() {
		line := n.Lines().At(i)
		w.text(string(line.Value(w.source)))
	}
	if h, ok := n.(*ast.HTMLBlock); ok && h.HasClosure() {
		w.text(string(h.ClosureLine.Value(w.source)))
	}
}

// inline writes the children of n, which are parts of a line.
func (w *writer) inline(n ast.Node, depth int) {
	if depth > maxDepth {
		w.text("…")
		return
	}
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		inside := func() { w.inline(c, depth+1) }
		switch c := c.(type) {
		case *ast.Text:
			w.text(string(c.Segment.Value(w.source)))
			if c.HardLineBreak() || c.SoftLineBreak() {
				w.text("\n")
			}
		case *ast.String:
			w.text(string(c.Value))
		case *ast.Emphasis:
			w.in(map[bool]string{true: "strong", false: "em"}[c.Level > 1], inside)
		case *ast.CodeSpan:
			w.in("code", inside)
		case *ast.Link:
			w.marked = true
			inside()
			w.text(" (" + string(c.Destination) + ")")
		case *ast.Image:
			w.marked = true
			w.text("[image: ")
			inside()
			w.text("] (" + string(c.Destination) + ")")
		case *ast.AutoLink:
			w.text(string(c.URL(w.source)))
		case *ast.RawHTML:
			for i := range c.Segments.Len() {
				s := c.Segments.At(i)
				w.text(string(s.Value(w.source)))
			}
		default:
			inside()
		}
	}
}
