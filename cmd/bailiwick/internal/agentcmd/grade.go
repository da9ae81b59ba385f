package agentcmd

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/assistant"
)

// howToEnd tells the model how to end its answer, so that grade can compare the answer.
const howToEnd = "End your answer with one line that begins with ANSWER: and holds nothing but the value asked for: a number, one name, " +
	"names with semicolons between, \"proposed\" for a change that waits, or \"none\" where you can't know it."

// The possible verdicts.
const (
	right   = "right"
	wrong   = "wrong"
	refused = "refused" // the model gave no answer although one exists
	failed  = "failed"  // the provider or the gateway failed
)

// A graded is the result of one question.
type graded struct {
	ID       string  `json:"id"`
	Scenario string  `json:"scenario"`
	Tier     int     `json:"tier,omitempty"`
	Verdict  string  `json:"verdict"`
	Answer   string  `json:"answer"`
	Leaked   string  `json:"leaked,omitempty"` // a text that the model must not see
	Error    string  `json:"error,omitempty"`
	Calls    int     `json:"calls"`
	Tokens   int     `json:"tokens"`
	Cost     float64 `json:"cost_usd"`
}

// grade compares an answer with the expected answer.
func (q question) grade(a *assistant.Answer) graded {
	r := graded{ID: q.id, Scenario: q.scenario, Tier: q.tier, Answer: finalAnswer(a.Text), Calls: len(a.Calls), Tokens: a.Usage.Input + a.Usage.Output, Cost: a.Usage.Cost}
	r.Verdict = wrong
	none := a.Stop == assistant.Declined || strings.EqualFold(r.Answer, "none")
	switch {
	case q.refused && none, q.proposes && len(a.Changes) > 0, !none && q.fits(r.Answer):
		r.Verdict = right
	case none:
		r.Verdict = refused
	}
	for _, text := range q.never {
		if strings.Contains(strings.ToLower(a.Text), strings.ToLower(text)) ||
			slices.ContainsFunc(a.Calls, func(c assistant.Call) bool {
				return !c.Refused && strings.Contains(strings.ToLower(c.Result), strings.ToLower(text))
			}) {
			r.Leaked, r.Verdict = text, wrong
		}
	}
	return r
}

// finalAnswer returns the value in the last line that begins with ANSWER:, or the whole text if there is no such
// line.
func finalAnswer(text string) string {
	lines := strings.Split(text, "\n")
	for _, line := range slices.Backward(lines) {
		line = strings.Trim(line, " *_`>")
		if len(line) >= 7 && strings.EqualFold(line[:7], "ANSWER:") {
			return evaluateBare(line[7:])
		}
	}
	return evaluateBare(text)
}

// evaluateBare removes punctuation and markup that models put around a value.
func evaluateBare(text string) string { return strings.Trim(strings.TrimSpace(text), " *_`\"'.") }

// fits reports whether an answer matches the expected answer.
func (q question) fits(answer string) bool {
	switch {
	case q.number != nil:
		text := regexp.MustCompile(`-?[0-9][0-9,]*(\.[0-9]+)?`).FindString(answer)
		n, err := strconv.ParseFloat(strings.ReplaceAll(text, ",", ""), 64)
		return err == nil && math.Abs(n-*q.number) <= q.within+1e-9
	case q.value != "":
		return strings.EqualFold(answer, evaluateBare(q.value))
	case q.set != nil:
		return slices.Equal(members(strings.Split(answer, ";")), members(q.set))
	case q.all != nil:
		return hasAll(answer, q.all)
	}
	return false
}

// members returns names in lower case, sorted and without duplicates or empty names.
func members(names []string) []string {
	var all []string
	for _, n := range names {
		if n = strings.ToLower(evaluateBare(n)); n != "" {
			all = append(all, n)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
