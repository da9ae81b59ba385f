package main

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/cmd/bailiwick/internal/terminal"
	"github.com/bailiwick-dev/bailiwick/internal/scaffold"
)

// A choice is one possible answer to a question.
type choice struct{ answer, text string }

// ask asks a person at a terminal three questions: the tenants, the treatment of personal data, and who writes. It
// omits questions that flags have answered. found contains the tenancies that the schema suggests.
func ask(t *terminal.Terminal, a *scaffold.Answers, found []scaffold.Tenancy) error {
	in := bufio.NewReader(t.In)
	if a.Tenant == "" && len(found) > 0 {
		var choices []choice
		for i := range found {
			choices = append(choices, choice{found[i].Field, found[i].String()})
		}
		all := choice{scaffold.None, "there are no tenants: every agent sees the records of all"}
		if found[0].Likely() {
			choices = append(choices, all)
		} else {
			choices = append([]choice{all}, choices...)
		}
		if err := question(t, in, "Which field says whose a record is?", choices, &a.Tenant); err != nil {
			return err
		}
	}
	if err := question(t, in, "What do agents see of personal data, such as names and e-mail addresses?", []choice{
		{scaffold.Mask, "a part, such as j•••@e•••.com. Nothing can be found or counted by it"},
		{scaffold.Hide, "nothing, as if there were no such field"},
		{scaffold.Show, "all of it"}}, &a.Personal); err != nil {
		return err
	}
	return question(t, in, "May agents change records?", []choice{
		{scaffold.Off, "no, they only read"},
		{scaffold.Review, "they propose, and a person approves each change"}}, &a.Writes)
}

// question repeats a question until the reply is one of the choices, by number or by name. An empty line selects the
// first choice. If answer is already set, it asks nothing.
func question(t *terminal.Terminal, in *bufio.Reader, text string, choices []choice, answer *string) error {
	if *answer != "" {
		return nil
	}
	t.Notef("\n%s", terminal.Style(terminal.Bold, text))
	for i, c := range choices {
		t.Notef("  %d  %-10s %s", i+1, c.answer, c.text)
	}
	for {
		fmt.Fprintf(t.Err, "Answer [1]: ") //nolint:errcheck // the terminal may be gone; then the answer is too
		line, err := in.ReadString('\n')
		if err != nil && (err != io.EOF || line == "") {
			return fmt.Errorf("the question was not answered. Without a terminal, answer with --tenant, --personal and --writes")
		}
		line = strings.TrimSpace(line)
		i := slices.IndexFunc(choices, func(c choice) bool { return c.answer == line })
		if n := 0; i < 0 && line != "" {
			if _, err := fmt.Sscanf(line, "%d", &n); err == nil {
				i = n - 1
			}
		} else if line == "" {
			i = 0
		}
		if i >= 0 && i < len(choices) {
			*answer = choices[i].answer
			return nil
		}
		t.Notef("%s is none of them. Write a number from 1 to %d", line, len(choices))
	}
}
