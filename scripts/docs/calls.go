package main

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A call is one that a test makes, with the answer that the test expects.
type call struct {
	arguments string
	answer    string // the text that an agent reads
	refused   bool
}

// conversations are the files of such calls. They have a line with the prefix and the call, a line with the structured
// answer, and the text, each line of which begins with margin.
var conversations = []struct{ pattern, prefix, margin string }{
	{"tool/testdata/conversations/*.txt", "> ", "  | "},
	{"internal/tools/testdata/conversation.txt", "→ ", ""},
}

// An answer of an example has at least leastAnswer bytes, so that it shows something, and at most mostAnswer.
const leastAnswer, mostAnswer = 20, 1500

// A remark is a line before a call.
var remark = regexp.MustCompile(`(?m)^#.*\n`)

// calls returns an example for each tool: the shortest that is answered, or else refused.
func calls() (map[string]call, error) {
	found := map[string][]call{}
	for _, c := range conversations {
		files, err := filepath.Glob(c.pattern)
		if err != nil || files == nil {
			return nil, fmt.Errorf("%s: no conversations, %w", c.pattern, err)
		}
		for _, file := range files {
			switch strings.TrimSuffix(filepath.Base(file), ".txt") {
			case "budget", "masks", "scans": // of other configurations
				continue
			}
			text, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			text = remark.ReplaceAll(text, nil)
			for part := range bytes.SplitSeq(text, []byte("\n\n"+c.prefix)) {
				if name, one, ok := exchange(strings.TrimPrefix(string(part), c.prefix), c.margin); ok {
					found[name] = append(found[name], one)
				}
			}
		}
	}
	out := map[string]call{}
	for name, all := range found {
		out[name] = slices.MinFunc(all, func(a, b call) int { return cmp.Compare(size(a), size(b)) })
	}
	return out, nil
}

// size orders examples: those with an answer of a good length first, which is more than nulls and more than a dry run.
func size(c call) int {
	n := len(c.answer) + len(c.arguments)
	if len(c.answer) < leastAnswer || len(c.answer) > mostAnswer || strings.Contains(c.arguments, "dry_run") || strings.Contains(c.answer, "\n,\n") {
		n += 1 << 20
	}
	if c.refused {
		n += 1 << 24
	}
	return n
}

// exchange reads a call and its answer, or false for one that leads on from another.
func exchange(text, margin string) (name string, c call, ok bool) {
	line, rest, _ := strings.Cut(text, "\n")
	name, c.arguments, _ = strings.Cut(line, " ")
	structured, answer, _ := strings.Cut(rest, "\n")
	if name == "" || name == "$next" || structured == "" {
		return name, c, false
	}
	placeholder := strings.NewReplacer("{{last}}", "ID", "{{todo}}", "ID", "{{done}}", "ID", "{{epic}}", "ID", "{{story}}", "ID", "{{task}}", "ID")
	if !strings.HasPrefix(structured, "{") {
		c.arguments = placeholder.Replace(c.arguments)
		c.answer, c.refused = strings.TrimPrefix(structured, "! "), true
		return name, c, true
	}
	var lines []string
	for l := range strings.Lines(answer) {
		l = strings.TrimRight(l, "\n")
		if margin != "" && !strings.HasPrefix(l, margin) {
			continue
		}
		lines = append(lines, strings.TrimPrefix(l, margin))
	}
	c.answer = strings.TrimSpace(strings.Join(lines, "\n"))
	c.arguments = placeholder.Replace(c.arguments)
	return name, c, c.answer != ""
}
