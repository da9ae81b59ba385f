package prose

import (
	"regexp"
	"strings"
	"unicode"
)

// A kind says where a text stands. Limits and some rules depend on it.
type kind int

const (
	page    kind = iota // a page of the docs
	heading             // a heading or the head of a table in the docs
	comment
	message // an error, a log line or the help of a command
)

// A passage is a paragraph, a list item, a table cell, a comment or a message, without its code.
type passage struct {
	kind   kind
	text   string
	starts []start // where lines of the file begin in text, in order
}

// A start is the offset in a passage's text at which a line of its file begins.
type start struct{ at, line int }

// add appends text that stands on a line.
func (p *passage) add(text string, line int) {
	if n := len(p.starts); n == 0 || p.starts[n-1].line != line {
		p.starts = append(p.starts, start{len(p.text), line})
	}
	p.text += text
}

// line returns the line of an offset in the text.
func (p *passage) line(at int) int {
	line := 0
	for _, s := range p.starts {
		if s.at > at && line != 0 {
			break
		}
		line = s.line
	}
	return line
}

// quoted matches what a comment or a message quotes: code, a value or another text.
var quoted = regexp.MustCompile("`[^`]*`|\"[^\"]+\"")

// inline stands for quoted text, as one word.
const inline = "`code`"

// mask replaces quoted text with as many bytes where it can, so that offsets lead to the right line.
func mask(text string) string {
	return quoted.ReplaceAllStringFunc(text, func(q string) string {
		if len(q) <= len(inline) {
			return "`" + strings.Repeat("c", max(len(q)-2, 1)) + "`"
		}
		return "`" + strings.Repeat("c", len(q)-2) + "`"
	})
}

// A sentence is a part of a passage.
type sentence struct {
	text string
	line int
	kind kind
}

// ends matches the end of a sentence and the space after it.
var ends = regexp.MustCompile(`[.!?]["')\]*_]*\s+`)

// short are words with a period that end no sentence.
var short = []string{"e.g.", "i.e.", "vs.", "cf.", "approx."}

// sentences splits a passage.
func (p *passage) sentences() []sentence {
	text := p.text
	if p.kind == comment || p.kind == message {
		text = mask(text)
	}
	var out []sentence
	from := 0
	take := func(to int) {
		part := text[from:to]
		if trimmed := strings.TrimLeftFunc(part, unicode.IsSpace); words(trimmed) > 0 {
			at := from + len(part) - len(trimmed)
			out = append(out, sentence{strings.Join(strings.Fields(trimmed), " "), p.line(at), p.kind})
		}
		from = to
	}
	for _, end := range ends.FindAllStringIndex(text, -1) {
		before := strings.Fields(text[from : end[0]+1])
		if len(before) == 0 || !abbreviated(before[len(before)-1]) {
			take(end[1])
		}
	}
	take(len(text))
	return out
}

func abbreviated(word string) bool {
	for _, s := range short {
		if strings.HasSuffix(strings.ToLower(word), s) {
			return true
		}
	}
	return false
}

// words counts the words of a text: parts between spaces with a letter or a digit.
func words(text string) int {
	n := 0
	for word := range strings.FieldsSeq(text) {
		if strings.ContainsFunc(word, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
			n++
		}
	}
	return n
}

// item matches the mark of a list item in a comment.
var item = regexp.MustCompile(`^\s*([-*•]|\d+[.)])\s+`)

// paragraphs splits the lines of a comment or of a help text. Indented lines that are not a list are code.
func paragraphs(k kind, lines []string, first int) []passage {
	var out []passage
	var open *passage
	inList := false
	for i, line := range lines {
		line = strings.TrimRight(line, " \t\r")
		indented := strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t")
		switch marked := item.FindString(line); {
		case line == "":
			open = nil
			continue
		case marked != "":
			line, inList, open = line[len(marked):], true, nil
		case indented && !inList:
			open = nil
			continue
		case !indented && inList:
			inList, open = false, nil
		}
		if open == nil {
			out = append(out, passage{kind: k})
			open = &out[len(out)-1]
		}
		open.add(strings.TrimSpace(line)+" ", first+i)
	}
	return out
}
