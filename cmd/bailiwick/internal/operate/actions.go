package operate

import (
	"fmt"

	"github.com/bailiwick-dev/bailiwick/action"
	"github.com/bailiwick-dev/bailiwick/cmd/bailiwick/internal/terminal"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/policyops"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// A described contains the view and the rights of a principal, the gates and the actions.
type described struct {
	policyops.Description
	Gates   []config.SetGate `json:"gates"`
	Actions []may            `json:"actions"`
}

// A may is an action with the reason why the principal can't call it, or "".
type may struct {
	Action string      `json:"action"`
	Class  string      `json:"class"`
	Do     action.Kind `json:"do"`
	Why    string      `json:"why,omitempty"`
}

// where returns the file and line of a rule. It returns the path of the rule if the rule is not in a file.
func (s *scene) where(rule []string, p identity.Principal) string {
	at := s.place(rule, p)
	if at.File == "" {
		return at.Path
	}
	return fmt.Sprintf("%s:%d", at.File, at.Line)
}

// actions returns all actions, with the reason for each action that p can't call.
func (s *scene) actions(p identity.Principal) []may {
	out := []may{}
	if s.Actions == nil {
		return out
	}
	for _, a := range s.Actions.All() {
		m := may{Action: a.Name, Class: a.Class.FullName(), Do: a.Do}
		if err := a.May(s.Policy, p); err != nil {
			m.Why = problem.Of(err).Detail
			switch problem.Of(err).Kind {
			case "gate":
				_, key := s.Policy.Gate(policy.WriteAction)
				for _, g := range s.config.Gates() {
					if "gates."+g.Key == key {
						m.Why += " (" + g.SetBy + ")"
					}
				}
			case "action_list":
				m.Why += " (" + s.where([]string{"principal", "actions"}, p) + ")"
			}
		}
		out = append(out, m)
	}
	return out
}

// PrintGates prints the gates on one line.
func PrintGates(t *terminal.Terminal, gates []config.SetGate) {
	for i, g := range gates {
		t.Printf("%s%s", []string{"gates  ", ", "}[min(i, 1)], g)
	}
	t.Printf("\n")
}

// printWrites prints the gates and the actions.
func (s *scene) printWrites(t *terminal.Terminal, p identity.Principal) error {
	PrintGates(t, s.config.Gates())
	t.Printf("\n")
	all := s.actions(p)
	if len(all) == 0 {
		return nil
	}
	w := t.Table()
	fmt.Fprintln(w, "ACTION\tCLASS\tDO\tMAY CALL IT")
	for _, m := range all {
		why := "yes"
		if m.Why != "" {
			why = "no: " + m.Why
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", m.Action, m.Class, m.Do, why)
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	t.Printf("\n")
	return nil
}
