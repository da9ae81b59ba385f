package yamlconf

import (
	"errors"
	"strings"
	"unicode"
)

// A placed error is about one character of a text.
type placed interface {
	error
	Place() (line, column int) // from 1, in characters. 0 means the text as a whole
}

// placeIn returns the position of the character of text to which err belongs. The text begins at p, with its quote or its
// block mark. placeIn returns p if err has no place, or if the file doesn't contain the text as it is.
func (p Position) placeIn(text string, err error) Position {
	var at placed
	if !errors.As(err, &at) || p.file == nil || p.Line < 1 || p.Line > len(p.file.lines) {
		return p
	}
	line, column := at.Place()
	lines := strings.SplitAfter(text, "\n")
	if line < 1 || line > len(lines) || column < 1 {
		return p
	}
	before := []rune(strings.Join(lines[:line-1], ""))
	within := []rune(lines[line-1])
	before = append(before, within[:min(column-1, len(within))]...)
	first := []rune(p.file.lines[p.Line-1])
	if p.Column-1 > len(first) {
		return p
	}
	source := []rune(string(first[p.Column-1:]) + "\n" + strings.Join(p.file.lines[p.Line:], "\n"))
	read, ok := skipText(source, before)
	if !ok {
		return p
	}
	for _, c := range source[:read] {
		if p.Column++; c == '\n' {
			p.Line, p.Column = p.Line+1, 1
		}
	}
	return p
}

// skipText returns the number of characters of source, a YAML scalar, that stand for the beginning of its text. White space
// of both may differ, because YAML folds lines. It returns false if source has other characters.
func skipText(source, text []rune) (read int, ok bool) {
	quote := rune(0)
	blank := func() {
		for read < len(source) && unicode.IsSpace(source[read]) {
			read++
		}
	}
	switch {
	case len(source) == 0:
		return 0, false
	case source[0] == '\'', source[0] == '"':
		quote, read = source[0], 1
	case source[0] == '|', source[0] == '>':
		for read < len(source) && source[read] != '\n' {
			read++
		}
		blank()
	}
	for i := 0; i < len(text); i++ {
		if unicode.IsSpace(text[i]) {
			for i+1 < len(text) && unicode.IsSpace(text[i+1]) {
				i++
			}
			if read == len(source) || !unicode.IsSpace(source[read]) {
				return 0, false
			}
			blank()
			continue
		}
		if quote == '\'' && text[i] == quote || quote == '"' && (text[i] == quote || text[i] == '\\') {
			read++ // past the first of two quotes, or past the backslash
		}
		if read >= len(source) || source[read] != text[i] {
			return 0, false
		}
		read++
	}
	return read, true
}

// value returns the position of the value behind the key at p, or p if it isn't in the same line.
func (p Position) value() Position {
	if p.file == nil || p.Line < 1 || p.Line > len(p.file.lines) {
		return p
	}
	line := []rune(p.file.lines[p.Line-1])
	for i := p.Column - 1; i >= 0 && i+1 < len(line); i++ {
		if line[i] != ':' || line[i+1] != ' ' {
			continue
		}
		for i++; i < len(line) && line[i] == ' '; i++ {
		}
		if i < len(line) {
			p.Column = i + 1
		}
		break
	}
	return p
}

// WrongIn returns a fault at the key at path, or at the place of err in its text.
func (d Document) WrongIn(text string, err error, path ...string) PositionFault {
	p, ok := d.Place(path...)
	f := d.Wrong(err.Error(), path...)
	if at := p.value(); ok && at.placeIn(text, err) != at {
		p = at.placeIn(text, err)
		f.Line, f.Column, f.Excerpt = p.Line, p.Column, excerpt(p.file.maskedLine(p.Line), p)
	}
	return f
}
