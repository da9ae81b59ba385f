package scripted

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/llm"
)

// An Answering is how a model that goes by rules answers one question.
type Answering struct {
	Question string // the words of the user, in any case
	Steps    []Step // of calls, one reply each
	Answer   string // text with places for results in double braces, as lookUp reads them
}

// A Step is one call. Arguments are JSON with the same places as an answer.
type Step struct {
	Tool, Arguments string
}

// Rules returns a script that answers by plans. A refusal ends a plan early: the model says what the tool said, which it
// must not know better. A question without a plan gets an answer that says so.
func Rules(plans []Answering) Script {
	return func(_ int, c Conversation) Turn {
		question := strings.TrimSpace(c.Question())
		for _, p := range plans {
			if strings.EqualFold(p.Question, question) {
				t := p.next(c.Results())
				if strings.Contains(c.System, "ANSWER:") && !strings.Contains(t.Text, "ANSWER:") && t.Calls == nil {
					t.Text += "\n\nANSWER: none" // as an evaluation asks for it
				}
				return t
			}
		}
		if strings.HasPrefix(question, "Summarise this conversation") {
			return Turn{Text: fmt.Sprintf("So far there were %d turns.", len(c.Messages)-1)}
		}
		return Turn{Text: "I go by a script, and this question is not in it."}
	}
}

// next returns the turn after results: the next step's call, or the answer. A refusal ends the plan.
func (p Answering) next(results []llm.Result) Turn {
	n := len(results)
	if n > 0 && refusal(results[n-1].Text) != "" {
		return Turn{Text: "The gateway refuses: " + refusal(results[n-1].Text) + "."}
	}
	if n < len(p.Steps) {
		return Turn{Calls: []llm.Call{{Name: p.Steps[n].Tool, Arguments: fill(p.Steps[n].Arguments, results)}}}
	}
	return Turn{Text: fill(p.Answer, results)}
}

// refusal returns what a result that is a refusal says, or "" for any other.
func refusal(text string) string {
	var r struct{ Error string }
	_ = json.Unmarshal([]byte(text), &r) // a text that is not JSON is not a refusal
	return r.Error
}

// fill puts results into the places of text.
func fill(text string, results []llm.Result) string {
	var out strings.Builder
	for {
		before, rest, ok := strings.Cut(text, "{{")
		out.WriteString(before)
		if !ok {
			return out.String()
		}
		place, after, _ := strings.Cut(rest, "}}")
		out.WriteString(lookUp(place, results))
		text = after
	}
}

// lookUp returns the text at a place. "1" is the text of the first result. "1:name" is the column of a table in it, its
// values separated by semicolons, and "1:name:2" the second of them. "1:#" is the first number in the text.
func lookUp(place string, results []llm.Result) string {
	var n int
	number, path, _ := strings.Cut(place, ":")
	if _, err := fmt.Sscanf(number, "%d", &n); err != nil || n < 1 || n > len(results) {
		return "?"
	}
	text := results[n-1].Text
	switch path {
	case "":
		return strings.TrimSpace(text)
	case "table":
		return markdown(rows(text))
	case "#":
		for _, word := range strings.FieldsFunc(text, func(c rune) bool { return !strings.ContainsRune("0123456789.-", c) }) {
			return word
		}
		return "0"
	}
	name, at, one := strings.Cut(path, ":")
	var column []string
	all := rows(text)
	for i, row := range all {
		for j, cell := range row {
			if i > 0 && j < len(all[0]) && all[0][j] == name {
				column = append(column, cell)
			}
		}
	}
	if one {
		if _, err := fmt.Sscanf(at, "%d", &n); err != nil || n < 1 || n > len(column) {
			return "none"
		}
		return column[n-1]
	}
	if column == nil {
		return "none"
	}
	return strings.Join(column, "; ")
}

// rows reads the CSV that a result begins with. A text without CSV is one cell.
func rows(text string) [][]string {
	r := csv.NewReader(strings.NewReader(text))
	r.FieldsPerRecord, r.LazyQuotes = -1, true
	all, err := r.ReadAll()
	if err != nil || len(all) == 0 {
		return [][]string{{text}}
	}
	for i, row := range all { // behind the table comes a line for people
		if len(row) != len(all[0]) || i == len(all)-1 && i > 0 && strings.Contains(row[0], " record") {
			return all[:i]
		}
	}
	return all
}

// markdown writes rows as a table.
func markdown(rows [][]string) string {
	var b strings.Builder
	for i, row := range rows {
		b.WriteString("| " + strings.Join(row, " | ") + " |\n")
		if i == 0 {
			b.WriteString(strings.Repeat("|---", len(row)) + "|\n")
		}
	}
	return b.String()
}
