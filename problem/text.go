package problem

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// MetaName is the member of an MCP result's _meta that describes a refusal to programs, because structured content has
// to fit the output schema of the tool.
const MetaName = "problem"

// Text returns the code and Lines as text. Tools answer with it, because many clients show a model only the text.
func (e *Error) Text() string {
	return string(e.Code) + ": " + strings.Join(e.Lines(), "\n")
}

// Lines returns the part of e that the caller may see, one item per line. The items are the fault and its place, every
// further fault, similar names, allowed fields, a suggestion, and how long to wait. Names already in the detail are
// left out.
func (e *Error) Lines() []string {
	detail := e.Detail
	var lines []string
	switch {
	case len(e.Faults) > 1:
		detail = fmt.Sprintf("%d faults in the arguments", len(e.Faults))
		for _, f := range e.Faults {
			lines = append(lines, strings.TrimPrefix(f.Pointer+": ", ": ")+f.Message)
		}
	case e.Pointer != "":
		detail += " (at " + e.Pointer + ")"
	}
	lines = append([]string{detail}, lines...)
	if near := missingNames(detail, e.Near); near != "" {
		lines = append(lines, "near: "+near)
	}
	if d := e.Denial; d != nil {
		if allowed := missingNames(detail, d.Allowed); allowed != "" {
			lines = append(lines, "allowed: "+allowed)
		}
		if d.Rewrite != "" && d.Rewrite != e.Suggestion {
			lines = append(lines, "→ "+d.Rewrite)
		}
	}
	if e.Suggestion != "" {
		lines = append(lines, "→ "+e.Suggestion)
	}
	switch {
	case e.RetryAfter > 0:
		lines = append(lines, "wait "+strconv.FormatFloat(e.Wait(), 'f', -1, 64)+" s, then make the same call again")
	case e.Retryable():
		lines = append(lines, "the same call may succeed later")
	}
	return lines
}

// Sentences joins texts of whole sentences. It ends each one except the last with a full stop, unless a text has an end of
// its own. It writes "the" and "unknown" with a capital after an end: other words may be names. It skips empty texts.
func Sentences(texts ...string) string {
	var b strings.Builder
	for _, text := range texts {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		if before := b.String(); before != "" {
			if !strings.ContainsAny(before[len(before)-1:], ".?!:") {
				b.WriteByte('.')
			}
			b.WriteByte(' ')
			if strings.HasPrefix(text, "the ") || strings.HasPrefix(text, "unknown ") {
				text = strings.ToUpper(text[:1]) + text[1:]
			}
		}
		b.WriteString(text)
	}
	return b.String()
}

// missingNames returns names as a list, or "" if detail already contains all of them.
func missingNames(detail string, names []string) string {
	words := strings.FieldsFunc(detail, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-.$/", r)
	})
	for _, name := range names {
		if !slices.Contains(words, name) {
			return strings.Join(names, ", ")
		}
	}
	return ""
}
